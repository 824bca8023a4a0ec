# SPDX-License-Identifier: MIT
# Every way in which a library is reached, with small libraries of our own.

tap_link_libraries = tests/link/programs/copy1.so tests/link/programs/copy2.so \
	tests/link/programs/copy3.so tests/link/programs/copy4.so \
	tests/link/programs/copy5.so tests/link/programs/user.so \
	tests/link/programs/user3.so tests/link/programs/user-nccl.so \
	tests/link/programs/stub.so tests/link/programs/top.so \
	tests/link/programs/next.so tests/link/programs/filler.so
tap_link_programs = tests/link/programs/ways tests/link/programs/linked
check_DATA += $(tap_link_libraries) $(tap_link_programs)
CLEANFILES += $(tap_link_libraries) $(tap_link_programs)
EXTRA_DIST += tests/link/programs/copy.c tests/link/programs/user.c \
	tests/link/programs/top.c tests/link/programs/next.c tests/link/programs/stub.c \
	tests/link/programs/ways.c tests/link/programs/linked.c tests/link/test_ways.sh
TESTS += tests/link/test_ways.sh

# Plain files with plain names, found through $ORIGIN: libtool would put a
# script in the place of each.
tap_link_shared = $(CC) $(AM_CFLAGS) $(CFLAGS) -fPIC -shared -Wl,-soname,$(@F)

tests/link/programs/copy1.so tests/link/programs/copy2.so tests/link/programs/copy3.so \
	tests/link/programs/copy4.so \
		tests/link/programs/copy5.so tests/link/programs/filler.so: \
		tests/link/programs/copy.c
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(tap_link_shared) \
		-DCOPY=`echo $(@F) | sed 's/copy\(.\).so/\1/; s/filler.so/9/'` \
		-o $@ $(srcdir)/tests/link/programs/copy.c
tests/link/programs/user.so: tests/link/programs/user.c tests/link/programs/copy1.so
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(tap_link_shared) -o $@ \
		$(srcdir)/tests/link/programs/user.c \
		-Ltests/link/programs -l:copy1.so -Wl,--enable-new-dtags,-rpath,'$$ORIGIN'
tests/link/programs/user3.so: tests/link/programs/user.c tests/link/programs/copy3.so
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(tap_link_shared) -o $@ \
		$(srcdir)/tests/link/programs/user.c \
		-Ltests/link/programs -l:copy3.so -Wl,--enable-new-dtags,-rpath,'$$ORIGIN'
tests/link/programs/user-nccl.so: tests/link/programs/user.c $(doubles_so)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(tap_link_shared) -o $@ \
		$(srcdir)/tests/link/programs/user.c $(doubles_ld) \
		-Wl,-rpath,'$$ORIGIN/../../doubles/nccl:$$ORIGIN/../../doubles/cuda'
tests/link/programs/top.so: tests/link/programs/top.c tests/link/programs/user.so
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(tap_link_shared) -o $@ \
		$(srcdir)/tests/link/programs/top.c \
		-Ltests/link/programs -l:user.so -Wl,--enable-new-dtags,-rpath,'$$ORIGIN'
tests/link/programs/stub.so: tests/link/programs/stub.c
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(tap_link_shared) -o $@ \
		$(srcdir)/tests/link/programs/stub.c \
		-ldl -Wl,--enable-new-dtags,-rpath,'$$ORIGIN'
tests/link/programs/next.so: tests/link/programs/next.c
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(tap_link_shared) -o $@ \
		$(srcdir)/tests/link/programs/next.c
tests/link/programs/ways: tests/link/programs/ways.c
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) \
		-o $@ $(srcdir)/tests/link/programs/ways.c -pthread
tests/link/programs/linked: tests/link/programs/linked.c tests/link/programs/copy2.so
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) -o $@ \
		$(srcdir)/tests/link/programs/linked.c \
		-Ltests/link/programs -l:copy2.so -Wl,--enable-new-dtags,-rpath,'$$ORIGIN'
