# SPDX-License-Identifier: MIT
# What the tracer and the reader cost: make bench, by hand and with nothing else running.

# Plain files, as in tests/link: a script of libtool's would be timed in their place.
tap_bench_made = tests/bench/doubles/nccl.so tests/bench/programs/calls \
	tests/bench/programs/calls-framed tests/bench/programs/pair \
	tests/bench/programs/one tests/bench/programs/none tests/bench/programs/many \
	tests/bench/programs/spawn tests/bench/programs/trace \
	tests/bench/doubles/libibverbs.so.1 tests/bench/programs/verbs \
	tests/bench/programs/post tests/bench/doubles/libcuda.so.1 \
	tests/bench/doubles/libcudart.so.12 tests/bench/programs/launch \
	tests/bench/programs/launched tests/bench/programs/arguments \
	tests/bench/doubles/libnccl-threads.so tests/bench/programs/threads \
	tests/bench/doubles/libcupti.so.12 tests/bench/doubles/cupti/libcuda.so.1 \
	tests/bench/programs/cupti tests/bench/doubles/sockets.so \
	tests/bench/programs/sockets tests/bench/programs/sockets-six
check_DATA += $(tap_bench_made)
CLEANFILES += $(tap_bench_made) bench.json
EXTRA_DIST += tests/bench/bench.py tests/bench/programs/bursts.h \
	tests/bench/doubles/threads.c tests/bench/doubles/threads.h \
	tests/bench/programs/threads.c \
	tests/bench/programs/calls.c tests/bench/doubles/nccl.c \
	tests/bench/doubles/nccl.h tests/bench/doubles/verbs.c \
	tests/bench/doubles/verbs.map tests/bench/programs/one.c \
	tests/bench/programs/pair.c tests/bench/programs/pair_tp.h \
	tests/bench/programs/post.c tests/bench/programs/post_tp.h \
	tests/bench/programs/queue.h tests/bench/programs/spawn.c \
	tests/bench/test_bench.sh tests/bench/verdict.sh tests/bench/programs/trace.c \
	tests/bench/doubles/cupti.c tests/bench/doubles/cupti.map \
	tests/bench/programs/cupti.c tests/bench/doubles/cuda.c \
	tests/bench/doubles/cudart.map tests/bench/programs/launch.c \
	tests/bench/programs/arguments.c tests/bench/programs/many.c \
	tests/bench/programs/many_tp.h tests/bench/doubles/cuda.h \
	tests/bench/programs/launched.c tests/bench/programs/launched_tp.h \
	tests/bench/programs/verbs.c tests/bench/doubles/sockets.c \
	tests/bench/doubles/sockets.h tests/bench/programs/sockets.c doc/overhead.md
TESTS += tests/bench/test_bench.sh

tap_bench_h = tests/bench/programs/bursts.h tests/bench/doubles/nccl.h
tap_bench_compile = $(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) -D_GNU_SOURCE \
	-I$(srcdir)/tests/bench/programs $(CPPFLAGS) $(AM_CFLAGS) $(CFLAGS) -o $@
tap_bench_nccl = -Ltests/bench/doubles -l:nccl.so \
	-Wl,--enable-new-dtags,-rpath,'$$ORIGIN/../doubles'

tests/bench/doubles/nccl.so: tests/bench/doubles/nccl.c $(tap_bench_h)
	$(tap_bench_compile) -fPIC -shared -Wl,-soname,$(@F) \
		$(srcdir)/tests/bench/doubles/nccl.c
tests/bench/programs/calls: tests/bench/programs/calls.c tests/bench/doubles/nccl.so \
		$(tap_bench_h)
	$(tap_bench_compile) -fomit-frame-pointer $(srcdir)/tests/bench/programs/calls.c \
		$(tap_bench_nccl) -ldl
tests/bench/programs/calls-framed: tests/bench/programs/calls.c \
		tests/bench/doubles/nccl.so $(tap_bench_h)
	$(tap_bench_compile) -fno-omit-frame-pointer \
		$(srcdir)/tests/bench/programs/calls.c \
		$(tap_bench_nccl) -ldl
tests/bench/programs/pair: tests/bench/programs/pair.c tests/bench/programs/pair_tp.h \
		tests/bench/doubles/nccl.so \
		$(tap_bench_h)
	$(tap_bench_compile) $(LTTNG_UST_CFLAGS) $(srcdir)/tests/bench/programs/pair.c \
		$(tap_bench_nccl) $(LTTNG_UST_LIBS)
tests/bench/programs/one: tests/bench/programs/one.c tests/bench/doubles/nccl.so \
		$(tap_bench_h)
	$(tap_bench_compile) -DCALLS=1 $(srcdir)/tests/bench/programs/one.c \
		$(tap_bench_nccl)
tests/bench/programs/none: tests/bench/programs/one.c tests/bench/doubles/nccl.so \
		$(tap_bench_h)
	$(tap_bench_compile) -DCALLS=0 $(srcdir)/tests/bench/programs/one.c
tests/bench/programs/many: tests/bench/programs/many.c tests/bench/programs/many_tp.h
	$(tap_bench_compile) $(LTTNG_UST_CFLAGS) $(srcdir)/tests/bench/programs/many.c \
		$(LTTNG_UST_LIBS)
tests/bench/doubles/libnccl-threads.so: tests/bench/doubles/threads.c \
		tests/bench/doubles/threads.h
	$(tap_bench_compile) -fPIC -shared -Wl,-soname,$(@F) \
		$(srcdir)/tests/bench/doubles/threads.c \
		-Wl,--no-as-needed -l:libstdc++.so.6
tests/bench/programs/threads: tests/bench/programs/threads.c \
		tests/bench/doubles/libnccl-threads.so tests/bench/doubles/nccl.so \
		$(tap_bench_h)
	$(tap_bench_compile) $(srcdir)/tests/bench/programs/threads.c $(tap_bench_nccl) \
		-l:libnccl-threads.so -pthread
tests/bench/programs/spawn: tests/bench/programs/spawn.c $(tap_bench_h)
	$(tap_bench_compile) $(srcdir)/tests/bench/programs/spawn.c
tests/bench/programs/trace: tests/bench/programs/trace.c
	$(tap_bench_compile) $(srcdir)/tests/bench/programs/trace.c

tap_bench_verbs = -Ltests/bench/doubles -l:libibverbs.so.1 \
	-Wl,--enable-new-dtags,-rpath,'$$ORIGIN/../doubles'
tap_bench_verbs_h = tests/bench/programs/bursts.h tests/bench/programs/queue.h \
	tests/bench/doubles/libibverbs.so.1

tests/bench/doubles/libibverbs.so.1: tests/bench/doubles/verbs.c \
		tests/bench/doubles/verbs.map
	$(tap_bench_compile) -fPIC -shared -Wl,-soname,$(@F) \
		-Wl,--version-script=$(srcdir)/tests/bench/doubles/verbs.map \
		$(srcdir)/tests/bench/doubles/verbs.c
tests/bench/programs/verbs: tests/bench/programs/verbs.c $(tap_bench_verbs_h)
	$(tap_bench_compile) $(srcdir)/tests/bench/programs/verbs.c $(tap_bench_verbs)
tests/bench/programs/post: tests/bench/programs/post.c tests/bench/programs/post_tp.h \
		$(tap_bench_verbs_h)
	$(tap_bench_compile) $(LTTNG_UST_CFLAGS) $(srcdir)/tests/bench/programs/post.c \
		$(tap_bench_verbs) $(LTTNG_UST_LIBS)

tests/bench/doubles/sockets.so: tests/bench/doubles/sockets.c tests/bench/doubles/sockets.h
	$(tap_bench_compile) -fPIC -shared -Wl,-soname,$(@F) \
		$(srcdir)/tests/bench/doubles/sockets.c
tap_bench_sockets_h = $(tap_bench_h) tests/bench/doubles/sockets.h \
	tests/bench/doubles/nccl.so tests/bench/doubles/sockets.so
tests/bench/programs/sockets: tests/bench/programs/sockets.c $(tap_bench_sockets_h)
	$(tap_bench_compile) $(srcdir)/tests/bench/programs/sockets.c \
		$(tap_bench_nccl) -l:sockets.so
tests/bench/programs/sockets-six: tests/bench/programs/sockets.c \
		tests/bench/programs/post_tp.h $(tap_bench_sockets_h)
	$(tap_bench_compile) -DSIX $(LTTNG_UST_CFLAGS) \
		$(srcdir)/tests/bench/programs/sockets.c $(tap_bench_nccl) -l:sockets.so \
		$(LTTNG_UST_LIBS)

tests/bench/doubles/libcuda.so.1: tests/bench/doubles/cuda.c tests/bench/doubles/cuda.h
	$(tap_bench_compile) -fPIC -shared -Wl,-soname,$(@F) \
		$(srcdir)/tests/bench/doubles/cuda.c
tests/bench/doubles/libcudart.so.12: tests/bench/doubles/cuda.c \
		tests/bench/doubles/cudart.map \
		tests/bench/doubles/cuda.h
	$(tap_bench_compile) -DRUNTIME -fPIC -shared -Wl,-soname,$(@F) \
		-Wl,--version-script=$(srcdir)/tests/bench/doubles/cudart.map \
		$(srcdir)/tests/bench/doubles/cuda.c
tap_bench_cuda = -Ltests/bench/doubles -l:libcuda.so.1 -l:libcudart.so.12 \
	-Wl,--enable-new-dtags,-rpath,'$$ORIGIN/../doubles'
tap_bench_cuda_h = tests/bench/programs/bursts.h tests/bench/doubles/cuda.h \
	tests/bench/doubles/libcuda.so.1 tests/bench/doubles/libcudart.so.12
tests/bench/programs/launch: tests/bench/programs/launch.c $(tap_bench_cuda_h)
	$(tap_bench_compile) $(srcdir)/tests/bench/programs/launch.c $(tap_bench_cuda)
tests/bench/programs/launched: tests/bench/programs/launched.c \
		tests/bench/programs/launched_tp.h $(tap_bench_cuda_h)
	$(tap_bench_compile) $(LTTNG_UST_CFLAGS) \
		$(srcdir)/tests/bench/programs/launched.c \
		$(tap_bench_cuda) $(LTTNG_UST_LIBS)
tests/bench/programs/arguments: tests/bench/programs/arguments.c \
		tests/bench/programs/bursts.h \
		src/intercept/cuda/nccl_args.c src/intercept/cuda/nccl_args.h
	$(tap_bench_compile) -I$(srcdir)/src $(srcdir)/tests/bench/programs/arguments.c \
		$(srcdir)/src/intercept/cuda/nccl_args.c

tests/bench/doubles/libcupti.so.12: tests/bench/doubles/cupti.c \
		tests/bench/doubles/cupti.map
	$(tap_bench_compile) -fPIC -shared -Wl,-soname,$(@F) \
		-Wl,--version-script=$(srcdir)/tests/bench/doubles/cupti.map \
		-Wno-missing-prototypes $(srcdir)/tests/bench/doubles/cupti.c
tests/bench/doubles/cupti/libcuda.so.1: tests/bench/doubles/cuda.c \
		tests/bench/doubles/cuda.h \
		tests/bench/doubles/libcupti.so.12
	$(AM_V_at)$(MKDIR_P) $(@D)
	$(tap_bench_compile) -DCUPTI -fPIC -shared -Wl,-soname,$(@F) \
		$(srcdir)/tests/bench/doubles/cuda.c -Ltests/bench/doubles \
		-l:libcupti.so.12 \
		-Wl,--enable-new-dtags,-rpath,'$$ORIGIN/..'
tests/bench/programs/cupti: tests/bench/programs/cupti.c tests/bench/programs/bursts.h \
		tests/bench/doubles/cuda.h \
		tests/bench/doubles/cupti/libcuda.so.1
	$(tap_bench_compile) $(srcdir)/tests/bench/programs/cupti.c \
		-Ltests/bench/doubles/cupti \
		-l:libcuda.so.1 -Ltests/bench/doubles -l:libcupti.so.12 \
		-Wl,--enable-new-dtags,-rpath,'$$ORIGIN/../doubles:$$ORIGIN/../doubles/cupti'

# BENCH_FLAGS=--quick reports in less than a minute; see doc/overhead.md.
.PHONY: bench
bench: all $(check_DATA)
	$(AM_V_at)top_builddir='$(abs_top_builddir)' /usr/bin/python3 \
		$(srcdir)/tests/bench/bench.py $(BENCH_FLAGS)
