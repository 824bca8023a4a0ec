# SPDX-License-Identifier: MIT
# What is asked of the CUDA driver: programs of all kinds on the fake one.

CUDA_TESTS = tests/cuda/test_harm.sh tests/cuda/test_ways.sh
cuda_made = tests/cuda/harm tests/cuda/again tests/cuda/inside/libcuda.so.1 \
	tests/cuda/outside tests/cuda/plugin.so
EXTRA_DIST += $(CUDA_TESTS) tests/cuda/cuda.inc.sh tests/cuda/trace.py tests/cuda/harm.c \
	tests/cuda/again.c tests/cuda/inside.c tests/cuda/outside.c tests/cuda/plugin.c
TESTS += $(CUDA_TESTS)
check_DATA += $(cuda_made)
CLEANFILES += $(cuda_made)

cuda_compile = $(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) -D_GNU_SOURCE \
	-I$(srcdir)/tests/doubles/include -I$(srcdir)/tests/doubles/programs -o $@
tests/cuda/harm: tests/cuda/harm.c tests/doubles/programs/program.h \
		tests/doubles/cuda/libcuda.so.1
	$(cuda_compile) $(srcdir)/tests/cuda/harm.c -Ltests/doubles/cuda -lcuda \
		-Wl,--enable-new-dtags,-rpath,'$$ORIGIN/../doubles/cuda'
tests/cuda/again: tests/cuda/again.c
	$(cuda_compile) $(srcdir)/tests/cuda/again.c
tests/cuda/inside/libcuda.so.1: tests/cuda/inside.c
	$(cuda_compile) -fPIC -shared -Wl,-soname,libcuda.so.1 $(srcdir)/tests/cuda/inside.c
tests/cuda/outside: tests/cuda/outside.c tests/cuda/inside/libcuda.so.1
	$(cuda_compile) $(srcdir)/tests/cuda/outside.c -Ltests/cuda/inside -l:libcuda.so.1 \
		-Wl,--enable-new-dtags,-rpath,'$$ORIGIN/inside'
tests/cuda/plugin.so: tests/cuda/plugin.c tests/cuda/inside/libcuda.so.1
	$(cuda_compile) -fPIC -shared $(srcdir)/tests/cuda/plugin.c -Ltests/cuda/inside \
		-l:libcuda.so.1 -Wl,--enable-new-dtags,-rpath,'$$ORIGIN/inside'
