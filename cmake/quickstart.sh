#!/bin/sh
# sh cmake/quickstart.sh [--trace FILE] [options of mara-lab compare]
# Installs what is missing, builds mara-lab and runs its main job: MARA learns to allocate a GPU cluster and is
# compared with the schedulers of the field. On a real trace when one is given by --trace or found in the folder
# that MARA_TRACES names, otherwise on the workload model that ships with the library.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
. "$here/common.sh"

trace='' format='' model='' out=mara-report json='' previous=''
for argument in "$@"; do
  case $argument in
  -h | --help)
    sed -n '2,5s/^# //p' "$0"
    echo "Options: 'build/release/bin/mara-lab compare --help' lists them, once built."
    exit 0
    ;;
  --trace=*) trace=${argument#*=} ;;
  --format=*) format=${argument#*=} ;;
  --model=*) model=${argument#*=} ;;
  --out=*) out=${argument#*=} ;;
  --json) json=yes ;;
  *)
    case $previous in
    --trace) trace=$argument ;;
    --format) format=$argument ;;
    --model) model=$argument ;;
    --out) out=$argument ;;
    esac
    ;;
  esac
  previous=$argument
done
case $previous in
--trace | --model | --out | --format)
  echo "mara: $previous needs a value" >&2
  exit 2
  ;;
esac
for option in "$@"; do
  case $option in
  --trace= | --model= | --out=)
    echo "mara: $option needs a value" >&2
    exit 2
    ;;
  esac
done
for file in "$trace" "$model"; do
  if [ -n "$file" ] && { [ ! -f "$file" ] || [ ! -r "$file" ]; }; then
    [ "$file" = "$trace" ] && option=--trace || option=--model
    echo "mara: $option $file: no such file, or not readable" >&2
    exit 2
  fi
done

# With --json standard output belongs to the result.
exec 3>&1
[ -z "$json" ] || exec 1>&2

found=${MARA_TRACES:+$MARA_TRACES/philly/muri_trace3.csv}
if [ -n "$trace" ]; then
  say "workload: the trace $trace"
elif [ -n "$model" ]; then
  say "workload: the model $model"
elif [ "${format:-muri}" = muri ] && [ -n "$found" ] && [ -f "$found" ]; then
  say "workload: the trace $found (MARA_TRACES)"
  set -- --trace "$found" "$@"
else
  say "workload: the model models/philly.json, fitted to the Philly trace (give a real trace with --trace FILE)"
  set -- --model "$root/models/philly.json" "$@"
fi

sh "$here/setup.sh" run
choose_build release
# A new build folder leaves out what the run does not need; one that has it keeps it.
if [ -f "$build/CMakeCache.txt" ]; then
  configure release -DMARA_BUILD_EXAMPLES=ON
else
  configure release -DMARA_BUILD_EXAMPLES=ON -DMARA_BUILD_TESTS=OFF -DMARA_BUILD_BENCHMARKS=OFF
fi
cmake --build "$build" --target mara-lab --parallel "$(cores)"

"$build/bin/mara-lab" compare "$@" >&3
case $out in
/*) ;;
*) out=$(pwd)/$out ;;
esac
say "report: $out/index.html"
