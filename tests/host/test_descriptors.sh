#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs that close, replace or use up descriptors.
set -eu
# shellcheck source=tests/host/host.inc.sh
. "${top_srcdir:?}/tests/host/host.inc.sh"

# The session daemon asks the program something once its descriptors are gone.
if [ $has_daemon = yes ]; then
    STIR='lttng --no-sessiond list --userspace >/dev/null'
    export STIR
fi

for moment in close-first close-later closefrom-first closefrom-later close_range-first \
    close_range-later at-exec-first at-exec-later by-number-first no-standard; do
    harmless "$moment" "$programs/descriptors" $moment
done
harmless "dup2 over all: the calls go on" "$programs/descriptors" dup2
unharmed "none-left" "$programs/descriptors" none-left

tap_done
