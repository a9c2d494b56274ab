#!/bin/sh
# A program that embeds the actor compiles with nothing but the headers of mara and a C++20 compiler.
set -eu
root=${MARA_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
compiler=${CXX:-c++}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# No other include path is given; what the compiler finds by itself must not be used either.
echo '#include <mara/deploy/deploy.hpp>' >"$work/deploy.cpp"
"$compiler" -std=c++20 -Wall -Wextra -Wpedantic -Wconversion -Werror -I"$root/include" -M "$work/deploy.cpp" >"$work/reached"
if grep -Eo '[^ ]*/(Eigen|boost|xtensor|xtl|xsimd|nlohmann|CLI)/[^ ]*' "$work/reached"; then
  echo 'mara/deploy/deploy.hpp reaches a third-party header'
  exit 1
fi

# Timed for the record; machines differ, so nothing is judged.
begin=$(date +%s%N)
"$compiler" -std=c++20 -Wall -Wextra -Wpedantic -Wconversion -Werror -I"$root/include" -c "$work/deploy.cpp" -o "$work/deploy.o"
end=$(date +%s%N)
echo "$compiler compiles mara/deploy/deploy.hpp in $(((end - begin) / 1000000)) ms"

"$compiler" -std=c++20 -O1 -Wall -Wextra -Wpedantic -Wconversion -Werror -I"$root/include" "$root/examples/embed_actor.cpp" -o "$work/embed_actor"
if "$work/embed_actor" "$work/no-such-file" 2>"$work/error"; then
  echo 'embed_actor accepts a file that does not exist'
  exit 1
fi
grep -q 'no-such-file: no such file' "$work/error"
