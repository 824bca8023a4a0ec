# SPDX-License-Identifier: MIT
# A real RDMA stack, in a virtual machine: make check-rdma, which takes minutes.

RDMA_TESTS = tests/rdma/test_programs.sh tests/rdma/test_nccl.sh
EXTRA_DIST += $(RDMA_TESTS) tests/rdma/guest tests/rdma/outcome.py tests/rdma/programs \
	tests/rdma/rxe-vm
CLEANFILES += tests/rdma/programs.md tests/rdma/nccl.md $(RDMA_TESTS:.sh=.log) $(RDMA_TESTS:.sh=.trs)

.PHONY: check-rdma doc-rdma
check-rdma:
	$(AM_V_at)$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(RDMA_TESTS)'

# The tables that were measured last, into the page about them.
doc-rdma:
	$(AM_V_at)sed '/^<!-- programs -->/q' $(srcdir)/doc/real-rdma.md >tests/rdma/page
	$(AM_V_at)cat tests/rdma/programs.md tests/rdma/nccl.md >>tests/rdma/page
	$(AM_V_at)mv tests/rdma/page $(srcdir)/doc/real-rdma.md
