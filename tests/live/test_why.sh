#!/bin/sh
# SPDX-License-Identifier: MIT
# What is wrong with a program is said while it runs: of a recording that goes on, of a
# flight recorder, again and again until the end; and it is kept beside the trace.
# shellcheck disable=SC2016 # programs for other shells
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

finding='^HUNG .*ncclAllReduce #3 on .*: ranks .* wait.*; MISSING rank 7'

# start FOLDER OPTION...: eight ranks that do as they are told, and are recorded.
start()
{
    folder=$1
    shift
    rm -f "$work/orders" "$work/answers"
    mkfifo "$work/orders" "$work/answers"
    "$ccltap" record -o "$folder" "$@" -- "$programs/missing" 8 \
        <"$work/orders" >"$work/answers" 2>"$work/record" &
    pid=$!
    exec 3>"$work/orders" 4<"$work/answers"
    read -r _ <&4
}

# obey ORDER: and waits until it is done.
obey()
{
    echo "$1" >&3
    read -r _ <&4
}

finish()
{
    exec 3>&-
    status=0
    wait "$pid" || status=$?
    exec 4<&-
}

# end_hung: kills the program, and with it its ranks.
end_hung()
{
    children=$(cat "/proc/$pid/task/$pid/children")
    for child in $children; do
        # The other one is the supervisor.
        [ "$(cat "/proc/$child/comm")" != missing ] || kill -KILL "$child"
    done
    wait "$pid" || true
    exec 3>&- 4<&-
}

# has PATTERN: the first line of what was said does, and nothing is said besides.
has()
{
    cat "$work/out" "$work/err"
    [ ! -s "$work/err" ] && head -n 1 "$work/out" | grep -q "$1"
}

# wrong ARGUMENT...: `ccltap why` finds something, as soon as that is old enough.
wrong()
{
    status=0
    "$ccltap" why "$@" >"$work/out" 2>"$work/err" || status=$?
    [ "$status" -eq 1 ]
}

# over ARGUMENT...: `ccltap why` says of nothing that it hangs; that the rank came late it may
# say.
over()
{
    status=0
    "$ccltap" why "$@" >"$work/out" 2>"$work/err" || status=$?
    [ "$status" -le 1 ] && ! grep -q '^HUNG ' "$work/out"
}

start "$work/plain"
run 0 "nothing is wrong with what goes on" "$ccltap" why "$work/plain"
check "which is said" has '^OK '
obey hang
check "a rank that does not come is found while the others wait" within 60 wrong "$work/plain"
check "with all that it takes" has "$finding"
run 1 "as JSON" "$ccltap" why --json "$work/plain"
check "it has a verdict" has '"verdict":"found".*"ranks":\[7\]'
run 1 "into a file" "$ccltap" why -o "$work/file" "$work/plain"
check "which then has it" grep -q "$finding" "$work/file"
run 2 "a file that is there stays" "$ccltap" why -o "$work/file" "$work/plain"
said "it is told" "exists"
run 1 "but where it may be replaced" "$ccltap" why --overwrite -o "$work/file" "$work/plain"
obey come
check "when the rank has come nothing hangs any more" over "$work/plain"
finish
same "the program ends as ever" 0 "$status"

run 2 "what is not there cannot be told" "$ccltap" why "$work/nothing"
run 2 "nor what is no recording" "$ccltap" why "$programs"
run 2 "an option that is none" "$ccltap" why --wath "$work/plain"
run 2 "a pause that is none" "$ccltap" why --watch=soon "$work/plain"
said "it is told what is one" "whole number of seconds"
run 2 "a watch does not write to a file" "$ccltap" why --watch -o "$work/no" "$work/plain"
check "a watch of what has ended is one look" over --watch "$work/plain"
check "which is shown" has '^OK \|^FINDING  Rank 7 was late '

# watch OPTION...: in the background; what it says comes to $work/seen.
watch()
{
    : >"$work/seen"
    "$ccltap" why --watch=1 "$@" >"$work/seen" 2>"$work/err" 3>&- 4<&- &
    watcher=$!
}

seen()
{
    cat "$work/seen" "$work/err"
    [ "$(grep -c "$1" "$work/seen")" -eq 1 ] && [ ! -s "$work/err" ]
}

watched()
{
    status=0
    wait "$watcher" || status=$?
}

start "$work/watched"
watch "$work/watched"
check "a watch says that all is well" within 60 seen '^OK '
obey hang
check "and when a rank does not come" within 60 seen "$finding"
sleep 3
check "once, however long that takes" seen "$finding"
obey come
check "when it has come that is gone" within 60 seen '^GONE     HUNG .*ncclAllReduce #3 '
# That the rank came late stays wrong, where it came very late.
! grep -q '^FINDING ' "$work/seen" || kill -TERM "$watcher"
watched
check "it ends when all is well again" test "$status" -le 1 -o "$status" -eq 143
watch "$work/watched"
check "a watch of what goes on again" within 60 seen '^OK \|^FINDING '
finish
watched
check "ends with the recording" test "$status" -le 1

# Two hosts that share a file system, as this machine can be two.
if unshare --uts sh -c 'hostname elsewhere' 2>/dev/null; then
    start "$work/hosts"
    finish
    here=$ccltap
    ccltap=$work/elsewhere
    printf '#!/bin/sh\nexec unshare --uts sh -c '\''hostname elsewhere; exec "$0" "$@"'\'' %s "$@"\n' \
        "$here" >"$ccltap"
    chmod +x "$ccltap"
    start "$work/hosts"
    ccltap=$here
    obey hang
    check "another host's folder is completed and read too" within 60 wrong "$work/hosts"
    check "with what is wrong there" has "$finding"
    check "or by its name" wrong "$work/hosts/elsewhere" "$work/hosts/$host"
    obey come
    finish
    check "nothing hangs in the end" over "$work/hosts"
else
    skip "needs root, to be two hosts" "another host's folder is completed and read too"
fi

start "$work/killed"
obey hang
watch "$work/killed" "$work/plain"
check "two recordings are watched together" within 60 seen "$finding"
kill -INT "$watcher"
watched
same "a watch that is interrupted ends with what it said last" 1 "$status"
run 1 "both are read together" "$ccltap" why "$work/killed" "$work/plain"
watch --json "$work/killed"
check "as JSON a watch has one object for each look" within 60 \
    sh -c '[ "$(grep -c "^{.*\"verdict\":\"found\".*}$" "$0")" -ge 2 ]' "$work/seen"
end_hung
watched
same "it ends with the job, which hung" 1 "$status"
closing='; HUNG: ncclAllReduce #3 on .*: ranks .* wait.*; MISSING rank 7.* ("ccltap why [^"]*" says more)$'
check "whose closing line says why" grep -q "^ccltap: trace in .*$closing" "$work/record"
check "without a file beside the trace, which tells it again" test ! -e "$work/killed/$host/why.txt"

start "$work/flight" --flight-recorder=4M --stuck-after=1000
run 0 "a flight recorder is asked for what it holds" "$ccltap" why "$work/flight"
obey hang
check "also what is wrong" within 60 wrong "$work/flight"
check "that is said" has "$finding"
watch "$work/flight"
check "again and again" within 60 seen "$finding"
kill -KILL "$watcher"
watched
check "nothing is left of that, though a reader was killed" within 60 \
    sh -c 'test "$(find "$0" -name "look-*" -o -name "snapshot-*" | wc -l)" -eq 0' "$work/flight"
check "a snapshot is asked for" "$ccltap" snapshot "$work/flight"
obey come
check "and another" "$ccltap" snapshot "$work/flight"
check "what is held now is read, and not a snapshot" over "$work/flight"
run 1 "the first snapshot" "$ccltap" why --snapshot=1 "$work/flight"
check "it is said which is read, and of how many" \
    grep -q "^ccltap: reading snapshot 1 of 2 in .*: --snapshot=N reads another" "$work/err"
check "the last" over --snapshot=last "$work/flight"
check "it is said that it is the second" grep -q "reading snapshot 2 of 2" "$work/err"
check "all of them" over --snapshot=all "$work/flight"
check "that is said" grep -q "reading all 2 snapshots in " "$work/err"
spans()
{
    "$ccltap" timeline --format jsonl --snapshot="$1" "$work/flight" 2>/dev/null |
        sed -n 's/.*"type":"span".*"pid":\([0-9]*\),.*"call_id":\([0-9]*\),.*/\1.\2/p' | sort
}
spans all >"$work/all"
same "what both have is read once" "" "$(uniq -d "$work/all")"
for one in 1 2; do
    spans $one >"$work/one"
    same "and all that is in snapshot $one" "" "$(comm -13 "$work/all" "$work/one")"
done
for verb in report timeline check why; do
    run 2 "$verb has no third" "$ccltap" $verb --snapshot=3 "$work/flight"
    said "it is told how many there are" "no snapshot 3: .* written 2"
    run 2 "$verb has none that is no number" "$ccltap" $verb --snapshot=first "$work/flight"
done
finish
check "a rank that came in the end is not in the closing line" \
    sh -c 'grep -q "2 snapshots" "$0" && ! grep -q HUNG "$0"' "$work/record"

start "$work/stuck" --flight-recorder=4M --stuck-after=2 --min-interval=1000
obey hang
beside=$work/stuck/$host/why.txt
check "what hangs leaves a file beside the trace" within 60 test -s "$beside"
check "with what is wrong" grep -q "$finding" "$beside"
check "which is all that is there" sh -c 'ls "$1" >"$0" && [ "$(wc -l <"$0")" -eq 3 ]' \
    "$work/out" "$work/stuck/$host"
end_hung
check "and is in the closing line" grep -q "2 snapshots, .*$closing" "$work/record"
run 1 "the snapshot says so too" "$ccltap" why "$work/stuck"
run 0 "all that may be replaced" "$ccltap" record --overwrite -o "$work/stuck" -- true
check "with the file" test ! -e "$beside"
tap_done
