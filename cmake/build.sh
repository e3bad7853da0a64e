#!/bin/bash
# build.sh BUILD_DIR kgen|all: installs missing packages, configures where needed, and builds, with ninja's progress on
# stderr. `kgen` builds the program alone, `all` the tests too. Leaves BUILD_DIR/.stamp, as old as the sources it built.
set -u
build=$1 target=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
mkdir -p "$build" && build=$(cd "$build" && pwd) || exit 1

# One build at a time; whoever waited finds the work done.
exec 9> "$build/.lock" && { flock -n 9 || { echo "kgen: waiting for another build in $build" >&2; flock 9; }; }

kinds=(build) tests=OFF
[[ $target == all ]] && kinds=(build test) tests=ON
"$root/cmake/install_packages.sh" "${kinds[@]}" || exit 1

touch "$build/.stamp.new" # before the build: a source edited meanwhile is newer
cached() { grep -qsx "$1" "$build/CMakeCache.txt"; }
configure() {
  echo "kgen: configuring $build" >&2
  local fresh=()
  cached "CMAKE_HOME_DIRECTORY:INTERNAL=$root" || fresh=(--fresh) # a tree that was moved
  cmake -S "$root" -B "$build" -G Ninja -DKGEN_TESTS=$tests "${fresh[@]}" > "$build/configure.log" 2>&1 ||
    { cat "$build/configure.log" >&2; return 1; }
}
# A build folder with tests serves both; only one without has to be configured again for them.
if [[ ! -e $build/build.ninja ]] || ! cached "CMAKE_HOME_DIRECTORY:INTERNAL=$root" ||
  [[ $tests == ON ]] && ! cached "KGEN_TESTS:BOOL=ON"; then
  configure || exit 1
fi

export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1 # objects of one clone serve another
echo "kgen: building in $build" >&2
ninja -C "$build" -j "$(nproc)" "$target" >&2 || exit 1
mv "$build/.stamp.new" "$build/.stamp"
