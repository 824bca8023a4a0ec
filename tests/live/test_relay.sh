#!/bin/sh
# SPDX-License-Identifier: MIT
# Four hosts record through one relay daemon, which is killed and comes back: what is lost is
# said, by each closing line and by check.  Each host has a name, a network and a session daemon
# of its own.
# shellcheck disable=SC2016 # programs for other shells
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

command -v lttng-relayd >/dev/null || {
    echo "1..0 # SKIP no lttng-relayd: scripts/install-deps"
    exit 0
}
library=$top_builddir/tests/host/programs/slow.so
relay=10.77.0.1
relayed=$work/relayed
relayd=
holders=
holder=
recorder=

# What has not ended by itself.
finish_all()
{
    exec 5>&- 6>&- 7>&- 8>&-
    for one in $relayd $holders; do
        kill "$one" 2>/dev/null || true
    done
    wait
    rm -rf "$work"
}
trap finish_all EXIT
trap : PIPE # where a recorder ends too early

start_relayd()
{
    lttng-relayd --output="$relayed" --control-port="tcp://$1:5342" \
        --data-port="tcp://$1:5343" --live-port="tcp://$1:5344" >"$work/relayd" 2>&1 \
        5>&- 6>&- 7>&- 8>&- &
    relayd=$!
    within 10 listens "$1"
}
# listens ADDRESS: as the kernel writes it, bytes from the last to the first, port 5343, state; an
# emulator has no netlink, by which ss asks.
listens()
{
    echo "$1" | {
        IFS=. read -r a b c d
        grep -q " $(printf '%02X%02X%02X%02X' "$d" "$c" "$b" "$a"):14DF .* 0A " /proc/net/tcp
    }
}

# here SENTENCE COMMAND...: like check, in this shell, for what changes its variables.
here()
{
    here_sentence=$1
    shift
    here_status=0
    "$@" || here_status=$?
    ok "$here_status" "$here_sentence"
}

# ---- One host ----

run 1 "without a relay daemon nothing is run" "$ccltap" record --relay 127.0.0.1 \
    -o "$work/none" -- touch "$work/ran"
said "it is told" "no relay daemon answers at 127.0.0.1:5342 (Connection refused).*not run"
check "and nothing is left" test ! -e "$work/ran" -a ! -e "$work/none"
run 1 "nor with one whose host has no name" "$ccltap" record --relay no.such.host.invalid \
    -o "$work/none" -- true
said "it is told" "no relay daemon answers at no.such.host.invalid:5342 ("
for wrong in "" a:0 a:b a:1:2:3 "[::1" a/b; do
    run 2 "\"$wrong\" is no relay daemon" "$ccltap" record --relay "$wrong" -- true
done
said "it is told" "give the name of its host"
run 2 "a bound of what is here goes with none" "$ccltap" record --relay a --max-size 1G -- true

here "a relay daemon is started" start_relayd 127.0.0.1
run 0 "a program is recorded through it" sh -c 'printf "100\n" | "$0" record --relay 127.0.0.1 \
    -o "$1/one" -- "$2" "$3"' "$ccltap" "$work" "$programs/obey" "$library"
said "the closing line says where the trace is" \
    "sent to the relay daemon at 127.0.0.1:5342.*in $host/one/ccltap-$host-.*, 0 discarded$"
same "it has all calls" 100 "$("$ccltap" timeline --format jsonl "$relayed/$host/one" |
    grep -c '"type":"span"')"
run 2 "who reads what is here" "$ccltap" check "$work/one"
said "is told where to read" \
    "sent to the relay daemon at 127.0.0.1:5342: read it there, in $host/one/ccltap-"
run 0 "a flight recorder sends its snapshots" sh -c 'printf "10\n" |
    "$0" record --flight-recorder --relay 127.0.0.1 -o "$1/flight" -- \
    sh -c "\"\$@\"; \"$0\" snapshot" - "$2" "$3"' "$ccltap" "$work" "$programs/obey" "$library"
said "and counts them" "sent to the relay daemon.*, 1 snapshot, "
check "they are there" sh -c '"$0" timeline --format jsonl "$1" | grep -q "\"type\":\"process\""' \
    "$ccltap" "$relayed/$host/flight"
kill "$relayd"
wait "$relayd" || true

# ---- Four hosts ----

# host NUMBER: a process that keeps the host's namespaces, connected to the bridge.
host()
{
    unshare --mount --uts --net sh -c 'hostname "$0" && mount -t tmpfs none /var/run/lttng &&
        mount -t tmpfs none /dev/shm && ip link set lo up && exec sleep 600' "node$1" &
    holders="$holders $!"
    within 10 has_name "$!" "node$1" &&
        ip link add "port$1" type veth peer name eth0 netns "$!" &&
        ip link set "port$1" master bridge up &&
        nsenter -t "$!" --net sh -c 'ip addr add "$0" dev eth0 && ip link set eth0 up' \
            "10.77.0.1$1/24" &&
        eval "holder$1=$!" && on "$1" true
}
has_name()
{
    [ "$(nsenter -t "$1" --uts hostname)" = "$2" ]
}
# on NUMBER COMMAND...
on()
{
    eval "holder=\$holder$1"
    shift
    nsenter -t "$holder" --mount --uts --net "$@"
}

if ! { ip link add bridge type bridge && ip addr add "$relay/24" dev bridge &&
    ip link set bridge up && host 1 && host 2 && host 3 && host 4; } 2>"$work/err"; then
    skip "needs root and no emulator, to be four hosts: $(head -n 1 "$work/err")" \
        "four hosts, one relay daemon"
    tap_done
    exit 0
fi
here "the relay daemon listens to all of them" start_relayd "$relay"
for number in 1 2 3 4; do
    mkfifo "$work/orders$number" "$work/answers$number"
    cat "$work/answers$number" >"$work/answered$number" &
    on "$number" "$ccltap" record --relay "$relay" -o "$work/four" -- "$programs/obey" "$library" \
        <"$work/orders$number" >"$work/answers$number" 2>"$work/said$number" &
    eval "recorder$number=$!"
done
exec 5>"$work/orders1" 6>"$work/orders2" 7>"$work/orders3" 8>"$work/orders4"

# obey CALLS: every program makes so many, and has answered.
answers=1
obeyed()
{
    for number in 1 2 3 4; do
        [ "$(wc -l <"$work/answered$number")" -eq "$answers" ] || return 1
    done
}
obey()
{
    for fd in 5 6 7 8; do
        echo "$1" >&$fd
    done
    answers=$((answers + 1))
    within 30 obeyed
}
# folders PATTERN: how many there are below that of the relay daemon.
there()
{
    [ "$(find "$relayed" -path "$1" -name metadata -size +0 | wc -l)" -eq "$2" ]
}
check "four programs run" within 30 obeyed
here "and make calls" obey 100
check "which are sent within a moment" within 20 there "$relayed/node?/four/*/ust/*" 4
calls()
{
    "$ccltap" timeline --format jsonl "$relayed"/node*/four 2>/dev/null |
        grep -c '"type":"span"' || true
}
has_calls()
{
    [ "$(calls)" -eq "$1" ]
}
check "all of them, while the programs go on" within 20 has_calls 400
kill -KILL "$relayd"
wait "$relayd" || true
gone()
{
    on 1 "$ccltap" status | grep -q "the relay daemon went away at ..:..:.. and is not back"
}
check "the relay daemon is killed, which status says" within 10 gone
here "the programs go on" obey 7
here "it comes back" start_relayd "$relay"
check "each host goes on into a part of its own" \
    within 20 there "$relayed/node?/four/*/again-2/ust/*" 4
here "the programs make more calls" obey 50
exec 5>&- 6>&- 7>&- 8>&-
for number in 1 2 3 4; do
    eval "recorder=\$recorder$number"
    status=0
    wait "$recorder" || status=$?
    same "the program on node$number ends as ever" 0 "$status"
    cp "$work/said$number" "$work/err"
    said "node$number says what was lost" \
        "node$number/four/.*not complete: the relay daemon went away at .* and was back at .* s in all"
done
same "no call but those while it was gone is missing" 600 "$(calls)"
run 1 "check does not trust it" "$ccltap" check "$relayed"/node*/four
check "and says why" grep -q '^loss:.* gaps while the relay daemon was gone 4' "$work/out"
same "each process is one, before and after" 4 "$("$ccltap" timeline --format jsonl \
    "$relayed"/node*/four | grep '"type":"process"' | sed 's/.*"process":\([0-9]*\),.*/\1/' |
    sort -u | wc -l)"

# It goes away, and is not back.
on 1 sh -c '"$@" 2>"$0/err"' "$work" "$ccltap" record --relay "$relay" -o "$work/last" -- \
    sh -c 'kill -KILL "$1"; for i in $(seq 100); do "$2" status | grep -q "not back" && exit 5
        sleep 0.1; done' - "$relayd" "$ccltap" && status=0 || status=$?
wait "$relayd" || true
relayd=
same "where it does not come back the program ends as ever, too" 5 "$status"
said "and that is said" "not complete: the relay daemon went away at .* and is not back"
run 2 "who reads what is here" "$ccltap" report "$work/last/node1"
said "is told that, too" "read it there.* not complete: the relay daemon went away"
tap_done
