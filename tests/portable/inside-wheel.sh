#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs in a minimal root that has Python and nothing of ours, as enter.sh has it.  Its lines
# are TAP without numbers.

ok() # STATUS SENTENCE
{
    if [ "$1" -eq 0 ]; then
        echo "ok - $2"
    else
        echo "not ok - $2"
        sed 's/^/# /' /tmp/out /tmp/err 2>/dev/null
    fi
}
# run SENTENCE COMMAND...: stdout to /tmp/out, stderr to /tmp/err; as an ordinary user
run()
{
    sentence=$1
    shift
    setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/tmp/user "$@" \
        >/tmp/out 2>/tmp/err </dev/null
    ok $? "$sentence"
}
# has SENTENCE PATTERN FILE
has()
{
    grep -Eq "$2" "$3"
    ok $? "$1"
}

cd /tmp || exit 1
mkdir -m 777 /tmp/user
[ -z "$(find /usr /etc -name '*lttng*' -o -name '*babeltrace*' 2>/dev/null)" ]
ok $? "the root has no LTTng and no babeltrace2"
venv=/tmp/user/venv
run "a virtual environment is made" python3 -m venv $venv
find $venv | sort >/tmp/before
run "the wheel is installed" $venv/bin/pip install --no-index --no-compile /tmp/try/wheel/*.whl
run "the script runs" $venv/bin/ccltap --version
run "the module runs" $venv/bin/python -m ccltap --version
example=$(echo $venv/lib/python3*/site-packages/ccltap/portable/examples)
run "it records" $venv/bin/ccltap record -o /tmp/user/trace -- "$example/allreduce" -n 2 -i 10 --late-rank 1
has "and says what is wrong" 'Rank 1 is late' /tmp/err
$venv/bin/ccltap why /tmp/user/trace >/tmp/out 2>/tmp/err
[ $? -eq 1 ]
ok $? "why finds something"
has "that is the late rank" 'rank 1' /tmp/out
run "report reads" $venv/bin/ccltap report /tmp/user/trace
run "ten lines of Python" env PYTHONDONTWRITEBYTECODE=1 $venv/bin/python /tmp/try/late_rank.py /tmp/user/trace
has "tell which rank was late" '^rank \[1\] was late: ' /tmp/out
run "the wheel is removed" $venv/bin/pip uninstall --yes ccltap
find $venv ! -path '*/__pycache__*' | sort >/tmp/after
grep -v __pycache__ /tmp/before | diff - /tmp/after >/tmp/out 2>&1
ok $? "and leaves nothing"
