#!/bin/sh
# SPDX-License-Identifier: MIT
# Signals, and handlers that call.
set -eu
# shellcheck source=tests/host/host.inc.sh
. "${top_srcdir:?}/tests/host/host.inc.sh"

for moment in first often interrupt jump stack-first stack-later wait leave-alone die; do
    harmless "$moment" "$programs/signals" $moment
done

tap_done
