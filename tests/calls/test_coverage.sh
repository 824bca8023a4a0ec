#!/bin/sh
# SPDX-License-Identifier: MIT
# Every function that any release exports has a row, or a reason in ignored.txt
# why not; every row is exported by some release and says rightly since which.
# CCLTAP_REAL_NCCL=/path/to/libnccl.so.2 has that library's own symbols checked too.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

exports=$top_srcdir/tests/calls/exports
dir=${top_builddir:?}/tests/calls/coverage.$$
mkdir -p "$dir"
trap 'rm -rf "$dir"' EXIT
"$top_builddir/list-calls" --names >"$dir/names"

# complaints NAMES: one line for each thing that is wrong; nothing when all is well.
complaints()
{
    for list in "$exports"/nccl-*.txt "$exports"/rccl-*.txt; do
        basename "$list" .txt
    done | sort -t - -k 1,1 -k 2V | while read -r release; do
        grep -v '^#' "$exports/$release.txt" | sed "s/^/$release /"
    done | awk -v names="$1" -v ignored="$exports/ignored.txt" '
        # 2.28 is the first release of its series that is listed, 2.28.7 a later one.
        function first_of_series(version) {
            return version in opens ? opens[version] : version
        }
        BEGIN {
            while ((getline line < names) > 0) {
                split(line, field, " ")
                since[field[1]] = field[2]
            }
            while ((getline line < ignored) > 0) {
                if (line ~ /^#/)
                    continue
                split(line, field, " ")
                reason[field[1]] = field[2]
            }
        }
        {
            library = substr($1, 1, 4)
            version = substr($1, 6)
            series = version
            sub(/^[0-9]+\.[0-9]+/, "&/", series)
            sub(/\/.*/, "", series)
            if (library == "nccl" && !(series in opens)) {
                opens[series] = version
                if (oldest == "")
                    oldest = version
            }
            name = $2
            if (!(name in since) && substr(name, 1, 1) == "p")
                name = substr(name, 2)
            seen[name] = 1
            if (!(name in since) && reason[name] == "")
                print $1 " exports " $2 ", which has no row and no reason in ignored.txt"
            if (library == "nccl" && !(name in first))
                first[name] = version
        }
        END {
            for (name in since) {
                if (!(name in seen))
                    print name ": no release exports it"
                else if (!(name in first) && since[name] != "rccl")
                    print name ": since " since[name] ", but only RCCL exports it"
                else if (name in first && first_of_series(since[name]) != first[name])
                    print name ": since " since[name] ", but first in " first[name]
                if (name in reason)
                    print name ": both a row and in ignored.txt"
            }
            for (name in reason)
                if (!(name in seen))
                    print name ": in ignored.txt, but no release exports it"
        }'
}

count=$(find "$exports" -name '?ccl-*.txt' | wc -l)
check "there are lists of releases" test "$count" -ge 26
same "every exported function is a row or ignored, and every since is right" \
    "" "$(complaints "$dir/names")"

# The same must complain when something is wrong.
doctored()
{
    complaints "$dir/doctored" | sed 's/^[nr]ccl-[0-9.]* //' | sort -u
}
grep -v '^ncclAllReduce ' "$dir/names" >"$dir/doctored"
same "a row that is missing is noticed" \
    "exports ncclAllReduce, which has no row and no reason in ignored.txt
exports pncclAllReduce, which has no row and no reason in ignored.txt" "$(doctored)"
sed 's/^ncclCommSplit 2.18 /ncclCommSplit 2.19 /' "$dir/names" >"$dir/doctored"
same "a wrong since is noticed" \
    "ncclCommSplit: since 2.19, but first in 2.18.1" "$(doctored)"
sed 's/^ncclCommRevoke 2.28.7 /ncclCommRevoke 2.28 /' "$dir/names" >"$dir/doctored"
same "a release within a series is told from its first" \
    "ncclCommRevoke: since 2.28, but first in 2.28.7" "$(doctored)"
sed 's/^ncclAllToAllv rccl /ncclAllToAllv 2.18 /' "$dir/names" >"$dir/doctored"
same "a call that is only RCCL's is noticed" \
    "ncclAllToAllv: since 2.18, but only RCCL exports it" "$(doctored)"
{ cat "$dir/names"; echo "ncclNoSuchCall 2.18 HOT"; } >"$dir/doctored"
same "a row that nobody exports is noticed" \
    "ncclNoSuchCall: no release exports it" "$(doctored)"
{ cat "$dir/names"; echo "ncclResetDebugInitInternal 2.28 HOT"; } >"$dir/doctored"
same "a row that is also ignored is noticed" \
    "ncclResetDebugInitInternal: both a row and in ignored.txt" "$(doctored)"

if [ -z "${CCLTAP_REAL_NCCL:-}" ]; then
    skip "CCLTAP_REAL_NCCL names no library: scripts/fetch-nccl gets one" \
        "every function of a stock library is a row or ignored"
fi
cut -d ' ' -f 1 "$dir/names" "$exports/ignored.txt" >"$dir/known"
# unknown SYMBOLS: those that neither have a row nor are ignored.
unknown()
{
    sed 's/^p//' "$1" | sort -u | grep -vxFf "$dir/known"
}
printf '%s\n' ncclAllReduce ncclNoSuchCall pncclAllReduce pncclNoSuchCall >"$dir/live"
same "a new function of a library is noticed" ncclNoSuchCall "$(unknown "$dir/live")"
for library in $(echo "${CCLTAP_REAL_NCCL:-}" | tr ':' ' '); do
    release=$(basename "$(dirname "$library")")
    nm -D --defined-only "$library" >"$dir/symbols" || :
    awk '$2 ~ /^[TWi]$/ && $3 ~ /^p?(nccl|msccl)/ { print $3 }' "$dir/symbols" |
        LC_ALL=C sort -u >"$dir/live"
    check "the stock library of $release exports functions" test -s "$dir/live"
    same "each of them is a row or ignored" "" "$(unknown "$dir/live")"
    # Of a release that is newer than all lists: scripts/update-exports writes its list.
    same "and is in the release's list" "$(grep -v '^#' "$exports/$release.txt")" "$(cat "$dir/live")"
done
tap_done
