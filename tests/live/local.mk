# SPDX-License-Identifier: MIT
# With a session daemon: what is the machine's, or one that is started for it.

check_PROGRAMS += tests/live/programs/obey tests/live/programs/on_terminal \
	tests/live/programs/rank tests/live/programs/signals
tests_live_programs_obey_SOURCES = tests/live/programs/obey.c
tests_live_programs_obey_LDADD = -ldl
tests_live_programs_rank_SOURCES = tests/live/programs/rank.c
tests_live_programs_rank_LDADD = -ldl
tests_live_programs_on_terminal_SOURCES = tests/live/programs/on_terminal.c
tests_live_programs_signals_SOURCES = tests/live/programs/signals.c

LIVE_RECORD_TESTS = tests/live/test_record.sh tests/live/test_record_signals.sh \
	tests/live/test_record_output.sh tests/live/test_record_env.sh \
	tests/live/test_record_trace.sh tests/live/test_doctor.sh \
	tests/live/test_ranks.sh tests/live/test_control.sh tests/live/test_flight.sh \
	tests/live/test_by_hand.sh tests/live/test_hip.sh tests/live/test_slow.sh \
	tests/live/test_absent.sh tests/live/test_strangers.sh tests/live/test_kills.sh \
	tests/live/test_format.sh tests/live/test_samples.sh tests/live/test_why.sh \
	tests/live/test_errors.sh tests/live/test_metrics.sh tests/live/test_metrics_http.sh \
	tests/live/test_scraped.sh tests/live/test_top.sh tests/live/test_attach.sh \
	tests/live/test_attach_daemon.sh \
	tests/live/test_relay.sh tests/live/test_collect.sh \
	tests/live/test_containers.sh \
	tests/live/test_clusters.sh
EXTRA_DIST += $(LIVE_RECORD_TESTS) tests/live/expect/hip.py tests/live/programs/ranks.py \
	tests/live/programs/strangers.py tests/live/programs/kills.py \
	tests/live/programs/recorder.py
TESTS += $(LIVE_RECORD_TESTS)

tests/live/programs/samples: tests/live/programs/samples.c $(doubles_so) $(soft_verbs_so)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) $(doubles_cc) -o $@ \
		$(srcdir)/tests/live/programs/samples.c $(doubles_ld) -libverbs
check_DATA += tests/live/programs/samples
CLEANFILES += tests/live/programs/samples
EXTRA_DIST += tests/live/programs/samples.c tests/live/expect/samples.py

# What the library records, seen through the reader.
check_PROGRAMS += tests/live/programs/light tests/live/programs/processes
tests_live_programs_light_SOURCES = tests/live/programs/light.c
tests_live_programs_light_LDADD = -ldl
tests_live_programs_processes_SOURCES = tests/live/programs/processes.c
tests_live_programs_processes_CFLAGS = $(AM_CFLAGS) -pthread

# Linked to a NCCL that is found at run time, so that a stock one can be put there.
tests/live/programs/calls: tests/live/programs/calls.c tests/calls/doubles/libnccl.so.2
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) -o $@ \
		$(srcdir)/tests/live/programs/calls.c -Ltests/calls/doubles \
		-l:libnccl.so.2
tests/live/programs/count.so: tests/live/programs/count.c
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) -fPIC -shared \
		-o $@ $(srcdir)/tests/live/programs/count.c
tests/live/programs/format.so: tests/live/programs/format.c
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) -fPIC -shared \
		-o $@ $(srcdir)/tests/live/programs/format.c
tests/live/programs/machine.so: tests/live/programs/machine.c
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) -fPIC -shared \
		-o $@ $(srcdir)/tests/live/programs/machine.c -ldl
tests/live/programs/dies.so: tests/live/programs/dies.c
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) -fPIC -shared \
		-o $@ $(srcdir)/tests/live/programs/dies.c
tests/live/programs/net_plugin.so: tests/live/programs/net_plugin.c
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) -fPIC -shared \
		-o $@ $(srcdir)/tests/live/programs/net_plugin.c
tests/live/programs/skewed.so: tests/live/programs/skewed.c
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) -fPIC -shared \
		-o $@ $(srcdir)/tests/live/programs/skewed.c -ldl
tests/live/programs/forking/libnccl.so.2: tests/live/programs/forking.c
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) -fPIC -shared \
		-Wl,-soname,libnccl.so.2 -o $@ $(srcdir)/tests/live/programs/forking.c
tests/live/programs/fork_inside: tests/live/programs/fork_inside.c tests/live/programs/forking/libnccl.so.2
	$(AM_V_CCLD)$(CC) $(AM_CFLAGS) $(CFLAGS) -o $@ \
		$(srcdir)/tests/live/programs/fork_inside.c tests/live/programs/forking/libnccl.so.2 \
		-Wl,-rpath,'$$ORIGIN/forking'
EXTRA_DIST += tests/live/programs/forking.c tests/live/programs/fork_inside.c
check_DATA += tests/live/programs/fork_inside
CLEANFILES += tests/live/programs/fork_inside tests/live/programs/forking/libnccl.so.2
check_DATA += tests/live/programs/calls tests/live/programs/count.so \
	tests/live/programs/net_plugin.so \
	tests/live/programs/format.so tests/live/programs/dies.so tests/live/programs/skewed.so \
	tests/live/programs/machine.so
CLEANFILES += tests/live/programs/calls tests/live/programs/count.so \
	tests/live/programs/net_plugin.so \
	tests/live/programs/format.so tests/live/programs/dies.so tests/live/programs/skewed.so \
	tests/live/programs/machine.so

# What is told to NVTX, by a client of the protocol as NCCL has it, and of a later one.
check_PROGRAMS += tests/live/programs/nvtx tests/live/programs/nvtx-later
tests_live_programs_nvtx_SOURCES = tests/live/programs/nvtx.c \
	tests/live/programs/nvtx_client.h
tests_live_programs_nvtx_CPPFLAGS = $(AM_CPPFLAGS) -DCLIENT_COMPATIBILITY=0x103
tests_live_programs_nvtx_CFLAGS = $(AM_CFLAGS) -pthread
tests_live_programs_nvtx_later_SOURCES = tests/live/programs/nvtx.c \
	tests/live/programs/nvtx_client.h
tests_live_programs_nvtx_later_CPPFLAGS = $(AM_CPPFLAGS) -DCLIENT_COMPATIBILITY=0x104
tests_live_programs_nvtx_later_CFLAGS = $(AM_CFLAGS) -pthread
EXTRA_DIST += tests/live/expect/nvtx.py tests/live/programs/announced.py

# Call stacks, against libunwind on the same stack.
if HAVE_LIBUNWIND
tests/live/programs/unwound.so: tests/live/programs/unwound.c
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) $(LIBUNWIND_CFLAGS) \
		-fPIC -shared -Wl,-soname,$(@F) -o $@ \
		$(srcdir)/tests/live/programs/unwound.c \
		$(LIBUNWIND_LIBS) -ldl
stacks_cc = $(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) -pthread -o $@ \
	$(srcdir)/tests/live/programs/stacks.c -Ltests/live/programs -l:unwound.so \
		-Wl,-rpath,'$(abs_builddir)/tests/live/programs' -ldl
tests/live/programs/plugin1.so tests/live/programs/plugin2.so: \
		tests/live/programs/plugin.c tests/live/programs/unwound.so
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) -fPIC -shared \
		-Wl,-soname,$(@F) -o $@ \
		$(srcdir)/tests/live/programs/plugin.c -Ltests/live/programs -l:unwound.so
tests/live/programs/stacks-framed: tests/live/programs/stacks.c \
		tests/live/programs/unwound.so
	$(stacks_cc) -fno-omit-frame-pointer
tests/live/programs/stacks-unframed: tests/live/programs/stacks.c \
		tests/live/programs/unwound.so
	$(stacks_cc) -fomit-frame-pointer
tap_live_stacks = tests/live/programs/unwound.so tests/live/programs/plugin1.so \
	tests/live/programs/plugin2.so tests/live/programs/stacks-framed \
	tests/live/programs/stacks-unframed
check_DATA += $(tap_live_stacks)
CLEANFILES += $(tap_live_stacks)
endif
EXTRA_DIST += tests/live/programs/stacks.c tests/live/expect/stacks.py \
	tests/live/programs/plugin.c tests/live/programs/unwound.c

# What its calls mean together, against what the program itself says.
on_doubles = tests/live/programs/absent tests/live/programs/counts tests/live/programs/order \
	tests/live/programs/reuse tests/live/programs/comms tests/live/programs/hang \
	tests/live/programs/slow tests/live/programs/storm \
	tests/live/programs/missing tests/live/programs/misuses tests/live/programs/paced \
	tests/live/programs/straggler tests/live/programs/spoils \
	tests/live/programs/steady tests/live/programs/closes tests/live/programs/flows
$(on_doubles): tests/live/programs/%: tests/live/programs/%.c $(doubles_so) $(doubles_h)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) $(doubles_cc) -o $@ \
		$(srcdir)/$@.c $(doubles_ld) \
		-Wl,-rpath,'$$ORIGIN/../../doubles/nccl:$$ORIGIN/../../doubles/cuda'
check_DATA += $(on_doubles)
CLEANFILES += $(on_doubles)
EXTRA_DIST += tests/live/programs/order.c tests/live/expect/order.py \
	tests/live/programs/reuse.c tests/live/expect/reuse.py \
	tests/live/programs/counts.c tests/live/expect/metrics.py \
	tests/live/programs/paced.c tests/live/expect/ask_http.py tests/live/expect/scraped.py \
	tests/live/expect/top_screen.py \
	tests/live/programs/spoils.c \
	tests/live/programs/steady.c tests/live/programs/closes.c tests/live/expect/attach.py \
	tests/live/programs/absent.c tests/live/expect/absent.py \
	tests/live/programs/comms.c tests/live/expect/comms.py \
	tests/live/programs/hang.c tests/live/programs/asked.py \
	tests/live/programs/slow.c tests/live/programs/storm.c tests/live/programs/missing.c \
	tests/live/programs/misuses.c tests/live/expect/audit.py \
	tests/live/programs/straggler.c tests/live/expect/straggler.py \
	tests/live/programs/flows.c tests/live/expect/tree.py \
	tests/live/expect/tree-sockets.txt tests/live/expect/tree-verbs.txt \
	tests/live/programs/stuck.c
tests/live/programs/slow.so: tests/live/programs/slow.c
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) -D_GNU_SOURCE \
		-DSLOW_LOADER \
		-fPIC -shared -o $@ $(srcdir)/tests/live/programs/slow.c
check_DATA += tests/live/programs/slow.so
CLEANFILES += tests/live/programs/slow.so
tests/live/programs/stuck.so: tests/live/programs/stuck.c
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) -fPIC -shared \
		-Wl,-soname,libnccl-stuck.so -o $@ $(srcdir)/tests/live/programs/stuck.c
check_DATA += tests/live/programs/stuck.so
CLEANFILES += tests/live/programs/stuck.so

# Threads as a NCCL makes them.
tap_live_threads = tests/live/programs/threads-c/libnccl.so.2 \
	tests/live/programs/threads-std/libnccl.so.2 \
	tests/live/programs/threads-r/libnccl.so.2
tests/live/programs/threads-std/libnccl.so.2: threads_flags = -DSTD -l:libstdc++.so.6
tests/live/programs/threads-r/libnccl.so.2: threads_flags = -Wl,-soname,librccl.so.1
$(tap_live_threads): tests/live/programs/threads_nccl.c
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) -D_GNU_SOURCE -fPIC -shared \
		-pthread -Wl,-soname,$(@F) -o $@ $(srcdir)/tests/live/programs/threads_nccl.c \
		$(threads_flags)
tests/live/programs/threads: tests/live/programs/threads.c \
		tests/live/programs/threads-c/libnccl.so.2 $(doubles_h)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) $(doubles_cc) -pthread \
		-o $@ $(srcdir)/tests/live/programs/threads.c \
		-Ltests/live/programs/threads-c -l:libnccl.so.2
check_DATA += $(tap_live_threads) tests/live/programs/threads
CLEANFILES += $(tap_live_threads) tests/live/programs/threads
EXTRA_DIST += tests/live/programs/threads.c tests/live/programs/threads_nccl.c \
	tests/live/expect/threads.py

# Launches as a NCCL makes them.
check_PROGRAMS += tests/live/programs/kernels
tests_live_programs_kernels_SOURCES = tests/live/programs/kernels.c
tests_live_programs_kernels_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_live_programs_kernels_LDADD = -ldl
kernels_so = tests/live/programs/kernels-cuda.so tests/live/programs/kernels-nccl.so
tests/live/programs/kernels-cuda.so: kernels_flags = -DDRIVER -Wl,-soname,libcuda.so.1
tests/live/programs/kernels-nccl.so: kernels_flags = -DNCCL
$(kernels_so): tests/live/programs/kernels.c
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CPPFLAGS) $(AM_CFLAGS) $(CFLAGS) \
		-fPIC -shared \
		$(kernels_flags) -o $@ $(srcdir)/tests/live/programs/kernels.c
check_DATA += $(kernels_so)
CLEANFILES += $(kernels_so)

LIVE_TRACE_TESTS = tests/live/test_bundled.sh tests/live/test_light.sh \
	tests/live/test_perfetto.sh \
	tests/live/test_processes.sh tests/live/test_order.sh tests/live/test_late.sh \
	tests/live/test_threads.sh \
	tests/live/test_ways.sh tests/live/test_comms.sh tests/live/test_namespaces.sh \
	tests/live/test_nvtx.sh tests/live/test_stacks.sh tests/live/test_hang.sh \
	tests/live/test_stock.sh tests/live/test_kernels.sh tests/live/test_clocks.sh \
	tests/live/test_straggler.sh tests/live/test_net_plugin.sh tests/live/test_tree.sh \
	tests/live/test_tracecompass.sh \
	tests/live/test_audit.sh
EXTRA_DIST += tests/live/expect/perfetto_follow.py $(LIVE_TRACE_TESTS) tests/live/programs/net_plugin.c \
	tests/live/programs/net_plugin.py tests/live/expect/bundled.py \
	tests/live/programs/calls.c tests/live/programs/calls.py \
	tests/live/programs/count.c tests/live/programs/dies.c \
	tests/live/programs/skewed.c tests/live/expect/clocks.py \
	tests/live/programs/format.c tests/live/programs/machine.c tests/live/expect/processes.py \
	tests/live/expect/stock.py tests/live/expect/stock_threads.py tests/live/expect/ways.py \
	tests/live/programs/bootstrap.py \
	tests/live/programs/wheels.py
TESTS += $(LIVE_TRACE_TESTS)

# By hand: pictures of the views in a Trace Compass.
EXTRA_DIST += tests/tracecompass/shots tests/tracecompass/MANIFEST.MF tests/tracecompass/plugin.xml \
	tests/tracecompass/src/ccltap/shots/Shots.java
