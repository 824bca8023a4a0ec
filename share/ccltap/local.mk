# SPDX-License-Identifier: MIT
# What other tools read.

tracecompassdir = $(datadir)/ccltap/tracecompass
dist_tracecompass_DATA = share/ccltap/tracecompass/ccltap.xml

# Completion, where each shell looks for it.
bashcompletiondir = $(datadir)/bash-completion/completions
zshcompletiondir = $(datadir)/zsh/site-functions
fishcompletiondir = $(datadir)/fish/vendor_completions.d
dist_bashcompletion_DATA = share/completions/ccltap
dist_zshcompletion_DATA = share/completions/_ccltap
dist_fishcompletion_DATA = share/completions/ccltap.fish
