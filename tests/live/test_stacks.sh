#!/bin/sh
# SPDX-License-Identifier: MIT
# Call stacks: the frames that libunwind finds, from every kind of stack, with and without
# frame pointers; and their names, wherever the files of the program are.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

stacks_py()
{
    /usr/bin/python3 "$top_srcdir/tests/live/expect/stacks.py" "$@"
}

fails() # COMMAND...
{
    ! "$@"
}

timeline() # TRACE OPTION...: as JSON lines, in $work/jsonl
{
    "$ccltap" timeline --stacks --format jsonl --overwrite -o "$work/jsonl" "$@"
}

record() # TRACE DEPTH PROGRAM...
{
    record_to=$1
    record_depth=$2
    shift 2
    rm -f "$work/walked"
    run 0 "$(basename "$1") is recorded, $record_depth frames" env STACKS_FILE="$work/walked" \
        "$ccltap" record "--stacks=$record_depth" --overwrite -o "$record_to" -- "$@"
}

if [ -e "$programs/stacks-framed" ]; then
    for program in stacks-framed stacks-unframed; do
        for depth in 64 16 5 1; do
            record "$work/trace" $depth "$programs/$program"
            check "its timeline reads" timeline "$work/trace"
            check "every stack is the one that libunwind finds" \
                stacks_py walked "$work/jsonl" "$work/walked" $depth
        done
        record "$work/trace" 64 "$programs/$program"
        timeline "$work/trace"
        check "a walk ends where no table tells more, also on a damaged stack" \
            stacks_py lost "$work/jsonl"
        check "functions are named, inlined ones too, with their lines" stacks_py names \
            "$work/jsonl" ncclGetVersion innermost:1 inner:1 middle:1 outer:1 main:1 _start
        check "through the C library" stacks_py names "$work/jsonl" ncclGetVersion \
            middle:1 compare:1 called_back:1 main:1
        check "from a signal handler" stacks_py names "$work/jsonl" ncclGetVersion \
            on_signal:1 interrupted:1 main:1
        check "from a constructor" stacks_py names "$work/jsonl" ncclGetVersion outer:1 start:1
    done
    sed 's/+0x/+0x1/' "$work/walked" >"$work/other"
    check "another stack is told from it" fails stacks_py walked "$work/jsonl" "$work/other" 64

    run 0 "more different stacks than are kept" \
        "$ccltap" record --stacks=20 -o "$work/many" -- "$programs/stacks-unframed" many
    said "is said" 'problem: .*stacks: there are too many'
    timeline "$work/many"
    check "the first 4096 are kept" stacks_py many "$work/jsonl" 4096

    # It begins when the stack has been met, and told to nobody.
    session=ccltap-test-$$
    touch "$work/on"
    (
        eval "$("$ccltap" env --stacks=8)"
        exec "$programs/stacks-framed" again "$work/on"
    ) &
    pid=$!
    trap 'rm -f "$work/on"; lttng --no-sessiond destroy "$session" >/dev/null 2>&1 || true
        rm -rf "$work"' EXIT
    # called MORE: so many times more than was seen.
    called()
    {
        [ "$(stat -c %s "$work/on")" -ge $((seen + $1)) ]
    }
    seen=0
    check "a program calls while nobody records" within 60 called 3
    quietly create "$session" --output "$work/late"
    quietly enable-event -u -s "$session" 'tap:*,nccl:*'
    quietly add-context -u -s "$session" -t vpid -t vtid
    quietly start "$session"
    heard
    seen=$(stat -c %s "$work/on")
    check "and while it is recorded" within 60 called 3
    quietly stop "$session"
    rm -f "$work/on"
    wait "$pid" || true
    quietly destroy "$session"
    timeline "$work/late"
    check "a recording that begins late knows the stacks" stacks_py names "$work/jsonl" \
        ncclGetVersion inner:1 middle:1 outer:1 again:1
    check "of every call" stacks_py all "$work/jsonl" 1

    # The names are found where the files are now.
    mkdir "$work/bin" "$work/debug" "$work/copies"
    program=$work/bin/program
    objcopy --only-keep-debug "$programs/stacks-framed" "$work/bin/program.debug"
    objcopy --strip-all --add-gnu-debuglink="$work/bin/program.debug" \
        "$programs/stacks-framed" "$program"
    record "$work/trace" 16 "$program"
    inner="ncclGetVersion innermost:1 inner:1 middle:1 outer:1 main:1"
    # shellcheck disable=SC2086 # a list of words
    named() # OPTION...
    {
        timeline "$work/trace" "$@" && stacks_py names "$work/jsonl" $inner
    }
    check "a stripped program's, from the file beside it" named
    mv "$work/bin/program.debug" "$work/debug/"
    check "without that file there are none" fails named
    check "from a folder with debug information" named --debug-path "$work/debug"
    mv "$program" "$work/copies/renamed"
    check "the program is gone: none" fails named --debug-path "$work/debug"
    check "from a copy of the program under another name" \
        named --debug-path "$work/debug" --modules "$work/copies"
    cp "$programs/stacks-unframed" "$program"
    check "another build is in its place: none" fails named --debug-path "$work/debug"
    check "which is said" grep -q \
        "\"type\":\"module\".*/program\".*\"file\":null,\"problem\":\".* is another build: " "$work/jsonl"
    "$ccltap" timeline --stacks "$work/trace" >"$work/text"
    check "to a person too" grep -q '^no names for .*/program: .* is another build: ' "$work/text"
    check "the frames are there as module and offset" \
        grep -q '^  *\[program+0x[0-9a-f]*\]$' "$work/text"
    mkdir "$work/wrong"
    cp "$programs/stacks-unframed" "$work/wrong/program"
    rm "$program"
    check "a copy of another build under the name is not used" \
        fails named --debug-path "$work/debug" --modules "$work/wrong"
    check "which is said as well" grep -q "/wrong/program is another build: " "$work/jsonl"
else
    skip "libunwind-dev is not installed" "stacks are what libunwind finds"
fi

record "$work/none" 16 "$top_builddir/examples/allreduce" -n 2 -i 2
check "the bundled program's report reads" "$ccltap" report --stacks --overwrite \
    -o "$work/report" "$work/none"
check "it names who called" grep -q '^ *main at .*allreduce.c:' "$work/report"
"$ccltap" report --stacks --json --overwrite -o "$work/report" "$work/none"
check "as JSON too" grep -q '"function":"main","file":"[^"]*allreduce.c"' "$work/report"

record "$work/python" 32 /usr/bin/python3 "$top_srcdir/tests/live/programs/calls.py" \
    "$top_builddir/tests/calls/doubles/libnccl.so.2"
timeline "$work/none"
check "what NCCL calls itself has no stack" stacks_py inner "$work/jsonl"
timeline "$work/python"
# What their symbols tell: distributions strip them.
check "a call from Python goes through libffi, ctypes and the interpreter" stacks_py through \
    "$work/jsonl" ncclGetVersion libffi. _ctypes. python

# Children go on where their parent was, and a recording that begins late is told.
run 0 "a program that forks is recorded" "$ccltap" record --stacks -o "$work/forks" -- \
    "$programs/processes" "$top_builddir/tests/link/programs/copy1.so"
timeline "$work/forks"
check "every call has its stack, in each process" stacks_py all "$work/jsonl" 2

run 0 "without --stacks" "$ccltap" record -o "$work/off" -- \
    "$programs/light" "$top_builddir/tests/link/programs/copy1.so"
timeline "$work/off"
check "no call has a stack" stacks_py none "$work/jsonl"
run 0 "a depth that is none in the environment" env CCLTAP_STACKS=65 \
    "$ccltap" record -o "$work/bad" -- "$programs/light" "$top_builddir/tests/link/programs/copy1.so"
said "is said" 'problem: .*CCLTAP_STACKS'
for depth in 0 65 x ''; do
    run 2 "depth \"$depth\" is refused" "$ccltap" record "--stacks=$depth" -- true
    said "in one line" 'number of frames from 1 to 64'
done
run 0 "ccltap env hands it on" sh -c "eval \"\$('$ccltap' env --stacks=7)\"; echo \$CCLTAP_STACKS"
same "to the shell" 7 "$(cat "$work/out")"

tap_done
