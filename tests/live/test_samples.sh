#!/bin/sh
# SPDX-License-Identifier: MIT
# Once a second the tracer samples what can be read without asking the program: the ports of
# its adapters, the thread that does not return from a call, and, on request, the GPU.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

port=$work/sysfs/soft0/ports/1
mkdir -p "$port/counters" "$port/hw_counters"
echo "4: ACTIVE" >"$port/state"
echo 7 >"$port/counters/link_downed"
echo 100 >"$port/hw_counters/packet_seq_err" # the sampler looks once which there are
echo "N/A (no PMA)" >"$port/counters/symbol_error"
doubles=$top_builddir/tests/doubles
SOFTVERBS_SYSFS=$work/sysfs
LD_LIBRARY_PATH=$doubles/verbs:$doubles/cuda:$doubles/nccl:$doubles/nvml
export SOFTVERBS_SYSFS

# recorded TRACE SOURCES [read]
recorded()
{
    recorded_to=$work/$1
    recorded_from=$2
    shift 2
    CCLTAP_SAMPLE=$recorded_from "$ccltap" record -o "$recorded_to" -- \
        env LD_LIBRARY_PATH="$LD_LIBRARY_PATH" "$programs/samples" "$port/hw_counters" "$@"
}

# lines TRACE: the samples as one JSON record in each line.
lines()
{
    "$ccltap" timeline --format jsonl "$work/$1" | grep '"type":"sample"' || true
}

run 0 "a program that waits for seconds" recorded all ports,threads,gpu read
same "it says what it says" ok "$(cat "$work/out")"
lines all >"$work/all.jsonl"
check "port, thread and GPU say what they count" \
    python3 "$top_srcdir/tests/live/expect/samples.py" "$work/all.jsonl"
check "the raw event has named fields" sh -c \
    "babeltrace2 '$work/all' 2>/dev/null | grep -q 'tap:sample: .*source = \"port\".*names = \"'"

run 0 "without GPUs, as is usual" recorded usual ""
lines usual >"$work/usual.jsonl"
same "nothing is sampled of them" 0 "$(grep -c '"source":"gpu"' "$work/usual.jsonl")"
check "but of the port" grep -q '"source":"port"' "$work/usual.jsonl"

run 0 "with nothing" recorded none none
same "nothing is sampled" 0 "$(lines none | wc -l)"

# While a counter is read, the program closes all descriptors and opens others under the same
# numbers: they stay its own.  Nothing comes out of this file until the test writes it.
mv "$port/hw_counters/packet_seq_err" "$work/counter"
mkfifo "$port/hw_counters/packet_seq_err"
exec 9<>"$port/hw_counters/packet_seq_err"
recorded closed ports close >"$work/closed.out" 2>&1 &
recorder=$!
check "somebody reads when all is closed" within 60 test -e "$port/hw_counters/replaced"
echo 412 >&9
sleep 0.5
: >"$port/hw_counters/end"
wait "$recorder" || true
same "no descriptor of the program's is damaged" "damaged: 0" "$(grep damaged "$work/closed.out")"
exec 9>&-
rm "$port/hw_counters/packet_seq_err"
mv "$work/counter" "$port/hw_counters/packet_seq_err"

# A rank's kernels do nothing any more: the other's proxy looks for messages in vain.
"$ccltap" record -o "$work/hang" -- env \
    MININCCL_DEAD_RANK=1 MININCCL_DEAD_OP=2 LD_LIBRARY_PATH="$LD_LIBRARY_PATH:$doubles/cupti" \
    SOFTVERBS_FABRIC="samples.$$" "$top_builddir/examples/allreduce" -n 2 -i 4 >"$work/out" 2>&1 &
recorder=$!
proxies()
{
    "$ccltap" timeline --format jsonl --overwrite -o "$work/hang.jsonl" "$work/hang" &&
        python3 "$top_srcdir/tests/live/expect/samples.py" --proxies "$work/hang.jsonl"
}
check "of a transfer that hangs the proxy says that it runs" within 60 proxies
children=$(cat "/proc/$recorder/task/$recorder/children")
for child in $children; do
    # The other one is the supervisor.
    [ "$(cat "/proc/$child/comm")" != allreduce ] || kill -KILL "$child"
done
status=0
wait "$recorder" || status=$?
same "it is killed" 137 "$status"

run 0 "a driver without NVML" env DOUBLE_NVML_FAILS=1 "$ccltap" record -o "$work/fails" -- \
    env CCLTAP_SAMPLE=gpu LD_LIBRARY_PATH="$LD_LIBRARY_PATH" "$programs/samples" \
    "$port/hw_counters"
check "a problem says so" sh -c "'$ccltap' timeline --format jsonl '$work/fails' |
    grep '\"what\":\"not sampled\"' | grep -q 'libnvidia-ml.so.1 cannot be used'"
tap_done
