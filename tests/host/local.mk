# SPDX-License-Identifier: MIT
# The program is left alone: the same with us and without.

tap_host_first = tests/host/programs/first tests/link/programs/constructor.so
check_DATA += $(tap_host_first)
CLEANFILES += $(tap_host_first)
EXTRA_DIST += tests/host/programs/first.c tests/host/programs/constructor.c \
	tests/host/test_first.sh
TESTS += tests/host/test_first.sh

tests/host/programs/first: tests/host/programs/first.c tests/link/programs/copy2.so
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) -pthread -o $@ \
		$(srcdir)/tests/host/programs/first.c -Ltests/link/programs -l:copy2.so \
		-Wl,--enable-new-dtags,-rpath,'$$ORIGIN/../../link/programs'
tests/link/programs/constructor.so: tests/host/programs/constructor.c \
		tests/link/programs/copy2.so
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(tap_link_shared) -pthread -o $@ \
		$(srcdir)/tests/host/programs/constructor.c \
		-Ltests/link/programs -l:copy2.so -Wl,--enable-new-dtags,-rpath,'$$ORIGIN'

# One program for each subject, linked to the smallest NCCL, or to one that takes its time.
tap_host_programs = tests/host/programs/processes tests/host/programs/descriptors \
	tests/host/programs/loading tests/host/programs/ends tests/host/programs/leaves \
	tests/host/programs/limits tests/host/programs/contained tests/host/programs/forks
tap_host_libraries = tests/host/programs/early.so tests/host/programs/next_all.so \
	tests/host/programs/asks.so tests/host/programs/careless.so
tap_host_slow_programs = tests/host/programs/signals tests/host/programs/threads
tap_host_tests = tests/host/test_processes.sh tests/host/test_descriptors.sh \
	tests/host/test_signals.sh tests/host/test_sanitizers.sh \
	tests/host/test_setuid.sh tests/host/test_threads.sh tests/host/test_ends.sh \
	tests/host/test_leaves.sh tests/host/test_loading.sh tests/host/test_limits.sh \
	tests/host/test_daemon.sh tests/host/test_many.sh
tap_host_made = $(tap_host_programs) $(tap_host_slow_programs) \
	tests/host/programs/slow.so $(tap_host_libraries) tests/host/programs/many
check_DATA += $(tap_host_made)
CLEANFILES += $(tap_host_made)
EXTRA_DIST += $(tap_host_programs:=.c) $(tap_host_slow_programs:=.c) \
	tests/host/programs/slow.c tests/host/programs/many.c \
	$(tap_host_libraries:.so=.c) tests/host/programs/moment.h tests/host/host.inc.sh \
	$(tap_host_tests)
TESTS += $(tap_host_tests)

$(tap_host_programs): tests/host/programs/%: tests/host/programs/%.c \
		tests/host/programs/moment.h tests/link/programs/copy2.so
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) -pthread -o $@ \
		$(srcdir)/$@.c -Wl,--no-as-needed $(filter %.so,$^) \
		-Wl,--enable-new-dtags,-rpath,'$$ORIGIN/../../link/programs:$$ORIGIN'
$(tap_host_slow_programs): tests/host/programs/%: tests/host/programs/%.c \
		tests/host/programs/moment.h tests/host/programs/slow.so
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) -pthread -o $@ \
		$(srcdir)/$@.c -Ltests/host/programs -l:slow.so \
		-Wl,--enable-new-dtags,-rpath,'$$ORIGIN'
tests/host/programs/slow.so: tests/host/programs/slow.c
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(tap_link_shared) -o $@ \
		$(srcdir)/tests/host/programs/slow.c
tests/host/programs/ends: tests/host/programs/early.so
tests/host/programs/forks: tests/host/programs/careless.so
tests/host/programs/early.so: tests/host/programs/moment.h tests/link/programs/copy2.so
$(tap_host_libraries): tests/host/programs/%.so: tests/host/programs/%.c
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(tap_link_shared) -o $@ $(srcdir)/$(@:.so=.c) \
		$(filter %.so,$^) \
		-Wl,--enable-new-dtags,-rpath,'$$ORIGIN/../../link/programs'
tests/host/programs/many: tests/host/programs/many.c $(doubles_so) $(doubles_h)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) $(doubles_cc) \
		-pthread \
		-o $@ $(srcdir)/tests/host/programs/many.c $(doubles_ld) \
		-Wl,-rpath,'$$ORIGIN/../../doubles/nccl:$$ORIGIN/../../doubles/cuda'
