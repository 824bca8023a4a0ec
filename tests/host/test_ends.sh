#!/bin/sh
# SPDX-License-Identifier: MIT
# Calls before main() and after it, and what other libraries are preloaded with us.
set -eu
# shellcheck source=tests/host/host.inc.sh
. "${top_srcdir:?}/tests/host/host.inc.sh"

for moment in before-all handlers handlers-only quick abrupt nothing aborts; do
    harmless "$moment" "$programs/ends" $moment
done

tap_done
