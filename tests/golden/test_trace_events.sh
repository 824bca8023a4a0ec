#!/bin/sh
# SPDX-License-Identifier: MIT
# `ccltap timeline --format json`: slices that nest, arrows with both ends in slices, exact
# times, counters and findings are what jsonl and why tell of each case; Perfetto's importer
# sees in it what it sees in its own format.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

traces=$top_srcdir/tests/golden/traces
convert=${top_builddir:?}/tests/golden/convert
work=events.$$
mkdir "$work"
trap 'rm -rf "$work"' EXIT

# write EVENTS NAME [PARAMETER=VALUE]...: what the three views make of it
write()
{
    events=$1
    name=$2
    shift 2
    "$convert" events "$events" timeline format=json "$@" output="$work/$name.json" &&
        "$convert" events "$events" timeline format=jsonl "$@" output="$work/$name.jsonl" &&
        "$convert" events "$events" why json=yes "$@" output="$work/$name.why"
}
compare()
{
    python3 -B "$top_srcdir/tests/lib/trace_event_check.py" "$@"
}

for events in "$traces"/*.events; do
    name=$(basename "$events" .events)
    params=$(sed -n 's/^# params: //p' "$events" | tr ' ' '\n' | grep -v '^window=' || true)
    # shellcheck disable=SC2086 # several words
    write "$events" "$name" $params >"$work/said" 2>&1 || {
        sed 's/^/# /' "$work/said"
        ok 1 "$name is written"
    }
done
write "$traces/why-missing.events" filtered rank=0 || true
write "$traces/tree.events" longest slowest=3 || true

# shellcheck disable=SC2046 # many words
compare $(find "$work" -name '*.json' | sed 's/\.json$//' | sort) >"$work/checked" ||
    echo "not ok - the traces are compared" >>"$work/checked"
passed_on "$work/checked"

# The comparison would notice.
fails() # NAME: its comparison is not ok
{
    ! compare "$work/$1" | grep -q '^ok'
}
spoil() # NAME SED-SCRIPT: the trace with something changed
{
    cp "$work/$1.jsonl" "$work/spoilt.jsonl"
    sed "$2" "$work/$1.json" >"$work/spoilt.json"
    ! cmp -s "$work/$1.json" "$work/spoilt.json"
}
check "an arrow loses its end" spoil tree '/"ph":"f"/{/"id":1,/d}'
check "which is found" fails spoilt
check "an arrow ends where no slice is" spoil tree '/"ph":"f".*"id":1,/s/"tid":[0-9]*/"tid":999/'
check "which is found" fails spoilt
check "a slice loses its end" spoil tree '0,/"ph":"E"/{/"ph":"E"/d}'
check "which is found" fails spoilt
check "a slice is lost" spoil tree '0,/"ph":"B"/{/"ph":"B"/d}'
check "which is found" fails spoilt
check "a slice ends at another time" spoil nesting '0,/"ph":"E"/s/\.[0-9]*}/.999}/'
check "which is found" fails spoilt
check "a time has no decimals" spoil tree '0,/"ph":"B"/s/"ts":\([0-9]*\)\.[0-9]*/"ts":\1/'
check "which is found" fails spoilt
check "an event has no category" spoil tree '0,/"ph":"E"/s/"cat":"",//'
check "which is found" fails spoilt
check "a name has no time" spoil tree '0,/"ph":"M"/s/"ts":0,//'
check "which is found" fails spoilt
check "an arrow ends before it begins" spoil tree '/"ph":"f".*"id":1,/s/"ts":2/"ts":1/'
check "which is found" fails spoilt
check "the two ends of a slice say the same" spoil nesting '/"ph":"E"/s/"args":{/&"inner":true,/'
check "which is found" fails spoilt
check "what begins later stands first in the file" spoil nesting \
    '/"ph":"B".*ncclGroupEnd/{h;d};/"ph":"B".*ncclCommInitRank/G'
check "which is found" fails spoilt
check "a counter has another value" spoil samples 's/"value":300}/"value":301}/'
check "which is found" fails spoilt

# By the command; to a pipe what a file gets, compressed and not.
CCLTAP_LIBDIR=$top_builddir/.libs
export CCLTAP_LIBDIR
"$convert" events "$traces/why-late.events" ctf path="$work/late" quiet=yes
late() # OPTION...
{
    "$top_builddir/ccltap" timeline "$@" "$work/late"
}
late -f json -o "$work/file"
late -f json >"$work/piped"
late -f json.gz -o "$work/file.gz"
late -f json.gz | cat >"$work/piped.gz"
check "a pipe gets what a file gets" cmp "$work/file" "$work/piped"
check "and so it does compressed" cmp "$work/file.gz" "$work/piped.gz"
check "gunzip finds the same in it" sh -c "gunzip -c '$work/file.gz' | cmp - '$work/file'"
check "of json.gz on a full disk it is said" sh -c "! '$top_builddir/ccltap' timeline -f json.gz \
    -o /dev/full '$work/late' 2>'$work/err' && grep -q 'No space left' '$work/err'"
for format in json json.gz; do
    for option in --absolute --all --tree --stacks; do
        check "$format: not with $option" sh -c "! '$top_builddir/ccltap' timeline -f $format $option \
            -o '$work/other' '$work/late' 2>'$work/err' && grep -q 'format $format has no' '$work/err'"
    done
done

# What another program wrote into names, and may write there.
sed 's/"host":"alpha"/X/; s/alpha/al"\\\\<\/script>pha/' "$traces/why-late.events" >"$work/hostile.events"
check "a host with quotes and markup in its name" sh -c \
    "! cmp -s '$traces/why-late.events' '$work/hostile.events'"
write "$work/hostile.events" hostile >"$work/said" 2>&1 || sed 's/^/# /' "$work/said"
compare "$work/hostile" >"$work/checked" || echo "not ok - hostile names" >>"$work/checked"
passed_on "$work/checked"

# Perfetto's importer, in both formats: slices and how long they are, arrows, counters.
if [ -n "${CCLTAP_PYTHON_TOOLS-}" ] && command -v node >/dev/null; then
    # shellcheck source=tests/lib/perfetto.inc.sh
    . "$top_srcdir/tests/lib/perfetto.inc.sh"
    slices="select count(*), sum(dur >= 0), sum(max(dur, 0)) from slice where category != 'arrival'"
    for name in tree net-base why-late samples; do
        "$convert" events "$traces/$name.events" timeline format=perfetto output="$work/$name.perfetto"
        for sql in "select count(*) from flow" "select count(*), sum(value) from counter" "$slices" \
            "select count(*) from stats where value > 0 and severity in ('error', 'data_loss')"; do
            same "Perfetto's importer: $name: $sql" "-> $(perfetto_query "$work/$name.perfetto" "$sql")" \
                "-> $(perfetto_query "$work/$name.json" "$sql")"
        done
    done
else
    skip "Perfetto's importer, in both formats" "CCLTAP_PYTHON_TOOLS is not set, or node is missing"
fi

tap_done
