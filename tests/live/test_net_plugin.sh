#!/bin/sh
# SPDX-License-Identifier: MIT
# The library that NCCL asks for a network plugin is named in the trace, whether it is asked
# before the first traced call or after it; NCCL gets what it asks for.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

plugin=$programs/net_plugin.so
nccl=$top_builddir/tests/calls/doubles/libnccl.so.2
for when in first last; do
    run 0 "a plugin that is asked $when" "$ccltap" record -o "$work/$when" -- /usr/bin/python3 \
        "$top_srcdir/tests/live/programs/net_plugin.py" "$nccl" "$plugin" $when
    same "it answers" "10 none" "$(sort -u "$work/out")"
    "$ccltap" timeline --format jsonl "$work/$when" >"$work/jsonl"
    same "and is named, once" 1 "$(grep '"type":"library"' "$work/jsonl" | grep -c '"layer":"net"')"
    check "by its path" grep -q '"path":"[^"]*/net_plugin.so".*"layer":"net"' "$work/jsonl"
done
run 0 "a report has it" "$ccltap" report --net "$work/last"
check "as a network plugin" sh -c \
    "grep -A 1 \"^NCCL's network plugins\" '$work/out' | grep -q '/net_plugin.so\$'"
tap_done
