# SPDX-License-Identifier: MIT
# Stand-ins for the CUDA driver, NCCL and libibverbs.  They share nothing with src: what a
# tracer is tested against must not agree with it by construction.

doubles_so = tests/doubles/cuda/libcuda.so.1 tests/doubles/nccl/libnccl.so.2
doubles_cc = -D_GNU_SOURCE -I$(srcdir)/tests/doubles/include
# Programs are linked as with the real ones and find these through DT_RUNPATH.
doubles_ld = -Ltests/doubles/nccl -Ltests/doubles/cuda -lnccl -lcuda \
	-Wl,--enable-new-dtags

doubles_h = tests/doubles/include/cuda.h tests/doubles/include/cuda_runtime_api.h \
	tests/doubles/include/cupti.h tests/doubles/include/double_image.h \
	tests/doubles/include/double_observer.h tests/doubles/include/nccl.h

double_cuda_c = tests/doubles/cuda/context.c tests/doubles/cuda/error.c \
	tests/doubles/cuda/graph.c tests/doubles/cuda/launch.c tests/doubles/cuda/log.c \
	tests/doubles/cuda/memop.c tests/doubles/cuda/memory.c \
	tests/doubles/cuda/module.c tests/doubles/cuda/observe.c \
	tests/doubles/cuda/resolve.c tests/doubles/cuda/stream.c \
	tests/doubles/cuda/virtual.c

mini_nccl_c = tests/doubles/nccl/api.c tests/doubles/nccl/api_comm.c \
	tests/doubles/nccl/api_newer.c tests/doubles/nccl/api_redop.c \
	tests/doubles/nccl/api_window.c \
	tests/doubles/nccl/arguments.c tests/doubles/nccl/arguments_ring.c \
	tests/doubles/nccl/arguments_work.c tests/doubles/nccl/arithmetic.c \
	tests/doubles/nccl/bootstrap.c tests/doubles/nccl/collective.c \
	tests/doubles/nccl/choice.c tests/doubles/nccl/comm.c \
	tests/doubles/nccl/connect.c tests/doubles/nccl/copies.c \
	tests/doubles/nccl/cut_2_18.c tests/doubles/nccl/cut_2_20.c \
	tests/doubles/nccl/cut_collectives.c \
	tests/doubles/nccl/cut_transfers.c tests/doubles/nccl/delay.c \
	tests/doubles/nccl/device.c \
	tests/doubles/nccl/nvtx.c tests/doubles/nccl/nvtx_tool.c \
	tests/doubles/nccl/proxy_connect.c tests/doubles/nccl/proxy_plans.c \
	tests/doubles/nccl/proxy_end.c tests/doubles/nccl/proxy_guest.c \
	tests/doubles/nccl/service.c tests/doubles/nccl/service_call.c \
	tests/doubles/nccl/service_form.c tests/doubles/nccl/service_net.c \
	tests/doubles/nccl/driver.c tests/doubles/nccl/flow.c \
	tests/doubles/nccl/functions.c tests/doubles/nccl/group.c \
	tests/doubles/nccl/group_share.c \
	tests/doubles/nccl/grow.c tests/doubles/nccl/kernels.c \
	tests/doubles/nccl/launch.c \
	tests/doubles/nccl/launches.c tests/doubles/nccl/plan.c \
	tests/doubles/nccl/progress.c tests/doubles/nccl/protocol.c \
	tests/doubles/nccl/profiler_calls.c tests/doubles/nccl/profiler_load.c \
	tests/doubles/nccl/profiler_plans.c tests/doubles/nccl/profiler_proxy.c \
	tests/doubles/nccl/proxy.c tests/doubles/nccl/proxy_batch.c \
	tests/doubles/nccl/proxy_line.c \
	tests/doubles/nccl/proxy_ops_create.c \
	tests/doubles/nccl/one_rank.c tests/doubles/nccl/redop.c \
	tests/doubles/nccl/ras.c tests/doubles/nccl/reduce.c tests/doubles/nccl/release.c \
	tests/doubles/nccl/result.c tests/doubles/nccl/settings.c \
	tests/doubles/nccl/shared_memory.c \
	tests/doubles/nccl/socket.c tests/doubles/nccl/strand.c \
	tests/doubles/nccl/stream.c tests/doubles/nccl/symmetric.c \
	tests/doubles/nccl/symmetric_choice.c tests/doubles/nccl/transport_local.c \
	tests/doubles/nccl/window.c \
	tests/doubles/nccl/net_socket.c tests/doubles/nccl/net_socket_thread.c \
	tests/doubles/nccl/thread.c tests/doubles/nccl/topology.c \
	tests/doubles/nccl/transfers.c tests/doubles/nccl/transport.c \
	tests/doubles/nccl/tuning.c \
	tests/doubles/nccl/truth.c tests/doubles/nccl/verbs_connect.c \
	tests/doubles/nccl/verbs_device.c tests/doubles/nccl/verbs_library.c \
	tests/doubles/nccl/verbs_memory.c tests/doubles/nccl/verbs_probe.c tests/doubles/nccl/verbs_qp.c \
	tests/doubles/nccl/verbs_receive.c tests/doubles/nccl/verbs_request.c \
	tests/doubles/nccl/verbs_rules.c tests/doubles/nccl/verbs_send.c \
	tests/doubles/nccl/verbs_table.c

double_cuda_all = $(double_cuda_c) tests/doubles/cuda/driver.h tests/doubles/cuda/README \
	tests/doubles/cuda/libcuda.map
mini_nccl_all = $(mini_nccl_c) tests/doubles/nccl/arguments.h \
	tests/doubles/nccl/arguments_work.h \
	tests/doubles/nccl/arithmetic.h tests/doubles/nccl/choice.h \
	tests/doubles/nccl/copies.h tests/doubles/nccl/copy_engines.h \
	tests/doubles/nccl/cut.h \
	tests/doubles/nccl/device.h tests/doubles/nccl/window.h \
	tests/doubles/nccl/symmetric.def tests/doubles/nccl/symmetric.h \
	tests/doubles/nccl/symmetric_choice.h \
	tests/doubles/nccl/functions.def tests/doubles/nccl/functions.h \
	tests/doubles/nccl/kernels.h \
	tests/doubles/nccl/one_rank.h tests/doubles/nccl/order.h \
	tests/doubles/nccl/ras.h tests/doubles/nccl/redop.h tests/doubles/nccl/progress.h \
	tests/doubles/nccl/profiler.h tests/doubles/nccl/profiler_plugin.h \
	tests/doubles/nccl/protocol.h tests/doubles/nccl/proxy_batch.h \
	tests/doubles/nccl/proxy_guest.h tests/doubles/nccl/proxy_op.h \
	tests/doubles/nccl/shared_memory.h \
	tests/doubles/nccl/strand.h tests/doubles/nccl/topology.h \
	tests/doubles/nccl/tuning.h tests/doubles/nccl/work.h \
	tests/doubles/nccl/launches.h tests/doubles/nccl/make-functions \
	tests/doubles/nccl/api.h tests/doubles/nccl/bootstrap.h \
	tests/doubles/nccl/comm.h tests/doubles/nccl/delay.h \
	tests/doubles/nccl/settings.def tests/doubles/nccl/settings.h \
	tests/doubles/nccl/driver.h tests/doubles/nccl/flow.h \
	tests/doubles/nccl/group.h tests/doubles/nccl/group_share.h \
	tests/doubles/nccl/truth.h tests/doubles/nccl/verbs.h \
	tests/doubles/nccl/plan.h tests/doubles/nccl/proxy.h tests/doubles/nccl/reduce.h \
	tests/doubles/nccl/release.h tests/doubles/nccl/result.h \
	tests/doubles/nccl/nvtx.def tests/doubles/nccl/nvtx.h \
	tests/doubles/nccl/nvtx_tool.h \
	tests/doubles/nccl/service.h tests/doubles/nccl/service_call.h \
	tests/doubles/nccl/service_form.h \
	tests/doubles/nccl/net.h tests/doubles/nccl/net_socket.h \
	tests/doubles/nccl/socket.h tests/doubles/nccl/std_thread.cc \
	tests/doubles/nccl/stream.h tests/doubles/nccl/transport_local.h \
	tests/doubles/nccl/std_thread.h \
	tests/doubles/nccl/thread.h tests/doubles/nccl/transport.h \
	tests/doubles/nccl/libnccl.map

mini_cudart_c = tests/doubles/cudart/api.c tests/doubles/cudart/kernels.c \
	tests/doubles/cudart/table.c
mini_cudart_all = $(mini_cudart_c) tests/doubles/cudart/runtime.h \
	tests/doubles/cudart/asked-11.8.def tests/doubles/cudart/asked-12.4.def \
	tests/doubles/cudart/asked-12.9.def tests/doubles/cudart/asked-13.0.def \
	tests/doubles/cudart/libcudart-11.0.map tests/doubles/cudart/libcudart-12.map \
	tests/doubles/cudart/libcudart-13.map
mini_cudart_static = tests/doubles/cudart/libcudart_static.a \
	tests/doubles/cudart/libcudart_static-11.8.a \
	tests/doubles/cudart/libcudart_static-12.9.a
mini_cudart_so = tests/doubles/cudart/libcudart.so.11.0 \
	tests/doubles/cudart/libcudart.so.12 tests/doubles/cudart/libcudart.so.13

double_cupti_c = tests/doubles/cupti/activity.c tests/doubles/cupti/buffer.c \
	tests/doubles/cupti/cbid.c tests/doubles/cupti/clock.c \
	tests/doubles/cupti/driver.c tests/doubles/cupti/observe.c \
	tests/doubles/cupti/result.c tests/doubles/cupti/settings.c \
	tests/doubles/cupti/subscribe.c
double_cupti_all = $(double_cupti_c) tests/doubles/cupti/double.h \
	tests/doubles/cupti/driver.def tests/doubles/cupti/runtime.def \
	tests/doubles/cupti/libcupti-11.8.map tests/doubles/cupti/libcupti-12.map \
	tests/doubles/cupti/libcupti-13.map
double_cupti_so = tests/doubles/cupti/libcupti.so.11.8 \
	tests/doubles/cupti/libcupti.so.12 tests/doubles/cupti/libcupti.so.13

soft_verbs_c = tests/doubles/verbs/address.c tests/doubles/verbs/async.c \
	tests/doubles/verbs/bell.c tests/doubles/verbs/clock.c tests/doubles/verbs/cq.c \
	tests/doubles/verbs/device.c tests/doubles/verbs/faults.c \
	tests/doubles/verbs/link.c \
	tests/doubles/verbs/memory.c \
	tests/doubles/verbs/post.c tests/doubles/verbs/qp.c \
	tests/doubles/verbs/receive.c tests/doubles/verbs/request.c \
	tests/doubles/verbs/ring.c \
	tests/doubles/verbs/respond.c tests/doubles/verbs/settings.c \
	tests/doubles/verbs/state.c tests/doubles/verbs/strings.c \
	tests/doubles/verbs/unsupported.c tests/doubles/verbs/wire.c
soft_verbs_all = $(soft_verbs_c) tests/doubles/verbs/bell.h tests/doubles/verbs/ring.h \
	tests/doubles/verbs/soft.h tests/doubles/verbs/wire.h \
	tests/doubles/verbs/libibverbs.map
soft_verbs_so = tests/doubles/verbs/libibverbs.so.1

double_nvml_so = tests/doubles/nvml/libnvidia-ml.so.1

noinst_DATA += $(double_nvml_so) $(doubles_so) $(soft_verbs_so) $(mini_cudart_so) $(mini_cudart_static) \
	$(double_cupti_so)
CLEANFILES += $(doubles_so) tests/doubles/cuda/libcuda.so tests/doubles/nccl/libnccl.so \
	$(soft_verbs_so) tests/doubles/verbs/libibverbs.so $(mini_cudart_so) \
	$(mini_cudart_static) $(mini_cudart_static:.a=.o) $(double_cupti_so) \
	$(double_nvml_so)
EXTRA_DIST += tests/doubles/README.md $(doubles_h) $(double_cuda_all) $(mini_cudart_all) $(mini_nccl_all) \
	$(soft_verbs_all) $(double_cupti_all) tests/doubles/cupti/README \
	tests/doubles/nccl/README tests/doubles/verbs/README tests/doubles/nvml/nvml.c

# Plain files with the names of the real ones: libtool would put a script in
# the place of each, and dlopen() is part of what is imitated.
doubles_link = $(CC) $(AM_CFLAGS) $(CFLAGS) $(doubles_cc) -fPIC -fvisibility=hidden \
	-shared -pthread -Wl,-z,defs -Wl,-soname,$(@F)

$(double_nvml_so): tests/doubles/nvml/nvml.c
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(doubles_link) -o $@ $(srcdir)/tests/doubles/nvml/nvml.c

# What it hands out are its own functions, whoever else defines the names.
tests/doubles/cuda/libcuda.so.1: $(double_cuda_all) $(doubles_h)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(doubles_link) -D__CUDA_API_VERSION_INTERNAL \
		-Wl,-Bsymbolic-functions \
		-Wl,--version-script=$(srcdir)/tests/doubles/cuda/libcuda.map -o $@ \
		`for f in $(double_cuda_c); do echo $(srcdir)/$$f; done` && \
		ln -sf $(@F) $(@D)/libcuda.so

# CUPTI of three releases.  It finds the driver as the real one does, so nothing here says
# where that is.
double_cupti_link = $(doubles_link) -I$(srcdir)/tests/doubles/cupti \
	-Wl,-Bsymbolic-functions
double_cupti_sources = `for f in $(double_cupti_c); do echo $(srcdir)/$$f; done`
tests/doubles/cupti/libcupti.so.11.8: $(double_cupti_all) $(doubles_h)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(double_cupti_link) \
		-DDOUBLE_CUPTI_VERSION=11080 \
		-Wl,--version-script=$(srcdir)/tests/doubles/cupti/libcupti-11.8.map -o \
		$@ \
		$(double_cupti_sources)
tests/doubles/cupti/libcupti.so.12: $(double_cupti_all) $(doubles_h)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(double_cupti_link) \
		-DDOUBLE_CUPTI_VERSION=12090 \
		-Wl,--version-script=$(srcdir)/tests/doubles/cupti/libcupti-12.map -o $@ \
		$(double_cupti_sources)
tests/doubles/cupti/libcupti.so.13: $(double_cupti_all) $(doubles_h)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(double_cupti_link) \
		-DDOUBLE_CUPTI_VERSION=13000 \
		-Wl,--version-script=$(srcdir)/tests/doubles/cupti/libcupti-13.map -o $@ \
		$(double_cupti_sources)

# The runtime, of three releases, shared; and to be linked in, which is one object
# so that its functions can be hidden from all but their owner.
mini_cudart_sources = `for f in $(mini_cudart_c); do echo $(srcdir)/$$f; done`
mini_cudart_link = $(doubles_link) -DMINI_CUDART_SHARED -Wl,-Bsymbolic-functions \
	-Wl,--enable-new-dtags,-rpath,'$$ORIGIN/../cuda'
tests/doubles/cudart/libcudart.so.11.0: $(mini_cudart_all) $(doubles_h)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(mini_cudart_link) -DMINI_CUDART_VERSION=11080 \
		-Wl,--version-script=$(srcdir)/tests/doubles/cudart/libcudart-11.0.map \
		-o $@ \
		$(mini_cudart_sources)
tests/doubles/cudart/libcudart.so.12: $(mini_cudart_all) $(doubles_h)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(mini_cudart_link) -DMINI_CUDART_VERSION=12040 \
		-Wl,--version-script=$(srcdir)/tests/doubles/cudart/libcudart-12.map -o \
		$@ \
		$(mini_cudart_sources)
tests/doubles/cudart/libcudart.so.13: $(mini_cudart_all) $(doubles_h)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(mini_cudart_link) -DMINI_CUDART_VERSION=13000 \
		-Wl,--version-script=$(srcdir)/tests/doubles/cudart/libcudart-13.map -o \
		$@ \
		$(mini_cudart_sources)

mini_cudart_object = $(CC) $(AM_CFLAGS) $(CFLAGS) $(doubles_cc) -fPIC \
	-fvisibility=hidden \
	-nostdlib -r -o $(@:.a=.o) $(mini_cudart_sources)
tests/doubles/cudart/libcudart_static.a: $(mini_cudart_all) $(doubles_h)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(mini_cudart_object) \
		-DMINI_CUDART_VERSION=13000 && \
		rm -f $@ && $(AR) cr $@ $(@:.a=.o)
tests/doubles/cudart/libcudart_static-11.8.a: $(mini_cudart_all) $(doubles_h)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(mini_cudart_object) \
		-DMINI_CUDART_VERSION=11080 && \
		rm -f $@ && $(AR) cr $@ $(@:.a=.o)
tests/doubles/cudart/libcudart_static-12.9.a: $(mini_cudart_all) $(doubles_h)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(mini_cudart_object) \
		-DMINI_CUDART_VERSION=12090 && \
		rm -f $@ && $(AR) cr $@ $(@:.a=.o)

# NCCL is C++, and from 2.29 on that can be seen in its threads.
mini_nccl_o = tests/doubles/nccl/std_thread.o
CLEANFILES += $(mini_nccl_o)
$(mini_nccl_o): tests/doubles/nccl/std_thread.cc tests/doubles/nccl/std_thread.h \
		tests/doubles/nccl/thread.h
	$(AM_V_CXX)$(MKDIR_P) $(@D) && $(CXX) $(CXXFLAGS) -Wall -Wextra -fPIC \
		-fvisibility=hidden -pthread -c -o $@ \
		$(srcdir)/tests/doubles/nccl/std_thread.cc

# The runtime in it opens libcuda.so.1 itself, so it has to know where that is.
tests/doubles/nccl/libnccl.so.2: $(mini_nccl_all) $(doubles_h) $(mini_nccl_o) \
		tests/doubles/cudart/libcudart_static.a
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(doubles_link) \
		-Wl,--version-script=$(srcdir)/tests/doubles/nccl/libnccl.map \
		-Wl,--enable-new-dtags,-rpath,'$$ORIGIN/../cuda' -o $@ \
		`for f in $(mini_nccl_c); do echo $(srcdir)/$$f; done` $(mini_nccl_o) \
		tests/doubles/cudart/libcudart_static.a -lstdc++ -lm && \
		ln -sf $(@F) $(@D)/libnccl.so

# For where there is no C++ library.
tests/doubles/nccl/portable/libnccl.so.2: $(mini_nccl_all) $(doubles_h) \
		tests/doubles/no_cxx/std_thread.c tests/doubles/nccl/std_thread.h \
		tests/doubles/cudart/libcudart_static.a
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(doubles_link) \
		-Wl,--version-script=$(srcdir)/tests/doubles/nccl/libnccl.map \
		-Wl,--enable-new-dtags,-rpath,'$$ORIGIN/../cuda' -o $@ \
		`for f in $(mini_nccl_c); do echo $(srcdir)/$$f; done` \
		$(srcdir)/tests/doubles/no_cxx/std_thread.c \
		tests/doubles/cudart/libcudart_static.a -lm
EXTRA_DIST += tests/doubles/no_cxx/std_thread.c
CLEANFILES += tests/doubles/nccl/portable/libnccl.so.2

# Its thread stays, so it is never unloaded.  The header hides no name, the map does; its
# own calls of what it exports can be stood in for, as the real one's.
tests/doubles/verbs/libibverbs.so.1: $(soft_verbs_all)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && ln -sf $(@F) $(@D)/libibverbs.so && \
		$(doubles_link) -fvisibility=default -Wl,-z,nodelete \
		-Wl,--version-script=$(srcdir)/tests/doubles/verbs/libibverbs.map -o $@ \
		`for f in $(soft_verbs_c); do echo $(srcdir)/$$f; done`

# HIP, and what RCCL is to a tracer of it: linked by all, by names with versions.
double_hip_so = tests/doubles/hip/libamdhip64.so.6 tests/doubles/hip/librccl.so.1
check_DATA += $(double_hip_so)
CLEANFILES += $(double_hip_so) tests/doubles/hip/libamdhip64.so
EXTRA_DIST += tests/doubles/hip/hip.c tests/doubles/hip/hip.h tests/doubles/hip/rccl.c \
	tests/doubles/hip/libamdhip64.map
tests/doubles/hip/libamdhip64.so.6: tests/doubles/hip/hip.c tests/doubles/hip/hip.h \
		tests/doubles/hip/libamdhip64.map
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(doubles_link) -fvisibility=default \
		-Wl,--version-script=$(srcdir)/tests/doubles/hip/libamdhip64.map -o $@ \
		$(srcdir)/tests/doubles/hip/hip.c && ln -sf $(@F) $(@D)/libamdhip64.so
tests/doubles/hip/librccl.so.1: tests/doubles/hip/rccl.c \
		tests/doubles/hip/libamdhip64.so.6 \
		$(doubles_h)
	$(AM_V_CCLD)$(doubles_link) -fvisibility=default -o $@ \
		$(srcdir)/tests/doubles/hip/rccl.c -Ltests/doubles/hip -lamdhip64 \
		-Wl,--enable-new-dtags,-rpath,'$$ORIGIN'

# HIP with the GPU of the driver double inside, and mini-NCCL as the RCCL that uses it.
rocm_so = tests/doubles/rocm/libamdhip64.so.6 tests/doubles/rocm/librccl.so.1
check_DATA += $(rocm_so)
CLEANFILES += $(rocm_so) tests/doubles/rocm/libamdhip64.so
EXTRA_DIST += tests/doubles/rocm/README tests/doubles/rocm/hip.c \
	tests/doubles/rocm/runtime.c \
	tests/doubles/rocm/libamdhip64.map
tests/doubles/rocm/libamdhip64.so.6: tests/doubles/rocm/hip.c tests/doubles/hip/hip.h \
		tests/doubles/rocm/libamdhip64.map $(double_cuda_all) $(doubles_h)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(doubles_link) -fvisibility=default \
		-I$(srcdir)/tests/doubles/hip -D__CUDA_API_VERSION_INTERNAL \
		-Wl,--version-script=$(srcdir)/tests/doubles/rocm/libamdhip64.map -o $@ \
		$(srcdir)/tests/doubles/rocm/hip.c \
		`for f in $(double_cuda_c); do echo $(srcdir)/$$f; done` && \
		ln -sf $(@F) $(@D)/libamdhip64.so
tests/doubles/rocm/librccl.so.1: tests/doubles/rocm/runtime.c tests/doubles/hip/hip.h \
		tests/doubles/rocm/libamdhip64.so.6 $(mini_nccl_all) $(mini_nccl_o) \
		$(doubles_h)
	$(AM_V_CCLD)$(doubles_link) -I$(srcdir)/tests/doubles/hip \
		-Wl,--version-script=$(srcdir)/tests/doubles/nccl/libnccl.map -o $@ \
		`for f in $(mini_nccl_c); do echo $(srcdir)/$$f; done` $(mini_nccl_o) \
		$(srcdir)/tests/doubles/rocm/runtime.c -lstdc++ -lm \
		-Ltests/doubles/rocm -lamdhip64 -Wl,--enable-new-dtags,-rpath,'$$ORIGIN'
