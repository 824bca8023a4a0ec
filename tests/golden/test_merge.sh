#!/bin/sh
# SPDX-License-Identifier: MIT
# `ccltap timeline --format json --merge`: files of PyTorch's profiler come on the same clock, below
# the same ranks, with all that they say; what is not known of them is said, and one that is
# damaged is refused before anything is written.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

traces=$top_srcdir/tests/golden/traces
convert=${top_builddir:?}/tests/golden/convert
CCLTAP_LIBDIR=$top_builddir/.libs
export CCLTAP_LIBDIR
work=merge.$$
mkdir "$work"
trap 'rm -rf "$work"' EXIT

merge()
{
    python3 -B "$top_srcdir/tests/golden/merge.py" "$@"
}
ccltap()
{
    "$top_builddir/ccltap" "$@"
}
# merged OUTPUT FILE...: why-late with these; what is said about them is in $work/said
merged()
{
    output=$work/$1
    shift
    options=
    for file; do
        options="$options --merge $work/$file"
    done
    # shellcheck disable=SC2086 # several words
    ccltap timeline -f json -o "$output" $options "$work/late" 2>"$work/said"
}
said() # SENTENCE WORDS
{
    check "$1" grep -q -e "$2" "$work/said"
    grep -q -e "$2" "$work/said" || sed 's/^/# /' "$work/said"
}
compare() # OUTPUT FILE=PROCESS...
{
    name=$1
    shift
    merge check "$work/$name" "$work/plain.json" "$work/own.json" "$@" >"$work/tap" ||
        echo "not ok - $name is read" >>"$work/tap"
    passed_on "$work/tap"
}

merge make "$work"
"$convert" events "$traces/why-late.events" ctf path="$work/late" quiet=yes
ccltap timeline -f json -o "$work/plain.json" "$work/late"
ccltap timeline -f jsonl -o "$work/own.jsonl" "$work/late"
ccltap why --json -o "$work/own.why" "$work/late" || true
rank() # RANK PID
{
    echo "rank $1 (pid $2) on alpha"
}

# ---- Of which rank, and since when ----

check "files of two ranks are merged, one of them compressed" merged two.json rank0.json rank2.json.gz
said "the rank is known" "rank0.json: 12 events; rank 0 as its distributedInfo says$"
said "and that of the other" "rank2.json.gz: 12 events; rank 2 as its distributedInfo says$"
compare two.json "$work/rank0.json=$(rank 0 10)" "$work/rank2.json.gz=$(rank 2 30)"
python3 -B "$top_srcdir/tests/lib/trace_event_check.py" "$work/own" >"$work/tap" ||
    echo "not ok - our own events are compared with jsonl" >>"$work/tap"
passed_on "$work/tap"
check "what is said stands in the trace, too" grep -q "rank0.json: 12 events; rank 0 as" "$work/two.json"

check "a file without a rank is merged" merged pid.json.out pid.json
said "its process is known by its pid" "pid.json: 12 events; rank 1, whose pid it has$"
compare pid.json.out "$work/pid.json=$(rank 1 20)"
check "a file of which nothing is known is merged" merged unknown.json.out unknown.json
said "its rank is not known" "their rank is not known: the file has no distributedInfo, and no process"
compare unknown.json.out "$work/unknown.json=PyTorch, rank not known: unknown.json"
check "a file of a rank that is not there is merged" merged absent.json.out absent.json
said "it is said that the recording lacks it" "the recording has no rank 6$"
compare absent.json.out "$work/absent.json=PyTorch, rank 6: absent.json"
check "a file from another pid namespace is merged" merged namespace.json.out namespace.json
said "its rank counts" "rank 3 as its distributedInfo says, though not with the pid of the recording$"
compare namespace.json.out "$work/namespace.json=$(rank 3 40)"
check "a file whose rank is a text is merged" merged text.json.out text-rank.json
said "a number in it counts" "text-rank.json: 12 events; rank 1 as its distributedInfo says$"
for word in words later; do
    check "a file whose rank is no number is merged" merged $word.json.out $word-rank.json
    said "its process is known by its pid" "$word-rank.json: 12 events; rank 1, whose pid it has$"
done
check "a file with times since 1970 and no base is merged" merged since.json since1970.json
said "it is said how its times are taken" "without baseTimeNanoseconds, its times are taken as microseconds since 1970"
said "and that it is of another time" "none is at a time of the recording: is it of another run?"
compare since.json "$work/since1970.json=$(rank 0 10)"
check "a file that is an array is merged" merged array.json.out array.json
compare array.json.out "$work/array.json=$(rank 0 10)"
check "a base behind the events counts" merged late-base.json.out late-base.json
compare late-base.json.out "$work/late-base.json=$(rank 0 10)"
check "what JSON cannot have is merged" merged nan.json.out nan.json
check "as a text" grep -q '"scale":"NaN"' "$work/nan.json.out"
check "and read by a strict reader" python3 -c '
import json, sys
json.load(open(sys.argv[1]), parse_constant=lambda name: sys.exit(name))' "$work/nan.json.out"
check "json.gz is merged, too" ccltap timeline -f json.gz -o "$work/two.json.gz" --merge "$work/rank0.json" \
    --merge "$work/rank2.json.gz" "$work/late"
check "with the same content" sh -c "gunzip -c '$work/two.json.gz' | cmp - '$work/two.json'"

# The comparison would notice.
noticed() # SED-SCRIPT
{
    sed "$1" "$work/two.json" >"$work/spoilt.json"
    ! cmp -s "$work/two.json" "$work/spoilt.json" &&
        merge check "$work/spoilt.json" "$work/plain.json" "$work/spoilt.own" "$work/rank0.json=$(rank 0 10)" \
            "$work/rank2.json.gz=$(rank 2 30)" | grep -q '^not ok'
}
check "another time is found" noticed '0,/autograd/{/autograd/s/\("ts":[0-9]*\)\.[0-9]*/\1.999/}'
check "another value is found" noticed '0,/"cbid":430/s/"cbid":430/"cbid":431/'
check "a lost event is found" noticed '0,/"name":"\[memory\]"/{/"name":"\[memory\]"/d}'
check "a lost event of ours is found" noticed '0,/"ph":"B"/{/"ph":"B"/d}'
check "an arrow with the number of another is found" noticed 's/"id":8589934693/"id":4294967397/'

# ---- What cannot be merged ----

# refused WORDS FILE: exit status 1 or 2, one line with the words, and no output
refused()
{
    rm -f "$work/refused.json"
    got=0
    merged refused.json "$2" || got=$?
    sed 's/^/# /' "$work/said"
    [ "$got" -ne 0 ] && [ "$got" -le 2 ] && [ "$(wc -l <"$work/said")" -eq 1 ] &&
        grep -q -e "$1" "$work/said" && [ ! -e "$work/refused.json" ]
}
size=$(wc -c <"$work/rank0.json")
head -c $((size / 2)) "$work/rank0.json" >"$work/cut.json"
head -c 300 "$work/rank2.json.gz" >"$work/cut.json.gz"
{ head -c 200 "$work/rank2.json.gz" && printf 'garbage' && tail -c +208 "$work/rank2.json.gz"; } >"$work/bad.json.gz"
: >"$work/empty.json"
echo "ccltap" >"$work/text.json"
check "no file" refused 'missing.json cannot be read: No such file' missing.json
check "a folder" refused 'late cannot be read' late
mkfifo "$work/fifo.json"
# Would it wait for a writer, it would get one that ends it.
(sleep 30 && : >"$work/fifo.json") &
writer=$!
check "a pipe" refused 'fifo.json is read twice: it must be a regular file' fifo.json
check "before it waits for who writes it" kill "$writer"
ln -s /dev/stdin "$work/stdin.json"
# shellcheck disable=SC2002 # a pipe is what is tried
cat "$work/rank0.json" | { refused 'stdin.json is read twice' stdin.json && echo refused; } >"$work/refused" || true
same "standard input that is a pipe" refused "$(tail -n 1 "$work/refused")"
check "an empty file" refused 'empty.json is empty' empty.json
check "a text" refused 'text.json is not JSON' text.json
check "a file that is cut short" refused 'cut.json ends in the middle, after .* events' cut.json
check "a compressed file that is cut short" refused 'cut.json.gz ' cut.json.gz
check "a compressed file that is damaged" refused 'bad.json.gz ' bad.json.gz
check "something behind the end" refused 'something behind its end at byte' behind.json
check "no events" refused 'other.json has no traceEvents' other.json
check "an event without a time" refused 'has no time "ts" in event 1' timeless.json
check "a base that is no number" refused 'a baseTimeNanoseconds that is no integer' base.json
check "times since nobody knows when" refused 'has no baseTimeNanoseconds, and its times are not since 1970' relative.json

status=0
at=1
while [ "$at" -lt "$size" ]; do
    head -c "$at" "$work/rank0.json" >"$work/piece.json"
    refused 'piece.json ' piece.json >/dev/null || {
        echo "# cut at $at: $(cat "$work/said")"
        status=1
    }
    at=$((at + size / 20))
done
ok $status "wherever a file is cut, it is refused"

# The change may come late on a busy machine: then once more.
got=99
tries=10
while [ $got -eq 99 ] && [ $tries -gt 0 ]; do
    cp "$work/rank0.json" "$work/changing.json"
    got=0
    merge change "$work/changing.json" "$top_builddir/ccltap" timeline -f json -o "$work/changing.out" --overwrite \
        --merge "$work/changing.json" "$work/late" 2>"$work/said" || got=$?
    tries=$((tries - 1))
done
same "a file that changes while it is read ends it" 1 $got
said "which is said, with its name" "--merge: .*changing.json ends in the middle, after 0 events"

cp "$work/plain.json" "$work/kept.json"
check "a damaged file is refused with --overwrite" sh -c "! '$top_builddir/ccltap' timeline -f json --overwrite \
    -o '$work/kept.json' --merge '$work/cut.json' '$work/late' 2>/dev/null"
check "and the file that was there stays" cmp "$work/plain.json" "$work/kept.json"
cp "$work/rank0.json" "$work/same.json"
check "the output is not what is read" sh -c "! '$top_builddir/ccltap' timeline -f json --overwrite \
    -o '$work/same.json' --merge '$work/same.json' '$work/late' 2>'$work/said'"
said "which is said" "is the output, too"
check "which stays" cmp "$work/rank0.json" "$work/same.json"
for format in text jsonl perfetto ctf; do
    check "not into $format" sh -c "! '$top_builddir/ccltap' timeline -f $format -o '$work/other' \
        --merge '$work/rank0.json' '$work/late' 2>'$work/said'"
    said "which is said" "--merge is for formats json and json.gz"
done

# Perfetto's importer: the profiler's slices, and its arrows besides ours.
if [ -n "${CCLTAP_PYTHON_TOOLS-}" ] && command -v node >/dev/null; then
    # shellcheck source=tests/lib/perfetto.inc.sh
    . "$top_srcdir/tests/lib/perfetto.inc.sh"
    same "Perfetto's importer has the profiler's slices of two ranks" 10 \
        "$(perfetto_query "$work/two.json" "select count(*) from slice where category in
            ('cpu_op', 'cuda_runtime', 'kernel', 'Trace')")"
    same "and its arrows besides ours" \
        "$(($(perfetto_query "$work/plain.json" "select count(*) from flow") + 4))" \
        "$(perfetto_query "$work/two.json" "select count(*) from flow")"
    same "and no error" 0 "$(perfetto_query "$work/two.json" \
        "select count(*) from stats where value > 0 and severity in ('error', 'data_loss')")"
else
    skip "Perfetto's importer" "CCLTAP_PYTHON_TOOLS is not set, or node is missing"
fi

tap_done
