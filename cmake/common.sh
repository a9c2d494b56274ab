# Read by the scripts beside it: where things are, and how to configure and build. POSIX sh.
# The caller has set root, the folder of the repository.

say() { echo "mara: $*"; }

cores() { getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1; }

# The file that a compiler name stands for, links resolved.
compiler_file() {
  compiler_path=$(command -v "${1##* }" 2>/dev/null) || return 0
  readlink -f "$compiler_path" 2>/dev/null || echo "$compiler_path"
}

cached() {  # variable, build folder
  sed -n "s/^$1:[A-Z]*=//p" "$2/CMakeCache.txt" 2>/dev/null || true
}

# choose_build PRESET: sets build, a folder that CXX and no other compiler builds in.
choose_build() {
  build=$root/build/$1
  [ -n "${CXX:-}" ] || return 0
  used=$(cached CMAKE_CXX_COMPILER "$build")
  if [ "$(compiler_file "$CXX")" != "$(compiler_file "${used:-c++}")" ]; then
    build=$build-$(basename "${CXX##* }")
  fi
}

# configure PRESET [options]: configures the folder build when the options are new to it.
configure() {
  preset=$1
  shift
  fresh=''
  home=$(cached CMAKE_HOME_DIRECTORY "$build")
  if [ -n "$home" ] && [ "$(cd "$home" 2>/dev/null && pwd -P)" != "$(cd "$root" && pwd -P)" ]; then
    fresh=--fresh  # the folder came along when the repository was copied or moved
  elif [ -f "$build/build.ninja" ] || [ -f "$build/Makefile" ]; then
    same=yes
    for option in "$@"; do
      name=${option#-D}
      [ "$(cached "${name%%=*}" "$build")" = "${option#*=}" ] || same=''
    done
    [ -z "$same" ] || return 0
  fi
  if [ -z "${CMAKE_GENERATOR:-}" ] && command -v ninja >/dev/null 2>&1; then
    CMAKE_GENERATOR=Ninja
    export CMAKE_GENERATOR
  fi
  # shellcheck disable=SC2086  # fresh is one word or none
  (cd "$root" && cmake $fresh --preset "$preset" -B "$build" "$@")
}
