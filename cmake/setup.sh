#!/bin/sh
# sh cmake/setup.sh [run|test|bench|all]: installs what is missing to run mara-lab (run), to build and run every test
# (test, the default), for the benchmarks (bench), or for all that continuous integration does (all). With apt-get on
# Debian and Ubuntu, as root or through sudo; elsewhere it says what to install and ends with 2. CXX is honoured. What
# is there already, from whatever source, is left alone. libtorch, which the benchmarks compare with, and COIN-OR Cbc,
# which solves the integer programs, are installed where there are packages and done without elsewhere.
set -eu

purpose=${1:-test}
case $purpose in
run | test | bench | all) ;;
*)
  echo "usage: sh cmake/setup.sh [run|test|bench|all]" >&2
  exit 2
  ;;
esac

missing=''   # for people
packages=''  # for apt-get
wanted=''    # packages that are good to have

lack() {  # what is missing, the Debian package that has it ('' when none has)
  missing="$missing
  $1"
  packages="$packages $2"
}

need_program() {  # program, package, what it is for
  command -v "$1" >/dev/null 2>&1 || lack "$1 ($3)" "$2"
}

have_header() {  # header
  old_ifs=$IFS
  IFS=':;'
  for root in ${CMAKE_PREFIX_PATH:-} /usr /usr/local /opt/homebrew /opt/local; do
    for folder in include include/eigen3; do
      if [ -f "$root/$folder/$1" ]; then
        IFS=$old_ifs
        return 0
      fi
    done
  done
  IFS=$old_ifs
  return 1
}

need_header() {  # header, package, library
  have_header "$1" || lack "$3 (header $1)" "$2"
}

need_compiler() {  # a value such as CXX has
  compiler=${1##* }  # the last word: a launcher may stand before it
  command -v "$compiler" >/dev/null 2>&1 && return 0
  case ${compiler##*/} in
  clang++-[0-9]*) lack "$compiler" "clang-${compiler##*-}" ;;
  clang++) lack "$compiler" clang ;;
  g++-[0-9]*) lack "$compiler" "${compiler##*/}" ;;
  g++ | c++) lack "$compiler (a C++20 compiler)" g++ ;;
  *) lack "$compiler (named by CXX)" '' ;;
  esac
}

need_compiler "${CXX:-c++}"
need_program cmake cmake 'CMake 3.25 or newer'
if ! command -v ninja >/dev/null 2>&1 && ! command -v make >/dev/null 2>&1; then
  lack 'ninja or make' ninja-build
fi
need_header Eigen/Core libeigen3-dev 'Eigen 3'
need_header xtensor/xarray.hpp libxtensor-dev xtensor
need_header boost/hana.hpp libboost-dev 'Boost.Hana'
need_header nlohmann/json.hpp nlohmann-json3-dev 'nlohmann JSON'
if [ "$purpose" != bench ]; then
  need_header CLI/CLI.hpp libcli11-dev CLI11
  need_header zlib.h zlib1g-dev zlib
  need_program gnuplot gnuplot-nox 'draws the figures of a report'
fi
case $purpose in
test | all)
  have_header coin/Cbc_C_Interface.h || have_header coin-or/Cbc_C_Interface.h || wanted="$wanted coinor-libcbc-dev"
  have_header coin/Clp_C_Interface.h || have_header coin-or/Clp_C_Interface.h || wanted="$wanted coinor-libclp-dev"
  have_header catch2/catch.hpp || have_header catch2/catch_all.hpp || lack 'Catch2, 2.13 or 3' catch2
  ;;
esac
if [ "$purpose" != run ]; then
  need_header benchmark/benchmark.h libbenchmark-dev 'Google Benchmark'
fi
if [ "$purpose" = bench ]; then
  have_header torch/script.h || wanted="$wanted libtorch-dev"
  # The BLAS that comes with Debian's libtorch is the slow reference.
  ls /usr/lib/*/libopenblas.so.0 >/dev/null 2>&1 || wanted="$wanted libopenblas0-pthread"
fi
if [ "$purpose" = all ]; then
  need_compiler clang++-14
  need_program clang-format-14 clang-format-14 'format check'
fi

distribution=''
if [ -r /etc/os-release ]; then
  distribution=$(. /etc/os-release && echo "${ID:-} ${ID_LIKE:-}")
fi
by_hand=''
case " $distribution " in
*" debian "* | *" ubuntu "*) command -v apt-get >/dev/null 2>&1 || by_hand=yes ;;
*) by_hand=yes ;;
esac
case $missing in
*'(named by CXX)'*) by_hand=yes ;;
esac
sudo=''
if [ -z "$by_hand" ] && [ "$(id -u)" != 0 ]; then
  if command -v sudo >/dev/null 2>&1; then sudo=sudo; else by_hand=root; fi
fi

install_packages() {  # packages; what apt-get says when it fails is in the file $log
  echo "mara: installing $*"
  { $sudo apt-get update &&
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"; } \
    >"$log" 2>&1 </dev/null
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if [ -n "$missing" ]; then
  if [ "$by_hand" = root ]; then
    echo "mara: missing:$missing" >&2
    echo "As root: apt-get update && apt-get install -y --no-install-recommends$packages" >&2
    exit 2
  elif [ -n "$by_hand" ]; then
    echo "mara: missing, please install:$missing" >&2
    [ -z "${packages# }" ] || echo "On Debian and Ubuntu these are the packages:$packages" >&2
    exit 2
  fi
  # shellcheck disable=SC2086  # a list of packages
  if ! install_packages $packages; then
    tail -n 20 "$log" >&2
    echo "mara: apt-get could not install$packages" >&2
    exit 2
  fi
fi
if [ -n "$wanted" ]; then
  # shellcheck disable=SC2086  # a list of packages
  if [ -n "$by_hand" ] || ! install_packages $wanted; then
    echo "mara: done without$wanted (a fair comparison with libtorch, or integer programs)" >&2
  fi
fi

version=$(cmake --version | sed -n '1s/[^0-9]*\([0-9]*\.[0-9]*\).*/\1/p')
if [ "${version%.*}" -lt 3 ] || { [ "${version%.*}" -eq 3 ] && [ "${version#*.}" -lt 25 ]; }; then
  echo "mara: CMake 3.25 or newer is needed, $(command -v cmake) is $version" >&2
  exit 2
fi
