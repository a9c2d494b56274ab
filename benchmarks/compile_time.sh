#!/bin/sh
# sh benchmarks/compile_time.sh COMPILER [options...]: how long a program waits for mara's headers. Prints a Markdown
# table: user seconds of COMPILER -std=c++20 -O3 -c for a source that includes one header and nothing else, median of 3
# (ROUNDS). The options say where headers are.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Writes the user seconds that the children of this shell have taken so far to a file: not for $(...), which is a shell
# of its own. times says "0m1.230s 0m0.100s": first for the shell, then for its children.
children_to() {
  times >"$folder/times"
  sed -n '2s/^\([0-9]*\)m\([0-9.]*\)s.*/\1 \2/p' "$folder/times" | awk '{printf "%.3f\n", 60 * $1 + $2}' >"$1"
}

echo '**Compile time, user seconds**'
echo
echo '| source | seconds |'
echo '| --- | ---: |'
for header in mara/deploy/deploy.hpp mara/mara.hpp; do
  echo "#include \"$header\"" >"$folder/source.cpp"
  : >"$folder/seconds"
  round=0
  while [ $round -lt "${ROUNDS:-3}" ]; do
    round=$((round + 1))
    children_to "$folder/before"
    "$@" -std=c++20 -O3 -c "$folder/source.cpp" -o "$folder/source.o"
    children_to "$folder/after"
    paste "$folder/before" "$folder/after" | awk '{printf "%.2f\n", $2 - $1}' >>"$folder/seconds"
  done
  median=$(sort -n "$folder/seconds" | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}')
  echo "| \`#include \"$header\"\` | $median |"
done
echo
