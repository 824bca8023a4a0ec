# SPDX-License-Identifier: MIT
# What ran on the GPU, as CUPTI tells it: programs on the driver double and the CUPTI double.

CUPTI_TESTS = tests/cupti/test_harm.sh tests/cupti/test_owners.sh tests/cupti/test_ways.sh
cupti_made = tests/cupti/programs/guest tests/cupti/programs/profiler \
	tests/cupti/programs/profiler-linked tests/cupti/programs/replay
EXTRA_DIST += $(CUPTI_TESTS) tests/cupti/cupti.inc.sh tests/cupti/expect/trace.py \
	tests/cupti/programs/guest.c tests/cupti/programs/profiler.c \
	tests/cupti/programs/replay.c
TESTS += $(CUPTI_TESTS)
check_DATA += $(cupti_made)
CLEANFILES += $(cupti_made)

cupti_compile = $(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) \
	$(doubles_cc) \
	-I$(srcdir)/tests/doubles_tests/programs -pthread -o $@
cupti_ld = -Ltests/doubles/cuda -lcuda -Wl,--enable-new-dtags \
	-Wl,-rpath,'$$ORIGIN/../../doubles/cuda:$$ORIGIN/../../doubles/nccl:$$ORIGIN/../../doubles/cupti'
cupti_needs = tests/doubles_tests/programs/program.h $(doubles_so) $(doubles_h) \
	$(double_cupti_so)
tests/cupti/programs/guest: tests/cupti/programs/guest.c $(cupti_needs)
	$(cupti_compile) $(srcdir)/tests/cupti/programs/guest.c $(cupti_ld)
tests/cupti/programs/profiler: tests/cupti/programs/profiler.c $(cupti_needs)
	$(cupti_compile) $(srcdir)/tests/cupti/programs/profiler.c $(cupti_ld)
tests/cupti/programs/profiler-linked: tests/cupti/programs/profiler.c $(cupti_needs)
	$(cupti_compile) -DLINKED $(srcdir)/tests/cupti/programs/profiler.c \
		tests/doubles/cupti/libcupti.so.13 $(cupti_ld)
tests/cupti/programs/replay: tests/cupti/programs/replay.c $(cupti_needs)
	$(cupti_compile) $(srcdir)/tests/cupti/programs/replay.c -Ltests/doubles/nccl \
		-lnccl $(cupti_ld)
