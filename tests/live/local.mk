# SPDX-License-Identifier: MIT
# With a session daemon: what is the machine's, or one that is started for it.

check_PROGRAMS += tests/live/obey tests/live/on_terminal tests/live/rank tests/live/signals
tests_live_obey_SOURCES = tests/live/obey.c
tests_live_obey_LDADD = -ldl
tests_live_rank_SOURCES = tests/live/rank.c
tests_live_rank_LDADD = -ldl
tests_live_on_terminal_SOURCES = tests/live/on_terminal.c
tests_live_signals_SOURCES = tests/live/signals.c

LIVE_RECORD_TESTS = tests/live/record.sh tests/live/record_signals.sh \
	tests/live/record_output.sh tests/live/record_env.sh tests/live/record_trace.sh \
	tests/live/doctor.sh tests/live/ranks.sh tests/live/control.sh tests/live/flight.sh \
	tests/live/by_hand.sh tests/live/hip.sh tests/live/slow.sh tests/live/absent.sh \
	tests/live/strangers.sh tests/live/kills.sh tests/live/format.sh
EXTRA_DIST += $(LIVE_RECORD_TESTS) tests/live/record.inc.sh tests/live/hip.py tests/live/ranks.py \
	tests/live/strangers.py tests/live/kills.py
TESTS += $(LIVE_RECORD_TESTS)

# What the library records, seen through the reader.
check_PROGRAMS += tests/live/light tests/live/processes
tests_live_light_SOURCES = tests/live/light.c
tests_live_light_LDADD = -ldl
tests_live_processes_SOURCES = tests/live/processes.c
tests_live_processes_CFLAGS = $(AM_CFLAGS) -pthread

# Linked to a NCCL that is found at run time, so that a stock one can be put there.
tests/live/calls: tests/live/calls.c tests/calls/libnccl.so.2
	$(AM_V_CCLD)$(MKDIR_P) tests/live && $(CC) $(AM_CFLAGS) $(CFLAGS) -o $@ \
		$(srcdir)/tests/live/calls.c -Ltests/calls -l:libnccl.so.2
tests/live/count.so: tests/live/count.c
	$(AM_V_CCLD)$(MKDIR_P) tests/live && $(CC) $(AM_CFLAGS) $(CFLAGS) -fPIC -shared \
		-o $@ $(srcdir)/tests/live/count.c
tests/live/format.so: tests/live/format.c
	$(AM_V_CCLD)$(MKDIR_P) tests/live && $(CC) $(AM_CFLAGS) $(CFLAGS) -fPIC -shared \
		-o $@ $(srcdir)/tests/live/format.c
tests/live/dies.so: tests/live/dies.c
	$(AM_V_CCLD)$(MKDIR_P) tests/live && $(CC) $(AM_CFLAGS) $(CFLAGS) -fPIC -shared \
		-o $@ $(srcdir)/tests/live/dies.c
check_DATA += tests/live/calls tests/live/count.so tests/live/format.so tests/live/dies.so
CLEANFILES += tests/live/calls tests/live/count.so tests/live/format.so tests/live/dies.so

# What is told to NVTX, by a client of the protocol as NCCL has it, and of a later one.
check_PROGRAMS += tests/live/told tests/live/told-later
tests_live_told_SOURCES = tests/live/told.c tests/live/nvtx_client.h
tests_live_told_CPPFLAGS = $(AM_CPPFLAGS) -DCLIENT_COMPATIBILITY=0x103
tests_live_told_CFLAGS = $(AM_CFLAGS) -pthread
tests_live_told_later_SOURCES = tests/live/told.c tests/live/nvtx_client.h
tests_live_told_later_CPPFLAGS = $(AM_CPPFLAGS) -DCLIENT_COMPATIBILITY=0x104
tests_live_told_later_CFLAGS = $(AM_CFLAGS) -pthread
EXTRA_DIST += tests/live/told.py tests/live/announced.py

# Call stacks, against libunwind on the same stack.
if HAVE_LIBUNWIND
tests/live/unwound.so: tests/live/unwound.c
	$(AM_V_CCLD)$(MKDIR_P) tests/live && $(CC) $(AM_CFLAGS) $(CFLAGS) $(LIBUNWIND_CFLAGS) \
		-fPIC -shared -Wl,-soname,$(@F) -o $@ $(srcdir)/tests/live/unwound.c \
		$(LIBUNWIND_LIBS) -ldl
stacks_cc = $(AM_V_CCLD)$(MKDIR_P) tests/live && $(CC) $(AM_CFLAGS) $(CFLAGS) -pthread -o $@ \
	$(srcdir)/tests/live/stacks.c -Ltests/live -l:unwound.so -Wl,-rpath,'$(abs_builddir)/tests/live' -ldl
tests/live/plugin1.so tests/live/plugin2.so: tests/live/plugin.c tests/live/unwound.so
	$(AM_V_CCLD)$(CC) $(AM_CFLAGS) $(CFLAGS) -fPIC -shared -Wl,-soname,$(@F) -o $@ \
		$(srcdir)/tests/live/plugin.c -Ltests/live -l:unwound.so
tests/live/stacks-framed: tests/live/stacks.c tests/live/unwound.so
	$(stacks_cc) -fno-omit-frame-pointer
tests/live/stacks-unframed: tests/live/stacks.c tests/live/unwound.so
	$(stacks_cc) -fomit-frame-pointer
tap_live_stacks = tests/live/unwound.so tests/live/plugin1.so tests/live/plugin2.so \
	tests/live/stacks-framed tests/live/stacks-unframed
check_DATA += $(tap_live_stacks)
CLEANFILES += $(tap_live_stacks)
endif
EXTRA_DIST += tests/live/stacks.c tests/live/stacks.py tests/live/plugin.c tests/live/unwound.c

# What its calls mean together, against what the program itself says.
on_doubles = tests/live/absent tests/live/order tests/live/reuse tests/live/comms tests/live/hang \
	tests/live/slow tests/live/storm
$(on_doubles): tests/live/%: tests/live/%.c $(doubles_so) $(doubles_h)
	$(AM_V_CCLD)$(MKDIR_P) tests/live && $(CC) $(AM_CFLAGS) $(CFLAGS) $(doubles_cc) -o $@ \
		$(srcdir)/$@.c $(doubles_ld) \
		-Wl,-rpath,'$$ORIGIN/../doubles/nccl:$$ORIGIN/../doubles/cuda'
check_DATA += $(on_doubles)
CLEANFILES += $(on_doubles)
EXTRA_DIST += tests/live/order.c tests/live/order.py tests/live/reuse.c tests/live/reuse.py \
	tests/live/absent.c tests/live/absent.py tests/live/comms.c tests/live/comms.py \
	tests/live/hang.c tests/live/asked.py tests/live/slow.c tests/live/storm.c tests/live/stuck.c
tests/live/slow.so: tests/live/slow.c
	$(AM_V_CCLD)$(MKDIR_P) tests/live && $(CC) $(AM_CFLAGS) $(CFLAGS) -D_GNU_SOURCE -DSLOW_LOADER \
		-fPIC -shared -o $@ $(srcdir)/tests/live/slow.c
check_DATA += tests/live/slow.so
CLEANFILES += tests/live/slow.so
tests/live/stuck.so: tests/live/stuck.c
	$(AM_V_CCLD)$(MKDIR_P) tests/live && $(CC) $(AM_CFLAGS) $(CFLAGS) -fPIC -shared \
		-Wl,-soname,libnccl-stuck.so -o $@ $(srcdir)/tests/live/stuck.c
check_DATA += tests/live/stuck.so
CLEANFILES += tests/live/stuck.so

# Launches as a NCCL makes them.
check_PROGRAMS += tests/live/kernels
tests_live_kernels_SOURCES = tests/live/kernels.c
tests_live_kernels_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_live_kernels_LDADD = -ldl
kernels_so = tests/live/kernels-cuda.so tests/live/kernels-nccl.so
tests/live/kernels-cuda.so: kernels_flags = -DDRIVER -Wl,-soname,libcuda.so.1
tests/live/kernels-nccl.so: kernels_flags = -DNCCL
$(kernels_so): tests/live/kernels.c
	$(AM_V_CCLD)$(MKDIR_P) tests/live && $(CC) $(AM_CPPFLAGS) $(AM_CFLAGS) $(CFLAGS) -fPIC -shared \
		$(kernels_flags) -o $@ $(srcdir)/tests/live/kernels.c
check_DATA += $(kernels_so)
CLEANFILES += $(kernels_so)

LIVE_TRACE_TESTS = tests/live/bundled.sh tests/live/light.sh tests/live/processes.sh \
	tests/live/order.sh tests/live/late.sh tests/live/ways.sh tests/live/comms.sh \
	tests/live/namespaces.sh tests/live/nvtx.sh tests/live/stacks.sh \
	tests/live/hang.sh tests/live/stock.sh tests/live/kernels.sh
EXTRA_DIST += $(LIVE_TRACE_TESTS) tests/live/bundled.py tests/live/calls.c tests/live/calls.py \
	tests/live/count.c tests/live/dies.c tests/live/format.c tests/live/processes.py tests/live/stock.py tests/live/ways.py tests/live/wheels.py
TESTS += $(LIVE_TRACE_TESTS)
