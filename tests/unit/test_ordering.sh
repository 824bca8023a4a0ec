#!/bin/sh
# SPDX-License-Identifier: MIT
# What the tracer does without locked instructions is right on a machine with weak ordering, in
# every order of a model, and would not be with any of its orders taken away.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

said=$(mktemp)
trap 'rm -f "$said"' EXIT
status=0
/usr/bin/python3 "$top_srcdir/tests/unit/ordering.py" ${CCLTAP_ORDERING_LONG:+--long} >"$said" ||
    status=$?
ok "$status" "the model comes to its end"
passed_on "$said"

tap_done
