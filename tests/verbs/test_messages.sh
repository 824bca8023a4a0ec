#!/bin/sh
# SPDX-License-Identifier: MIT
# Each message that the NCCL double sends over verbs is in the trace once, with its size and
# when it was posted and done, whatever its settings.
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

doubles=$top_builddir/tests/doubles
if [ ! -e "$doubles/verbs/libibverbs.so.1" ]; then
    echo "1..0 # SKIP softverbs is not built"
    exit 0
fi
CCLTAP=$ccltap
export CCLTAP

# All in one recording: what takes long is to begin one.
cat >"$work/all" <<'END'
#!/bin/sh
# all FOLDER PROGRAM: a truth for each setting
folder=$1
program=$2
failed=0
over() # NAME RANKS CHANNELS SETTING...
{
    truth=$folder/$1
    ranks=$2
    mkdir "$truth"
    echo "$2 $3" >"$truth/shape"
    shift 3
    env MININCCL_TRUTH="$truth" "$@" timeout -s KILL 60 "$program" "$ranks" "${rounds:-1}" ||
        failed=1
}
over two 2 1
over four 4 1
over channels 4 3 NCCL_MIN_NCHANNELS=3 SOFTVERBS_DEVICES=2
over queues 2 1 NCCL_IB_QPS_PER_CONNECTION=4
over pieces 2 1 NCCL_IB_QPS_PER_CONNECTION=4 NCCL_IB_SPLIT_DATA_ON_QPS=1
over adaptive 2 1 NCCL_IB_ADAPTIVE_ROUTING=1
over inline 2 1 NCCL_IB_USE_INLINE=1
over flushed 2 1 MININCCL_FLUSH=1
over infiniband 2 1 SOFTVERBS_LINK=infiniband
over all-at-once 4 2 NCCL_IB_QPS_PER_CONNECTION=4 NCCL_IB_SPLIT_DATA_ON_QPS=1 \
    NCCL_IB_ADAPTIVE_ROUTING=1 MININCCL_FLUSH=1 NCCL_MIN_NCHANNELS=2
rounds=12 over more 2 1
exit $failed
END
mkdir "$work/truth"
run 0 "all settings are recorded" "$ccltap" record -o "$work/trace" -- \
    env LD_LIBRARY_PATH="$doubles/verbs" SOFTVERBS_FABRIC="messages.$$" \
    sh "$work/all" "$work/truth" "$top_builddir/tests/doubles_tests/programs/messages"
said "nothing was discarded" " 0 discarded"

status=0
/usr/bin/python3 "$top_srcdir/tests/verbs/expect/messages.py" "$work/trace" "$work/truth"/* \
    >"$work/scored" || status=1
sed 's/^/# /' "$work/scored"
ok "$status" "each message is in the trace once, as it was"

# The same, of another truth.
cp -r "$work/truth/two" "$work/other"
first=$(find "$work/other" -name 'truth.*' | head -n 1)
sed -i '/"record":"message"/!d' "$first"
sed -i '3s/"bytes":\([0-9]*\)/"bytes":1\1/' "$first"
check "a message of another size is noticed" sh -c \
    "! /usr/bin/python3 '$top_srcdir/tests/verbs/expect/messages.py' '$work/trace' '$work/other' >/dev/null"
sed -i '$d' "$first"
sed -i '3s/"bytes":1\([0-9]*\)/"bytes":\1/' "$first"
check "a message that was not sent is noticed" sh -c \
    "! /usr/bin/python3 '$top_srcdir/tests/verbs/expect/messages.py' '$work/trace' '$work/other' >/dev/null"

run 0 "the trace is checked" env -u LD_LIBRARY_PATH "$ccltap" check --json "$work/trace"
check "all that is matched is exact" sh -c "/usr/bin/python3 -c '
import json, sys
said = json.load(sys.stdin)
kinds = {kind[\"kind\"]: kind for kind in said[\"links\"]}
for kind in \"post-completion\", \"send-receive\", \"cts-message\", \"flush-message\":
    of = kinds[kind]
    assert of[\"exact\"] > 0, of
    assert of[\"inferred\"] == of[\"decoded\"] == of[\"unmatched\"] == 0, of
' <'$work/out'"
tap_done
