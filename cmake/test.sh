#!/bin/sh
# sh cmake/test.sh [--preset NAME] [--unit] [--light] [options of ctest]
# Installs what is missing, builds everything and runs every test. The last line counts them; the exit code is 0
# when none failed. --preset: release (default), or dev for the sanitizers. --unit: only the unit tests and those on
# real traces, and only what they need is built. --light: for one more compiler; benchmarks are compiled and not run,
# mara-lab and the examples are optimised less.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
. "$here/common.sh"

preset=release
target=all
light=OFF
while [ $# -gt 0 ]; do
  case $1 in
  --preset)
    preset=${2:?--preset needs a name}
    shift 2
    ;;
  --unit)
    target=mara_unit_tests
    shift
    ;;
  --light)
    light=ON
    shift
    ;;
  *) break ;;
  esac
done
[ "$target" = all ] || set -- --label-regex '^(unit|trace)$' "$@"

sh "$here/setup.sh" test
choose_build "$preset"
benchmarks=ON
[ "$preset" != dev ] || benchmarks=OFF
# shellcheck disable=SC2086  # MARA_CMAKE_OPTIONS is a list
configure "$preset" -DMARA_BUILD_TESTS=ON -DMARA_BUILD_EXAMPLES=ON "-DMARA_BUILD_BENCHMARKS=$benchmarks" \
  "-DMARA_LIGHT=$light" \
  ${MARA_CMAKE_OPTIONS:-}
cmake --build "$build" --target "$target" --parallel "$(cores)"

results=$build/test-results.xml
rm -f "$results"
status=0
ctest --test-dir "$build" --output-on-failure --parallel "$(cores)" --output-junit "$results" "$@" || status=$?

if [ ! -f "$results" ]; then
  say 'ctest did not finish' >&2
  exit 1
fi
# The line of the whole run: <testsuite ... tests="9" failures="1" disabled="0" skipped="2" ...
count() { sed -n "s/^.*[[:space:]]$1=\"\([0-9]*\)\".*$/\1/p" "$results" | head -n 1; }
tests=$(count tests)
failed=$(count failures)
skipped=$(($(count skipped) + $(count disabled)))
echo "$((tests - failed - skipped)) passed, $failed failed, $skipped skipped"
if [ "$tests" = 0 ]; then
  say 'no test ran' >&2
  exit 1
fi
exit "$status"
