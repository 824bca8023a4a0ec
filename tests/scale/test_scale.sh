#!/bin/sh
# SPDX-License-Identifier: MIT
# Many hosts in one job, multiplied from a real run: 64 hosts of 4 ranks are joined in one call,
# which finds the faults that some have; hosts that are exported one by one have the links that the
# join of all has; and the memory for what never completes has a limit.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

multiply=$top_builddir/tests/scale/multiply
: "${CCLTAP_DUCKDB:=$(command -v duckdb || true)}"
CCLTAP_SQLDIR=$top_srcdir/share/ccltap/sql
export CCLTAP_DUCKDB CCLTAP_SQLDIR

if ! unshare --mount --uts true 2>/dev/null; then
    echo "1..0 # SKIP no namespace for a host name: run as root"
    exit 0
fi

# record_host FOLDER RANKS ROUNDS [OPTION]...: sets template. A ring, so that hosts send each other
# what the first rank and the last did. On a busy machine small buffers overrun: then once more.
record_host()
{
    folder=$1 ranks=$2 rounds=$3
    shift 3
    for try in 1 2 3 4 5; do
        status=0
        # shellcheck disable=SC2016 # for that shell
        env NCCL_ALGO=ring SOFTVERBS_FABRIC="scale.$$.$try" \
            unshare --mount --uts --fork sh -c '
            hostname node0000 && mount -t tmpfs none /var/run/lttng && exec "$@"' named \
            "$top_srcdir/scripts/daemon" "$ccltap" record --overwrite "$@" -o "$folder" -- env \
            LD_LIBRARY_PATH="$top_builddir/tests/doubles/verbs:$top_builddir/tests/doubles/cupti" \
            "$top_builddir/examples/allreduce" -n "$ranks" -i "$rounds" -c 10000 \
            >"$work/recorded" 2>&1 || status=$?
        if [ "$status" -ne 0 ] || grep -q ' 0 discarded' "$work/recorded"; then
            break
        fi
        echo "# $(tail -n 1 "$work/recorded")"
    done
    [ "$status" -eq 0 ] || sed 's/^/# /' "$work/recorded"
    same "$ranks ranks of a host are recorded" 0 "$status"
    template=$(dirname "$(find "$folder" -name metadata)")
}

# Many packets.
record_host "$work/one" 4 20 -b 64K

# The value of a key in the tables of a report, or how many there are.
asked() # PYTHON FILE
{
    python3 -c "import json, sys
r = json.load(open(sys.argv[1]))
print($1)" "$2"
}

# ---- Many hosts ----

many_hosts()
{
    # In one call.
    "$multiply" --seed=1 --skew=1000000000 --wrong=9 --failed=5 --cut=20 "$template" "$work/64" 64 |
        sed 's/^/# /'
    same "64 hosts are there" 64 "$(find "$work/64" -name metadata | wc -l)"
    status=0
    "$ccltap" why --json -o "$work/why" "$work/64" || status=$?
    same "why finds what is wrong with 64 hosts" 1 "$status"
    same "the rank with another count, and the one whose call failed" \
        "[('failed', [21]), ('mismatch', [37])]" "$(asked "sorted((f['kind'], f['ranks'])
            for f in r['findings'] if f['kind'] in ('mismatch', 'failed'))" "$work/why")"
    "$ccltap" check "$work/64" >"$work/check" || true
    same "the clocks of all hosts are known from messages" 63 \
        "$(grep -c '^clock: host .*(from messages)' "$work/check")"
    check "the host whose recording ends early is missed" \
        grep -q 'missing rank.* 80.* 83' "$work/check"

    # Each host by itself.

    "$multiply" --seed=2 --skew=1000000000 --wrong=2 --failed=1 --cut=3 --loss=50 "$template" \
        "$work/8" 8 | sed 's/^/# /'
    set --
    for one in "$work/8"/*; do
        set -- "$one" "$@"
    done
    status=0
    for jobs in 1 2 4; do
        "$ccltap" export --format csv --jobs $jobs -o "$work/jobs-$jobs" "$work/8" || status=1
        diff -r "$work/jobs-1" "$work/jobs-$jobs" || status=1
    done
    "$ccltap" export --format csv --jobs 3 -o "$work/jobs-turned" "$@" || status=1
    diff -r "$work/jobs-1" "$work/jobs-turned" || status=1
    ok $status "8 hosts have the same tables for 1, 2 and 4 processes, and in another order"

    if [ -n "$CCLTAP_DUCKDB" ]; then
        "$ccltap" export -o "$work/joined" "$work/8"
        "$ccltap" query --format csv links "$work/joined" | sort >"$work/links-joined"
        "$ccltap" query --format csv links "$work/jobs-1" | sort >"$work/links-alone"
        check "their links are those of the join of all" \
            diff "$work/links-joined" "$work/links-alone"
        between=$(awk -F, '$11 != $16 && $1 != "kind" && $11 != ""' "$work/links-joined" | wc -l)
        check "many of which are between hosts" test "$between" -gt 500
        echo "# $(($(wc -l <"$work/links-joined") - 1)) links, $between between hosts"
        "$ccltap" export --jobs 2 -o "$work/parquet" "$work/8"
        same "Parquet has as many rows" "$(cat "$work"/jobs-1/request/*/*.csv | grep -vc '^process,')" \
            "$("$ccltap" query --format csv --sql 'SELECT count(*) FROM request' "$work/parquet" |
                tail -n 1)"
        # A link that one side has lost is found to be missing.
        sed -i '0,/send-receive/{/send-receive/d}' "$work/jobs-1/link/host=node0001/part-0.csv"
        "$ccltap" query --format csv links "$work/jobs-1" | sort >"$work/links-alone"
        status=0
        cmp -s "$work/links-joined" "$work/links-alone" && status=1
        ok $status "one that is missing is found"
    else
        skip "no program duckdb" "the links of 8 hosts"
    fi
}

# Where LTTng has gaps between fields, as on aarch64, multiply does not know where they lie.
if grep -aq 'size = 32; align = 32;.*uint32_t' "$template/metadata"; then
    skip "LTTng aligns fields here" "64 hosts, and 8 each by itself"
else
    many_hosts
fi

# ---- What never completes ----

# Of a hundred requests one has no completion, of as many operations one has one rank alone, whose
# call does not return.
for rounds in 4000 20000; do
    python3 "$top_srcdir/tests/scale/unfinished.py" $rounds >"$work/events"
    "$top_builddir/tests/golden/convert" events "$work/events" ctf path="$work/never-$rounds" \
        assume-single-trace=yes quiet=yes
done
"$ccltap" check "$work/never-20000" >"$work/check" || true
check "what never completes is counted" grep -q 'completion-missing 398$' "$work/check"
for verb in report check why 'timeline --format jsonl'; do
    # shellcheck disable=SC2086 # several words
    short=$(python3 "$top_srcdir/tests/scale/memory.py" "$ccltap" $verb "$work/never-4000")
    # shellcheck disable=SC2086 # several words
    long=$(python3 "$top_srcdir/tests/scale/memory.py" "$ccltap" $verb "$work/never-20000")
    echo "# $verb: $short KiB, $long KiB"
    check "$verb has a limit of 64 MB" test "$long" -lt $((64 * 1024))
    check "$verb takes no more than 8 MB more for a trace of five times the length" \
        test "$long" -lt $((short + 8 * 1024))
done

# ---- As many as asked for ----

if [ -n "${SCALE_HOSTS-}" ] && [ -n "$CCLTAP_DUCKDB" ]; then
    record_host "$work/template" "${SCALE_RANKS-8}" "${SCALE_ROUNDS-200}"
    "$multiply" --seed=3 --skew=1000000000 --wrong=$((SCALE_HOSTS / 2)) --failed=0 \
        --cut=$((SCALE_HOSTS - 1)) "$template" "$work/many" "$SCALE_HOSTS" | sed 's/^/# /'
    du -sm "$work/many" | sed 's/^/# MB of CTF: /; s/\t.*//'
    begun=$(date +%s)
    check "$SCALE_HOSTS hosts are exported" \
        "$ccltap" export --jobs "$(nproc)" -o "$work/tables" "$work/many"
    echo "# in $(($(date +%s) - begun)) s; MB of Parquet: $(du -sm "$work/tables" | cut -f1)"
    begun=$(date +%s%N)
    memory=$(python3 "$top_srcdir/tests/scale/memory.py" \
        "$ccltap" query --format csv last-ranks "$work/tables")
    echo "# last-ranks: $((($(date +%s%N) - begun) / 1000000)) ms, $memory KiB"
    check "last-ranks has a limit of 2 GB" test "$memory" -lt $((2 * 1024 * 1024))
    same "every rank is in the tables" $((SCALE_HOSTS * ${SCALE_RANKS-8})) \
        "$("$ccltap" query --format csv --sql 'SELECT count(DISTINCT rank) FROM communicator' \
            "$work/tables" | tail -n 1)"
    same "mismatch has the rank that is wrong" 1 \
        "$("$ccltap" query --format csv mismatch "$work/tables" | cut -d, -f2- |
            grep -c ',size,.*,1,')"
fi

tap_done
