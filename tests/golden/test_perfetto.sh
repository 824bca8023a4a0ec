#!/bin/sh
# SPDX-License-Identifier: MIT
# `ccltap timeline --format perfetto`: Perfetto's own importer reads each case without an
# error, and then has the slices, tracks, arrows, counters and findings that jsonl and why tell.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"
# shellcheck source=tests/lib/perfetto.inc.sh
. "$top_srcdir/tests/lib/perfetto.inc.sh"

traces=$top_srcdir/tests/golden/traces
convert=${top_builddir:?}/tests/golden/convert
work=perfetto.$$
mkdir "$work"
trap 'rm -rf "$work"' EXIT

# write EVENTS NAME [PARAMETER=VALUE]...: what the three views make of it
write()
{
    events=$1
    name=$2
    shift 2
    "$convert" events "$events" timeline format=perfetto "$@" output="$work/$name.perfetto" &&
        "$convert" events "$events" timeline format=jsonl "$@" output="$work/$name.jsonl" &&
        "$convert" events "$events" why json=yes "$@" output="$work/$name.why"
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

# A filter leaves out what jsonl leaves out; the findings are those that why chooses.
write "$traces/why-missing.events" filtered rank=0 || true
write "$traces/tree.events" period begin=0.000001 end=0.000003 || true
write "$traces/tree.events" longest slowest=3 || true

# shellcheck disable=SC2046 # many words
perfetto_check $(find "$work" -name '*.perfetto' | sed 's/\.perfetto$//' | sort) >"$work/checked" ||
    echo "not ok - the importer answers" >>"$work/checked"
passed_on "$work/checked"

# The comparison would notice.
fails() # NAME: its comparison is not ok
{
    ! perfetto_check "$work/$1" | grep -q '^ok'
}
less() # NAME SED-SCRIPT: jsonl with something changed
{
    cp "$work/$1.perfetto" "$work/less.perfetto"
    sed "$2" "$work/$1.jsonl" >"$work/less.jsonl"
    ! cmp -s "$work/$1.jsonl" "$work/less.jsonl"
}
check "a span is taken away" less tree '/"id":"0.1"/d'
check "which is found" fails less
check "an end is another" less nesting 's/"end_ns":1300/"end_ns":1299/'
check "which is found" fails less
check "a link is taken away" less tree '/"kind":"launch-kernel"/d'
check "which is found" fails less
check "a message is larger" less net-base 's/"bytes":5000/"bytes":5001/'
check "which is found" fails less
check "a sample is another" less samples 's/"value":300/"value":301/'
check "which is found" fails less

# By the command; to a pipe what a file gets, and nowhere else.
CCLTAP_LIBDIR=$top_builddir/.libs
export CCLTAP_LIBDIR
"$convert" events "$traces/why-late.events" ctf path="$work/late" quiet=yes
late() # OPTION...
{
    "$top_builddir/ccltap" timeline --format perfetto "$@" "$work/late"
}
check "the command writes a file" late -o "$work/file"
late | cat >"$work/piped"
check "and to a pipe the same" cmp "$work/file" "$work/piped"
for option in --absolute --all --tree --stacks; do
    check "not with $option" sh -c "! '$top_builddir/ccltap' timeline -f perfetto $option \
        -o '$work/other' '$work/late' 2>'$work/err' && grep -q 'format perfetto has no' '$work/err'"
done
late --finding 1 -o "$work/finding"
same "a finding stands at the rank at fault, with what else this rank did" \
    "rank 2 (pid 30) on alpha" "$(perfetto_query "$work/finding" "select distinct p.name from slice s
        join track t on s.track_id = t.id join track p on t.parent_id = p.id
        where p.name != 'ccltap'")"
same "its text is there" "-> what does rank 2 do before ncclAllReduce?" \
    "-> $(perfetto_query "$work/finding" "select distinct extract_arg(arg_set_id, 'debug.next')
        from slice where category = 'finding'")"

tap_done
