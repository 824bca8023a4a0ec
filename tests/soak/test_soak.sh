#!/bin/sh
# SPDX-License-Identifier: MIT
# `make soak` comes to its end, short, and the metrics are what the ranks counted; what
# grows in so short a time is not judged.  When it fails, nothing of it stays.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

/usr/bin/python3 "$top_srcdir/tests/soak/soak.py" "$top_builddir" 20 "$work/soak.md" \
    >"$work/out" 2>"$work/err" || true
grep -v '^soak: grew' "$work/err" | sed 's/^/# /'
same "nothing differs or fails" "" "$(grep -v '^soak: grew' "$work/err" || true)"
check "the table has the sums" grep -q '^| calls | ncclAllReduce | \([0-9]*\) | \1 |$' "$work/soak.md"
check "and what was done" grep -q '20 recordings started' "$work/soak.md"

# A recording that cannot be started.
cat >"$work/ccltap" <<'END'
#!/bin/sh
here=${0%/*}
case $1 in
record)
    for rank in 0 1 2 3; do
        echo 1 >"$here/tests/soak/made/run/at.$rank"
    done
    echo $$ >"$here/recorder"
    exec sleep 600
    ;;
status) echo "supervisor: process 1" ;;
*) exit 1 ;;
esac
END
chmod +x "$work/ccltap"
run 1 "one that fails" /usr/bin/python3 "$top_srcdir/tests/soak/soak.py" "$work" 20 "$work/failed.md"
check "says why" grep -q '^soak: ccltap start ' "$work/err"
recorder=$(cat "$work/recorder")
same "its program has ended" "" "$(ps -o args= -p "$recorder" || true)"
kill "$recorder" 2>/dev/null || true
check "its folder is gone" test ! -e "$work/tests/soak/made"
tap_done
