#!/bin/sh
# SPDX-License-Identifier: MIT
# What a program does with its collective library is told as it is: of one that waits inside
# groups, polls, moves little at a time and destroys nothing, and of one that does not; with the
# variables that steer NCCL, and no secret of theirs.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

audited() # KIND STATUS: what is told of the program, into $work/KIND.told
{
    run 0 "$1: the program is recorded" "$ccltap" record --gpu=off -o "$work/$1" -- \
        env NCCL_IB_DISABLE=1 CUDA_VISIBLE_DEVICES=0,1 "$programs/misuses" "$1"
    run "$2" "$1: it is audited" "$ccltap" audit --json -o "$work/$1.json" "$work/$1"
    run "$2" "$1: in one screen, too" "$ccltap" audit "$work/$1"
    /usr/bin/python3 "$top_srcdir/tests/live/expect/audit.py" "$work/$1.json" >"$work/$1.told"
}

audited bad 1
check "bad: the screen has 24 lines" test "$(wc -l <"$work/out")" -le 24
cat >"$work/bad.expected" <<'END'
verdict found
left_behind warning never-destroyed exact 0,1 2 communicator handles of ranks 0, 1 were never destroyed
left_behind warning never-destroyed exact 0,1 2 registered buffers of ranks 0, 1 were never destroyed
left_behind warning never-destroyed exact 0,1 2 ncclMemAlloc buffers of ranks 0, 1 were never destroyed
waits warning wait-in-group exact 0,1 cuStreamSynchronize waits inside groups that begin at misuses+SITE, whose operations begin only at the end: ranks 0, 1, up to 3 times
waits warning blocking-copy exact 0,1 cuMemcpyDtoH_v2 blocks the host after the first operation: ranks 0, 1, up to 20 times
polling warning busy-polling exact 0,1 ncclCommGetAsyncError at misuses+SITE is polled without a pause: ranks 0, 1, up to MANY times in a row
sizes warning small-and-many exact 0,1 ncclAllReduce at misuses+SITE moves 8 KiB or less, outside of any group: ranks 0, 1, up to 300 times
environment warning differs exact 0,1 NCCL_NTHREADS is not the same in all processes: 256 of rank 1, 512 of rank 0
environment note costly exact 0,1 NCCL_IB_DISABLE=1 of ranks 0, 1: NCCL uses no RDMA
buffers note some-unregistered exact - COMM: 606 of 614 operations use a buffer that is not registered, though others are
END
check "bad: what there is to mend, and nothing else" diff "$work/bad.expected" "$work/bad.told"

# The value before the communicator was made is not the last one.
babeltrace2 "$work/bad" >"$work/events"
check "each rank tells what it has set" test \
    "$(grep -c 'tap:environment: .*name = "NCCL_NTHREADS", value = "\(256\|512\)"' "$work/events")" -eq 2
check "and each what it has set before another communicator" test \
    "$(grep -c 'tap:environment: .*name = "NCCL_LATER", value = "yes"' "$work/events")" -eq 2
check "a long value is cut" test "$(grep -c \
    'name = "NCCL_LONG", value = "x\{255\}", cut = 1, withheld = 0' "$work/events")" -eq 2
# babeltrace2 2.0 shows an earlier value where one is empty.
check "a secret is not in the trace" test "$(grep -c \
    'name = "NCCL_TEST_TOKEN", value = "[^"]*", cut = 0, withheld = 1' "$work/events")" -eq 2
check "nowhere" sh -c "! grep -rqa hush '$work/bad'"
check "what was set from the start is told once" test "$(grep -c \
    'tap:environment: .*name = "NCCL_IB_DISABLE", value = "1"' "$work/events")" -eq 2

audited clean 0
cat >"$work/clean.expected" <<'END'
verdict clear
environment note costly exact 0,1 NCCL_IB_DISABLE=1 of ranks 0, 1: NCCL uses no RDMA
END
check "clean: there is nothing to mend" diff "$work/clean.expected" "$work/clean.told"

tap_done
