#!/bin/sh
# sh cmake/bench.sh [--quick] [--output FILE]
# Installs what is missing, builds the benchmarks (preset bench) and runs all of them, one at a time, in this order:
#   limits       this core, and forward passes and training steps beside its limits
#   torch        the same networks in libtorch, where that is found
#   tape         what the tape costs over backpropagation written by hand
#   decision     quantiles of the time for one decision
#   ppo          PPO on the pendulum: steps a second, and what was learnt
#   platform     the node-level simulator and its rules; on real lists when MARA_TRACES is set
#   kernel, environment, update, simulation   with Google Benchmark
#   compile time of the headers
# Writes Markdown to benchmarks/results/<cpu>.md, with CXX set to <cpu>-<compiler>.md. A full run measures for some
# four minutes, --quick for half a minute: its numbers are rough. Nothing else should run meanwhile.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
. "$here/common.sh"

quick=''
output=''
while [ $# -gt 0 ]; do
  case $1 in
  --quick) quick=yes ;;
  --output)
    output=${2:?--output needs a file}
    shift
    ;;
  --output=*) output=${1#*=} ;;
  -h | --help)
    sed -n '2,14s/^# //p' "$0"
    exit 0
    ;;
  *)
    echo "usage: sh cmake/bench.sh [--quick] [--output FILE]" >&2
    exit 2
    ;;
  esac
  shift
done

sh "$here/setup.sh" bench
choose_build bench
# shellcheck disable=SC2086  # MARA_CMAKE_OPTIONS is a list
configure bench ${MARA_CMAKE_OPTIONS:-}
# shellcheck disable=SC2154  # build is set by choose_build
cmake --build "$build" --parallel "$(cores)"

# The processor's name, and what can stand in a file name of it.
cpu=$(sed -n 's/^model name[[:space:]]*:[[:space:]]*//p' /proc/cpuinfo 2>/dev/null | head -n 1)
[ -n "$cpu" ] || cpu=$(LC_ALL=C lscpu 2>/dev/null | sed -n 's/^Model name:[[:space:]]*//p' | head -n 1)
[ -n "$cpu" ] || cpu=$(sysctl -n machdep.cpu.brand_string 2>/dev/null || uname -m)
file_name=$(echo "$cpu" | sed 's/([RrTtMm]*)//g; s/ @.*//' | tr '[:upper:]' '[:lower:]' |
  sed 's/[^a-z0-9]\{1,\}/-/g; s/^-//; s/-$//')
[ -z "${CXX:-}" ] || file_name=$file_name-$(basename "${CXX##* }")
[ -n "$output" ] || output=$root/benchmarks/results/$file_name.md

compiler=$(cached CMAKE_CXX_COMPILER "$build")
flags=$(sed -n 's/^ *"command": "\(.*kernel_benchmark\.cpp\)",*$/\1/p' "$build/compile_commands.json" | head -n 1 |
  tr ' ' '\n' | grep -E '^-(O|m|f|std=|D(NDEBUG|MARA))' | tr '\n' ' ')
commit=$(git -C "$root" rev-parse --short HEAD 2>/dev/null || true)
[ -z "$commit" ] || git -C "$root" diff --quiet HEAD -- include benchmarks 2>/dev/null || commit="$commit and changes"
load=$(cut -d ' ' -f 1 /proc/loadavg 2>/dev/null || echo unknown)

if [ -n "$quick" ]; then
  rounds='--rounds 3 --quick'
  google='--benchmark_repetitions=3 --benchmark_min_time=0.005'
else
  rounds=''
  google='--benchmark_repetitions=7 --benchmark_min_time=0.05'
fi

mkdir -p "$(dirname "$output")"
partial=$(mktemp)
trap 'rm -f "$partial"' EXIT
{
  echo "# $cpu"
  echo
  echo "- compiler: $("$compiler" --version | head -n 1)"
  echo "- flags: \`${flags% }\`"
  echo "- date: $(date -u +%Y-%m-%d)${commit:+, commit $commit}"
  echo "- load of the machine before: $load${quick:+; a quick run, its numbers are rough}"
  echo
  echo 'Ratios hold from machine to machine better than times do. Written by cmake/bench.sh.'
  echo
} >"$partial"

for name in limits torch tape decision ppo platform; do
  program=$build/bin/${name}_benchmark
  if [ ! -x "$program" ]; then
    say "no ${name}_benchmark"
    continue
  fi
  say "${name}_benchmark"
  # shellcheck disable=SC2086  # options
  { echo "## $name" && echo && "$program" $rounds; } >>"$partial"
done
for name in kernel environment update simulation; do
  say "${name}_benchmark"
  # shellcheck disable=SC2086  # options
  { echo "## $name" && echo && "$build/bin/${name}_benchmark" --markdown $google \
    --benchmark_enable_random_interleaving=true --benchmark_report_aggregates_only=true; } >>"$partial"
done
say 'compile time'
# shellcheck disable=SC2046  # a list of options
{ echo '## compile time' && echo &&
  ROUNDS=${quick:+1} sh "$root/benchmarks/compile_time.sh" "$compiler" $(cat "$build/benchmarks/include_flags"); } \
  >>"$partial"

cp "$partial" "$output"
say "results: $output"
