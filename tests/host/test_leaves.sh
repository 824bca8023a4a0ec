#!/bin/sh
# SPDX-License-Identifier: MIT
# A program that ends while its threads make calls leaves no event half written in the
# buffers that all processes of a user share: what comes after it is recorded.
set -eu
# shellcheck source=tests/host/host.inc.sh
. "${top_srcdir:?}/tests/host/host.inc.sh"

ways="main exit quick_exit _exit _Exit execv execve execvp execvpe execl execle execlp
    fexecve execveat"

# Eight ends, each with a thread held up where it is, and a program that comes after them.
cat >"$work/ends" <<'END'
#!/bin/sh
for i in 1 2 3 4 5 6 7 8; do
    "$1/leaves" "$2" held || echo "$2: status $?"
done
exec "$1/ends" handlers-only
END
chmod +x "$work/ends"

for way in $ways; do
    unharmed "$way" "$work/ends" "$programs" "$way"
    if [ $has_daemon = no ]; then
        skip "no LTTng session daemon: scripts/daemon make check" "$way, recorded"
        continue
    fi
    same "$way, recorded" "$unharmed_bare" "$(recorded "$work/ends" "$programs" "$way")"
    # An event is waited for 20 ms, which a busy machine may not keep: three tries.
    for try in 1 2; do
        grep -qE 'not complete|failed' "$work/closing" || break
        echo "# $way: half written in try $try"
        recorded "$work/ends" "$programs" "$way" >/dev/null
    done
    check "$way: no event is left half written" \
        fails grep -E 'not complete|failed' "$work/closing"
    check "$way, and it is in the trace" seen
done

# A process that stays goes on to be recorded.
for moment in exec-failing vfork-fail vfork-end; do
    harmless "$moment" "$programs/processes" $moment
    [ $has_daemon = no ] ||
        same "$moment: the call after it, too" "nccl 4" \
            "$(grep -o 'nccl [0-9]*' "$work/closing")"
done

tap_done
