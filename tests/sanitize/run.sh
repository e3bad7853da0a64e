#!/bin/bash
# run.sh SOURCE_DIR BUILD_DIR: builds the unit tests of the stages that read what users write with sanitizers, and runs
# them. The later stages see only what these have checked; what they emit has sanitizer runs of its own.
set -eu
source=$1 build=$2
cmake -S "$source" -B "$build" -G Ninja -DKGEN_SANITIZE=address,undefined > /dev/null
units=(unit_analysis unit_support unit_spec unit_body unit_ir) # the longest begins first
ninja -C "$build" -j "$(nproc)" "${units[@]}"
# LLVM's own archives are not instrumented, so its allocator's poisoning would be half of a protocol.
export ASAN_OPTIONS=allow_user_poisoning=0
export UBSAN_OPTIONS=print_stacktrace=1
cd "$source"
printf "$build/tests/%s\n" "${units[@]}" | xargs -P "$(nproc)" -I{} env {} --minimal
