# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# What test_one_host.sh and test_two_hosts.sh share, which set hosts: stock programs on a real
# RDMA stack, recorded.  What ccltap says of them is what the kernel's devices and a counter
# of its own say.  By `make check-rdma`: it takes minutes.
#
# RDMA_ONLY='rc@one rping@two' runs these alone, RDMA_SHORT=yes one of each kind;
# RDMA_KEEP=DIR keeps what they left there.
: "${hosts:?}"
: "${top_srcdir:?}" "${top_builddir:?}"
# shellcheck source=tests/lib/tap.sh
. "$top_srcdir/tests/lib/tap.sh"

rdma=$top_srcdir/tests/rdma
ready=$("$rdma/rxe-vm" --check 2>&1) || {
    echo "1..0 # SKIP $ready" | tr '\n' ' '
    exit 0
}
for program in ibv_rc_pingpong ib_send_bw rping lttng-sessiond babeltrace2; do
    command -v "$program" >/dev/null || {
        echo "1..0 # SKIP $program is not installed: scripts/install-deps rdma"
        exit 0
    }
done

work=${RDMA_KEEP:+$RDMA_KEEP/$hosts}
work=${work:-$top_builddir/tests/rdma/$hosts.$$}
rm -rf "$work"
mkdir -p "$work"
work=$(cd "$work" && pwd)
vm=
# shellcheck disable=SC2317 # called by the trap
clean()
{
    if [ -n "$vm" ]; then
        kill "$vm" 2>/dev/null || true
        wait "$vm" 2>/dev/null || true
    fi
    [ -n "${RDMA_KEEP-}" ] || rm -rf "$work"
}
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

CCLTAP_LIBDIR=$top_builddir/.libs
export CCLTAP_LIBDIR
unset LD_PRELOAD
cases=${RDMA_ONLY-}
[ -n "$cases" ] || [ -z "${RDMA_SHORT-}" ] ||
    cases='rc@two rc-extended@one uc@one ud@two srq@one send_bw@two send_bw-list@one
        write_bw@two atomic_bw@one rping@one ucmatose@two'
[ -n "$cases" ] ||
    cases=$(sed -n "s/^\([a-z][^ ]*\) | .*/\1@$hosts/p" "$rdma/programs" | tr '\n' ' ')
cases=$(echo "$cases" | tr -s ' \n' '\n' | grep "@$hosts\$") || {
    echo "1..0 # SKIP RDMA_ONLY names none on $hosts host(s)"
    exit 0
}

# shellcheck disable=SC2086 # a list of words
"$rdma/rxe-vm" --results "$work" --daemon --timeout 900 -- "$rdma/guest" "$top_builddir" $cases \
    >"$work/vm.log" 2>&1 &
vm=$!

# Rows of the table in doc/real-rdma.md: what agreed.
mkdir -p "$top_builddir/tests/rdma"
table=$top_builddir/tests/rdma/programs-$hosts.md
: >"$table"

# shellcheck disable=SC2086 # a list of words
set -- $cases
number=0
for name; do
    number=$((number + 1))
    line=$(grep "^${name%@*} | " "$rdma/programs")
    kind=$(echo "$line" | cut -d'|' -f2 | tr -d ' ')
    # shellcheck disable=SC2016 # that is what the file says
    command=$(echo "$line" | cut -d'|' -f3 |
        sed 's/ -[dg] [^ ]*//g; s/ -x 1//; s/ -F//; s/ -[ab] \$RXE_IP//; s/^ //; s/ *$//')
    while [ ! -e "$work/$name/done" ] && kill -0 "$vm" 2>/dev/null; do
        sleep 0.2
    done
    sentence="$number of $#: $command on ${name#*@} host(s): all is counted and matched"
    if [ ! -e "$work/$name/done" ]; then
        ok 1 "$sentence"
        echo "# the machine ended before: $(tail -n 3 "$work/vm.log" | tr '\n' ' ')"
        continue
    fi
    case $line in
    *RXE_PEER*) : >"$work/$name/librdmacm" ;;
    esac
    status=0
    "$rdma/outcome.py" "$top_builddir/ccltap" "$work/$name" "$kind" \
        >"$work/$name/outcome" 2>&1 || status=1
    grep -q '^row ' "$work/$name/outcome" || status=1
    ! grep -q '^wrong: ' "$work/$name/outcome" || status=1
    ok "$status" "$sentence"
    if [ "$status" != 0 ]; then
        grep -v '^row ' "$work/$name/outcome" | sed 's/^/# /'
        continue
    fi
    sed -n "s/^row //p" "$work/$name/outcome" | {
        read -r sent received completed sends recvs exact inferred outstanding \
            messages unsure
        echo "| \`$command\` | ${name#*@} | $sent | $received | $completed | $sends, $recvs |" \
            "$exact | $inferred | $outstanding | $messages | $unsure |"
    } >>"$table"
done

status=0
wait "$vm" || status=$?
vm=
same "the machine ended as it should" 0 "$status"
[ "$status" = 0 ] || tail -n 20 "$work/vm.log" | sed 's/^/# /'
tap_done
