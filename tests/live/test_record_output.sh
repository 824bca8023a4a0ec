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

run 2 "a recording is not overwritten unasked" "$ccltap" record -o "$work/a" true
said "it is told" "$work/a/$host is not empty: .*--overwrite"
same "it is still the first" "$first" "$(session "$work/a")"
run 0 "it is overwritten when asked" "$ccltap" record -o "$work/a" --overwrite true
check "it is another one then" test "$first" != "$(session "$work/a")"

touch "$work/a/beside"
run 0 "what lies beside the host's directory is not in the way" \
    "$ccltap" record -o "$work/a" -w true
check "and stays" test -e "$work/a/beside"

echo mine >"$work/a/$host/notes"
run 2 "a recording with something of the user's is left alone" \
    "$ccltap" record -o "$work/a" -w true
said "it is told" 'holds "notes"'
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
echo "$line" >"$work/release"
wait $!

run 1 "a directory whose parent is missing" "$ccltap" record -o "$work/no/such" true
said "it is told" "cannot make $work/no/such"
run 1 "a file in the directory's place" "$ccltap" record -o "$work/keep/file" true
ln -s "$work/keep" "$work/scratch"
run 0 "the directory that the user names may be a link" \
    "$ccltap" record -o "$work/scratch" true
check "the recording is where it leads" test -e "$work/keep/$host/ccltap-recording"
(cd "$work" && "$ccltap" record true 2>/dev/null)
check "the usual directory" test -e "$work/ccltap-trace/$host/ccltap-recording"
tap_done
