#!/bin/sh
# SPDX-License-Identifier: MIT
# record --metrics counts exactly what programs post and poll, without a trace and with one; it
# times one request in 61, and a process that is only counted has nothing of LTTng.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

soft=$top_builddir/tests/doubles/verbs
if [ ! -e "$soft/libibverbs.so.1" ]; then
    echo "1..0 # SKIP softverbs is not built"
    exit 0
fi
program=$top_builddir/tests/verbs/programs/metered
file=$work/job.prom
port=$work/sysfs/soft0/ports/1
mkdir -p "$port/counters" "$port/hw_counters"
echo 250 >"$port/counters/port_xmit_data"
echo 12 >"$port/counters/port_rcv_data"
echo 3 >"$port/hw_counters/local_ack_timeout_err"
CCLTAP_SYSFS=$work/sysfs
export CCLTAP_SYSFS
recorder=
trap 'touch "$work"/*/go 2>/dev/null || true
    rm -rf "$work"' EXIT

# counted FOLDER RECORD-OPTION... -- ARGUMENT...: begins the program.
counted()
{
    folder=$work/$1
    shift
    mkdir "$folder"
    options=
    while [ "$1" != -- ]; do
        options="$options $1"
        shift
    done
    shift
    # shellcheck disable=SC2086 # several options
    "$ccltap" record $options --metrics="$file" -- env LD_LIBRARY_PATH="$soft" \
        SOFTVERBS_FABRIC="metered.$$" "$program" "$folder" "$@" 2>"$work/err" &
    recorder=$!
}

metered_py()
{
    /usr/bin/python3 "$top_srcdir/tests/verbs/expect/metered.py" "$@"
}

ended() # FOLDER
{
    touch "$work/$1/go"
    status=0
    wait "$recorder" || status=$?
    same "it ends well" 0 "$status"
}

counted alone --layers none --
check "a program is counted alone" within 60 test -s "$work/alone/at"
check "the metrics are what it did" within 20 metered_py "$file" "$work/alone/truth"
pid=$(cat "$work/alone/at")
same "it has no library of LTTng's" 0 "$(grep -c lttng "/proc/$pid/maps")"
same "its counters are one mapping" 1 "$(grep -c memfd:ccltap-metrics "/proc/$pid/maps")"
same "no descriptor is open for them" 0 \
    "$(find "/proc/$pid/fd" -lname '*ccltap-metrics*' | wc -l)"
if command -v promtool >/dev/null; then
    cp "$file" "$work/copy"
    check "promtool has nothing to say" sh -c "said=\$(promtool check metrics <'$work/copy' 2>&1) &&
        test -z \"\$said\""
else
    skip "promtool is not installed" "promtool has nothing to say"
fi
value() # METRIC AND LABELS
{
    sed -n "s/^ccltap_rdma_port_$1 //p" "$file"
}
check "the port's counters are read" within 20 grep -q '^ccltap_rdma_port_events_total{' "$file"
labels="host=\"$host\",recording=\"job\",device=\"soft0\",port=\"1\""
same "the port's bytes are its words" "1000 48" \
    "$(value "sent_bytes_total{$labels}") $(value "received_bytes_total{$labels}")"
same "and so are its events" 3 \
    "$(value "events_total{$labels,event=\"local_ack_timeout_err\"}")"
ended alone

# The first queue pair has its second request timed, and each 61st from there on.
counted some --layers none -- 500
check "requests one after the other" within 60 test -s "$work/some/at"
check "so many are timed" within 20 metered_py "$file" "$work/some/truth" 9
ended some

# A program that never calls NCCL is recorded from outside.
counted late --layers none -o "$work/late.trace" -- 1
check "a program of queues alone is counted" within 60 test -s "$work/late/at"
check "it is to be recorded" "$ccltap" start "$file"
touch "$work/late/more"
attached() { "$ccltap" status "$file" | grep -q 'recorded: 1 of 1 processes$'; }
check "it learns that when it makes a queue" within 60 attached
touch "$work/late/more"
taken() { [ ! -e "$work/late/more" ]; }
check "it posts to another one" within 60 taken
ended late
"$ccltap" timeline --format jsonl "$work/late.trace" >"$work/jsonl" || true
check "its posts are in the trace" grep -q RDMA_WRITE "$work/jsonl"

# A child whose contexts are its parent's makes its queues before any call that has counters.
counted child --layers none -- child
check "a child has a device from its parent" within 60 test -s "$work/child/at"
posted() { grep -q '^ccltap_rdma_posts_total{.*queue="receive".*} 50$' "$file"; }
check "its queue is counted" within 20 posted
ended child

counted both -o "$work/trace" --
check "a program is recorded and counted" within 60 test -s "$work/both/at"
check "the metrics are what it did" within 20 metered_py "$file" "$work/both/truth"
ended both

# The bundled program, whose double of NCCL writes down each message: its receiver posts a receive
# and says by a write of its own that it may come.
doubles=$top_builddir/tests/doubles
mkdir "$work/truth"
run 0 "the bundled program" "$ccltap" record --layers none --metrics="$file" -- env \
    LD_LIBRARY_PATH="$soft:$doubles/cuda:$doubles/nccl" SOFTVERBS_FABRIC="bundled.$$" \
    MININCCL_TRUTH="$work/truth" sh -c "'$top_builddir/examples/allreduce' -n 2 -i 20 -c 100000 &&
        sleep 6 && cp '$file' '$work/copy'"
check "its queues' counters are its messages" /usr/bin/python3 - "$work/copy" "$work/truth" <<'END'
import collections, glob, json, re, sys
seen = collections.Counter()
for line in open(sys.argv[1], encoding="utf-8"):
    match = re.match(r'ccltap_(rdma|nccl)_(\w+)\{.*?(?:queue="(\w+)")?\} ([0-9.]+)$', line)
    if match:
        seen[match[2], match[3]] += float(match[4])
messages = [record for path in glob.glob(sys.argv[2] + "/*.jsonl")
            for record in map(json.loads, open(path, encoding="utf-8"))
            if record["record"] == "message"]
to, by = ([m["bytes"] for m in messages if m["direction"] == way] for way in ("recv", "send"))
assert len(to) == len(by) > 50
assert seen["posts_total", "send"] == len(by) + len(to), seen
assert seen["posts_total", "receive"] == seen["completions_total", "receive"] == len(to), seen
assert seen["bytes_total", "receive"] == sum(to), seen
assert sum(by) <= seen["bytes_total", "send"] <= sum(by) + 4096 * len(to), seen
assert 0 < seen["completion_seconds_count", None] < len(messages) / 61 + 8, seen
# Its two proxies have ended.
assert seen["proxy_threads_awake", None] == seen["proxy_threads_asleep", None] == 0, seen
END

# While a recording has events of the GPU, NCCL's kernels are added up.
mkdir "$work/launched"
run 0 "the bundled program, recorded with its kernels" "$ccltap" record -o "$work/kernels" \
    --metrics="$file" -- env LD_LIBRARY_PATH="$soft:$doubles/cuda:$doubles/nccl:$doubles/cupti" \
    SOFTVERBS_FABRIC="kernels.$$" MININCCL_TRUTH="$work/launched" \
    sh -c "'$top_builddir/examples/allreduce' -n 2 -i 20 -c 1000 && sleep 6 && cp '$file' '$work/copy'"
same "each kernel of NCCL's counts" "$(cat "$work/launched"/* | grep -c '"record":"launch"')" \
    "$(sed -n 's/^ccltap_nccl_kernels_total{.*} //p' "$work/copy")"
check "and has a time" grep -q '^ccltap_nccl_kernel_seconds_total{.*} [0-9.]*[1-9]' "$work/copy"

# A rank's kernels do nothing any more: the other's proxy looks for messages in vain.
"$ccltap" record --layers none --metrics="$file" -- env MININCCL_DEAD_RANK=1 MININCCL_DEAD_OP=2 \
    LD_LIBRARY_PATH="$soft:$doubles/cuda:$doubles/nccl" SOFTVERBS_FABRIC="dead.$$" \
    "$top_builddir/examples/allreduce" -n 2 -i 4 >/dev/null 2>&1 &
recorder=$!
looks_in_vain()
{
    grep -q '^ccltap_nccl_proxy_threads_awake{.*} [1-9]' "$file" &&
        grep -q '^ccltap_nccl_proxy_idle_turns_total{.*} [1-9][0-9][0-9]' "$file"
}
check "a proxy is seen awake that has nothing to do" within 60 looks_in_vain
children=$(cat "/proc/$recorder/task/$recorder/children")
for child in $children; do
    # The other one is the supervisor.
    [ "$(cat "/proc/$child/comm")" != allreduce ] || kill -KILL "$child"
done
wait "$recorder" 2>/dev/null || true
tap_done
