# SPDX-License-Identifier: MIT
# What the tests of the layer verbs share: stock programs on softverbs, recorded or not.
# shellcheck shell=sh

# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

soft=${CCLTAP_SOFTVERBS:-${top_builddir:?}/tests/doubles/verbs}
if [ ! -e "$soft/libibverbs.so.1" ]; then
    echo "1..0 # SKIP softverbs is not built: $soft/libibverbs.so.1"
    exit 0
fi
command -v ibv_rc_pingpong >/dev/null || {
    echo "1..0 # SKIP ibv_rc_pingpong is not installed: scripts/install-deps tests"
    exit 0
}

# pair COMMAND...: the command as a server, and once it listens as its client.  Under
# `ccltap record` through "$work/pair", so that both are one job.
cat >"$work/pair" <<'END'
#!/bin/sh
# pair PRELOAD COMMAND...
preload=$1
shift
[ -z "$preload" ] || export LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}$preload"
"$@" >"$PAIR_OUT.server" 2>&1 &
server=$!
# Port 18515 is that of all of them.
until grep -q ':4853 0*:0000 0A' /proc/net/tcp /proc/net/tcp6 || ! kill -0 "$server"; do
    sleep 0.1
done
status=0
timeout -s KILL 60 "$@" localhost >"$PAIR_OUT.client" 2>&1 || status=$?
[ "$status" = 0 ] || kill "$server" 2>/dev/null
wait "$server" || status=$?
exit "$status"
END
chmod +x "$work/pair"
PAIR_OUT=$work/pair.out
LD_LIBRARY_PATH=$soft${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PAIR_OUT LD_LIBRARY_PATH

# events TRACE: as babeltrace2 prints them, without softverbs in its way.
events()
{
    env -u LD_LIBRARY_PATH babeltrace2 "$1"
}

# exact NAME [WHAT]: in $work/NAME every completion found its request, and every message its
# receiver.
exact()
{
    # shellcheck disable=SC2016 # for the other shell
    check "${2-$1}: all that is matched is exact, and nothing is left over" sh -c '
        env -u LD_LIBRARY_PATH "$0" check --json "$1" | python3 -c "
import json, sys
said = json.load(sys.stdin)
kinds = {kind[\"kind\"]: kind for kind in said[\"links\"]}
assert said[\"verdict\"] == \"ok\", said
for kind in \"post-completion\", \"send-receive\":
    of = kinds[kind]
    assert of[\"exact\"] > 0, of
    assert of[\"inferred\"] == of[\"decoded\"] == of[\"unmatched\"] == 0, of
"' "$ccltap" "$work/$1"
}
