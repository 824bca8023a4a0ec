# SPDX-License-Identifier: MIT
# With a session daemon: what is the machine's, or one that is started for it.

check_PROGRAMS += tests/live/on_terminal tests/live/signals
tests_live_on_terminal_SOURCES = tests/live/on_terminal.c
tests_live_signals_SOURCES = tests/live/signals.c

LIVE_RECORD_TESTS = tests/live/record.sh tests/live/record_signals.sh \
	tests/live/record_output.sh tests/live/record_env.sh tests/live/record_trace.sh
EXTRA_DIST += $(LIVE_RECORD_TESTS) tests/live/record.inc.sh
TESTS += $(LIVE_RECORD_TESTS)

