# SPDX-License-Identifier: MIT
# The program is left alone: the same with us and without.

tap_host_first = tests/host/first tests/link/constructor.so
check_DATA += $(tap_host_first)
CLEANFILES += $(tap_host_first)
EXTRA_DIST += tests/host/first.c tests/host/constructor.c tests/host/test_first.sh
TESTS += tests/host/test_first.sh

tests/host/first: tests/host/first.c tests/link/copy2.so
	$(AM_V_CCLD)$(MKDIR_P) tests/host && $(CC) $(AM_CFLAGS) $(CFLAGS) -pthread -o $@ \
		$(srcdir)/tests/host/first.c -Ltests/link -l:copy2.so \
		-Wl,--enable-new-dtags,-rpath,'$$ORIGIN/../link'
tests/link/constructor.so: tests/host/constructor.c tests/link/copy2.so
	$(AM_V_CCLD)$(tap_link_shared) -pthread -o $@ $(srcdir)/tests/host/constructor.c \
		-Ltests/link -l:copy2.so -Wl,--enable-new-dtags,-rpath,'$$ORIGIN'

# One program for each subject, linked to the smallest NCCL, or to one that takes its time.
tap_host_programs = tests/host/processes tests/host/descriptors tests/host/loading \
	tests/host/ends tests/host/leaves tests/host/limits tests/host/forks
tap_host_libraries = tests/host/early.so tests/host/next_all.so tests/host/asks.so \
	tests/host/careless.so
tap_host_slow_programs = tests/host/signals tests/host/threads
tap_host_tests = tests/host/test_processes.sh tests/host/test_descriptors.sh \
	tests/host/test_signals.sh tests/host/test_sanitizers.sh tests/host/test_setuid.sh tests/host/test_threads.sh \
	tests/host/test_ends.sh tests/host/test_leaves.sh tests/host/test_loading.sh tests/host/test_limits.sh \
	tests/host/test_daemon.sh tests/host/test_many.sh
tap_host_made = $(tap_host_programs) $(tap_host_slow_programs) tests/host/slow.so \
	$(tap_host_libraries) tests/host/many
check_DATA += $(tap_host_made)
CLEANFILES += $(tap_host_made)
EXTRA_DIST += $(tap_host_programs:=.c) $(tap_host_slow_programs:=.c) tests/host/slow.c tests/host/many.c \
	$(tap_host_libraries:.so=.c) \
	tests/host/moment.h tests/host/host.inc.sh $(tap_host_tests)
TESTS += $(tap_host_tests)

$(tap_host_programs): tests/host/%: tests/host/%.c tests/host/moment.h tests/link/copy2.so
	$(AM_V_CCLD)$(MKDIR_P) tests/host && $(CC) $(AM_CFLAGS) $(CFLAGS) -pthread -o $@ \
		$(srcdir)/$@.c -Wl,--no-as-needed $(filter %.so,$^) \
		-Wl,--enable-new-dtags,-rpath,'$$ORIGIN/../link:$$ORIGIN'
$(tap_host_slow_programs): tests/host/%: tests/host/%.c tests/host/moment.h tests/host/slow.so
	$(AM_V_CCLD)$(CC) $(AM_CFLAGS) $(CFLAGS) -pthread -o $@ \
		$(srcdir)/$@.c -Ltests/host -l:slow.so -Wl,--enable-new-dtags,-rpath,'$$ORIGIN'
tests/host/slow.so: tests/host/slow.c
	$(AM_V_CCLD)$(MKDIR_P) tests/host && $(tap_link_shared) -o $@ $(srcdir)/tests/host/slow.c
tests/host/ends: tests/host/early.so
tests/host/forks: tests/host/careless.so
tests/host/early.so: tests/host/moment.h tests/link/copy2.so
$(tap_host_libraries): tests/host/%.so: tests/host/%.c
	$(AM_V_CCLD)$(MKDIR_P) tests/host && $(tap_link_shared) -o $@ $(srcdir)/$(@:.so=.c) \
		$(filter %.so,$^) -Wl,--enable-new-dtags,-rpath,'$$ORIGIN/../link'
tests/host/many: tests/host/many.c $(doubles_so) $(doubles_h)
	$(AM_V_CCLD)$(MKDIR_P) tests/host && $(CC) $(AM_CFLAGS) $(CFLAGS) $(doubles_cc) -pthread \
		-o $@ $(srcdir)/tests/host/many.c $(doubles_ld) \
		-Wl,-rpath,'$$ORIGIN/../doubles/nccl:$$ORIGIN/../doubles/cuda'
