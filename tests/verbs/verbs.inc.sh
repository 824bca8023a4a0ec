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
sleep 1
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
