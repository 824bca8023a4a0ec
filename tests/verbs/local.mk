# SPDX-License-Identifier: MIT
# What is posted to libibverbs: stock programs on softverbs.

tests/verbs/count.so: tests/verbs/count.c tests/verbs/count.map
	$(AM_V_CCLD)$(MKDIR_P) tests/verbs && $(CC) $(AM_CFLAGS) $(CFLAGS) -fPIC -shared \
		-Wl,--version-script=$(srcdir)/tests/verbs/count.map -o $@ $(srcdir)/tests/verbs/count.c
tests/verbs/keeps.so: tests/verbs/keeps.c tests/verbs/strange.c tests/verbs/count.map
	$(AM_V_CCLD)$(MKDIR_P) tests/verbs && $(CC) $(AM_CFLAGS) $(CFLAGS) -fPIC -shared \
		-Wl,--version-script=$(srcdir)/tests/verbs/count.map -o $@ $(srcdir)/tests/verbs/keeps.c
tests/verbs/strange.so: tests/verbs/strange.c tests/verbs/count.map
	$(AM_V_CCLD)$(MKDIR_P) tests/verbs && $(CC) $(AM_CFLAGS) $(CFLAGS) -fPIC -shared \
		-Wl,--version-script=$(srcdir)/tests/verbs/count.map -o $@ $(srcdir)/tests/verbs/strange.c
# Bound to softverbs where that is, to the real one else: it uses what both have.
tests/verbs/harm: tests/verbs/harm.c
	$(AM_V_CCLD)$(MKDIR_P) tests/verbs && $(CC) $(AM_CFLAGS) $(CFLAGS) -pthread -o $@ \
		$(srcdir)/tests/verbs/harm.c -libverbs
tests/verbs/extended: tests/verbs/extended.c
	$(AM_V_CCLD)$(MKDIR_P) tests/verbs && $(CC) $(AM_CFLAGS) $(CFLAGS) -pthread -o $@ \
		$(srcdir)/tests/verbs/extended.c -libverbs
check_DATA += tests/verbs/count.so tests/verbs/keeps.so tests/verbs/strange.so tests/verbs/extended tests/verbs/harm
CLEANFILES += tests/verbs/count.so tests/verbs/keeps.so tests/verbs/strange.so tests/verbs/extended tests/verbs/harm

# One file each, and what they share.
verbs_pairs = tests/verbs/programs/hugectr tests/verbs/programs/mscclpp \
	tests/verbs/programs/omnireduce tests/verbs/programs/uccl tests/verbs/programs/windows
$(verbs_pairs): %: %.c tests/verbs/programs/pair.c tests/verbs/programs/pair.h
	$(AM_V_CCLD)$(MKDIR_P) tests/verbs/programs && $(CC) $(AM_CFLAGS) $(CFLAGS) -D_GNU_SOURCE \
		-pthread -o $@ $(srcdir)/$@.c $(srcdir)/tests/verbs/programs/pair.c -libverbs
check_DATA += $(verbs_pairs)
CLEANFILES += $(verbs_pairs)

VERBS_TESTS = tests/verbs/test_messages.sh tests/verbs/test_extended.sh tests/verbs/test_filter.sh tests/verbs/test_harm.sh tests/verbs/test_lists.sh tests/verbs/test_pingpong.sh \
	tests/verbs/test_faults.sh tests/verbs/test_late.sh tests/verbs/test_programs.sh
EXTRA_DIST += $(VERBS_TESTS) tests/verbs/verbs.inc.sh tests/verbs/keeps.c tests/verbs/strange.c tests/verbs/count.c tests/verbs/count.map tests/verbs/extended.c tests/verbs/harm.c \
	tests/verbs/messages.py tests/verbs/trace.py tests/verbs/programs.inc.sh tests/verbs/programs/log.py \
	tests/verbs/programs/report.py \
	tests/verbs/programs/pair.c tests/verbs/programs/pair.h $(verbs_pairs:%=%.c)
TESTS += $(VERBS_TESTS)
