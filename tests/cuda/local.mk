# SPDX-License-Identifier: MIT
# What is asked of the CUDA driver: programs of all kinds on the double.

CUDA_TESTS = tests/cuda/test_harm.sh tests/cuda/test_ways.sh
cuda_made = tests/cuda/programs/harm tests/cuda/programs/again \
	tests/cuda/programs/inside/libcuda.so.1 tests/cuda/programs/outside \
	tests/cuda/programs/plugin.so tests/cuda/programs/together
EXTRA_DIST += $(CUDA_TESTS) tests/cuda/cuda.inc.sh tests/cuda/expect/trace.py \
	tests/cuda/programs/harm.c tests/cuda/programs/again.c \
	tests/cuda/programs/inside.c tests/cuda/programs/outside.c \
	tests/cuda/programs/plugin.c tests/cuda/programs/together.c
TESTS += $(CUDA_TESTS)
check_DATA += $(cuda_made)
CLEANFILES += $(cuda_made)

cuda_compile = $(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) \
	-D_GNU_SOURCE \
	-I$(srcdir)/tests/doubles/include -I$(srcdir)/tests/doubles_tests/programs -o $@
tests/cuda/programs/harm: tests/cuda/programs/harm.c \
		tests/doubles_tests/programs/program.h \
		tests/doubles/cuda/libcuda.so.1
	$(cuda_compile) $(srcdir)/tests/cuda/programs/harm.c -Ltests/doubles/cuda -lcuda \
		-Wl,--enable-new-dtags,-rpath,'$$ORIGIN/../../doubles/cuda'
tests/cuda/programs/again: tests/cuda/programs/again.c
	$(cuda_compile) $(srcdir)/tests/cuda/programs/again.c
tests/cuda/programs/inside/libcuda.so.1: tests/cuda/programs/inside.c
	$(cuda_compile) -fPIC -shared -Wl,-soname,libcuda.so.1 \
		$(srcdir)/tests/cuda/programs/inside.c
tests/cuda/programs/outside: tests/cuda/programs/outside.c \
		tests/cuda/programs/inside/libcuda.so.1
	$(cuda_compile) $(srcdir)/tests/cuda/programs/outside.c \
		-Ltests/cuda/programs/inside -l:libcuda.so.1 \
		-Wl,--enable-new-dtags,-rpath,'$$ORIGIN/inside'
tests/cuda/programs/plugin.so: tests/cuda/programs/plugin.c \
		tests/cuda/programs/inside/libcuda.so.1
	$(cuda_compile) -fPIC -shared $(srcdir)/tests/cuda/programs/plugin.c \
		-Ltests/cuda/programs/inside \
		-l:libcuda.so.1 -Wl,--enable-new-dtags,-rpath,'$$ORIGIN/inside'
# The cheapest driver: what takes long is telling a name.
tests/cuda/programs/together: tests/cuda/programs/together.c \
		tests/bench/doubles/libcuda.so.1
	$(cuda_compile) $(srcdir)/tests/cuda/programs/together.c \
		-Ltests/bench/doubles -l:libcuda.so.1 -lpthread \
		-Wl,--enable-new-dtags,-rpath,'$$ORIGIN/../../bench/doubles'
