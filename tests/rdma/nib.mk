# SPDX-License-Identifier: MIT
# NCCL's own network code, without a GPU.

check_PROGRAMS += tests/rdma/nib
tests_rdma_nib_SOURCES = tests/rdma/nib.c tests/rdma/nib.h tests/rdma/nib_end.c \
	tests/rdma/nib_log.c tests/rdma/nib_meet.c tests/rdma/nib_plan.c \
	tests/rdma/nib_say.c tests/rdma/nib_socket.c tests/rdma/nib_table.c
tests_rdma_nib_LDADD = -ldl

check_PROGRAMS += tests/rdma/service
tests_rdma_service_SOURCES = tests/rdma/service.c tests/rdma/nib.h tests/rdma/nib_meet.c \
	tests/rdma/nib_say.c tests/rdma/nib_socket.c tests/rdma/nib_table.c
tests_rdma_service_LDADD = -ldl

tests/rdma/nib_count.so: tests/rdma/nib_count.c tests/rdma/nib_count.map \
		tests/verbs/programs/count.c
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) -fPIC -shared \
		-Wl,--version-script=$(srcdir)/tests/rdma/nib_count.map -o $@ \
		$(srcdir)/tests/rdma/nib_count.c $(srcdir)/tests/verbs/programs/count.c
check_DATA += tests/rdma/nib_count.so
CLEANFILES += tests/rdma/nib_count.so

NIB_TESTS = tests/rdma/test_nib.sh tests/rdma/test_service.sh tests/rdma/test_socket.sh
EXTRA_DIST += $(NIB_TESTS) tests/rdma/socket_score.py tests/rdma/connections.py tests/rdma/nib_count.c tests/rdma/nib_count.map \
	tests/rdma/nib-settings tests/rdma/nib_log.py tests/rdma/score.py
TESTS += $(NIB_TESTS)
