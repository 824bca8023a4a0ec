# SPDX-License-Identifier: MIT
# What ran on the GPU, as CUPTI tells it: programs on the fake driver and the fake CUPTI.

CUPTI_TESTS = tests/cupti/test_harm.sh tests/cupti/test_owners.sh tests/cupti/test_ways.sh
cupti_made = tests/cupti/guest tests/cupti/profiler tests/cupti/profiler-linked \
	tests/cupti/replay
EXTRA_DIST += $(CUPTI_TESTS) tests/cupti/cupti.inc.sh tests/cupti/trace.py \
	tests/cupti/guest.c tests/cupti/profiler.c tests/cupti/replay.c
TESTS += $(CUPTI_TESTS)
check_DATA += $(cupti_made)
CLEANFILES += $(cupti_made)

cupti_compile = $(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) $(doubles_cc) \
	-I$(srcdir)/tests/doubles/programs -pthread -o $@
cupti_ld = -Ltests/doubles/cuda -lcuda -Wl,--enable-new-dtags \
	-Wl,-rpath,'$$ORIGIN/../doubles/cuda:$$ORIGIN/../doubles/nccl:$$ORIGIN/../doubles/cupti'
cupti_needs = tests/doubles/programs/program.h $(doubles_so) $(doubles_h) $(fake_cupti_so)
tests/cupti/guest: tests/cupti/guest.c $(cupti_needs)
	$(cupti_compile) $(srcdir)/tests/cupti/guest.c $(cupti_ld)
tests/cupti/profiler: tests/cupti/profiler.c $(cupti_needs)
	$(cupti_compile) $(srcdir)/tests/cupti/profiler.c $(cupti_ld)
tests/cupti/profiler-linked: tests/cupti/profiler.c $(cupti_needs)
	$(cupti_compile) -DLINKED $(srcdir)/tests/cupti/profiler.c \
		tests/doubles/cupti/libcupti.so.13 $(cupti_ld)
tests/cupti/replay: tests/cupti/replay.c $(cupti_needs)
	$(cupti_compile) $(srcdir)/tests/cupti/replay.c -Ltests/doubles/nccl -lnccl $(cupti_ld)
