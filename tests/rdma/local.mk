# SPDX-License-Identifier: MIT
# A real RDMA stack, in virtual machines: make check-rdma, which takes minutes.

RDMA_TESTS = tests/rdma/test_two_hosts.sh tests/rdma/test_one_host.sh tests/rdma/test_nccl.sh
EXTRA_DIST += $(RDMA_TESTS) tests/rdma/guest tests/rdma/outcome.py tests/rdma/page \
	tests/rdma/programs tests/rdma/programs.inc.sh tests/rdma/rxe-vm
CLEANFILES += tests/rdma/programs-one.md tests/rdma/programs-two.md tests/rdma/nccl.md \
	$(RDMA_TESTS:.sh=.log) $(RDMA_TESTS:.sh=.trs)

# Two machines at a time: each is idle for a good part.
.PHONY: check-rdma doc-rdma
check-rdma:
	$(AM_V_at)$(MAKE) $(AM_MAKEFLAGS) -j2 check TESTS='$(RDMA_TESTS)'

# The tables that were measured last, into the page about them.
doc-rdma:
	$(AM_V_at)$(srcdir)/tests/rdma/page . >real-rdma.md
	$(AM_V_at)mv real-rdma.md $(srcdir)/doc/real-rdma.md
