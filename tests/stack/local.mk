# SPDX-License-Identifier: MIT
# The reader of unwind tables against binutils': tests/live/test_stacks.sh has whole stacks.

check_PROGRAMS += tests/stack/programs/rules
tests_stack_programs_rules_SOURCES = tests/stack/programs/rules.c \
	src/intercept/stack/cfi.c src/intercept/stack/cfi.h
tests_stack_programs_rules_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)
tests_stack_programs_rules_LDADD = -ldl
EXTRA_DIST += tests/stack/expect/rules.py tests/stack/test_rules.sh
STACK_TESTS = tests/stack/test_rules.sh
TESTS += $(STACK_TESTS)
