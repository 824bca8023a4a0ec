# SPDX-License-Identifier: MIT
# On a GPU: make check-gpu, from a tarball that can be taken to another machine.

gpu_programs = tests/gpu/collectives tests/gpu/graphs tests/gpu/launches tests/gpu/cost
gpu_h = tests/gpu/gpu.h tests/gpu/ranks.h tests/gpu/bare_cupti.h $(doubles_h)
gpu_c = tests/gpu/collectives.c tests/gpu/graphs.c tests/gpu/launches.c tests/gpu/cost.c \
	tests/gpu/gpu.c tests/gpu/ranks.c tests/gpu/kernels.c tests/gpu/bare_cupti.c
gpu_py = tests/gpu/judge.py tests/gpu/machine.py tests/gpu/oracle.py tests/gpu/overhead.py \
	tests/gpu/recording.py tests/gpu/results.py tests/gpu/run.py tests/gpu/spoilt.py \
	tests/gpu/torch_allreduce.py
TESTS += tests/gpu/test_check_gpu.sh
gpu_so = tests/gpu/count_launches.so tests/gpu/oracle.so
check_DATA += $(gpu_programs) $(gpu_so)
CLEANFILES += $(gpu_programs) $(gpu_so)
EXTRA_DIST += $(gpu_c) $(gpu_py) tests/gpu/gpu.h tests/gpu/ranks.h \
	tests/gpu/bare_cupti.h $(gpu_so:.so=.c) tests/gpu/check-gpu \
	tests/gpu/README tests/gpu/test_check_gpu.sh scripts/make-gpu-tarball \
	tests/doubles/torch/torch/__init__.py

# Nothing of CUDA's or NCCL's is linked: they open what they find.
$(gpu_programs): $(gpu_c) $(gpu_h)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) $(doubles_cc) -o $@ \
		$(srcdir)/$@.c $(srcdir)/tests/gpu/gpu.c $(gpu_more)
tests/gpu/collectives tests/gpu/graphs: gpu_more = $(srcdir)/tests/gpu/ranks.c
tests/gpu/launches: gpu_more = $(srcdir)/tests/gpu/kernels.c
tests/gpu/cost: gpu_more = $(srcdir)/tests/gpu/ranks.c $(srcdir)/tests/gpu/kernels.c \
	$(srcdir)/tests/gpu/bare_cupti.c
$(gpu_so): tests/gpu/%.so: tests/gpu/%.c
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) -O2 -D_GNU_SOURCE \
		-fPIC \
		-shared -o $@ $(srcdir)/tests/gpu/$*.c

GPU_TARBALL = ccltap-$(VERSION)-gpu

.PHONY: gpu-tarball check-gpu doc-gpu
gpu-tarball: portable $(gpu_programs) $(gpu_so) tests/rdma/nib_count.so
	$(AM_V_GEN)$(top_srcdir)/scripts/make-gpu-tarball . $(PORTABLE) $(GPU_TARBALL)

# The same here as there: the tarball, unpacked somewhere else.
check-gpu: gpu-tarball
	$(AM_V_at)folder=`mktemp -d` && trap 'rm -rf "$$folder"' EXIT && \
		tar -C "$$folder" -xf $(GPU_TARBALL).tar.xz && \
		"$$folder/$(GPU_TARBALL)/check-gpu" --results tests/gpu/results \
		$(CHECK_GPU_FLAGS)

# What check-gpu found last, here or in the folder GPU_RESULTS, into the page about it.
GPU_RESULTS = tests/gpu/results
doc-gpu:
	$(AM_V_at)if grep -q '"double": true' $(GPU_RESULTS)/results.json; then \
		echo "doc-gpu: these are results of doubles" >&2; exit 1; fi
	$(AM_V_at)sed '/^<!-- results -->/q' $(srcdir)/doc/gpu-results.md >tests/gpu/page
	$(AM_V_at)cat $(GPU_RESULTS)/results.md >>tests/gpu/page
	$(AM_V_at)mv tests/gpu/page $(srcdir)/doc/gpu-results.md

clean-local: clean-gpu
.PHONY: clean-gpu
clean-gpu:
	rm -rf $(GPU_TARBALL) tests/gpu/results
CLEANFILES += $(GPU_TARBALL).tar.xz
