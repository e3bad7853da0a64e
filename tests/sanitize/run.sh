#!/bin/bash
# run.sh SOURCE_DIR BUILD_DIR: builds the unit tests with sanitizers and runs them.
set -eu
source=$1 build=$2
cmake -S "$source" -B "$build" -G Ninja -DKGEN_SANITIZE=address,undefined > /dev/null
mapfile -t units < <(ninja -C "$build" -t targets all | sed -n 's/^\(unit_[a-z]*\): phony$/\1/p')
((${#units[@]})) || { echo "no unit tests to build"; exit 1; }
ninja -C "$build" -j "$(nproc)" "${units[@]}"
# LLVM's own archives are not instrumented, so its allocator's poisoning would be half of a protocol.
export ASAN_OPTIONS=allow_user_poisoning=0
export UBSAN_OPTIONS=print_stacktrace=1
cd "$source"
for unit in "${units[@]}"; do
  echo "== $unit"
  "$build/tests/$unit" --minimal
done
