#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs in a minimal root, which has nothing that we need, nor tests/lib.  Its lines are
# TAP without numbers, for test_portable.sh.

ok() # STATUS SENTENCE
{
    if [ "$1" -eq 0 ]; then
        echo "ok - $2"
    else
        echo "not ok - $2"
        sed 's/^/# /' /tmp/out /tmp/err 2>/dev/null
    fi
}
# run SENTENCE COMMAND...: stdout to /tmp/out, stderr to /tmp/err
run()
{
    sentence=$1
    shift
    "$@" >/tmp/out 2>/tmp/err </dev/null
    ok $? "$sentence"
}
# has SENTENCE PATTERN FILE
has()
{
    grep -Eq "$2" "$3"
    ok $? "$1"
}

try=$(echo /tmp/try/*)
[ -z "$(find /usr /etc -name '*lttng*' -o -name '*babeltrace*' 2>/dev/null)" ]
ok $? "the root has no LTTng and no babeltrace2"

# What README says, as it says it.
cd "$try" || exit 1
sed -n 's|^    \(bin/.*\)|\1|p' README >/tmp/commands
[ "$(wc -l </tmp/commands)" -eq 3 ]
ok $? "README shows three commands"
while read -r command; do
    # shellcheck disable=SC2086 # a line for a shell
    run "$command" $command
    case $command in
    *record*)
        has "both ranks have the right sums" '^rank 1: .*sums right' /tmp/out
        has "record says what it recorded" '2 processes, .*nccl [1-9].* 0 discarded' /tmp/err
        ;;
    *timeline*) has "the timeline shows a call" 'ncclAllReduce #1 on .*<- allreduce\+' /tmp/out ;;
    *report*) has "the report counts the ranks" '^2 ranks, 1 host, 1 communicator, ' /tmp/out ;;
    esac
done </tmp/commands
run "doctor finds nothing wrong" bin/ccltap doctor
run "metrics are served, and shown" bin/ccltap record --layers none --metrics-listen 0 -- \
    sh -c 'bin/ccltap status; bin/ccltap top --once --interval 0.3'
has "at an address" 'metrics: 0 processes, in .* and at http://127.0.0.1:[0-9]*/metrics$' /tmp/out
has "as a table" '^COMM +RANK' /tmp/out
# Under an emulator all run its file, and have theirs in the command line.
run "what runs while it records is seen" bin/ccltap record -o /tmp/seen -- \
    sh -c 'readlink /proc/[0-9]*/exe; cat /proc/[0-9]*/cmdline | tr "\0" "\n"'
has "the session daemon is the folder's" "^$try/libexec/lttng-sessiond" /tmp/out
has "and what it starts, too" "^$try/libexec/lttng-consumerd" /tmp/out

# By hand, with the programs of the folder.
run "lttng make a session" bin/lttng create by-hand --output=/tmp/by-hand
run "lttng enable events" bin/lttng enable-event -u 'nccl:*'
run "lttng start" bin/lttng start
bin/ccltap env >/tmp/env 2>/tmp/err
ok $? "ccltap env"
(
    # shellcheck disable=SC1091 # made a moment ago
    . /tmp/env
    exec examples/allreduce -n 2
) >/tmp/out 2>&1
ok $? "the program runs in that environment"
run "lttng destroy" bin/lttng destroy by-hand
run "babeltrace2 reads it" bin/babeltrace2 /tmp/by-hand
has "babeltrace2 shows the calls" 'nccl:ncclAllReduce_entry' /tmp/out

# Moved, reached through a link, beside libraries of the same names that are others.
mv "$try" /tmp/moved
ln -s /tmp/moved/bin/ccltap /tmp/ccltap
mkdir /tmp/others
for library in /tmp/moved/lib/tools/*; do
    echo "not a library" >"/tmp/others/${library##*/}"
done
cd /tmp/home || exit 1
run "it runs where it was moved to, whatever LD_LIBRARY_PATH has" \
    env LD_LIBRARY_PATH=/tmp/others /tmp/ccltap record -o /tmp/t2 -- /tmp/moved/examples/allreduce -n 2
has "and records there" '2 processes, .* 0 discarded' /tmp/err
LD_LIBRARY_PATH=/tmp/others /tmp/ccltap report /tmp/t2 >/tmp/out 2>/tmp/err
ok $? "and reads there"

mkdir -m 777 /tmp/user
run "a user that is not root records" setpriv --reuid=65534 --regid=65534 --clear-groups \
    env HOME=/tmp/user /tmp/ccltap record -o /tmp/user/trace -- /tmp/moved/examples/allreduce -n 2
has "and gets the calls" '2 processes, .* 0 discarded' /tmp/err

mkdir -m 777 /tmp/other
run "lttng starts a session daemon by itself" setpriv --reuid=65533 --regid=65533 \
    --clear-groups env HOME=/tmp/other /tmp/moved/bin/lttng create by-hand
find /proc -maxdepth 1 -user 65533 -exec readlink '{}/exe' ';' -exec cat '{}/cmdline' ';' 2>/dev/null |
    tr '\0' '\n' >/tmp/out
has "which is the folder's" '^/tmp/moved/libexec/lttng-sessiond' /tmp/out

# What a traced program has in it of the folder, once its calls are recorded.
/tmp/ccltap env >/tmp/env 2>/tmp/err
(
    # shellcheck disable=SC1091
    . /tmp/env
    RANK=0 WORLD_SIZE=2 exec /tmp/moved/examples/allreduce --id-file /tmp/id
) >/tmp/out 2>&1 &
waiting=$!
tries=0
until grep -q liblttng-ust.so.1 /proc/$waiting/maps || [ $tries -gt 100 ]; do
    tries=$((tries + 1))
    sleep 0.1
done
sed -n 's|.*/tmp/moved/||p' /proc/$waiting/maps | sort -u >/tmp/out
kill $waiting
has "a program gets our library" '^lib/libccltap.so$' /tmp/out
has "and LTTng's" '^lib/liblttng-ust.so.1$' /tmp/out
! grep -Ev '^lib/lib(ccltap|lttng-ust)[^/]*$|^examples/' /tmp/out
ok $? "and nothing else"

mv /tmp/moved/lib/tools /tmp/moved/lib/elsewhere
! /tmp/moved/bin/ccltap --version >/tmp/out 2>&1
ok $? "without the folder's libraries it does not run here"
