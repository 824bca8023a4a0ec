# SPDX-License-Identifier: MIT
# What the tests of every row share: a program that calls each by every way, without us,
# with us, and while we record.
#
# The test says what the program is called (every_NAME), which events are recorded,
# PROVIDER:PATTERN, how often the program uses a name in a run, and, in rows(), each name,
# its row and its class.
# shellcheck shell=sh
: "${name:?}" "${events:?}" "${times:?}"

# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"
alone "$@"

made=${top_builddir:?}/tests/calls
ours=$top_builddir/.libs/libccltap.so
session=ccltap-every-$name-$$
trace=$made/trace-$name.$$
recording=no

# shellcheck disable=SC2317 # called by the trap
clean()
{
    [ "$recording" = no ] || lttng destroy --no-wait "$session" >/dev/null 2>&1 || :
    rm -rf "$trace"
}
trap clean EXIT
[ -e "$ours" ] || { echo "Bail out! $ours is not built"; exit 1; }


# A run that dies leaves its plan out, and so counts as failed.
run() # WHAT PRELOAD
{
    LD_PRELOAD=$2 "$made/programs/every_$name" 2>&1 |
        awk -v what="$1" -v base="$total" '
            /^1\.\./ { planned = 1; next }
            /^(not )?ok / {
                number++
                line = $0
                at = index(line, " - ")
                print substr(line, 1, index(line, "ok") + 1) " " base + number \
                    " - " what ": " substr(line, at + 3)
                next
            }
            { print }
            END { if (!planned) print "Bail out! " what ": died after test " number }'
    total=$((total + rows))
}

rows=$(rows | awk '$1 == $2' | wc -l)
total=0
echo "1..$((3 * rows + 1))"
run "alone" ""
WRAPPED=yes
export WRAPPED
run "with us" "$ours"

# Arguments are read for the events only when somebody records them.
recorded_once="every call was recorded once, under its row's name"
if lttng --no-sessiond create "$session" --output "$trace" >/dev/null 2>&1; then
    recording=yes
    lttng enable-channel -u -s "$session" --subbuf-size 4M --num-subbuf 4 every >/dev/null
    lttng enable-event -u -s "$session" -c every "$events" >/dev/null
    lttng start "$session" >/dev/null
    # The first call waits until the daemon has enabled its events.
    LTTNG_UST_REGISTER_TIMEOUT=-1
    export LTTNG_UST_REGISTER_TIMEOUT
    run "recorded" "$ours"
    lttng destroy "$session" >/dev/null
    recording=no
    rows | sort | awk -v times="$times" '
        { for (i = 0; i < times; i++) if ($3 == "WORK") print $2; else { print $2 "_entry"; print $2 "_exit" } }' |
        sort | uniq -c >"$trace/expected"
    babeltrace2 "$trace/ust" 2>"$trace/errors" |
        sed -n "s/.* ${events%%:*}:\([a-zA-Z0-9_]*\):.*/\1/p" | sort | uniq -c >"$trace/actual"
    if diff "$trace/expected" "$trace/actual" >"$trace/diff"; then
        echo "ok $((total + 1)) - $recorded_once"
    else
        echo "not ok $((total + 1)) - $recorded_once"
        sed 's/^/# /' "$trace/diff" "$trace/errors" | head -n 40
    fi
else
    rows | awk '$1 == $2' | awk -v base="$total" -v last="$recorded_once" -v skip="# SKIP \
no LTTng session daemon: scripts/daemon make check" '
        { print "ok " base + NR " - recorded: " $1 " " skip }
        END { print "ok " base + NR + 1 " - " last " " skip }'
fi
