/* SPDX-License-Identifier: MIT */
/*
 * Samples the GPUs that the process uses, by NVML (libnvidia-ml.so.1, part of NVIDIA's
 * driver), if the user asks for it: CCLTAP_SAMPLE contains "gpu".
 *
 * It is not on by default, since NVML keeps descriptors open in the traced program, and a
 * GPU that hangs may make it wait.  It only reads.  Declarations and numbers are those of
 * nvml.h and cuda.h, and have not changed since CUDA 7; a function that a driver lacks is
 * left out.
 */
#include <dlfcn.h>
#include <limits.h>
#include <string.h>

#include "common/clock.h"
#include "common/counters.h"
#include "cupti/nvml.h"
#include "intercept/resolve.h"

#define GPUS_MAX 16
#define BUS_ID_BYTES 32

#define NVML_CLOCK_SM 1
#define NVML_CLOCK_MEM 2

struct utilization {
	unsigned int gpu, memory; /* per cent of the time since NVML's last look */
};

static struct {
	/* NVML */
	int (*init)(void);
	int (*by_address)(const char *, void **);
	int (*utilization)(void *, struct utilization *);
	int (*power)(void *, unsigned int *);
	int (*clock)(void *, int, unsigned int *);
	int (*throttle)(void *, unsigned long long *);
	/* The CUDA driver */
	int (*count)(int *);
	int (*device)(int *, int);
	int (*primary_state)(int, unsigned int *, int *);
	int (*bus_id)(char *, int, int);
} call;

static struct gpu {
	void *handle;
	char bus_id[BUS_ID_BYTES];
	struct tap_counters counters;
} gpus[GPUS_MAX];

static struct tap_counters_looks looks;
static int nr_gpus; /* that the process uses, as far as known */
static enum { UNTRIED, OPEN, UNAVAILABLE } state;

static bool open_nvml(void)
{
	void *handle = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);

	if (!handle) {
		(void) dlerror();
		(void) dlerror();
		return false;
	}
	call.init = (int (*)(void)) tap_resolve_in(handle, "nvmlInit_v2");
	call.by_address = (int (*)(const char *, void **)) tap_resolve_in(
		handle, "nvmlDeviceGetHandleByPciBusId_v2");
	call.utilization = (int (*)(void *, struct utilization *)) tap_resolve_in(
		handle, "nvmlDeviceGetUtilizationRates");
	call.power = (int (*)(void *, unsigned int *)) tap_resolve_in(
		handle, "nvmlDeviceGetPowerUsage");
	call.clock = (int (*)(void *, int, unsigned int *)) tap_resolve_in(
		handle, "nvmlDeviceGetClockInfo");
	call.throttle = (int (*)(void *, unsigned long long *)) tap_resolve_in(
		handle, "nvmlDeviceGetCurrentClocksThrottleReasons");
	return call.init && call.by_address && !call.init();
}

/* The driver is loaded already: a process without it has no GPU to sample. */
static bool find_driver(void)
{
	char path[PATH_MAX];
	void *handle;

	if (!tap_resolve_loaded("libcuda.so", path, sizeof(path)))
		return false;
	handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	if (!handle)
		return false;
	call.count = (int (*)(int *)) tap_resolve_in(handle, "cuDeviceGetCount");
	call.device = (int (*)(int *, int)) tap_resolve_in(handle, "cuDeviceGet");
	call.primary_state = (int (*)(int, unsigned int *, int *)) tap_resolve_in(
		handle, "cuDevicePrimaryCtxGetState");
	call.bus_id = (int (*)(char *, int, int)) tap_resolve_in(handle,
								 "cuDeviceGetPCIBusId");
	return call.count && call.device && call.primary_state && call.bus_id;
}

static bool is_known(const char *bus_id)
{
	int i;

	for (i = 0; i < nr_gpus; i++)
		if (!strcmp(gpus[i].bus_id, bus_id))
			return true;
	return false;
}

/* A GPU is used where its primary context is active. */
static void find_gpus(void)
{
	char bus_id[BUS_ID_BYTES];
	unsigned int flags;
	int i, device, count = 0, is_active = 0;

	if (call.count(&count))
		return;
	for (i = 0; i < count && nr_gpus < GPUS_MAX; i++) {
		if (call.device(&device, i) ||
		    call.primary_state(device, &flags, &is_active) || !is_active ||
		    call.bus_id(bus_id, sizeof(bus_id), device) || is_known(bus_id) ||
		    call.by_address(bus_id, &gpus[nr_gpus].handle))
			continue;
		memcpy(gpus[nr_gpus++].bus_id, bus_id, sizeof(bus_id));
	}
}

static void sample(struct gpu *gpu)
{
	static struct tap_counters_sample found;
	struct utilization utilization;
	unsigned long long reasons;
	unsigned int value;

	tap_counters_begin(&gpu->counters, &found, tap_now_ns());
	if (call.utilization && !call.utilization(gpu->handle, &utilization)) {
		tap_counters_note(&gpu->counters, &found, 0, "busy_percent",
				  utilization.gpu);
		tap_counters_note(&gpu->counters, &found, 1, "memory_busy_percent",
				  utilization.memory);
	}
	if (call.power && !call.power(gpu->handle, &value))
		tap_counters_note(&gpu->counters, &found, 2, "power_mw", value);
	if (call.clock && !call.clock(gpu->handle, NVML_CLOCK_SM, &value))
		tap_counters_note(&gpu->counters, &found, 3, "sm_clock_mhz", value);
	if (call.clock && !call.clock(gpu->handle, NVML_CLOCK_MEM, &value))
		tap_counters_note(&gpu->counters, &found, 4, "memory_clock_mhz", value);
	if (call.throttle && !call.throttle(gpu->handle, &reasons))
		tap_counters_note(&gpu->counters, &found, 5, "throttle_reasons", reasons);
	if (!tap_counters_end(&gpu->counters, &found))
		return;
	tap_events_table->sample(&(struct tap_sample){
		.source = "gpu",
		.subject = gpu->bus_id,
		.state = "",
		.interval_ns = found.interval_ns,
		.names = found.names,
		.nr = found.nr,
		.values = found.values,
		.growth = found.growth,
	});
}

/* Whether GPUs can be sampled; without a driver there is none yet. */
static bool is_open(void)
{
	if (state != UNTRIED)
		return state == OPEN;
	if (!find_driver())
		return false;
	state = open_nvml() ? OPEN : UNAVAILABLE;
	if (state == UNAVAILABLE)
		tap_problem("not sampled", "the GPUs: libnvidia-ml.so.1 cannot be used", 1);
	return state == OPEN;
}

void tap_cupti_sample(unsigned sources)
{
	int i;

	if (!(sources & TAP_SAMPLE_GPU) || !is_open() || !tap_counters_look(&looks))
		return;
	find_gpus();
	for (i = 0; i < nr_gpus && !tap_counters_look_is_long(&looks); i++)
		sample(&gpus[i]);
	if (tap_counters_look_end(&looks))
		tap_problem("not sampled", "the GPUs take long to ask", 1);
}

void tap_cupti_sample_fork_child(void)
{
	/* NVML's handles belong to the parent; the child opens it again. */
	nr_gpus = 0;
	state = UNTRIED;
}
