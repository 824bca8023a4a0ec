#!/bin/sh
# SPDX-License-Identifier: MIT
# Another user of the host can neither join, stop, read, delay, fill nor steer a recording.
# shellcheck disable=SC2016,SC2086 # programs for other shells, lists of words
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null; then
    echo "1..0 # SKIP only root can be somebody else"
    exit 0
fi

# Two users that nobody is.
victim=64711
stranger=64712
strangers=$top_srcdir/tests/live/programs/strangers.py
library=$top_builddir/tests/host/programs/slow.so
as() # USER COMMAND...
{
    as_user=$1
    shift
    setpriv --reuid "$as_user" --regid "$as_user" --clear-groups "$@"
}
stranger() # WHAT ARGUMENT...
{
    as $stranger /usr/bin/python3 -B "$strangers" "$@"
}
# bounded COMMAND...: it ends by itself; what hangs is killed, long after.
bounded()
{
    timeout -s KILL 60 "$@"
}
# supervisor PID: the process that owns what this recorder makes.
supervisor()
{
    pgrep -P "$1" -x ccltap-super
}
has_started()
{
    [ -e "$1" ] && [ "$(od -An -N8 -tu8 "$1" | tr -d ' ')" -gt 0 ]
}
# begin OPTION...: a recording of root's that goes on; its recorder is $pid.
begin()
{
    rm -f "$work/count"
    "$ccltap" record --overwrite -o "$work/trace" "$@" 2>"$work/err" &
    pid=$!
    within 60 has_started "$work/count"
}
finish()
{
    touch "$work/enough"
    status=0
    wait "$pid" || status=$?
    rm -f "$work/enough"
}
# In another time namespace it cannot be recorded, and says so.
cat >"$work/program" <<'END'
"$1/tests/live/programs/rank" "$1/tests/host/programs/slow.so" "$2/count" 1 0
until [ -e "$2/enough" ]; do sleep 0.1; done
[ ! -e "$2/other" ] || unshare -T --monotonic 1000 "$1/tests/link/programs/linked" >/dev/null
END
program="sh $work/program $top_builddir $work"

begin -- $program
same "a stranger floods every name there is" "sent some" "$(stranger flood 1000)"
finish
check "nothing of it is kept" sh -c '! grep -q "could not be recorded\|curl" "$0"' "$work/err"

begin -- $program
touch "$work/other"
kill -STOP "$(supervisor "$pid")"
stranger flood 1000 >/dev/null
touch "$work/enough"
sleep 2
kill -CONT "$(supervisor "$pid")"
finish
rm "$work/other"
said "nor does it keep out what the programs say" \
    "; 1 process could not be recorded: process [0-9]*: it is in another time"

begin --flight-recorder=4M -- $program
stranger flood 1000 >/dev/null
check "it takes no snapshot" sh -c '"$0" status | grep -q "snapshots: 0"' "$ccltap"
folder=/var/run/lttng/ccltap
known=$(ls $folder 2>/dev/null || true)
same "it reaches nothing" nothing "$(KNOWN="$known" stranger reach $folder)"
check "it sees no recording" sh -c '"$@" status | grep -q "no recording is running"' - \
    setpriv --reuid $stranger --regid $stranger --clear-groups "$ccltap"
run 1 "it ends none" as $stranger "$ccltap" end
finish
same "the program ends as ever" 0 "$status"

# What the user's own processes say is checked, too.
begin -- $program
/usr/bin/python3 -B "$strangers" ended $folder >"$work/said" 2>&1 || true
finish
same "a program that ended and never began" "closed" "$(sort -u "$work/said")"
said "is not counted" "trace in .*: 1 process"

# Names that it holds.  The paths are those of the directories that are asked for below.
real=$(realpath "$work")
# Not by the function above, whose shell would be ended in its place; nor with our lock.
setpriv --reuid $stranger --regid $stranger --clear-groups /usr/bin/python3 -B "$strangers" \
    hold 0 "$real/held/$host" "$real/held" "$real/other/$host" >"$work/said" 9>&- &
holder=$!
trap 'kill $holder 2>/dev/null || true; rm -rf "$work"' EXIT
within 60 grep -q held "$work/said"
run 10 "it holds the names of a recording, which is made" bounded \
    "$ccltap" record -o "$work/held" -- \
    "$top_builddir/tests/live/programs/rank" "$library" "$work/count" 10 100
said "and is complete" "nccl 20"
run 0 "recordings are listed" bounded "$ccltap" status
run 0 "a recording is read" bounded "$ccltap" report "$work/held"
kill $holder

# An ordinary user's directory, where all may write.
rm -rf /tmp/ccltap-$victim*
mkdir "$work/home" "$work/user"
chmod 755 "$work" && chown $victim "$work/home" "$work/user"
ordinary="env -u LTTNG_HOME HOME=$work/home setpriv --reuid $victim --regid $victim --clear-groups"
recorded_by_user() # OPTION...
{
    run 10 "$1" bounded $ordinary "$ccltap" record --overwrite -o "$work/user/trace" -- \
        "$top_builddir/tests/live/programs/rank" "$library" "$work/user/count" 10 100
    said "it is complete" "nccl 20"
}
stranger squat /tmp/ccltap-$victim >/dev/null
recorded_by_user "an ordinary user records, although a stranger has taken the directory"
same "which stays as it was" "" "$(ls -A /tmp/ccltap-$victim)"
rmdir /tmp/ccltap-$victim
recorded_by_user "and when it is free again"
check "one directory serves both" sh -c '! test -e "$0"' /tmp/ccltap-$victim
rm -rf /tmp/ccltap-$victim*
as $stranger ln -s "$work/user" /tmp/ccltap-$victim
recorded_by_user "a link is not followed"
same "nothing is put where it leads" "count trace" "$(cd "$work/user" && echo * .[!.]* | sed 's/ \..*//')"
rm -rf /tmp/ccltap-$victim*
recorded_by_user "and when nothing is in the way"
same "it is that user's alone" "700 $victim" "$(stat -c '%a %u' /tmp/ccltap-$victim)"
rm -rf /tmp/ccltap-$victim*
tap_done
