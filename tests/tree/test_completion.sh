#!/bin/sh
# SPDX-License-Identifier: MIT
# Completion in bash, zsh and fish offers the verbs, and each verb's options as its help has them.
set -eu
# shellcheck source=tests/lib/tap.sh
. "${top_srcdir:?}/tests/lib/tap.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
files=$(cd "$top_srcdir/share/completions" && pwd)
mkdir "$work/bin"
ln -s "$(cd "$top_builddir" && pwd)/ccltap" "$work/bin/ccltap"
PATH=$work/bin:$PATH
HOME=$work
export PATH HOME

# in_bash WORD...: what bash offers for the last word.
in_bash()
{
    # shellcheck disable=SC2016 # for that bash
    bash --norc -c '. "$0"; COMP_WORDS=(ccltap "$@"); COMP_CWORD=$#; _ccltap
        printf "%s\n" "${COMPREPLY[@]}"' "$files/ccltap" "$@"
}

# in_fish LINE: what fish offers for its end.
in_fish()
{
    fish --no-config -c "source '$files/ccltap.fish'; complete -C '$1'" | cut -f1
}

# in_zsh LINE: the same; zsh completes at a prompt alone, so it gets one.
in_zsh()
{
    python3 "$top_srcdir/tests/tree/complete_zsh.py" "$files" "$1"
}

has() # NAME LINE...: whether the last output has each line
{
    name=$1
    shift
    status=0
    for line in "$@"; do
        grep -qxF -e "$line" "$work/out" || status=1
    done
    ok $status "$name"
    [ $status = 0 ] || sed 's/^/# /' "$work/out"
}

# Of each verb, each long option of its help is offered, and no other.
ccltap --list-verbs >"$work/verbs"
while read -r verb; do
    ccltap "$verb" --list-options | cut -f1 | grep '^--' | sed 's/=$//' | sort >"$work/listed"
    ccltap "$verb" --help | grep -oE '^ +(-[a-zA-Z], +)?--[a-z-]+' | grep -oE -e '--[a-z-]+' |
        sort >"$work/helped"
    status=0
    cmp -s "$work/listed" "$work/helped" || status=1
    ok $status "$verb lists the options of its help"
    [ $status = 0 ] || diff "$work/listed" "$work/helped" | sed 's/^/# /'
done <"$work/verbs"
ccltap --help | grep -oE '^  [a-z]+ ' | tr -d ' ' | sort >"$work/helped"
sort "$work/verbs" >"$work/listed"
status=0
cmp -s "$work/listed" "$work/helped" || status=1
ok $status "the verbs are those of the help"

in_bash re >"$work/out"
has "bash offers verbs" record report
in_bash help wh >"$work/out"
has "also behind help" why
in_bash record --flight >"$work/out"
has "and options" --flight-recorder
in_bash record -- prog -x >"$work/out"
ok "$(grep -c . "$work/out" || true)" "but not those of the program that is recorded"

if command -v fish >/dev/null; then
    in_fish 'ccltap re' >"$work/out"
    has "fish offers verbs" record report
    in_fish 'ccltap why --wa' >"$work/out"
    has "and options" --watch
else
    skip "fish is not installed: scripts/install-deps tests" "fish offers verbs"
fi
if command -v zsh >/dev/null; then
    in_zsh 'ccltap rec' >"$work/out"
    has "zsh completes a verb" "ccltap record "
    in_zsh 'ccltap record --flig' >"$work/out"
    has "and an option" "ccltap record --flight-recorder"
else
    skip "zsh is not installed: scripts/install-deps tests" "zsh completes a verb"
fi
tap_done
