#!/bin/sh
# SPDX-License-Identifier: MIT
# The rows of verbs.def: each is as the header declares it and passes everything through,
# without us, with us, and while we record.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

made=${top_builddir:?}/tests/calls
mkdir -p "$work/calls"

compile() # -IFOLDER...: with the rows of the first folder that has them
{
    # shellcheck disable=SC2086 # CC may carry options
    ${CC:-cc} -std=gnu11 -fsyntax-only "$@" -I"$top_srcdir/src" \
        "$top_srcdir/tests/calls/programs/check_verbs.c"
}

refused() # EXPRESSION COMPLAINT: the rows changed by sed do not compile, and it says why
{
    sed "$1" "$top_srcdir/src/calls/verbs.def" >"$work/calls/verbs.def"
    cmp -s "$work/calls/verbs.def" "$top_srcdir/src/calls/verbs.def" && return 1
    cp "$top_srcdir/src/calls/verbs_calls.h" "$work/calls"
    ! compile -I"$work" >"$work/errors" 2>&1 && grep -q "$2" "$work/errors"
}

check "every row is as the header has it" compile
check "an argument of another type is noticed" refused \
    '/ibv_reg_mr,/,/)$/s/size_t,\(.*length\)/uint32_t,\1/' 'conflicting types for .ibv_reg_mr'
check "an argument too many is noticed" refused \
    '/ibv_dealloc_pd,/,/)$/s/IN)/IN, int, more, IN)/' 'conflicting types for .ibv_dealloc_pd'

# passes WAY COMMAND...: each row's line, with what comes before it
passes()
{
    way=$1
    shift
    LD_LIBRARY_PATH=$made/doubles/verbs "$@" >"$work/lines" 2>&1 || true
    same "$way: every row passes all through" "" "$(grep '^not ok' "$work/lines")"
    same "$way: none is left out" "$("$top_builddir/list-calls" --versions | wc -l)" \
        "$(grep -c '^ok' "$work/lines")"
}

passes "without us" "$made/programs/every_verb"
passes "with us" env LD_PRELOAD="$CCLTAP_LIBDIR/libccltap.so" "$made/programs/every_verb"
passes "recorded" "$ccltap" record -o "$work/trace" -- "$made/programs/every_verb"
babeltrace2 "$work/trace" >"$work/events"
for name in context pd mr cq srq qp ah context_close pd_free mr_free cq_destroy srq_destroy \
    qp_destroy ah_destroy qp_modify comp_event_entry comp_event_exit async_event; do
    check "verbs:$name is recorded" grep -q " verbs:$name: " "$work/events"
done

tap_done
