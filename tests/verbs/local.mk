# SPDX-License-Identifier: MIT
# What is posted to libibverbs: stock programs on softverbs.

tests/verbs/programs/count.so: tests/verbs/programs/count.c tests/verbs/programs/count.map
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) -fPIC -shared \
		-Wl,--version-script=$(srcdir)/tests/verbs/programs/count.map -o $@ \
		$(srcdir)/tests/verbs/programs/count.c
tests/verbs/programs/keeps.so: tests/verbs/programs/keeps.c \
		tests/verbs/programs/strange.c tests/verbs/programs/count.map
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) -fPIC -shared \
		-Wl,--version-script=$(srcdir)/tests/verbs/programs/count.map -o $@ \
		$(srcdir)/tests/verbs/programs/keeps.c
tests/verbs/programs/strange.so: tests/verbs/programs/strange.c \
		tests/verbs/programs/count.map
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) -fPIC -shared \
		-Wl,--version-script=$(srcdir)/tests/verbs/programs/count.map -o $@ \
		$(srcdir)/tests/verbs/programs/strange.c
# Bound to softverbs where that is, to the real one else: it uses what both have.
tests/verbs/programs/harm: tests/verbs/programs/harm.c
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) -pthread -o $@ \
		$(srcdir)/tests/verbs/programs/harm.c -libverbs
tests/verbs/programs/extended: tests/verbs/programs/extended.c
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) -pthread -o $@ \
		$(srcdir)/tests/verbs/programs/extended.c -libverbs
tests/verbs/programs/metered: tests/verbs/programs/metered.c
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) -pthread -o $@ \
		$(srcdir)/tests/verbs/programs/metered.c -libverbs
check_DATA += tests/verbs/programs/count.so tests/verbs/programs/keeps.so \
	tests/verbs/programs/strange.so tests/verbs/programs/extended \
	tests/verbs/programs/metered \
	tests/verbs/programs/harm
CLEANFILES += tests/verbs/programs/count.so tests/verbs/programs/keeps.so \
	tests/verbs/programs/strange.so tests/verbs/programs/extended \
	tests/verbs/programs/metered \
	tests/verbs/programs/harm

# One file each, and what they share.
verbs_pairs = tests/verbs/programs/hugectr tests/verbs/programs/mscclpp \
	tests/verbs/programs/omnireduce tests/verbs/programs/uccl \
	tests/verbs/programs/windows
$(verbs_pairs): %: %.c tests/verbs/programs/pair.c tests/verbs/programs/pair.h
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) -D_GNU_SOURCE \
		-pthread -o $@ $(srcdir)/$@.c $(srcdir)/tests/verbs/programs/pair.c \
		-libverbs
check_DATA += $(verbs_pairs)
CLEANFILES += $(verbs_pairs)

VERBS_TESTS = tests/verbs/test_messages.sh tests/verbs/test_extended.sh \
	tests/verbs/test_filter.sh tests/verbs/test_harm.sh tests/verbs/test_lists.sh \
	tests/verbs/test_pingpong.sh tests/verbs/test_faults.sh tests/verbs/test_late.sh \
	tests/verbs/test_programs.sh tests/verbs/test_metered.sh
EXTRA_DIST += $(VERBS_TESTS) tests/verbs/verbs.inc.sh tests/verbs/programs/keeps.c \
	tests/verbs/programs/strange.c tests/verbs/programs/count.c \
	tests/verbs/programs/count.map tests/verbs/programs/extended.c \
	tests/verbs/programs/harm.c tests/verbs/programs/metered.c \
	tests/verbs/expect/messages.py tests/verbs/expect/metered.py \
	tests/verbs/expect/trace.py tests/verbs/programs.inc.sh \
	tests/verbs/expect/log.py tests/verbs/expect/report.py \
	tests/verbs/programs/pair.c tests/verbs/programs/pair.h $(verbs_pairs:%=%.c)
TESTS += $(VERBS_TESTS)
