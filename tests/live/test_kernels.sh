#!/bin/sh
# SPDX-License-Identifier: MIT
# What a NCCL tells its kernels is recorded right before their launches, for the releases
# whose layout is known, and for no kernel of anybody else.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

# The channels of each launch, - where nothing is told: the event before it, of its call.
channels()
{
    "${BABELTRACE2:-babeltrace2}" "$1" | sed -nE \
        's/.* cuda:(nccl_args|cuLaunchKernelEx): .*[{ ]call_id = ([0-9]+),(.* channel_mask = 0x([0-9A-Fa-f]+),)?.*/\1 \2 \4/p' |
        awk '$1 == "nccl_args" { before = $2; mask = $3; next }
             { n = 0
               if (before == $2)
                   for (i = 1; i <= length(mask); i++)
                       n += substr("0112122312232334", index("0123456789ABCDEF", toupper(substr(mask, i, 1))), 1)
               print n ? n : "-"
               before = "" }'
}

for version in 22809 23203 22105 21801 21706 23300; do
    KERNELS_VERSION=$version
    export KERNELS_VERSION
    run 0 "$version: a program that launches is recorded" \
        "$ccltap" record -o "$work/$version" -- "$programs/kernels" "$programs/kernels-cuda.so" "$programs/kernels-nccl.so"
    cp "$work/out" "$work/expected"
    [ "$version" != 22809 ] || same "$version: three launches with a buffer are told of" 3 \
        "$(grep -c '[0-9]' "$work/expected")"
    [ "$version" != 22105 ] || same "$version: two launches with parameters are told of" 2 \
        "$(grep -c '[0-9]' "$work/expected")"
    same "$version: each launch has what it was given" "$(cat "$work/expected")" \
        "$(channels "$work/$version")"
done

"${BABELTRACE2:-babeltrace2}" "$work/22809" >"$work/text"
check "its fields are NCCL's" grep -Eq 'cuda:nccl_args: .*comm = 0x7F00DEADBEEF, channel_mask = 0xFFFFFF, version = 22809, args_bytes = 416, nr_batches = 24, work_storage = 0, complete = 1, nr_functions = 1, func_id = \[ \[0\] = 260 \], work_type = \[ \[0\] = 1 \]' "$work/text"
check "a buffer that is too short is said to be" \
    grep -Eq 'cuda:nccl_args: .* args_bytes = 112, nr_batches = 5, work_storage = 0, complete = 0' "$work/text"
"${BABELTRACE2:-babeltrace2}" "$work/21801" >"$work/text"
check "of parameters the communicator and the channels are told" \
    grep -Eq 'cuda:nccl_args: .*comm = 0x7F00DEADBEEF, channel_mask = 0x7, version = 21801, args_bytes = 0, nr_batches = 0, work_storage = 0, complete = 0, nr_functions = 0, func_id = \[ \], work_type = \[ \]' "$work/text"
tap_done
