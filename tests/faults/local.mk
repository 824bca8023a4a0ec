# SPDX-License-Identifier: MIT
# Jobs with a fault that is drawn from a seed, and what ccltap says of them.

faulty_c = tests/faults/programs/faulty.c tests/faults/programs/plan.c
faulty_h = tests/faults/programs/plan.h
tests/faults/programs/faulty: $(faulty_c) $(faulty_h) $(doubles_so) $(doubles_h)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) $(doubles_cc) -o $@ \
		`for f in $(faulty_c); do echo $(srcdir)/$$f; done` $(doubles_ld) \
		-Wl,-rpath,'$$ORIGIN/../../doubles/nccl:$$ORIGIN/../../doubles/cuda'
check_DATA += tests/faults/programs/faulty
CLEANFILES += tests/faults/programs/faulty
EXTRA_DIST += $(faulty_c) $(faulty_h) tests/faults/faults.py tests/faults/judge.py \
	tests/faults/test_faults.sh
TESTS += tests/faults/test_faults.sh
