#!/bin/sh
# SPDX-License-Identifier: MIT
# A recording is private, is never overwritten unasked, and nothing else ever is.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

mode()
{
    stat -c %a "$1"
}

# unchanged SENTENCE: $work/keep, and whatever a link led to, is as it was.
keep()
{
    mkdir -p "$work/keep"
    echo precious >"$work/keep/file"
}

kept()
{
    check "$1" grep -qx precious "$work/keep/file"
}

keep
(umask 0; "$ccltap" record -o "$work/a" true 2>/dev/null)
same "the directory is the user's alone" "700 700" \
    "$(mode "$work/a") $(mode "$work/a/$host")"
first=$(session "$work/a")

run 2 "a recording is refused when asked" "$ccltap" record -o "$work/a" --no-overwrite true
said "it is told" "$work/a/$host has a recording, which --no-overwrite keeps"
same "it is still the first" "$first" "$(session "$work/a")"
run 0 "another recording keeps the older one" "$ccltap" record -o "$work/a" true
same "beside it" "$first" "$(session "$work/a.old")"
same "for the user alone" 700 "$(mode "$work/a.old")"
second=$(session "$work/a")
check "in its place is another one" test "$first" != "$second"
run 0 "a third" "$ccltap" record -o "$work/a/" true
same "takes the place of the first" "$second" "$(session "$work/a.old")"
third=$(session "$work/a")
run 0 "it is overwritten when asked" "$ccltap" record -o "$work/a" --overwrite true
check "it is another one then" test "$third" != "$(session "$work/a")"
same "and the older one is not touched" "$second" "$(session "$work/a.old")"
third=$(session "$work/a")
run 127 "a program that is not there leaves both" "$ccltap" record -o "$work/a" no-such-program
echo '#!/no/such/interpreter' >"$work/nothing"
chmod +x "$work/nothing"
run 127 "so does one that cannot be run" "$ccltap" record -o "$work/a" "$work/nothing"
same "the newest is in its place" "$third" "$(session "$work/a")"

# What is in the older one's place may be anything.
rm -rf "$work/a.old"
mkdir "$work/a.old"
echo mine >"$work/a.old/notes"
run 0 "a folder of that name may have other things" "$ccltap" record -o "$work/a" true
check "which stay" grep -qx mine "$work/a.old/notes"
rm -r "$work/a.old/$host"
mkdir "$work/a.old/$host"
echo mine >"$work/a.old/$host/notes"
fourth=$(session "$work/a")
run 2 "what is no recording is not replaced" "$ccltap" record -o "$work/a" true
said "it is told" "a.old/$host holds \"notes\""
check "all of it is there" grep -qx mine "$work/a.old/$host/notes"
same "and the recording, too" "$fourth" "$(session "$work/a")"
rm -r "$work/a.old"
ln -s "$work/keep" "$work/a.old"
run 1 "a link is not followed" "$ccltap" record -o "$work/a" true
kept "where it leads is untouched"
same "the recording stays" "$fourth" "$(session "$work/a")"
rm "$work/a.old"
echo precious >"$work/a.old"
run 1 "a file of that name is in the way" "$ccltap" record -o "$work/a" true
said "it is told" "cannot keep the recording in $work/a/$host as .*/a.old: Not a directory"
check "and stays" grep -qx precious "$work/a.old"
rm "$work/a.old"

touch "$work/a/beside"
run 0 "what lies beside the host's directory is not in the way" \
    "$ccltap" record -o "$work/a" -w true
check "and stays" test -e "$work/a/beside"

echo mine >"$work/a/$host/notes"
run 2 "a recording with something of the user's is left alone" \
    "$ccltap" record -o "$work/a" -w true
said "it is told" 'holds "notes"'
run 2 "nor is it moved" "$ccltap" record -o "$work/a" true
said "it is told so" 'holds "notes"'
check "all of it" test -e "$work/a/$host/notes" -a -e "$work/a/$host/ccltap-recording"
rm "$work/a/$host/notes"

mkdir -p "$work/a/$host/ust"
ln -s "$work/keep" "$work/a/$host/ust/link"
run 2 "a recording with a link in it is left alone" "$ccltap" record -o "$work/a" -w true
said "it is told" "holds what no recording has"
kept "where the link led is untouched"

rm -r "$work/a/$host"
ln -s "$work/keep" "$work/a/$host"
run 1 "a link in the directory's place is not followed" \
    "$ccltap" record -o "$work/a" -w true
kept "where it led is untouched"
rm "$work/a/$host"

mkdir "$work/a/$host"
run 0 "an empty directory is used" "$ccltap" record -o "$work/a" true
same "and made the user's alone" 700 "$(mode "$work/a/$host")"
rm -r "$work/a/$host"

mkdir -p "$work/a/$host/ust/uid"
echo precious >"$work/a/$host/ust/uid/file"
run 2 "a trace of LTTng's that is not ours is left alone" \
    "$ccltap" record -o "$work/a" -w true
said "it is told" "is not a recording"
run 2 "in its place, too" "$ccltap" record -o "$work/a" true
said "it is told so" "is not a recording"
echo "something else" >"$work/a/$host/ccltap-recording"
run 2 "also with a file that is called as our mark" "$ccltap" record -o "$work/a" -w true
check "it is all there" grep -qx precious "$work/a/$host/ust/uid/file"
rm -r "$work/a/$host"
ln -s "$work/keep/file" "$work/a/mark"
mkdir "$work/a/$host"
ln -s "$work/a/mark" "$work/a/$host/ccltap-recording"
run 2 "a link as our mark is not followed" "$ccltap" record -o "$work/a" -w true
kept "where it led is untouched"

mkfifo "$work/fifo" "$work/release"
# shellcheck disable=SC2016
"$ccltap" record -o "$work/b" -- sh -c 'echo ready; read -r line <"$0"' "$work/release" \
    >"$work/fifo" 2>/dev/null &
read -r line <"$work/fifo"
run 1 "a recording that goes on is not overwritten" "$ccltap" record -o "$work/b" -w true
said "it is told" "is being recorded now"
run 1 "nor moved" "$ccltap" record -o "$work/b" true
said "it is told so" "is being recorded now"
check "nothing is beside it" test ! -e "$work/b.old"
echo "$line" >"$work/release"
wait $!

# Eight ranks at once, where an older recording is.
ranks()
{
    started=
    for number in 0 1 2 3 4 5 6 7; do
        RANK=$number "$ccltap" record -o "$1" -- sleep 1 2>>"$work/err" &
        started="$started $!"
    done
    for pid in $started; do
        wait "$pid" || echo "failed" >>"$work/err"
    done
}

: >"$work/err"
"$ccltap" record -o "$work/ranks" true 2>/dev/null
alone_before=$(session "$work/ranks")
ranks "$work/ranks"
check "of ranks that come at once none fails" test ! "$(grep -c failed "$work/err")" -gt 0
same "all are in one recording" 8 "$(grep -c '^rank [0-7]$' "$work/ranks/$host/ccltap-recording")"
same "and the older one is beside it" "$alone_before" "$(session "$work/ranks.old")"
: >"$work/err"
ranks "$work/d/e/../f"
check "none fails where folders are missing" test ! "$(grep -c failed "$work/err")" -gt 0
same "all are in one recording" 8 "$(grep -c '^rank [0-7]$' "$work/d/f/$host/ccltap-recording")"
check "no folder is made for what goes up again" test ! -e "$work/d/e"

run 0 "a directory whose parents are missing" "$ccltap" record -o "$work/no/such/folder" true
check "is made with them" test -e "$work/no/such/folder/$host/ccltap-recording"
run 126 "where the program cannot be run" "$ccltap" record -o "$work/none/such/folder" "$work"
run 127 "nor be started" "$ccltap" record -o "$work/none/such/folder" "$work/nothing"
check "nothing is left" test ! -e "$work/none"
run 1 "a file in the directory's place" "$ccltap" record -o "$work/keep/file" true
ln -s "$work/keep" "$work/scratch"
run 0 "the directory that the user names may be a link" \
    "$ccltap" record -o "$work/scratch" true
check "the recording is where it leads" test -e "$work/keep/$host/ccltap-recording"
run 0 "a directory that is called as what comes after a relay daemon's return" \
    "$ccltap" record -o "$work/again-2" "$top_builddir/tests/link/programs/linked"
"$ccltap" check "$work/again-2" >"$work/out" || true
check "is read" grep -q '^verdict: ' "$work/out"
check "and has no gap for that" sh -c "! grep -q 'relay daemon' '$work/out'"
(cd "$work" && "$ccltap" record true 2>/dev/null)
check "the usual directory" test -e "$work/ccltap-trace/$host/ccltap-recording"
tap_done
