#!/bin/sh
# SPDX-License-Identifier: MIT
# NCCL's own network code on a real RDMA stack, recorded: what was sent is what was received,
# and ccltap tells each message as it was.  By `make check-rdma`: it takes minutes.
#
# A release before and one after NET/IB was rewritten in 2.29 (CCLTAP_REAL_NCCL); 1,000
# messages each way, 10,000 with the base setting.  Of the later one only some settings, with
# 1,000.  With CCLTAP_MORE_NCCL (scripts/check --long) these too, and all settings.
# RDMA_SHORT=yes moves a tenth of that; RDMA_KEEP=DIR keeps what they left there.
set -eu
: "${top_srcdir:?}" "${top_builddir:?}"
# shellcheck source=tests/lib/tap.sh
. "$top_srcdir/tests/lib/tap.sh"

rdma=$(cd "$top_srcdir/tests/rdma" && pwd)
build=$(cd "$top_builddir" && pwd)
nib=$build/tests/rdma/nib
ready=$("$rdma/rxe-vm" --check 2>&1) || {
    echo "1..0 # SKIP $ready" | tr '\n' ' '
    exit 0
}
for program in lttng-sessiond babeltrace2; do
    command -v "$program" >/dev/null || {
        echo "1..0 # SKIP $program is not installed: scripts/install-deps rdma"
        exit 0
    }
done
if [ -n "${RDMA_ONLY-}" ]; then
    echo "1..0 # SKIP RDMA_ONLY names programs"
    exit 0
fi
old='' new=''
for library in $(echo "${CCLTAP_REAL_NCCL-}" | tr ':' ' '); do
    case $("$nib" --describe "$library" 2>/dev/null) in
    'NCCL 2.1'*' v'* | 'NCCL 2.2'[0-8]*' v'*) old=$library ;;
    *' v'*) new=$library ;;
    esac
done
more=$(echo "${CCLTAP_MORE_NCCL-}" | tr ':' ' ')
if [ -z "$old$new$more" ]; then
    echo "1..0 # SKIP CCLTAP_REAL_NCCL names no library: scripts/fetch-nccl gets one"
    exit 0
fi

work=${RDMA_KEEP:+$RDMA_KEEP/nccl}
work=${work:-$build/tests/rdma/nccl.$$}
rm -rf "$work"
mkdir -p "$work"
work=$(cd "$work" && pwd)
vm='' soft=''
# shellcheck disable=SC2317 # called by the trap
clean()
{
    # The second with what it has started.
    for job in $vm ${soft:+-$soft}; do
        kill -- "$job" 2>/dev/null || true
    done
    wait
    [ -n "${RDMA_KEEP-}" ] || rm -rf "$work"
}
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# ---- What runs there, and for comparison on softverbs ----

messages=1000
[ -z "${RDMA_SHORT-}" ] || messages=100
rest=$("$rdma/nib-settings" --list | sed 's/ .*//; /^base$/d' | tr '\n' ' ')
all=0
# moves LIBRARY MESSAGES SETTING...
moves()
{
    [ -n "$1" ] || return 0
    echo "settings '$1' $2 $(shift 2 && echo "$*")"
    all=$((all + $# - 2))
}
cat >"$work/run" <<END
#!/bin/sh
# run OUT OPTION...
out=\$1
shift
NIB_OPTIONS='--max-size 4194304 --timeout 200'
export NIB_OPTIONS
status=0
settings()
{
    library=\$1
    messages=\$2
    release=\$(basename "\$(dirname "\$library")")
    shift 2
    "$rdma/nib-settings" --library "\$library" --out "\$out/\$release" --nib '$nib' \\
        --messages "\$messages" --count \$options "\$@" || status=1
}
options=\$*
END
# shellcheck disable=SC2086 # lists of words
{
    for library in "$old" ${more:+"$new" $more}; do
        moves "$library" "$((10 * messages))" base
        moves "$library" "$messages" $rest
    done
    [ -n "$more" ] || moves "$new" "$messages" base flush by-id prepost
    echo "exit \$status"
} >>"$work/run"

timeout=600
[ -z "$more" ] || timeout=5000
mkfifo "$work/said"
"$rdma/rxe-vm" --results "$work" --daemon --timeout $timeout \
    --env CCLTAP_LIBDIR="$build/.libs" --env LTTNG_UST_REGISTER_TIMEOUT=60000 \
    -- "$build/ccltap" record --layers verbs --buffer-size 8M -o /results/trace -- sh /results/run /results/moved \
    --hosts rxe1,rxe2 >"$work/said" 2>&1 &
vm=$!
# While the machine boots.
LD_LIBRARY_PATH='' setsid sh "$work/run" "$work/soft" --softverbs "$build/tests/doubles/verbs" \
    >"$work/soft.log" 2>&1 &
soft=$!
number=0
while read -r line; do
    echo "$line" >>"$work/vm.log"
    case $line in
    'nib-settings: NCCL '*) release=$(echo "${line#*: }" | sed 's/,.* table.*,/,/') ;;
    'nib-settings: '[0-9]*)
        number=$((number + 1))
        status=0
        case $line in
        *': wrong: '*) status=1 ;;
        esac
        ok "$status" "$number of $all: $release: $(echo "$line" | sed 's/.* of [0-9]*: //')"
        ;;
    esac
done <"$work/said"
status=0
wait "$vm" || status=$?
vm=
same "the machine ended as it should" 0 "$status"
[ "$status" = 0 ] || tail -n 20 "$work/vm.log" | sed 's/^/# /'

check "what was sent was received, and posted as NCCL does" \
    python3 "$rdma/nib_log.py" "$work"/moved/*/*
status=0
wait "$soft" || status=1
soft=
for place in moved soft; do
    python3 "$rdma/nib_log.py" --plan "$work/$place"/*/* >"$work/$place.plan" || status=1
done
[ "$status" = 0 ] || sed 's/^/# /' "$work/soft.log"
check "on softverbs NCCL posts the same" diff "$work/soft.plan" "$work/moved.plan"

# ---- What ccltap says ----

said=$(grep '^ccltap: trace in ' "$work/vm.log" || true)
check "nothing was discarded" sh -c "echo '$said' | grep -q ' 0 discarded'"
echo "# $said"
CCLTAP=$build/ccltap
CCLTAP_LIBDIR=$build/.libs
export CCLTAP CCLTAP_LIBDIR
python3 "$rdma/score.py" --trace "$work/trace" --table "$work/scores" "$work"/moved/*/* \
    >"$work/scored" 2>&1 || true
sed 's/^/# /' "$work/scored"
while read -r release setting messages right known rest; do
    status=0
    [ "$messages" = "$right" ] && [ "${rest##* }" = 0 ] || status=1
    ok "$status" "NCCL $release, $setting: $right of $messages messages are told as they were"
done <"$work/scores"
same "settings that were scored" \
    "$(find "$work/moved" -name log.1 | wc -l)" "$(grep -c . "$work/scores")"

# The table of doc/real-rdma.md.
{
    echo
    echo "NCCL's own network code, driven without a GPU (\`tests/rdma/nib.c\`), with its settings:"
    echo
    echo "| NCCL | setting | messages | told as they were | known | flushes found | bound on" \
        "waiting holds | of these exactly none |"
    echo "|---|---|--:|--:|---|--:|--:|--:|"
    while read -r release setting messages right known flushed flushes held bounds sure _; do
        [ "$flushes" != 0 ] && flushed="$flushed of $flushes" || flushed=
        echo "| $release | $setting | $messages | $right | $known | $flushed |" \
            "$held of $bounds | $sure |"
    done <"$work/scores"
} >"$build/tests/rdma/nccl.md"
tap_done
