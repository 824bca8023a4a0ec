# SPDX-License-Identifier: MIT
# The bundled program: built with the doubles, which it finds in the build tree.
# With a real NCCL: cc allreduce.c -lnccl -lcuda.

noinst_DATA += examples/allreduce
CLEANFILES += examples/allreduce
EXTRA_DIST += examples/allreduce.c examples/late_rank.py

examples/allreduce: examples/allreduce.c $(doubles_so) $(doubles_h)
	$(AM_V_CCLD)$(MKDIR_P) examples && $(CC) $(AM_CFLAGS) $(CFLAGS) $(doubles_cc) \
		-o $@ $(srcdir)/examples/allreduce.c $(doubles_ld) \
		-Wl,-rpath,'$$ORIGIN/../tests/doubles/nccl:$$ORIGIN/../tests/doubles/cuda'
