#!/bin/sh
# SPDX-License-Identifier: MIT
# Ranks that are only counted, and LTTng's session daemon: it outlives what it records of them,
# and they are counted on when it does not answer.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

# With no session daemon but those that are started here.
if [ -z "${ATTACH_APART-}" ]; then
    # shellcheck disable=SC2016 # for another shell
    private='mount -t tmpfs tmpfs /var/run/lttng && exec "$@"'
    if ! unshare --mount sh -c "$private" - true 2>/dev/null; then
        echo "1..0 # SKIP no mount namespace: run as root"
        exit 0
    fi
    ATTACH_APART=yes
    export ATTACH_APART
    exec unshare --mount sh -c "$private" - sh "$0" "$@"
fi

file=$work/job.prom
trap 'touch "$work"/*/close "$work"/*/end 2>/dev/null || true; rm -rf "$work"' EXIT

# begin FOLDER [COMMAND...]: a program that calls all the time, counted alone.
begin()
{
    folder=$1
    shift
    mkdir "$work/$folder"
    "$ccltap" record --layers none --metrics="$file" -o "$work/$folder.trace" -- \
        "$@" "$programs/closes" "$work/$folder" >"$work/out" 2>"$work/err" &
    recorder=$!
    check "a program calls ($folder)" within 60 test -s "$work/$folder/at"
}

# finish: the program ends.
finish()
{
    touch "$work/$folder/close" "$work/$folder/end"
    status=0
    wait "$recorder" || status=$?
    same "it ends well" 0 "$status"
}

# ctl VERB...: to $work/said.
ctl()
{
    "$ccltap" "$@" >"$work/said" 2>&1 || { sed 's/^/# /' "$work/said" && false; }
}

says() # PATTERN
{
    grep -q "$1" "$work/said" || { sed 's/^/# /' "$work/said" && false; }
}

daemon()
{
    cat /var/run/lttng/lttng-sessiond.pid
}

gone() # PROCESS
{
    ! kill -0 "$1" 2>/dev/null
}

begin own
check "a recording begins" ctl start "$file"
first=$(daemon)
check "it ends" ctl end "$file"
check "another begins" ctl start "$file"
same "with the daemon that the program is connected to" "$first" "$(daemon)"
check "it ends, too" ctl end "$file"
echo mine >"$work/own.trace/$host/mine"
run 1 "one is refused" "$ccltap" start "$file"
rm "$work/own.trace/$host/mine"
check "one more begins" ctl start "$file"
same "with the same daemon" "$first" "$(daemon)"
finish
check "the daemon ends with the job" within 60 gone "$first"

# Somebody else's daemon, which ccltap does not end.
lttng-sessiond --no-kernel --daemonize >"$work/daemon.log" 2>&1
foreign=$(daemon)
trap 'touch "$work"/*/close "$work"/*/end 2>/dev/null || true; kill -KILL "$foreign"; rm -rf "$work"' EXIT
newer()
{
    [ -n "$(find "$file" -newer "$work/before")" ]
}
counts()
{
    touch -r "$file" "$work/before"
    within 60 newer
}
begin hung
kill -STOP "$foreign"
run 1 "a recording is to begin while the daemon hangs" "$ccltap" start "$file"
said "it is told" "the LTTng session daemon does not answer"
check "the program is counted on" counts
check "as the supervisor says" ctl status "$file"
check "and nothing more" says ': counting since'
kill -CONT "$foreign"
# The daemon may do now what it was asked for, which nobody waits for any more.
name=$(sed -n 's/^\(ccltap-[^:]*\): counting since.*/\1/p' "$work/said")
check "the recording has a name" test -n "$name"
lttng --no-sessiond create "$name" --output="$work/stale" >/dev/null 2>&1 || true
check "once the daemon answers the recording begins" ctl start "$file"
kill -STOP "$foreign"
check "it hangs again" ctl status "$file"
check "which status says" says "the LTTng session daemon does not answer"
check "and the program is counted on" counts
finish
check "with its metrics at the end" grep -q "metrics of 2 processes were in" "$work/err"
check "and what became of the recording" grep -q \
    "recorded is in .*; not complete: the LTTng session daemon failed" "$work/err"
kill -CONT "$foreign"

# A process loads LTTng while the daemon is slow: it is recorded all the same.
folder=slow
mkdir "$work/slow"
LTTNG_UST_REGISTER_TIMEOUT=100 "$ccltap" record --layers none --metrics="$file" \
    -o "$work/slow.trace" -- "$programs/steady" "$work/slow" 1 2000 >"$work/out" 2>"$work/err" &
recorder=$!
check "two ranks are there" within 60 test -s "$work/slow/at.0" -a -s "$work/slow/at.1"
check "a recording begins" ctl start "$file"
quiet=$(cat "$work/slow/at.1")
kill -STOP "$foreign"
touch "$work/slow/speak"
loads() { grep -q lttng-ust "/proc/$quiet/maps"; }
check "the quiet rank calls and loads LTTng while the daemon stands still" within 60 loads
sleep 0.3
kill -CONT "$foreign"
both() { "$ccltap" status "$file" | grep -q 'recorded: 2 of 2 processes$'; }
check "it is recorded when the daemon goes on" within 60 both
touch "$work/slow/go" "$work/slow/end"
status=0
wait "$recorder" || status=$?
same "it ends well" 0 "$status"
check "and nothing is said to be missing" grep -q 'recorded is in .*sums it up$' "$work/err"
kill "$foreign"
check "that daemon ends" within 60 gone "$foreign"
trap 'touch "$work"/*/close "$work"/*/end 2>/dev/null || true; rm -rf "$work"' EXIT

# What one recording lacks is not lacking in the next.
mkdir "$work/first" "$work/full"
folder=full
# shellcheck disable=SC2016 # for other shells
"$ccltap" record --layers none --metrics="$file" -o "$work/full.trace" -- sh -c '
    unshare --mount sh -c "mount -t tmpfs -o size=4k tmpfs /dev/shm && exec \"\$@\"" - "$1" "$2" &&
        exec "$1" "$3"' - "$programs/closes" "$work/first" "$work/full" >"$work/out" 2>"$work/err" &
recorder=$!
check "a program calls that has no shared memory" within 60 test -s "$work/first/at"
check "a recording begins" ctl start "$file"
full() { "$ccltap" status "$file" | grep -q 'recorded: 0 of 1 processes; 1 cannot be: .*/dev/shm is full'; }
check "without it" within 60 full
check "it ends" ctl end "$file"
check "and says so" says 'the trace is in .*; 1 process could not be recorded: .*/dev/shm is full$'
touch "$work/first/close" "$work/first/end"
check "another program calls" within 60 test -s "$work/full/at"
check "another recording begins" ctl start "$file"
whole() { "$ccltap" status "$file" | grep -q 'recorded: 1 of 1 processes$'; }
check "with all that there are" within 60 whole
finish
check "and lacks nothing" grep -q 'recorded is in .*sums it up$' "$work/err"

# shellcheck disable=SC2016 # for another shell
begin away unshare --mount sh -c 'mount -t tmpfs tmpfs /var/run/lttng && exec "$@"' -
check "a recording begins" ctl start "$file"
away() { "$ccltap" status "$file" | grep -q 'recorded: 0 of 1 processes; 1 cannot be: .*reaches no session daemon'; }
check "without a program that does not see the daemon" within 60 away
finish

LTTNG_SESSIOND_PATH=/bin/false
export LTTNG_SESSIOND_PATH
begin none
run 1 "no daemon can be started" "$ccltap" start "$file"
said "it is told, and not that nothing runs" \
    'false cannot be started, or does not let this user in: "/bin/false --verbose" says why$'
check "the program is counted on" counts
finish

# The supervisor is in another folder when it starts one.
mkdir "$work/bin"
printf '#!/bin/sh\ntouch "%s"\nexec lttng-sessiond "$@"\n' "$(realpath "$work")/bin/ran" \
    >"$work/bin/mine"
chmod +x "$work/bin/mine"
LTTNG_SESSIOND_PATH=$(realpath --relative-to=. "$work/bin")/mine
begin relative
check "a recording begins by a daemon of a relative path" ctl start "$file"
check "that one" test -e "$work/bin/ran"
finish
unset LTTNG_SESSIOND_PATH
tap_done
