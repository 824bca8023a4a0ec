# SPDX-License-Identifier: MIT
# A real RDMA stack, in virtual machines: make check-rdma, which takes minutes.

RDMA_TESTS = tests/rdma/test_two_hosts.sh tests/rdma/test_one_host.sh \
	tests/rdma/test_nccl.sh
EXTRA_DIST += $(RDMA_TESTS) tests/rdma/guest tests/rdma/outcome.py tests/rdma/page \
	tests/rdma/programs tests/rdma/programs.inc.sh tests/rdma/rxe-vm
CLEANFILES += tests/rdma/programs-one.md tests/rdma/programs-two.md tests/rdma/nccl.md \
	$(RDMA_TESTS:.sh=.log) $(RDMA_TESTS:.sh=.trs)

# One machine at a time: two processors that are emulated by threads wait for each other
# where the host has not as many for them, so that two machines take longer than one after
# the other.
.PHONY: check-rdma doc-rdma
check-rdma:
	$(AM_V_at)$(MAKE) $(AM_MAKEFLAGS) -j1 check TESTS='$(RDMA_TESTS)'

# The tables that were measured last, into the page about them.
doc-rdma:
	$(AM_V_at)$(srcdir)/tests/rdma/page . >real-rdma.md
	$(AM_V_at)mv real-rdma.md $(srcdir)/doc/real-rdma.md
