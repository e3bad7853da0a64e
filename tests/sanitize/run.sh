#!/bin/bash
# run.sh SOURCE_DIR BUILD_DIR: builds kgen and the unit tests of the stages that read what users write with sanitizers,
# and runs them. What is emitted has sanitizer runs of its own.
set -eu
source=$1 build=$2
cmake -S "$source" -B "$build" -G Ninja -DKGEN_SANITIZE=address,undefined > /dev/null
units=(unit_analysis unit_support unit_spec unit_body unit_ir) # the longest begins first
ninja -C "$build" -j "$(nproc)" "${units[@]}" kgen
# LLVM's own archives are not instrumented, so its allocator's poisoning would be half of a protocol.
export ASAN_OPTIONS=allow_user_poisoning=0
export UBSAN_OPTIONS=print_stacktrace=1
cd "$source"
printf "$build/tests/%s\n" "${units[@]}" | xargs -P "$(nproc)" -I{} env {} --minimal

# All stages, from the specs of the conformance tests to their files.
emitted=$(mktemp -d)
trap 'rm -rf "$emitted"' EXIT
emit() { "$1/kgen" "${@:3}" -o "$2/$$" > "$2/$$.log" 2>&1 || { cat "$2/$$.log"; return 255; }; }
export -f emit
printf '%s\n' tests/conformance/specs/*.toml | xargs -P "$(nproc)" -n 16 bash -c 'emit "$@"' - "$build" "$emitted"
