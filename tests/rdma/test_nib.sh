#!/bin/sh
# SPDX-License-Identifier: MIT
# NCCL's own network code on softverbs, a release before and one after it was rewritten in
# 2.29, with each setting that changes what it posts: bare, and recorded.  What was sent is
# what was received, what was posted is what NCCL posts for that, what was recorded is what
# was counted, and ccltap tells each message as it was.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

nib=$top_builddir/tests/rdma/nib
here=$top_srcdir/tests/rdma
soft=${CCLTAP_SOFTVERBS:-$top_builddir/tests/doubles/verbs}
CCLTAP=$ccltap
export CCLTAP

run 77 "a library without symbols is said to be one" "$nib" --describe "$CCLTAP_LIBDIR/libccltap.so"
check "by name" grep -q "libccltap.so: ncclNetIb is not in .symtab" "$work/err"

old='' new=''
for library in $(echo "${CCLTAP_REAL_NCCL-}" | tr ':' ' '); do
    case $("$nib" --describe "$library" 2>/dev/null) in
    'NCCL 2.1'*' v'* | 'NCCL 2.2'[0-8]*' v'*) old=$library ;;
    *' v'*) new=$library ;;
    esac
done
[ -n "$old" ] || skip "CCLTAP_REAL_NCCL names none: scripts/fetch-nccl gets one" \
    "a release before 2.29"
[ -n "$new" ] || skip "CCLTAP_REAL_NCCL names none: scripts/fetch-nccl gets one" \
    "a release from 2.29 on"
if [ -z "$old$new" ]; then
    tap_done
    exit
fi

# settings FOLDER: all settings of both releases.  Quicker without the largest messages.
cat >"$work/settings" <<END
#!/bin/sh
NIB_OPTIONS='--max-size 4194304'
export NIB_OPTIONS
status=0
settings()
{
    [ -z "\$1" ] || '$here/nib-settings' --library "\$1" --out "\$2" --nib '$nib' \\
        --softverbs '$soft' --messages 300 --count || status=1
}
settings '$old' "\$1/old"
settings '$new' "\$1/new"
exit \$status
END

# whole SENTENCE FOLDER
whole()
{
    check "$1: what was sent was received, and posted as NCCL does" \
        python3 "$here/nib_log.py" "$2"/*/*
    for skipped in "$2"/*/*/skipped; do
        [ ! -e "$skipped" ] || case $(cat "$skipped") in
        *'does not have it' | *'makes no adapter of'*) ;;
        *) skip "$(cat "$skipped")" "$1: $(basename "$(dirname "$skipped")")" ;;
        esac
    done
}

# traced TRACE: what tests/verbs/programs/count.c says of it, sorted; quicker than trace.py there.
traced()
{
    babeltrace2 "$1" | awk '
function value(name, else_is)
{
    if (!match($0, "[{ ]" name " = [0-9]+"))
        return else_is
    return substr($0, RSTART + length(name) + 4, RLENGTH - length(name) - 4) + 0
}
function follows(queue, first, nr)
{
    if (first != last[queue] + 1)
        print "bad " queue ": " first " after " last[queue]
    last[queue] = first + nr - 1
}
!/ verbs:/ { next }
{ pid = value("vpid"); seen[pid] }
/ verbs:post_(send|rdma|datagram)(_list)?:/ {
    nr = value("num_wr", 1)
    sent[pid] += nr
    follows("send " pid " " value("qp_id") " " value("generation"), value("seq"), nr)
}
/ verbs:post_recv(_list)?:/ {
    nr = value("num_wr", 1)
    received[pid] += nr
    follows("recv " pid " " value("qp_id") " " value("generation"), value("seq"), nr)
}
/ verbs:post_failed:/ { failed[pid]++ }
/ verbs:poll(_detailed|_sent)?:/ {
    nr = value("num_wc", 0)
    completed[pid] += nr
    polls[pid]++
    follows("poll " pid " " value("cq_id"), value("first_seq") + 1, nr)
}
END {
    for (pid in seen)
        printf "sent %d received %d failed %d completed %d polls %d\n", sent[pid],
            received[pid], failed[pid], completed[pid], polls[pid]
}' | sort
}

# Long: these and other libraries, CCLTAP_MORE_NCCL, which scripts/check --long sets.
more=$(echo "${CCLTAP_MORE_NCCL-}" | tr ':' ' ')
for library in ${more:+"$old" "$new" $more}; do
    [ -n "$library" ] || continue
    release=$(basename "$(dirname "$library")")
    run 0 "$release: all settings" "$here/nib-settings" --library "$library" --nib "$nib" \
        --out "$work/more/$release" --softverbs "$soft" --messages 10000 --count --trace
    [ "$run_status" = 0 ] || sed 's/^/# /' "$work"/more/*/*/out
    whole "$release" "$work/more"
    status=0
    python3 "$here/score.py" "$work/more/$release"/* >"$work/scored" 2>&1 || status=1
    sed "s/^/# $release: /" "$work/scored"
    ok "$status" "$release: ccltap tells each message as it was"
    rm -rf "$work/more"
done

run 0 "bare: all settings" sh "$work/settings" "$work/bare"
[ "$run_status" = 0 ] || sed 's/^/# /' "$work"/bare/*/*/out
whole bare "$work/bare"

run 0 "bare: two commands that meet" "$here/nib-settings" --library "${new:-$old}" --nib "$nib" \
    --out "$work/two/commands" --softverbs "$soft" --messages 300 --count \
    --on0 env --on1 "env SOFTVERBS_HOST=1" base groups
whole "bare: two commands" "$work/two"

# The same, of logs that say something else.
first=$(find "$work/bare" -name base | head -n 1)
cp -r "$first" "$work/other"
sed -i '/^0>1 send 7 /d' "$work/other/log.0"
check "a message that is missing is noticed" sh -c "! python3 '$here/nib_log.py' '$work/other'"
cp "$first/log.0" "$work/other/"
sed -i 's/^sent \([0-9]*\)/sent 1\1/' "$work/other/counted"
check "a request too many is noticed" sh -c "! python3 '$here/nib_log.py' '$work/other'"

# All in one recording: what takes long is to begin one.
run 0 "recorded: all settings" "$ccltap" record -o "$work/trace" -- \
    sh "$work/settings" "$work/recorded"
mv "$work/err" "$work/recorded.err"
[ "$run_status" = 0 ] || sed 's/^/# /' "$work"/recorded/*/*/out
whole recorded "$work/recorded"
for way in bare recorded; do
    python3 "$here/nib_log.py" --plan "$work/$way"/*/* >"$work/$way.plan"
done
check "recorded: the same was sent and posted" diff "$work/bare.plan" "$work/recorded.plan"
sort "$work"/recorded/*/*/counted >"$work/counted"
traced "$work/trace" >"$work/traced"
check "recorded: requests and completions are those that were counted" \
    diff "$work/counted" "$work/traced"
if ! cmp -s "$work/counted" "$work/traced"; then
    # What the recording itself says that it lacks.
    grep '^ccltap: ' "$work/recorded.err" | sed 's/^/# /'
    babeltrace2 "$work/trace" | sed -n 's/.* tap:problem: /# problem: /p'
fi

check "recorded: its timeline reads" "$ccltap" timeline --format jsonl -o "$work/jsonl" "$work/trace"
check "recorded: the threads that wait for events of the adapters are known" \
    python3 "$top_srcdir/tests/live/expect/stock_threads.py" "$work/jsonl" device-events
check "recorded: each connection is told, and no other" \
    python3 "$here/connections.py" "$work/jsonl" NET/IB "$work"/recorded/*/*
rm -f "$work/jsonl"

# The same, of a log in which both ends say that a message was longer.
cp -r "$(find "$work/recorded" -name base | head -n 1)" "$work/longer"
sed -i 's/^\(0>1 [a-z]* 7 7 0 1\) /\1 1/' "$work"/longer/log.?
status=0
python3 "$here/score.py" --trace "$work/trace" "$work"/recorded/*/* "$work/longer" \
    >"$work/scored" 2>&1 || status=$?
sed 's/^/# /' "$work/scored"
same "recorded: ccltap tells each message as it was, and not as another log says" \
    "1 longer: 599 of 600 messages right" \
    "$status $(sed -n 's/,.*; WRONG.*//p' "$work/scored")"
tap_done
