# SPDX-License-Identifier: MIT
# What the doubles do is what the real libraries do, and the programs that this is seen by.

doubles_tests = tests/doubles_tests/test_cuda tests/doubles_tests/test_cuda_log \
	tests/doubles_tests/test_launches tests/doubles_tests/test_nccl \
	tests/doubles_tests/test_groups tests/doubles_tests/test_comms \
	tests/doubles_tests/test_death tests/doubles_tests/test_service \
	tests/doubles_tests/test_sharing tests/doubles_tests/test_dead \
	tests/doubles_tests/test_lost tests/doubles_tests/test_posters \
	tests/doubles_tests/test_profiled tests/doubles_tests/test_regions \
	tests/doubles_tests/test_virtual tests/doubles_tests/test_windows
doubles_scripts = tests/doubles_tests/test_allreduce.sh tests/doubles_tests/test_chunks.sh \
	tests/doubles_tests/test_forms.sh \
	tests/doubles_tests/test_headers.sh tests/doubles_tests/test_cuda_programs.sh \
	tests/doubles_tests/test_cupti_real.sh tests/doubles_tests/test_interface.sh \
	tests/doubles_tests/test_knobs.sh tests/doubles_tests/test_matrix.sh tests/doubles_tests/test_nccl_verbs.sh \
	tests/doubles_tests/test_netib.sh tests/doubles_tests/test_networks.sh \
	tests/doubles_tests/test_profiler.sh \
	tests/doubles_tests/test_pxn.sh tests/doubles_tests/test_races.sh \
	tests/doubles_tests/test_ras.sh tests/doubles_tests/test_sanitized.sh \
	tests/doubles_tests/test_symmetric.sh tests/doubles_tests/test_verbs_programs.sh
doubles_tested = tests/doubles_tests/programs/arguments \
	tests/doubles_tests/programs/collectives \
	tests/doubles_tests/programs/configuration \
	tests/doubles_tests/programs/cupti_probe tests/doubles_tests/programs/forms \
	tests/doubles_tests/programs/messages
verbs_tests = tests/doubles_tests/test_verbs tests/doubles_tests/test_verbs_errors \
	tests/doubles_tests/test_verbs_extended tests/doubles_tests/test_verbs_processes \
	tests/doubles_tests/test_verbs_faults tests/doubles_tests/test_verbs_ports \
	tests/doubles_tests/test_verbs_ring

cupti_tests = tests/doubles_tests/test_cupti-11.8 tests/doubles_tests/test_cupti-12 \
	tests/doubles_tests/test_cupti-13

arithmetic_test = tests/doubles_tests/test_arithmetic

check_DATA += $(arithmetic_test) $(doubles_tests) $(doubles_tested) $(verbs_tests) $(cupti_tests)
CLEANFILES += $(arithmetic_test) $(doubles_tests) $(doubles_tested) $(verbs_tests) $(cupti_tests)
TESTS += $(arithmetic_test) $(doubles_tests) $(doubles_scripts) $(verbs_tests) $(cupti_tests)
EXTRA_DIST += $(doubles_scripts) tests/doubles_tests/programs/values.c \
	tests/doubles_tests/test_arithmetic.c \
	tests/doubles_tests/test_cuda.c tests/doubles_tests/test_cuda_log.c \
	tests/doubles_tests/test_launches.c tests/doubles_tests/test_nccl.c \
	tests/doubles_tests/test_groups.c tests/doubles_tests/test_comms.c \
	tests/doubles_tests/test_death.c tests/doubles_tests/test_service.c \
	tests/doubles_tests/test_sharing.c tests/doubles_tests/test_dead.c \
	tests/doubles_tests/test_posters.c tests/doubles_tests/test_profiled.c \
	tests/doubles_tests/test_lost.c tests/doubles_tests/test_regions.c \
	tests/doubles_tests/test_virtual.c tests/doubles_tests/test_windows.c \
	tests/doubles_tests/expect/windows.py \
	tests/doubles_tests/ranks.h tests/doubles_tests/programs/arguments.c \
	tests/doubles_tests/programs/forms.c tests/doubles_tests/programs/met_launch.h \
	tests/doubles_tests/programs/collectives.c \
	tests/doubles_tests/programs/messages.c \
	tests/doubles_tests/programs/cupti_layouts.c \
	tests/doubles_tests/programs/cupti_probe.c tests/doubles_tests/test_cupti.c \
	tests/doubles_tests/expect/truth.py \
	tests/doubles_tests/expect/facts.py tests/doubles_tests/expect/posted.py \
	tests/doubles_tests/expect/profiled.py \
	tests/doubles_tests/expect/ras.py \
	tests/doubles_tests/matrix.py \
	tests/doubles_tests/verbs_pair.h \
	tests/doubles_tests/test_verbs.c tests/doubles_tests/test_verbs_errors.c \
	tests/doubles_tests/test_verbs_extended.c \
	tests/doubles_tests/test_verbs_faults.c tests/doubles_tests/test_verbs_ports.c \
	tests/doubles_tests/test_verbs_processes.c \
	tests/doubles_tests/test_verbs_ring.c

# Exported, so that the library's pthread_create() is the test's.
$(doubles_tests): \
		$(doubles_so) $(doubles_h) tests/lib/tap.h
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) $(doubles_cc) \
		-rdynamic \
		-pthread -o $@ $(srcdir)/$@.c $(doubles_ld) \
		-Wl,-rpath,'$$ORIGIN/../doubles/nccl:$$ORIGIN/../doubles/cuda'
tests/doubles_tests/test_cuda: tests/doubles_tests/test_cuda.c
tests/doubles_tests/test_cuda_log: tests/doubles_tests/test_cuda_log.c
tests/doubles_tests/test_launches: tests/doubles_tests/test_launches.c \
		tests/doubles_tests/programs/met_launch.h
tests/doubles_tests/test_nccl: tests/doubles_tests/test_nccl.c
tests/doubles_tests/test_groups: tests/doubles_tests/test_groups.c
tests/doubles_tests/test_comms: tests/doubles_tests/test_comms.c \
		tests/doubles_tests/ranks.h
tests/doubles_tests/test_death: tests/doubles_tests/test_death.c
tests/doubles_tests/test_service: tests/doubles_tests/test_service.c
tests/doubles_tests/test_dead: tests/doubles_tests/test_dead.c \
		tests/doubles_tests/ranks.h
tests/doubles_tests/test_posters: tests/doubles_tests/test_posters.c \
		tests/doubles_tests/ranks.h
tests/doubles_tests/test_profiled: tests/doubles_tests/test_profiled.c \
		tests/doubles_tests/programs/profiler_event.h tests/doubles_tests/ranks.h
tests/doubles_tests/test_lost: tests/doubles_tests/test_lost.c \
		tests/doubles_tests/ranks.h $(soft_verbs_so)
tests/doubles_tests/test_regions: tests/doubles_tests/test_regions.c \
		tests/doubles_tests/ranks.h $(soft_verbs_so)
tests/doubles_tests/test_virtual: tests/doubles_tests/test_virtual.c
tests/doubles_tests/test_windows: tests/doubles_tests/test_windows.c \
		tests/doubles_tests/ranks.h
tests/doubles_tests/test_sharing: tests/doubles_tests/test_sharing.c \
		tests/doubles_tests/ranks.h

check_DATA += tests/doubles_tests/test_rccl
CLEANFILES += tests/doubles_tests/test_rccl
TESTS += tests/doubles_tests/test_rccl
EXTRA_DIST += tests/doubles_tests/test_rccl.c
tests/doubles_tests/test_rccl: tests/doubles_tests/test_rccl.c tests/lib/tap.h $(rocm_so)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) $(doubles_cc) \
		-o $@ $(srcdir)/$@.c -Ltests/doubles/rocm -lamdhip64 -l:librccl.so.1 \
		-Wl,--enable-new-dtags,-rpath,'$$ORIGIN/../doubles/rocm'

check_DATA += tests/doubles_tests/programs/nvtx_log.so
CLEANFILES += tests/doubles_tests/programs/nvtx_log.so
EXTRA_DIST += tests/doubles_tests/programs/nvtx_log.c
tests/doubles_tests/programs/nvtx_log.so: tests/doubles_tests/programs/nvtx_log.c
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) -D_GNU_SOURCE -fPIC \
		-fvisibility=hidden -shared -o $@ \
		$(srcdir)/tests/doubles_tests/programs/nvtx_log.c

profiler_logs = tests/doubles_tests/programs/profiler_log-4.so \
	tests/doubles_tests/programs/profiler_log-5.so
check_DATA += $(profiler_logs)
CLEANFILES += $(profiler_logs)
EXTRA_DIST += tests/doubles_tests/programs/profiler_event.h \
	tests/doubles_tests/programs/profiler_log.c
$(profiler_logs): tests/doubles_tests/programs/profiler_log.c \
		tests/doubles_tests/programs/profiler_event.h
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) -D_GNU_SOURCE -fPIC \
		-fvisibility=hidden -shared \
		-DPROFILER_VERSION=`echo $@ | sed 's/.*-//; s/[.]so//'` -o $@ \
		$(srcdir)/tests/doubles_tests/programs/profiler_log.c

# Programs that launch, in all the ways in which programs reach the driver.
cuda_programs = tests/doubles_tests/programs/driver tests/doubles_tests/programs/handle \
	tests/doubles_tests/programs/runtime-static \
	tests/doubles_tests/programs/runtime-static-11 \
	tests/doubles_tests/programs/runtime-static-12 \
	tests/doubles_tests/programs/runtime-12 tests/doubles_tests/programs/runtime-13 \
	tests/doubles_tests/programs/runtime-twin tests/doubles_tests/programs/two
cuda_program_so = tests/doubles_tests/programs/static.so \
	tests/doubles_tests/programs/shared12.so
check_DATA += $(cuda_programs) $(cuda_program_so)
CLEANFILES += $(cuda_programs) $(cuda_program_so)
EXTRA_DIST += tests/doubles_tests/programs/program.h \
	tests/doubles_tests/programs/driver.c tests/doubles_tests/programs/handle.c \
	tests/doubles_tests/programs/runtime.c tests/doubles_tests/programs/two.c
cuda_program_cc = $(CC) $(AM_CFLAGS) $(CFLAGS) $(doubles_cc) -pthread
cuda_program_ld = \
	-Wl,--enable-new-dtags,-rpath,'$$ORIGIN/../../doubles/cudart:$$ORIGIN/../../doubles/cuda'
cuda_program = $(AM_V_CCLD)$(MKDIR_P) $(@D) && $(cuda_program_cc) -o $@
cuda_program_h = tests/doubles_tests/programs/program.h $(doubles_h)

tests/doubles_tests/programs/driver: tests/doubles_tests/programs/driver.c \
		$(cuda_program_h) \
		tests/doubles/cuda/libcuda.so.1
	$(cuda_program) $(srcdir)/tests/doubles_tests/programs/driver.c \
		-Ltests/doubles/cuda -lcuda $(cuda_program_ld)
tests/doubles_tests/programs/handle: tests/doubles_tests/programs/handle.c \
		$(cuda_program_h)
	$(cuda_program) $(srcdir)/tests/doubles_tests/programs/handle.c $(cuda_program_ld)
tests/doubles_tests/programs/two: tests/doubles_tests/programs/two.c $(cuda_program_h)
	$(cuda_program) $(srcdir)/tests/doubles_tests/programs/two.c $(cuda_program_ld)
runtime_program = $(cuda_program) $(srcdir)/tests/doubles_tests/programs/runtime.c
runtime_needs = tests/doubles_tests/programs/runtime.c $(cuda_program_h) \
	$(mini_cudart_so) $(mini_cudart_static)
tests/doubles_tests/programs/runtime-static: $(runtime_needs)
	$(runtime_program) tests/doubles/cudart/libcudart_static.a $(cuda_program_ld)
tests/doubles_tests/programs/runtime-static-11: $(runtime_needs)
	$(runtime_program) -DMINI_CUDART_VERSION=11080 \
		tests/doubles/cudart/libcudart_static-11.8.a $(cuda_program_ld)
tests/doubles_tests/programs/runtime-static-12: $(runtime_needs)
	$(runtime_program) -DMINI_CUDART_VERSION=12090 \
		tests/doubles/cudart/libcudart_static-12.9.a $(cuda_program_ld)
tests/doubles_tests/programs/runtime-12: $(runtime_needs)
	$(runtime_program) -DMINI_CUDART_VERSION=12040 \
		tests/doubles/cudart/libcudart.so.12 \
		$(cuda_program_ld)
tests/doubles_tests/programs/runtime-13: $(runtime_needs)
	$(runtime_program) tests/doubles/cudart/libcudart.so.13 $(cuda_program_ld)
tests/doubles_tests/programs/runtime-twin: $(runtime_needs)
	$(runtime_program) -DCUDA_API_PER_THREAD_DEFAULT_STREAM \
		tests/doubles/cudart/libcudart_static.a $(cuda_program_ld)
tests/doubles_tests/programs/static.so: $(runtime_needs)
	$(runtime_program) -DPROGRAM_LIBRARY -fPIC -fvisibility=hidden -shared \
		tests/doubles/cudart/libcudart_static.a $(cuda_program_ld)
tests/doubles_tests/programs/shared12.so: $(runtime_needs)
	$(runtime_program) -DPROGRAM_LIBRARY -DMINI_CUDART_VERSION=12040 -fPIC \
		-fvisibility=hidden -shared tests/doubles/cudart/libcudart.so.12 \
		$(cuda_program_ld)

check_DATA += tests/doubles_tests/programs/hip
CLEANFILES += tests/doubles_tests/programs/hip
EXTRA_DIST += tests/doubles_tests/programs/hip.c
tests/doubles_tests/programs/hip: tests/doubles_tests/programs/hip.c $(double_hip_so)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(cuda_program_cc) -o $@ \
		$(srcdir)/tests/doubles_tests/programs/hip.c -Ltests/doubles/hip \
		-lamdhip64 \
		-l:librccl.so.1 -Wl,--enable-new-dtags,-rpath,'$$ORIGIN/../../doubles/hip'

tests/doubles_tests/programs/arguments: tests/doubles_tests/programs/arguments.c \
		$(doubles_h)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) $(doubles_cc) \
		-o $@ $(srcdir)/tests/doubles_tests/programs/arguments.c

# The same of each release of CUPTI.
cupti_test = $(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) $(doubles_cc) \
	-pthread -o $@ $(srcdir)/tests/doubles_tests/test_cupti.c -Ltests/doubles/cuda \
	-lcuda \
	-Wl,--enable-new-dtags,-rpath,'$$ORIGIN/../doubles/cupti:$$ORIGIN/../doubles/cuda'
cupti_test_needs = tests/doubles_tests/test_cupti.c tests/lib/tap.h $(doubles_h) \
	$(doubles_so) $(double_cupti_so)
tests/doubles_tests/test_cupti-11.8: $(cupti_test_needs)
	$(cupti_test) -DDOUBLE_CUPTI_VERSION=11080 tests/doubles/cupti/libcupti.so.11.8
tests/doubles_tests/test_cupti-12: $(cupti_test_needs)
	$(cupti_test) -DDOUBLE_CUPTI_VERSION=12090 tests/doubles/cupti/libcupti.so.12
tests/doubles_tests/test_cupti-13: $(cupti_test_needs)
	$(cupti_test) -DDOUBLE_CUPTI_VERSION=13000 tests/doubles/cupti/libcupti.so.13
tests/doubles_tests/programs/cupti_probe: tests/doubles_tests/programs/cupti_probe.c \
		tests/doubles/cupti/driver.def \
		tests/doubles/cupti/runtime.def $(doubles_h)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) $(doubles_cc) \
		-o $@ $(srcdir)/$@.c

# Exported, so that NET/IB's dlvsym() is the program's.
netib_c = tests/doubles_tests/netib/netib.c tests/doubles_tests/netib/observe.c \
	tests/rdma/nib_say.c tests/rdma/nib_socket.c tests/rdma/nib_table.c
netib_h = tests/doubles_tests/netib/netib.h tests/rdma/nib.h
check_DATA += tests/doubles_tests/netib/netib
CLEANFILES += tests/doubles_tests/netib/netib
EXTRA_DIST += tests/doubles_tests/netib/netib.c tests/doubles_tests/netib/observe.c \
	tests/doubles_tests/netib/netib.h
tests/doubles_tests/netib/netib: $(netib_c) $(netib_h)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) -D_GNU_SOURCE \
		-rdynamic -o $@ `for f in $(netib_c); do echo $(srcdir)/$$f; done` -ldl

tests/doubles_tests/programs/forms: tests/doubles_tests/programs/forms.c \
		tests/doubles_tests/programs/met_launch.h
tests/doubles_tests/programs/messages: tests/doubles_tests/programs/messages.c
tests/doubles_tests/programs/collectives: tests/doubles_tests/programs/collectives.c
tests/doubles_tests/programs/collectives tests/doubles_tests/programs/forms \
		tests/doubles_tests/programs/messages: \
		$(doubles_so) $(doubles_h)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) $(doubles_cc) \
		-pthread -rdynamic \
		-o $@ $(srcdir)/$@.c $(doubles_ld) \
		-Wl,-rpath,'$$ORIGIN/../../doubles/nccl:$$ORIGIN/../../doubles/cuda'

configuration_c = tests/doubles_tests/programs/configuration.c \
	tests/doubles_tests/programs/elements.c tests/doubles_tests/programs/operations.c
EXTRA_DIST += $(configuration_c) tests/doubles_tests/programs/configured.h
tests/doubles_tests/programs/configuration: $(configuration_c) \
		tests/doubles_tests/programs/configured.h $(doubles_so) $(doubles_h)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) $(doubles_cc) \
		-pthread \
		-o $@ `for f in $(configuration_c); do echo $(srcdir)/$$f; done` \
		$(doubles_ld) -lm \
		-Wl,-rpath,'$$ORIGIN/../../doubles/nccl:$$ORIGIN/../../doubles/cuda'

$(verbs_tests): $(soft_verbs_so) tests/lib/tap.h tests/doubles_tests/verbs_pair.h
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) -D_GNU_SOURCE \
		-pthread -o $@ $(srcdir)/$@.c -Ltests/doubles/verbs -libverbs \
		-Wl,--enable-new-dtags,-rpath,'$$ORIGIN/../doubles/verbs'
tests/doubles_tests/test_verbs: tests/doubles_tests/test_verbs.c
tests/doubles_tests/test_verbs_errors: tests/doubles_tests/test_verbs_errors.c
tests/doubles_tests/test_verbs_extended: tests/doubles_tests/test_verbs_extended.c
tests/doubles_tests/test_verbs_processes: tests/doubles_tests/test_verbs_processes.c
tests/doubles_tests/test_verbs_faults: tests/doubles_tests/test_verbs_faults.c
tests/doubles_tests/test_verbs_ports: tests/doubles_tests/test_verbs_ports.c
tests/doubles_tests/test_verbs_ring: tests/doubles_tests/test_verbs_ring.c

# All of what make check runs a share of.
.PHONY: check-matrix
check-matrix:
	+MATRIX_ALL=1 MATRIX_RUNS=$${MATRIX_RUNS-1000} $(MAKE) check \
		TESTS="tests/doubles_tests/test_matrix.sh tests/doubles_tests/test_sanitized.sh"


$(arithmetic_test): tests/doubles_tests/test_arithmetic.c tests/lib/tap.h \
		tests/doubles/nccl/arithmetic.c \
		tests/doubles/nccl/arithmetic.h $(doubles_h)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CFLAGS) $(CFLAGS) $(doubles_cc) \
		-o $@ $(srcdir)/$@.c $(srcdir)/tests/doubles/nccl/arithmetic.c -lm

# With the thread sanitizer, or those that configure was asked for: the doubles that have
# threads of their own, and their tests.
races_so = tests/doubles_tests/races/libcuda.so.1 \
	tests/doubles_tests/races/libibverbs.so.1
races_cuda = tests/doubles_tests/races/test_cuda tests/doubles_tests/races/test_cuda_log
races_verbs = $(subst doubles_tests/,doubles_tests/races/,$(verbs_tests))
# Made by the test: a build with another sanitizer cannot make them.
.PHONY: races
races: $(races_so) $(races_cuda) $(races_verbs)
CLEANFILES += $(races_so) $(races_cuda) $(races_verbs)
races_program = $(AM_V_CCLD)$(CC) $(AM_CFLAGS) $(CFLAGS) $(TSAN_CFLAGS) -pthread \
	$(doubles_cc) -o $@ $(srcdir)/tests/doubles_tests/$(@F).c \
	-Ltests/doubles_tests/races -Wl,--enable-new-dtags,-rpath,'$$ORIGIN'

tests/doubles_tests/races/libcuda.so.1: $(double_cuda_all) $(doubles_h)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(doubles_link) $(TSAN_CFLAGS) \
		-D__CUDA_API_VERSION_INTERNAL -Wl,-Bsymbolic-functions \
		-Wl,--version-script=$(srcdir)/tests/doubles/cuda/libcuda.map -o $@ \
		`for f in $(double_cuda_c); do echo $(srcdir)/$$f; done`
tests/doubles_tests/races/libibverbs.so.1: $(soft_verbs_all)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(doubles_link) $(TSAN_CFLAGS) \
		-fvisibility=default -Wl,-z,nodelete \
		-Wl,--version-script=$(srcdir)/tests/doubles/verbs/libibverbs.map -o $@ \
		`for f in $(soft_verbs_c); do echo $(srcdir)/$$f; done`
$(races_cuda): tests/doubles_tests/races/%: tests/doubles_tests/%.c tests/lib/tap.h \
		tests/doubles_tests/races/libcuda.so.1
	$(races_program) -l:libcuda.so.1
$(races_verbs): tests/doubles_tests/races/%: tests/doubles_tests/%.c tests/lib/tap.h \
		tests/doubles_tests/verbs_pair.h tests/doubles_tests/races/libibverbs.so.1
	$(races_program) -l:libibverbs.so.1
