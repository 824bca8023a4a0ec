#!/bin/sh
# SPDX-License-Identifier: MIT
# ccltap top shows two ranks in a terminal and for scripts, of a recording and of metrics alone.
# With SCREENS_UPDATE set it writes the screen into the manual page anew.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

NCCL_IB_DISABLE=1
NO_COLOR=1
export NCCL_IB_DISABLE NO_COLOR
unset CCLTAP_RECORDER COLUMNS LINES
allreduce=$top_builddir/examples/allreduce
top=$work/bin/ccltap
mkdir "$work/bin" "$work/env"
ln -s "$(cd "$top_builddir" && pwd)/ccltap" "$top"
here=$(cd "$work" && pwd)
socket=$here/tmux
pids=
stopped=
finish()
{
    [ -z "$stopped" ] || kill -CONT "$stopped" 2>/dev/null || true
    tmux -S "$socket" kill-server 2>/dev/null || true
    touch "$work/env/go" || true
    # shellcheck disable=SC2086 # numbers
    [ -z "$pids" ] || kill $pids 2>/dev/null || true
    wait
    rm -rf "$work"
}
trap finish EXIT

run 1 "without a recording there is nothing to show" "$top" top
said "it says how to begin" 'no recording with metrics is running .*ccltap record --metrics'
run 1 "nor of a name that is none" "$top" top nobody
said "it says that" 'no recording "nobody" with metrics'
run 2 "JSON is for scripts" "$top" top --json
run 2 "a sort is by a column" "$top" top --sort colour
said "and it says which there are" "give one of communicator, rank"
run 2 "an interval is a time" "$top" top --interval 0
run 2 "a recording has one name" "$top" top a b

# Two ranks, one of which is late, in a flight recorder.
"$ccltap" record --flight-recorder -o "$work/trace" --session train --metrics="$work/train.prom" -- \
    sh -c "echo \$\$ >'$work/pid'; exec '$allreduce' -n 2 -i 100000 -c 4096 --late-rank 1" \
    >"$work/ranks.out" 2>&1 &
recorder=$!
counted() # NUMBER
{
    "$top" top --once --interval 0.3 >"$work/once" 2>"$work/err" &&
        [ "$(grep -cE '^[0-9a-f]{8}' "$work/once")" = "$1" ]
}
check "two ranks are counted" within 60 counted 2
pids=$(cat "$work/pid")
late()
{
    "$top" top train --once --json --interval 0.5 >"$work/json" 2>"$work/err" &&
        /usr/bin/python3 - "$work/json" <<'END'
import json, sys
table = json.load(open(sys.argv[1]))
assert table["session"] == "train" and table["processes"] == 2 and table["communicators"] == 1, table
first, second = table["rows"]
assert (first["rank"], second["rank"]) == (0, 1), table
for row in table["rows"]:
    assert row["nranks"] == 2 and row["communicator"] == first["communicator"], table
    assert row["operations_per_s"] > 0 and row["failures"] == row["dropped"] == 0, table
    assert row["bytes"] == row["operations"] * 16384 == row["bus_bytes"], table
    assert abs(row["bytes_per_s"] - 16384 * row["operations_per_s"]) < 16384, table
assert second["is_last"] and second["behind"] == 1 and first["behind"] == 0, table
END
}
check "scripts read that rank 1 is late" within 30 late
check "a file of metrics names its recording, and a folder" sh -c "
    '$top' top --once --interval 0.3 '$work/train.prom' && '$top' top --once --interval 0.3 '$work/trace'"
"$top" top --once --interval 0.3 --sort rank --reverse >"$work/once"
same "--sort and --reverse are obeyed" "1/2 0/2" \
    "$(awk '/\/2/ { printf "%s%s", sep, $2; sep = " " }' "$work/once")"
"$top" top --once --interval 0.3 --filter 0 >"$work/once"
same "--filter, too" "0/2" "$(awk '/\/2/ { print $2 }' "$work/once")"
run 2 "what is no terminal gets no screen" "$top" top
said "but --once" "--once"
dumb()
{
    dumb_status=0
    TERM=$1 "$top_srcdir/tests/lib/on_terminal.py" "$top" top >"$work/out" 2>&1 </dev/null ||
        dumb_status=$?
    [ $dumb_status -eq 2 ] && grep -q 'no terminal that can show a table' "$work/out"
}
if grep -q '^#define HAVE_NCURSES' "$top_builddir/config.h"; then
    check "nor does one that cannot" dumb dumb
    check "nor one that nobody knows" dumb nothing-of-this-name
fi

if ! command -v tmux >/dev/null || ! grep -q '^#define HAVE_NCURSES' "$top_builddir/config.h"; then
    skip "needs tmux, and ncurses" "the screen"
    kill "$pids"
    wait "$recorder" || true
    tap_done
    exit
fi

# ---- On a terminal ----

tm()
{
    tmux -S "$socket" -f /dev/null "$@"
}
screen()
{
    tm capture-pane -p -t top >"$work/screen"
}
# shows PATTERN: within a while; the screen is in $work/screen.
shows_now()
{
    screen && grep -qE -e "$1" "$work/screen"
}
shows()
{
    within 20 shows_now "$1" && return
    cat "$work/screen"
    return 1
}
hides_now()
{
    screen && ! grep -qE -e "$1" "$work/screen"
}
press()
{
    tm send-keys -t top "$@"
}
begin() # OPTION...
{
    : >"$work/ended"
    tm new-session -d -s top -x 80 -y 8 "PATH='$here/bin':\$PATH TZ=UTC ccltap top $* 2>'$work/said'; echo \$? >'$work/ended'"
}
ended()
{
    [ -s "$work/ended" ]
}

# The server goes with its last session, and another cannot be made meanwhile.
tm new-session -d -s stays cat
begin
check "the screen has rows with rates" shows '^[0-9a-f]{8} +1/2 +[0-9.]+ +[0-9.]+[kM] .* [0-9]+% '
# A few looks, so that LAST has some.
# shellcheck disable=SC2016 # for awk
check "and the late rank is the last" within 30 sh -c "
    tmux -S '$socket' capture-pane -p -t top >'$work/screen' && awk '\$2 == \"1/2\" && \$7 + 0 >= 60 { found = 1 }
        END { exit !found }' '$work/screen'"
check "it is bold, where colours are refused" within 20 sh -c "
    tmux -S '$socket' capture-pane -e -p -t top |
        awk '/ 1\/2 / && /^\033\[1m/ { found = 1 } END { exit !found }'"
check "it is the one in the manual" /usr/bin/python3 -B "$top_srcdir/tests/live/expect/top_screen.py" \
    "$top_srcdir/doc/man/ccltap-top.1" "$work/screen"
press '>'
check "a key sorts by another column" shows 'sort: rank  r reverse'
press r
check "another reverses" shows 'sort: rank, reversed'
# shellcheck disable=SC2016 # for awk
check "so rank 1 is above rank 0" within 20 sh -c "tmux -S '$socket' capture-pane -p -t top |
    awk '\$2 == \"1/2\" { one = NR } \$2 == \"0/2\" { zero = NR } END { exit !(one && one < zero) }'"
press / 9 BSpace 0 Enter
check "a filter leaves rank 0" shows '^only: 0'
check "alone" hides_now ' 1/2 '
press / z z Escape
check "Escape leaves it as it was" shows '^only: 0'
press / q q Enter
check "a filter that nothing has says so" shows 'nothing has these letters'
press / Enter
check "an empty one shows all" shows ' 1/2 '
press h
check "help is there" shows 'have a flight recorder write a snapshot'
press x
check "and goes" within 20 hides_now 'have a flight recorder'
press s
check "a snapshot is written" shows 'snapshot 1 in '
check "of the recording" sh -c "'$top' status | grep -q 'snapshots: 1'"
tm resize-window -t top -x 40 -y 6
check "a small terminal has what fits" shows '^[0-9a-f]{8} +[01]/2 +[0-9.]+ +[0-9.]+[kM]?'
same "and no line more" 6 "$(wc -l <"$work/screen")"
tm resize-window -t top -x 12 -y 2
check "a smaller one, too" shows '^train: 2'
tm resize-window -t top -x 120 -y 30
check "and a large one more" shows 'OPEN CALL +HOST'
press Down NPage Home Up PPage q
check "q ends it" within 20 ended
same "well" 0 "$(cat "$work/ended")"

begin --interval 60
check "between two looks it waits" shows ' 1/2 '
press C-c
check "Ctrl-C ends it at once" within 20 ended
same "well, too" 0 "$(cat "$work/ended")"

# A supervisor that does not answer, as while it writes to a slow disk.
supervisor=$("$top" status train | sed -n 's/.*supervisor: process \([0-9]*\).*/\1/p')
check "the supervisor is a process" test -d "/proc/$supervisor"
# shellcheck disable=SC1003 # a key
for key in q C-c 'C-\'; do
    begin
    check "the screen is there" shows ' 1/2 '
    stopped=$supervisor
    kill -STOP "$stopped"
    press s
    check "a snapshot is waited for" shows 'a snapshot is written'
    press "$key"
    check "$key does not wait for it" within 20 ended
    same "and ends well" 0 "$(cat "$work/ended")"
    kill -CONT "$stopped"
    stopped=
done
stopped=$supervisor
kill -STOP "$stopped"
run 1 "a supervisor that is stopped is not asked for ever" "$top" top train --once
said "it says so" 'do not answer within 10 s: 1;'
kill -CONT "$stopped"
stopped=

# ---- Another recording, of metrics alone ----

mkdir "$work/other"
"$ccltap" record --layers none --session other --metrics="$work/other.prom" -- sh -c "
    echo \$\$ >'$work/other.pid'; RANK=5 WORLD_SIZE=6 exec '$allreduce' --id-file '$work/other.id'" 2>/dev/null &
other=$!
check "another recording begins" within 60 test -s "$work/other.pid"
pids="$pids $(cat "$work/other.pid")"
two()
{
    [ "$("$top" status | grep -c '  metrics: ')" = 2 ]
}
check "it counts" within 20 two
run 2 "of two recordings scripts name one" "$top" top --once
said "it says so" '2 recordings have metrics: say which'
begin
check "a person is asked" shows '2 recordings have metrics: which one'
check "and sees both" shows '[12]  other'
press "$(sed -n 's/^\([12]\)  other$/\1/p' "$work/screen")"
check "and has the one that was chosen" shows '^other: '
(
    eval "$("$ccltap" env --metrics=other)"
    RANK=0 WORLD_SIZE=2 exec "$allreduce" --id-file "$work/alone.id"
) >/dev/null 2>&1 &
pids="$pids $!"
check "a rank that waits for another has a call open" shows '^- +0 .* [0-9]+s CommInitRank'
press s
check "what records nothing has no snapshot" shows 'other counts and records nothing'
press q
check "q ends this one, too" within 20 ended

# ---- The end ----

begin train
check "a recording is chosen by its name" shows '^train: '
kill "$(cat "$work/pid")"
wait "$recorder" || true
check "when it ends, the screen goes" within 30 ended
same "well" 0 "$(cat "$work/ended")"
check "and it says so" grep -q 'train has ended' "$work/said"
# shellcheck disable=SC2086 # numbers
kill ${pids#* } 2>/dev/null || true
pids=
wait "$other" || true
tap_done
