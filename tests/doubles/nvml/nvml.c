/* SPDX-License-Identifier: MIT */
/*
 * A libnvidia-ml.so.1 that answers for the GPUs of the double of the CUDA driver, which have
 * the addresses 0000:01:00.0 and on.  Declarations and numbers are those of nvml.h.
 *
 * The power grows by 1 W with each question, so that answers differ; DOUBLE_NVML_FAILS makes
 * nvmlInit_v2() fail as without a driver.
 */
#include <stdio.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

enum {
	NVML_SUCCESS = 0,
	NVML_ERROR_UNINITIALIZED = 1,
	NVML_ERROR_INVALID_ARGUMENT = 2,
	NVML_ERROR_NOT_FOUND = 6,
	NVML_ERROR_DRIVER_NOT_LOADED = 9,
};

typedef struct gpu {
	unsigned int power;
} *nvmlDevice_t;
typedef struct {
	unsigned int gpu, memory;
} nvmlUtilization_t;

static struct gpu gpus[16];
static int is_initialized;

EXPORT int nvmlInit_v2(void);
EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char *, nvmlDevice_t *);
EXPORT int nvmlDeviceGetUtilizationRates(nvmlDevice_t, nvmlUtilization_t *);
EXPORT int nvmlDeviceGetPowerUsage(nvmlDevice_t, unsigned int *);
EXPORT int nvmlDeviceGetClockInfo(nvmlDevice_t, int, unsigned int *);
EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t, unsigned long long *);

int nvmlInit_v2(void)
{
	if (getenv("DOUBLE_NVML_FAILS"))
		return NVML_ERROR_DRIVER_NOT_LOADED;
	is_initialized = 1;
	return NVML_SUCCESS;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *pciBusId, nvmlDevice_t *device)
{
	unsigned int bus;

	if (!is_initialized)
		return NVML_ERROR_UNINITIALIZED;
	if (!pciBusId || !device || sscanf(pciBusId, "0000:%x:00.0", &bus) != 1)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (bus < 1 || bus > sizeof(gpus) / sizeof(gpus[0]))
		return NVML_ERROR_NOT_FOUND;
	*device = &gpus[bus - 1];
	return NVML_SUCCESS;
}

int nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *utilization)
{
	(void) device;
	*utilization = (nvmlUtilization_t){.gpu = 97, .memory = 12};
	return NVML_SUCCESS;
}

int nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int *power)
{
	device->power += 1000;
	*power = 100000 + device->power;
	return NVML_SUCCESS;
}

int nvmlDeviceGetClockInfo(nvmlDevice_t device, int type, unsigned int *clock)
{
	(void) device;
	if (type != 1 && type != 2)
		return NVML_ERROR_INVALID_ARGUMENT;
	*clock = type == 1 ? 1980 : 2619;
	return NVML_SUCCESS;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device,
					      unsigned long long *reasons)
{
	(void) device;
	*reasons = 4; /* nvmlClocksThrottleReasonSwPowerCap */
	return NVML_SUCCESS;
}
