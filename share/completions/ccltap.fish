# SPDX-License-Identifier: MIT
# Completion for fish: verbs, their options as the command itself lists them, and files.

complete -c ccltap -n __fish_use_subcommand -f -a '(ccltap --list-verbs)'
complete -c ccltap -n '__fish_seen_subcommand_from help' -f -a '(ccltap --list-verbs)'
complete -c ccltap -n 'not __fish_use_subcommand; and string match -q -- "-*" (commandline -ct)' \
    -f -a '(ccltap (commandline -opc)[2] --list-options)'
