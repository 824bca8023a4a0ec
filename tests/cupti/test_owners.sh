#!/bin/sh
# SPDX-License-Identifier: MIT
# One tool of a process can have CUPTI.  Who had it first keeps it, a program that turns to
# it has all its own records, and ours end, and come again once; the trace says all that.
set -eu
# shellcheck source=tests/cupti/cupti.inc.sh
. "${top_srcdir:?}/tests/cupti/cupti.inc.sh"

kernels() # WIDTH: how many of that many blocks were recorded
{
    grep -c " gpu:kernel: .* gridX = $1," "$work/events" || :
}

for release in $releases; do
    with "$release"
    library=$LD_LIBRARY_PATH/libcupti.so.$release
    alike "CUPTI $release, the program has it first" "$guests/profiler" "$library" first 0
    same "CUPTI $release, the program has it first: it has all" \
        "10 records, 0 of another kind, 10 calls" "$(head -n 1 "$work/out")"
    same "CUPTI $release, the program has it first: we have nothing, and say so" \
        "refused 0" "$(owners | sed 's/ .*//') $(kernels 1)"
    alike "CUPTI $release, the program comes to it" "$guests/profiler" "$library" later 1
    same "CUPTI $release, the program comes to it: it has all of its own" \
        "10 records, 0 of another kind, 10 calls" "$(head -n 1 "$work/out")"
    same "CUPTI $release, the program comes to it: we have what was before and after" \
        "10 0 10" "$(kernels 1) $(kernels 2) $(kernels 3)"
    same "CUPTI $release, the program comes to it: and say when" "taken,released,taken" \
        "$(owners | sed 's/ [^,]*//g')"
done
alike "linked to it" "$guests/profiler-linked" - later 1
same "linked to it: both have theirs" "10 0 10 10 records, 0 of another kind, 10 calls" \
    "$(kernels 1) $(kernels 2) $(kernels 3) $(head -n 1 "$work/out")"
alike "again and again" "$guests/profiler" "$library" later 3
same "again and again: it has all, each time" "10 20 30" \
    "$(sed -n 's/ records, 0 of another kind, .*//p' "$work/out" | xargs)"
same "again and again: ours come again once" "10 0 10 taken,released,taken,released" \
    "$(kernels 1) $(kernels 2) $(kernels 3) $(owners | sed 's/ [^,]*//g')"

# Tools that are there from the start, or come when we have let go.
DOUBLE_CUPTI_BUSY='Nsight Systems'
export DOUBLE_CUPTI_BUSY
for release in $releases; do
    with "$release"
    alike "CUPTI $release, a tool has it" "$guests/guest" ordinary
    same "CUPTI $release, a tool has it: it is named where that can be" "$(
        case $release in
        13) echo "refused Nsight Systems" ;;
        *) echo "refused" ;;
        esac) 0" "$(owners) $(kernels 1)"
    same "CUPTI $release, a tool has it: it is asked once" 1 \
        "$(grep -c ' refuse ' "$DOUBLE_CUPTI_LOG")"
done
DOUBLE_CUPTI_BUSY_RESULT=12
export DOUBLE_CUPTI_BUSY_RESULT
alike "as old releases said it" "$guests/guest" ordinary
same "as old releases said it: it is refused" refused "$(owners | sed 's/ .*//')"
unset DOUBLE_CUPTI_BUSY_RESULT
DOUBLE_CUPTI_BUSY_AFTER=2
export DOUBLE_CUPTI_BUSY_AFTER
alike "it is taken when we want it again" "$guests/profiler" "$library" later 1
same "it is taken when we want it again: then it stays so" "10 0 0 taken,released,refused" \
    "$(kernels 1) $(kernels 2) $(kernels 3) $(owners | sed 's/ [^,]*//g')"

tap_done
