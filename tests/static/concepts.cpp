// The types of the house fulfil its concepts, and networks for inference hold no gradients.
#include <tuple>
#include <type_traits>
#include <utility>

#include "mara/mara.hpp"

namespace mara {

template <class List>
inline constexpr bool kAllSchedule = false;
template <class... Rule>
inline constexpr bool kAllSchedule<std::tuple<Rule...>> = (Scheduler<Rule> && ...);
static_assert(kAllSchedule<Rules>);
static_assert(Scheduler<ListScheduler<3>> && Scheduler<deploy::Actor<3, 64, 64>>);

static_assert(Environment<ClusterEnvironment<1>> && Environment<ClusterEnvironment<3>>);
static_assert(SchedulerEnvironment<ClusterEnvironment<3>>);

static_assert(guidance::Mode<guidance::None> && guidance::Mode<guidance::AuxiliaryReward<>> &&
              guidance::Mode<guidance::SampledRegulariser<>> &&
              guidance::Mode<guidance::AllActionRegulariser> &&
              guidance::Mode<guidance::CriticConstraint<>> && guidance::Mode<guidance::FlowInput>);
static_assert(guidance::Mode<guidance::Combined<guidance::AllActionRegulariser, guidance::FlowInput>>);
static_assert(!guidance::None::kUsesField, "no guidance, no field");

static_assert(ActionSpace<TieredRequest<3>>);

template <class Network>
concept Trainable = requires(Network& network) {
  network.gradients();
};
static_assert(Trainable<Mlp<float, 4, 8, 2>>);
static_assert(!Trainable<MlpInference<float, 4, 8, 2>>, "inference has no gradient buffers");

// Deciding must not throw, whatever it is given.
static_assert(noexcept(std::declval<deploy::Actor<3, 64, 64>&>().decide(std::declval<const DecisionView&>(),
                                                                        std::declval<Allocation&>())));
static_assert(!std::is_copy_constructible_v<deploy::Actor<3, 64, 64>> &&
              std::is_nothrow_move_constructible_v<deploy::Actor<3, 64, 64>>);

}  // namespace mara
