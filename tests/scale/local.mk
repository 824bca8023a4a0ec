# SPDX-License-Identifier: MIT
# Jobs of many hosts, of which one was recorded.
check_PROGRAMS += tests/scale/multiply
tests_scale_multiply_SOURCES = tests/scale/multiply.c
tests_scale_multiply_CPPFLAGS = $(AM_CPPFLAGS) -D_GNU_SOURCE $(BABELTRACE2_CFLAGS)
tests_scale_multiply_CFLAGS = $(AM_CFLAGS) $(SAN_CFLAGS)
tests_scale_multiply_LDADD = $(BABELTRACE2_LIBS)

TESTS += tests/scale/test_scale.sh
EXTRA_DIST += tests/scale/test_scale.sh tests/scale/unfinished.py tests/scale/memory.py
