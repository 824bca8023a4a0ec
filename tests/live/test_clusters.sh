#!/bin/sh
# SPDX-License-Identifier: MIT
# The recipes of doc/clusters.md, as they stand there: two nodes, which are namespaces, and
# stand-ins for Slurm's and PyTorch's commands that set their variables.
# shellcheck disable=SC2016 # programs for other shells
set -eu
# shellcheck source=tests/lib/record.inc.sh
. "${top_srcdir:?}/tests/lib/record.inc.sh"

if ! unshare --mount --uts true 2>/dev/null; then
    echo "1..0 # SKIP no namespace for a host name: run as root"
    exit 0
fi
work=$(cd "$work" && pwd)
mkdir "$work/bin" "$work/here" "$work/home" "$work/shared" "$work/local"
top=$(cd "$top_builddir" && pwd)
source=$(cd "$top_srcdir" && pwd)
HOME=$work/home USER=somebody
PATH=$work/bin:$PATH
CCLTAP_LIBDIR=$top/.libs
export HOME USER PATH CCLTAP_LIBDIR
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
ln -s "$top/ccltap" "$work/bin/ccltap"

# made NAME: a program, from standard input.
made()
{
    { echo '#!/bin/sh' && cat; } >"$1"
    chmod +x "$1"
}
# The program of the recipes: a rank of a job, however its launcher tells.
made "$work/here/train" <<END
RANK=\${RANK:-\${SLURM_PROCID:-\$OMPI_COMM_WORLD_RANK}}
WORLD_SIZE=\${WORLD_SIZE:-\${SLURM_NTASKS:-\$OMPI_COMM_WORLD_SIZE}}
export RANK WORLD_SIZE
exec "$top/examples/allreduce" --id-file "$work/id" -i 10 -c 300
END
# A node: a name, a session daemon and a disk of its own.
made "$work/bin/node" <<END
name=\$1
shift
mkdir -p "$work/disk/\$name"
exec unshare --mount --uts --fork sh -c 'hostname "\$0" && mount -t tmpfs none /var/run/lttng &&
    mount --bind "$work/disk/\$0" "$work/local" && exec "\$@"' "\$name" "\$@"
END
# ssh, and rsync's end there.
made "$work/bin/ssh" <<'END'
while [ "${1#-}" != "$1" ]; do shift 2; done
exec node "$@"
END
made "$work/bin/scontrol" <<'END'
[ "$1 $2" = "show hostnames" ] && printf 'node1\nnode2\n'
END
made "$work/bin/srun" <<END
export SLURM_NTASKS=4 SLURM_STEP_ID=0
for number in 1 2; do
    node "node\$number" sh -c 'for local in 0 1; do
            SLURM_PROCID=\$((2 * \$0 - 2 + local)) SLURM_LOCALID=\$local "\$@" &
        done
        wait' "\$number" "\$@" &
done
wait
END
made "$work/bin/torchrun" <<'END'
export WORLD_SIZE=8 LOCAL_WORLD_SIZE=4 MASTER_ADDR=node1 MASTER_PORT=29500 \
    TORCHELASTIC_RUN_ID=none
node=$(hostname)
for LOCAL_RANK in 0 1 2 3; do
    export LOCAL_RANK
    RANK=$((4 * (${node#node} - 1) + LOCAL_RANK)) ./train &
done
wait
END

# recipe NAME: the program of a recipe, with the test's own disks.
recipe()
{
    sed -n "/^<!-- recipe: $1 -->$/,/^<!-- end of recipe -->$/s/^    //p" \
        "$source/doc/clusters.md" |
        sed "s|/local/|$work/local/|g; s|/shared/|$work/shared/|g" >"$work/recipe"
    [ -s "$work/recipe" ]
    rm -f "$work/id"
}
# follow COMMAND...: the recipe, where its program is.
follow()
{
    (cd "$work/here" && "$@" sh -eu "$work/recipe")
}
ranks()
{
    ccltap timeline --format jsonl "$@" |
        sed -n 's/.*"type":"communicator".*"rank":\([0-9]*\).*/\1/p' | sort -nu | xargs
}
printed()
{
    grep -q "$1" "$work/out" || {
        cat "$work/out" "$work/err"
        return 1
    }
}

if command -v rsync >/dev/null; then
    recipe slurm
    run 0 "a batch job of Slurm" env SLURM_JOB_ID=4711 SLURM_JOB_NODELIST='node[1-2]' \
        sh -c 'cd "$0" && exec sh -eu "$1"' "$work/here" "$work/recipe"
    check "is collected" printed '^collected 2 of 2 hosts into run-4711: '
    check "with all ranks" printed '^complete: 2 hosts, 4 processes, 1 communicator$'
    same "which share a recording on each node" "1 1" "$(cd "$work/here/run-4711" &&
        for name in node1 node2; do find $name -name ccltap-recording | wc -l; done | xargs)"
else
    skip "no rsync" "a batch job of Slurm"
fi

recipe torchrun
for name in node1 node2; do
    follow node $name >"$work/said-$name" 2>&1 &
done
wait
same "torchrun on two nodes" "0 1 2 3 4 5 6 7" "$(ranks "$work/shared/run1")"
same "each has a folder" "node1 node2" "$(cd "$work/shared/run1" && echo *)"

if command -v mpirun >/dev/null && command -v rsync >/dev/null; then
    recipe mpi
    echo "$(uname -n) slots=8" >"$work/here/hosts"
    # On this host mpirun needs no ssh.
    mkdir -p "$work/disk/$(uname -n)"
    run 0 "mpirun" node "$(uname -n)" sh -c 'cd "$0" && exec sh -eu "$1"' "$work/here" \
        "$work/recipe"
    check "has all ranks" printed '^complete: 1 host, 8 processes, 1 communicator$'
else
    skip "needs Open MPI and rsync: scripts/install-deps tests" "mpirun"
fi

recipe relayd
run 0 "the relay daemon is started" follow
recorded()
{
    cd "$work/here" && node node1 ccltap record --relay 127.0.0.1 -o run1 -- "$top/examples/allreduce" -n 2
}
check "a node records through it" recorded
same "and its trace is there" "0 1" "$(ranks "$HOME"/traces/*/run1)"
for pid in $(ps -e -o pid= -o comm= | sed -n 's/ *\([0-9]*\) lttng-relayd$/\1/p'); do
    # This one alone: others may have theirs.
    ! grep -q "$HOME/traces" "/proc/$pid/cmdline" || kill "$pid"
done
tap_done
