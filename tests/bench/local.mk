# SPDX-License-Identifier: MIT
# What the tracer and the reader cost: make bench, by hand and with nothing else running.

# Plain files, as in tests/link: a script of libtool's would be timed in their place.
tap_bench_made = tests/bench/fake.so tests/bench/calls tests/bench/calls-framed \
	tests/bench/pair tests/bench/one tests/bench/none tests/bench/many tests/bench/spawn tests/bench/trace \
	tests/bench/libibverbs.so.1 tests/bench/verbs tests/bench/post \
	tests/bench/libcuda.so.1 tests/bench/libcudart.so.12 tests/bench/launch \
	tests/bench/launched tests/bench/arguments tests/bench/libcupti.so.12 tests/bench/cupti/libcuda.so.1 \
	tests/bench/told
check_DATA += $(tap_bench_made)
CLEANFILES += $(tap_bench_made) bench.json
EXTRA_DIST += tests/bench/bench.py tests/bench/bursts.h tests/bench/calls.c \
	tests/bench/fake.c tests/bench/fake.h tests/bench/fake_verbs.c \
	tests/bench/fake_verbs.map tests/bench/one.c tests/bench/pair.c \
	tests/bench/pair_tp.h tests/bench/post.c tests/bench/post_tp.h tests/bench/queue.h \
	tests/bench/spawn.c tests/bench/test_bench.sh tests/bench/trace.c \
	tests/bench/fake_cupti.c tests/bench/fake_cupti.map tests/bench/told.c \
	tests/bench/fake_cuda.c tests/bench/fake_cudart.map tests/bench/launch.c \
	tests/bench/arguments.c tests/bench/many.c tests/bench/many_tp.h tests/bench/launch.h tests/bench/launched.c tests/bench/launched_tp.h \
	tests/bench/verbs.c doc/overhead.md
TESTS += tests/bench/test_bench.sh

tap_bench_h = tests/bench/bursts.h tests/bench/fake.h
tap_bench_compile = $(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) -D_GNU_SOURCE \
	-I$(srcdir)/tests/bench $(CPPFLAGS) $(AM_CFLAGS) $(CFLAGS) -o $@
tap_bench_fake = -Ltests/bench -l:fake.so -Wl,--enable-new-dtags,-rpath,'$$ORIGIN'

tests/bench/fake.so: tests/bench/fake.c $(tap_bench_h)
	$(tap_bench_compile) -fPIC -shared -Wl,-soname,$(@F) $(srcdir)/tests/bench/fake.c
tests/bench/calls: tests/bench/calls.c tests/bench/fake.so $(tap_bench_h)
	$(tap_bench_compile) -fomit-frame-pointer $(srcdir)/tests/bench/calls.c \
		$(tap_bench_fake) -ldl
tests/bench/calls-framed: tests/bench/calls.c tests/bench/fake.so $(tap_bench_h)
	$(tap_bench_compile) -fno-omit-frame-pointer $(srcdir)/tests/bench/calls.c \
		$(tap_bench_fake) -ldl
tests/bench/pair: tests/bench/pair.c tests/bench/pair_tp.h tests/bench/fake.so \
		$(tap_bench_h)
	$(tap_bench_compile) $(LTTNG_UST_CFLAGS) $(srcdir)/tests/bench/pair.c \
		$(tap_bench_fake) $(LTTNG_UST_LIBS)
tests/bench/one: tests/bench/one.c tests/bench/fake.so $(tap_bench_h)
	$(tap_bench_compile) -DCALLS=1 $(srcdir)/tests/bench/one.c $(tap_bench_fake)
tests/bench/none: tests/bench/one.c tests/bench/fake.so $(tap_bench_h)
	$(tap_bench_compile) -DCALLS=0 $(srcdir)/tests/bench/one.c
tests/bench/many: tests/bench/many.c tests/bench/many_tp.h
	$(tap_bench_compile) $(LTTNG_UST_CFLAGS) $(srcdir)/tests/bench/many.c \
		$(LTTNG_UST_LIBS)
tests/bench/spawn: tests/bench/spawn.c $(tap_bench_h)
	$(tap_bench_compile) $(srcdir)/tests/bench/spawn.c
tests/bench/trace: tests/bench/trace.c
	$(tap_bench_compile) $(srcdir)/tests/bench/trace.c

tap_bench_verbs = -Ltests/bench -l:libibverbs.so.1 \
	-Wl,--enable-new-dtags,-rpath,'$$ORIGIN'
tap_bench_verbs_h = tests/bench/bursts.h tests/bench/queue.h tests/bench/libibverbs.so.1

tests/bench/libibverbs.so.1: tests/bench/fake_verbs.c tests/bench/fake_verbs.map
	$(tap_bench_compile) -fPIC -shared -Wl,-soname,$(@F) \
		-Wl,--version-script=$(srcdir)/tests/bench/fake_verbs.map \
		$(srcdir)/tests/bench/fake_verbs.c
tests/bench/verbs: tests/bench/verbs.c $(tap_bench_verbs_h)
	$(tap_bench_compile) $(srcdir)/tests/bench/verbs.c $(tap_bench_verbs)
tests/bench/post: tests/bench/post.c tests/bench/post_tp.h $(tap_bench_verbs_h)
	$(tap_bench_compile) $(LTTNG_UST_CFLAGS) $(srcdir)/tests/bench/post.c \
		$(tap_bench_verbs) $(LTTNG_UST_LIBS)

tests/bench/libcuda.so.1: tests/bench/fake_cuda.c tests/bench/launch.h
	$(tap_bench_compile) -fPIC -shared -Wl,-soname,$(@F) $(srcdir)/tests/bench/fake_cuda.c
tests/bench/libcudart.so.12: tests/bench/fake_cuda.c tests/bench/fake_cudart.map \
		tests/bench/launch.h
	$(tap_bench_compile) -DRUNTIME -fPIC -shared -Wl,-soname,$(@F) \
		-Wl,--version-script=$(srcdir)/tests/bench/fake_cudart.map \
		$(srcdir)/tests/bench/fake_cuda.c
tap_bench_cuda = -Ltests/bench -l:libcuda.so.1 -l:libcudart.so.12 \
	-Wl,--enable-new-dtags,-rpath,'$$ORIGIN'
tap_bench_cuda_h = tests/bench/bursts.h tests/bench/launch.h tests/bench/libcuda.so.1 \
	tests/bench/libcudart.so.12
tests/bench/launch: tests/bench/launch.c $(tap_bench_cuda_h)
	$(tap_bench_compile) $(srcdir)/tests/bench/launch.c $(tap_bench_cuda)
tests/bench/launched: tests/bench/launched.c tests/bench/launched_tp.h $(tap_bench_cuda_h)
	$(tap_bench_compile) $(LTTNG_UST_CFLAGS) $(srcdir)/tests/bench/launched.c \
		$(tap_bench_cuda) $(LTTNG_UST_LIBS)
tests/bench/arguments: tests/bench/arguments.c tests/bench/bursts.h \
		src/intercept/cuda/nccl_args.c src/intercept/cuda/nccl_args.h
	$(tap_bench_compile) -I$(srcdir)/src $(srcdir)/tests/bench/arguments.c \
		$(srcdir)/src/intercept/cuda/nccl_args.c

tests/bench/libcupti.so.12: tests/bench/fake_cupti.c tests/bench/fake_cupti.map
	$(tap_bench_compile) -fPIC -shared -Wl,-soname,$(@F) \
		-Wl,--version-script=$(srcdir)/tests/bench/fake_cupti.map \
		-Wno-missing-prototypes $(srcdir)/tests/bench/fake_cupti.c
tests/bench/cupti/libcuda.so.1: tests/bench/fake_cuda.c tests/bench/launch.h \
		tests/bench/libcupti.so.12
	$(AM_V_at)$(MKDIR_P) $(@D)
	$(tap_bench_compile) -DCUPTI -fPIC -shared -Wl,-soname,$(@F) \
		$(srcdir)/tests/bench/fake_cuda.c -Ltests/bench -l:libcupti.so.12 \
		-Wl,--enable-new-dtags,-rpath,'$$ORIGIN/..'
tests/bench/told: tests/bench/told.c tests/bench/bursts.h tests/bench/launch.h \
		tests/bench/cupti/libcuda.so.1
	$(tap_bench_compile) $(srcdir)/tests/bench/told.c -Ltests/bench/cupti \
		-l:libcuda.so.1 -Ltests/bench -l:libcupti.so.12 \
		-Wl,--enable-new-dtags,-rpath,'$$ORIGIN:$$ORIGIN/cupti'

# BENCH_FLAGS=--quick reports in less than a minute; see doc/overhead.md.
.PHONY: bench
bench: all $(tap_bench_made)
	$(AM_V_at)top_builddir='$(abs_top_builddir)' /usr/bin/python3 \
		$(srcdir)/tests/bench/bench.py $(BENCH_FLAGS)
