# SPDX-License-Identifier: MIT
# Every way in which a library is reached, with small libraries of our own.

tap_link_libraries = tests/link/copy1.so tests/link/copy2.so tests/link/copy3.so \
	tests/link/copy4.so tests/link/copy5.so \
	tests/link/user.so tests/link/user3.so \
	tests/link/user-nccl.so tests/link/stub.so tests/link/top.so tests/link/next.so tests/link/filler.so
tap_link_programs = tests/link/ways tests/link/linked
check_DATA += $(tap_link_libraries) $(tap_link_programs)
CLEANFILES += $(tap_link_libraries) $(tap_link_programs)
EXTRA_DIST += tests/link/copy.c tests/link/user.c tests/link/top.c tests/link/next.c tests/link/stub.c tests/link/ways.c \
	tests/link/linked.c tests/link/test_ways.sh tests/link/without.py
TESTS += tests/link/test_ways.sh

# Plain files with plain names, found through $ORIGIN: libtool would put a
# script in the place of each.
tap_link_shared = $(CC) $(AM_CFLAGS) $(CFLAGS) -fPIC -shared -Wl,-soname,$(@F)

tests/link/copy1.so tests/link/copy2.so tests/link/copy3.so tests/link/copy4.so \
		tests/link/copy5.so tests/link/filler.so: \
		tests/link/copy.c
	$(AM_V_CCLD)$(MKDIR_P) tests/link && $(tap_link_shared) \
		-DCOPY=`echo $(@F) | sed 's/copy\(.\).so/\1/; s/filler.so/9/'` \
		-o $@ $(srcdir)/tests/link/copy.c
tests/link/user.so: tests/link/user.c tests/link/copy1.so
	$(AM_V_CCLD)$(tap_link_shared) -o $@ $(srcdir)/tests/link/user.c \
		-Ltests/link -l:copy1.so -Wl,--enable-new-dtags,-rpath,'$$ORIGIN'
tests/link/user3.so: tests/link/user.c tests/link/copy3.so
	$(AM_V_CCLD)$(tap_link_shared) -o $@ $(srcdir)/tests/link/user.c \
		-Ltests/link -l:copy3.so -Wl,--enable-new-dtags,-rpath,'$$ORIGIN'
tests/link/user-nccl.so: tests/link/user.c $(doubles_so)
	$(AM_V_CCLD)$(tap_link_shared) -o $@ $(srcdir)/tests/link/user.c $(doubles_ld) \
		-Wl,-rpath,'$$ORIGIN/../doubles/nccl:$$ORIGIN/../doubles/cuda'
tests/link/top.so: tests/link/top.c tests/link/user.so
	$(AM_V_CCLD)$(tap_link_shared) -o $@ $(srcdir)/tests/link/top.c \
		-Ltests/link -l:user.so -Wl,--enable-new-dtags,-rpath,'$$ORIGIN'
tests/link/stub.so: tests/link/stub.c
	$(AM_V_CCLD)$(MKDIR_P) tests/link && $(tap_link_shared) -o $@ $(srcdir)/tests/link/stub.c \
		-ldl -Wl,--enable-new-dtags,-rpath,'$$ORIGIN'
tests/link/next.so: tests/link/next.c
	$(AM_V_CCLD)$(MKDIR_P) tests/link && $(tap_link_shared) -o $@ $(srcdir)/tests/link/next.c
tests/link/ways: tests/link/ways.c
	$(AM_V_CCLD)$(MKDIR_P) tests/link && $(CC) $(AM_CFLAGS) $(CFLAGS) \
		-o $@ $(srcdir)/tests/link/ways.c -pthread
tests/link/linked: tests/link/linked.c tests/link/copy2.so
	$(AM_V_CCLD)$(CC) $(AM_CFLAGS) $(CFLAGS) -o $@ $(srcdir)/tests/link/linked.c \
		-Ltests/link -l:copy2.so -Wl,--enable-new-dtags,-rpath,'$$ORIGIN'
