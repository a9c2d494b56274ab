#pragma once
// How fast each kind of job runs on each GPU type, and what it needs there.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "mara/core/random.hpp"
#include "mara/core/resource.hpp"

namespace mara {

/// GPU generations with a column of their own in the table of job profiles.
enum class DeviceFamily : std::uint8_t { kH100, kA100, kV100, kP100, kA10, kT4, kK80 };
inline constexpr std::size_t kDeviceFamilies = 7;

/// A GPU type known by name: as fast as `factor` devices of its family.
struct Device {
  std::string_view name;  ///< lower case
  DeviceFamily family{};
  double factor = 1.0;
};

/// The GPU types with known speed. openb's g1, g2 and g3 are undisclosed: they are taken for a t4, an a10 and
/// an a100, after the hosts they sit in. v100m16 and v100m32 are openb's names of the two V100 sizes.
inline constexpr std::array<Device, 27> kDevices{{
    {"h200", DeviceFamily::kH100, 1.1},
    {"h100", DeviceFamily::kH100},
    {"h800", DeviceFamily::kH100},
    {"h20", DeviceFamily::kA100, 0.9},
    {"a100", DeviceFamily::kA100},
    {"a100-80g", DeviceFamily::kA100},
    {"a100-40g", DeviceFamily::kA100},
    {"a800", DeviceFamily::kA100},
    {"a40", DeviceFamily::kA10, 1.25},
    {"a30", DeviceFamily::kA10, 1.3},
    {"a10", DeviceFamily::kA10},
    {"l40", DeviceFamily::kA10, 1.6},
    {"l40s", DeviceFamily::kA10, 1.8},
    {"l4", DeviceFamily::kT4, 1.6},
    {"v100", DeviceFamily::kV100},
    {"v100m32", DeviceFamily::kV100},
    {"v100m16", DeviceFamily::kV100},
    {"p100", DeviceFamily::kP100},
    {"p40", DeviceFamily::kP100, 0.9},
    {"t4", DeviceFamily::kT4},
    {"k80", DeviceFamily::kK80},
    {"m40", DeviceFamily::kK80, 1.6},
    {"rtx3090", DeviceFamily::kA10, 1.1},
    {"rtx4090", DeviceFamily::kA10, 1.9},
    {"g1", DeviceFamily::kT4},
    {"g2", DeviceFamily::kA10},
    {"g3", DeviceFamily::kA100},
}};

/// ASCII lower case of a type's name.
inline std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

/// The known GPU type of that lower-case name, or nullptr.
inline const Device* find_device(std::string_view name) noexcept {
  for (const Device& device : kDevices)
    if (device.name == name) return &device;
  return nullptr;
}

/// How one kind of job behaves.
struct JobProfile {
  std::string_view name;
  std::array<double, kDeviceFamilies> speed{};  ///< one GPU of each DeviceFamily, a100 = 1
  std::int64_t gpu_memory_mib = 0;              ///< per whole GPU
  double speed_up_exponent = 1.0;               ///< p of S(k) = k^p; 0: drawn per job in [.6, .95)

  double speed_on(const Device& device) const noexcept {
    return speed[static_cast<std::size_t>(device.family)] * device.factor;
  }
};

inline constexpr std::size_t kModelProfiles = 8;
inline constexpr std::size_t kClassProfiles = 3;

/// The table of job profiles: the eight models of Muri's traces, then "class 0..2" for jobs without a known
/// model.
///
/// THIS TABLE IS AN ASSUMPTION OF THIS LIBRARY, not a measurement (nor are the factors of kDevices). No
/// public trace says how one job runs on another GPU type, so the numbers are chosen to be plausible:
/// reinforcement learners, bound by their simulators, lose least on old devices; large transformers and VGG
/// lose most and need most memory. Facts they lean on: Gavel's measured throughputs (Narayanan et al.,
/// OSDI'20) put p100/v100 at .79 (A3C), .65 (ResNet-18, batch 128), .59 (Transformer, batch 64), and k80/v100
/// at .48, .10, .20; Muri's iteration times per GPU count (SIGCOMM'22) correspond at 8 GPUs to exponents .67
/// (vgg16), .65 (vgg19), .88 (resnet18), .91 (shufflenet), .96 (bert), .97 (a2c), .98 (dqn), .99 (gpt2), here
/// kept within .6-.95. The spread is v100 .4-.8 and t4 .15-.5; vgg19 and bert do not fit a 16 GiB device,
/// gpt2 and class 2 fit only more than 32 GiB.
inline constexpr std::array<JobProfile, kModelProfiles + kClassProfiles> kJobProfiles{{
    //                     h100 a100 v100 p100  a10   t4   k80   MiB    p
    {"shufflenet_v2_x1_0", {1.4, 1.0, 0.72, 0.45, 0.60, 0.42, 0.12}, 6144, 0.91},
    {"resnet18", {1.5, 1.0, 0.62, 0.40, 0.52, 0.32, 0.07}, 8192, 0.87},
    {"vgg16", {1.7, 1.0, 0.50, 0.30, 0.38, 0.22, 0.06}, 13312, 0.67},
    {"vgg19", {1.7, 1.0, 0.48, 0.28, 0.36, 0.20, 0.06}, 20480, 0.65},
    {"bert", {2.0, 1.0, 0.44, 0.25, 0.40, 0.24, 0.08}, 22528, 0.92},
    {"gpt2", {2.0, 1.0, 0.40, 0.23, 0.36, 0.15, 0.07}, 36864, 0.94},
    {"a2c", {1.1, 1.0, 0.80, 0.63, 0.65, 0.50, 0.38}, 4096, 0.93},
    {"dqn", {1.2, 1.0, 0.76, 0.60, 0.62, 0.48, 0.36}, 5120, 0.95},
    {"class 0", {1.4, 1.0, 0.70, 0.46, 0.58, 0.40, 0.12}, 10240, 0.0},
    {"class 1", {1.7, 1.0, 0.55, 0.34, 0.44, 0.27, 0.09}, 24576, 0.0},
    {"class 2", {1.9, 1.0, 0.45, 0.27, 0.38, 0.20, 0.07}, 49152, 0.0},
}};

/// Shares of class 0, 1, 2 among jobs without a known model.
inline constexpr std::array<double, kClassProfiles> kClassShares{0.5, 0.3, 0.2};

/// The profile of a model by name, or nullptr when it is not one of the eight.
inline const JobProfile* find_model_profile(std::string_view model) noexcept {
  for (std::size_t i = 0; i < kModelProfiles; ++i)
    if (kJobProfiles[i].name == model) return &kJobProfiles[i];
  return nullptr;
}

/// The profile of a job: its model's, or else one of the classes, drawn from (seed, id) alone; the exponent
/// is always filled in.
inline JobProfile profile_of(std::string_view model, std::int64_t id, std::uint64_t seed) noexcept {
  if (const JobProfile* known = find_model_profile(model)) return *known;
  Random random(seed, static_cast<std::uint64_t>(id));
  const int drawn = random.categorical(kClassShares);
  JobProfile profile = kJobProfiles[kModelProfiles + static_cast<std::size_t>(drawn)];
  profile.speed_up_exponent = random.uniform(0.6, 0.95);
  return profile;
}

/// Mean speed of a device over the eight models, a100 = 1.
inline double mean_speed(const Device& device) noexcept {
  double sum = 0.0;
  for (std::size_t i = 0; i < kModelProfiles; ++i) sum += kJobProfiles[i].speed_on(device);
  return sum / static_cast<double>(kModelProfiles);
}

}  // namespace mara
