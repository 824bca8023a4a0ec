# SPDX-License-Identifier: MIT
# The reader of unwind tables against binutils': tests/live/test_stacks.sh has whole stacks.

check_PROGRAMS += tests/stack/rules
tests_stack_rules_SOURCES = tests/stack/rules.c src/intercept/stack/cfi.c src/intercept/stack/cfi.h
tests_stack_rules_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)
tests_stack_rules_LDADD = -ldl
EXTRA_DIST += tests/stack/rules.py tests/stack/test_rules.sh
STACK_TESTS = tests/stack/test_rules.sh
TESTS += $(STACK_TESTS)
