#pragma once
// Every rule-based scheduler, and how to run over all of them.

#include <array>
#include <string_view>
#include <tuple>

#include "mara/schedule/fcfs.hpp"
#include "mara/schedule/hesrpt.hpp"
#include "mara/schedule/optimus.hpp"
#include "mara/schedule/sjf.hpp"
#include "mara/schedule/srtf.hpp"
#include "mara/schedule/tetris.hpp"

namespace mara {

/// The rules in the order in which tables show them.
using Rules = std::tuple<Fcfs, Sjf, Srtf, Tetris, Optimus, Hesrpt>;

/// Their names, in the same order.
inline constexpr std::array<std::string_view, std::tuple_size_v<Rules>> kRuleNames{
    Fcfs::name(), Sjf::name(), Srtf::name(), Tetris::name(), Optimus::name(), Hesrpt::name()};

/// Calls f(rule) with a fresh rule of every kind, in the order of kRuleNames.
template <class F>
void for_each_rule(F&& f) {
  Rules rules;
  std::apply([&f](auto&... rule) { (f(rule), ...); }, rules);
}

}  // namespace mara
