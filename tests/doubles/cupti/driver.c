/* SPDX-License-Identifier: MIT */
/* How the CUPTI double comes to the driver double, and what it answers where there is
 * none.
 */
#include "double.h"

#include <dlfcn.h>
#include <pthread.h>

const struct double_observer_table *double_driver;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool is_attached;

static CUptiResult attach(void)
{
	CUresult (*get_table)(const void **table, const CUuuid *id);
	CUresult (*get_version)(int *version);
	const void *table = NULL;
	int version = 0;
	void *library = dlopen("libcuda.so.1", RTLD_NOW);

	if (!library)
		return (CUptiResult) DOUBLE_NO_DRIVER;
	get_version = (__typeof__(get_version)) dlsym(library, "cuDriverGetVersion");
	get_table = (__typeof__(get_table)) dlsym(library, "cuGetExportTable");
	if (!get_version || !get_table ||
	    get_table(&table, &(CUuuid) DOUBLE_OBSERVER_ID) != CUDA_SUCCESS)
		return (CUptiResult) DOUBLE_NO_DRIVER;
	/* A release knows the drivers of its own major version and of later ones. */
	get_version(&version);
	if (version / 1000 < DOUBLE_CUPTI_VERSION / 1000)
		return CUPTI_ERROR_NOT_INITIALIZED;
	double_driver = table;
	double_driver->observe(&double_observer);
	double_log("attach version=%d driver=%d", DOUBLE_API_VERSION, version);
	atomic_store(&is_attached, true);
	return CUPTI_SUCCESS;
}

CUptiResult double_begin_with_driver(const char *function)
{
	CUptiResult res = double_begin(function);

	if (res != CUPTI_SUCCESS || atomic_load(&is_attached))
		return res;
	pthread_mutex_lock(&lock);
	if (!atomic_load(&is_attached))
		res = attach();
	pthread_mutex_unlock(&lock);
	return res;
}
