#!/bin/sh
# SPDX-License-Identifier: MIT
# doc/parity.md: each exact and decoded row names a test, and each test that it names is there.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

parity=$top_srcdir/doc/parity.md

# judge FILE: the rows without a test, and tests that are not there; its last column names them.
judge()
{
    awk -F ' *[|] *' '
        /^[|]/ && !/^[|]-/ { known = $(NF - 2); tests = $(NF - 1) }
        /^[|]/ && known ~ /^(exact|decoded)/ && tests == "" { print "no test: " $2 }
        /^## / { beyond = /Beyond/ }
        /^[|]/ && !/^[|]-/ && NF > 4 && (known ~ /^(exact|decoded)/ || tests ~ /[\/]/) {
            count = split(tests, named, /, */)
            for (i = 1; i <= count; i++)
                if (named[i] ~ /^(every_call|tree)$|^[a-z_]+\/[a-zA-Z0-9_.-]+$/)
                    print "test: " named[i]
                else if (named[i] != "" && tests != "test")
                    print "no name of a test: " named[i]
        }' "$1" | sort -u | while read -r word name rest; do
        case $word in
        no) echo "$word $name $rest" ;;
        *)
            case $name in
            every_call) file=tests/calls/test_every_call.sh ;;
            tree) file=tests/live/test_tree.sh ;;
            golden/test_*) file=tests/$name ;;
            golden/*) file=tests/golden/traces/${name#golden/}.expect ;;
            *) file=tests/$name ;;
            esac
            [ -e "$top_srcdir/$file" ] || echo "not there: $file"
            ;;
        esac
    done
}

same "each row that needs a test has one, and it is there" "" "$(judge "$parity")"

work=parity.$$
mkdir "$work"
trap 'rm -rf "$work"' EXIT
sed -e 's,golden/tree-verbs,golden/tree-vorbs,' -e 's/| exact | every_call |/| exact | |/' \
    "$parity" >"$work/wrong"
judge "$work/wrong" >"$work/found"
check "a test that is not there is noticed" grep -q '^not there: .*tree-vorbs' "$work/found"
check "a row without a test is noticed" grep -q '^no test: ' "$work/found"
tap_done
