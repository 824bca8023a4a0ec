#!/bin/sh
# SPDX-License-Identifier: MIT
# `ccltap collect`: three hosts' recordings are brought together, by rsync over a command that
# stands for ssh; whether they are all of a job is said, and which hosts failed.
# shellcheck disable=SC2016 # programs for other shells
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

command -v rsync >/dev/null || {
    echo "1..0 # SKIP no rsync: scripts/install-deps tests"
    exit 0
}
if ! unshare --mount --uts true 2>/dev/null; then
    echo "1..0 # SKIP no namespace for a host name: run as root"
    exit 0
fi
work=$(cd "$work" && pwd)
allreduce=$top_builddir/examples/allreduce
CCLTAP_SQLDIR=$top_srcdir/share/ccltap/sql
export CCLTAP_SQLDIR

# What ssh is to rsync: the command runs in the host's folder, which is also its disk.
mkdir "$work/disk"
cat >"$work/rsh" <<'END'
#!/bin/sh
[ "$1" != -l ] || shift 2
top=${0%/*}
[ -d "$top/hosts/$1" ] || {
    echo "rsh: $1: no such host" >&2
    exit 255
}
exec unshare --mount sh -c 'mount --bind "$0/hosts/$1" "$0/disk" && cd "$0/disk" && shift &&
    exec "$@"' "$top" "$@"
END
chmod +x "$work/rsh"
RSYNC_RSH=$work/rsh
export RSYNC_RSH

# record FOLDER HOST...: a job with a rank on each host, which has its own disk.
record()
{
    folder=$1
    shift
    rank=0
    pids=
    for name; do
        mkdir -p "$work/hosts/$name"
        RANK=$rank WORLD_SIZE=$# unshare --mount --uts --fork sh -c '
            hostname "$0" && mount -t tmpfs none /var/run/lttng && exec "$@"' "$name" \
            "$top_srcdir/scripts/daemon" "$ccltap" record -o "$work/hosts/$name/$folder" -- \
            "$allreduce" --id-file "$work/id-$folder" -i 20 -c 3000 \
            >"$work/out-$name" 2>&1 &
        pids="$pids $!"
        rank=$((rank + 1))
    done
    status=0
    for pid in $pids; do
        wait "$pid" || status=$?
    done
    same "$# hosts record, each on its own disk" 0 "$status"
    [ "$status" -eq 0 ] || cat "$work"/out-* | sed 's/^/# /'
}
# The same folder on all of them.
source=$work/disk/run
printed()
{
    grep -q "$1" "$work/out" || {
        cat "$work/out" "$work/err"
        return 1
    }
}
not_printed()
{
    ! printed "$1" >/dev/null || cat "$work/out"
}

record run node1 node2 node3

run 0 "three hosts are collected" "$ccltap" collect -o "$work/all" -s "$source" node1 node2 node3
check "it says so" printed "^collected 3 of 3 hosts into $work/all: [0-9]* files, "
check "and that all is there" printed \
    '^complete: 3 hosts, 3 processes, 1 communicator$'
same "as if they had one disk" "node1 node2 node3" "$(cd "$work/all" && echo *)"
for name in node1 node2 node3; do
    check "$name is as it was there" diff -r "$work/hosts/$name/run/$name" "$work/all/$name"
done
run 0 "again" "$ccltap" collect -o "$work/all" -s "$source" node1 node2 node3
check "nothing is copied again" printed "^collected 3 of 3 hosts into $work/all: 0 files, 0 MiB$"

run 1 "a host that is not there" "$ccltap" collect -o "$work/some" -s "$source" node1 node9 node3
said "is named, with the reason" "node9: not collected: rsh: node9: no such host"
check "the others are kept" printed "^collected 2 of 3 hosts"
check "a rank is missing" printed '^incomplete: 2 hosts, 2 processes, 1 communicator$'
check "which is named" printed \
    '^ranks: communicator 0x.*: 2 of 3 ranks are here; not here: rank 1$'
run 0 "the host that was missing completes it" "$ccltap" collect -o "$work/some" node2:run
check "with all that belongs to it" printed '^complete: 3 hosts'

printf '# the job\nnode1 slots=8\n\nnode2\nnode3\nnode1\n' >"$work/list"
run 0 "the hosts of a file" "$ccltap" collect -o "$work/list.d/deep" --hosts "$work/list" "$source"
check "each once" printed '^collected 3 of 3 hosts'
mkdir "$work/bin"
printf '#!/bin/sh\n[ "$*" = "show hostnames node[1-2]" ] && printf "node1\\nnode2\\n"\n' \
    >"$work/bin/scontrol"
chmod +x "$work/bin/scontrol"
run 1 "the hosts of a Slurm job" env PATH="$work/bin:$PATH" SLURM_JOB_NODELIST='node[1-2]' \
    "$ccltap" collect -o "$work/slurm" --slurm "$source"
check "as scontrol has them" printed '^collected 2 of 2 hosts'
run 2 "outside of a job" "$ccltap" collect -o "$work/slurm" --slurm "$source"
said "it is told" "SLURM_JOB_NODELIST is not set"
run 2 "a list that scontrol refuses" env PATH="$work/bin:$PATH" SLURM_JOB_NODELIST='x' \
    "$ccltap" collect -o "$work/slurm" --slurm "$source"
said "it is told" '"scontrol show hostnames" failed'

run 1 "a folder that is not there" "$ccltap" collect -o "$work/no" node1:nothing
said "is named" 'node1:nothing: not collected: rsync: .*nothing.* failed: No such file'
mkdir "$work/hosts/node1/empty"
run 1 "a folder with nothing in it" "$ccltap" collect -o "$work/empty" node1:empty
said "is no recording" "has no recording and no tables"
run 2 "no host" "$ccltap" collect -o "$work/no"
run 2 "no folder" "$ccltap" collect node1
run 2 "an option for a host" "$ccltap" collect -o "$work/no" -- -oProxyCommand=x
run 2 "without rsync" env PATH="$work/bin" "$ccltap" collect -o "$work/no" node1
said "it is told" "no program \"rsync\""

sed -i '/^ended/d' "$work/hosts/node2/run/node2/ccltap-recording"
run 1 "a recording that goes on" "$ccltap" collect -o "$work/live" -s "$source" \
    node1 node2 node3
check "is named" printed '^node2: the recording goes on, or its supervisor was killed$'
run 1 "without a check" "$ccltap" collect --no-check -o "$work/live" -s "$source" \
    node1 node2 node3
check "the traces are not read" not_printed 'complete: '

# Of another run, with the same ranks.
record other node4 node5
run 1 "two jobs in one folder" "$ccltap" collect -o "$work/two" node1:run node4:other
check "are told apart" printed '^jobs: node1 is of a job of 3 ranks, node4 of one of 2$'
record third node6 node7 node8
run 1 "two runs of one size" "$ccltap" collect -o "$work/twice" node1:run node2:run node3:run \
    node6:third
check "too" printed '^jobs: rank 0 is on node. and on node.: this is more than one job, or run$'
check "and that nothing puts their times on one clock" printed '^clock: host node.: unknown'

: "${CCLTAP_DUCKDB:=$(command -v duckdb || true)}"
if [ -n "$CCLTAP_DUCKDB" ]; then
    export CCLTAP_DUCKDB
    for name in node1 node2 node3; do
        "$ccltap" export -o "$work/hosts/$name/tables" "$work/hosts/$name/run"
    done
    run 0 "tables are collected" "$ccltap" collect -o "$work/tables" -s "$work/disk/tables" \
        node1 node2 node3
    check "all of them" printed '^complete: the tables$'
    run 1 "tables of two hosts of three" "$ccltap" collect -o "$work/fewer" \
        node1:tables node3:tables
    check "are not all" printed '^1,ranks-not-here,0x.*,2,3$'
else
    skip "no program duckdb" "tables are collected"
fi
tap_done
