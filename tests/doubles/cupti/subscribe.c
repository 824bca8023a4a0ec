/* SPDX-License-Identifier: MIT */
/* The one slot for a subscriber, who may have been there first, and its callbacks. */
#include "double.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CUpti_Subscriber_st {
	CUpti_CallbackFunc callback;
	void *userdata;
	char name[64];
	_Atomic uint8_t enabled[DOUBLE_DOMAINS][DOUBLE_CBIDS];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Handles are never reused, so that one that is over is told from a newer one. */
static _Atomic(CUpti_SubscriberHandle) holder;
static unsigned long granted;

static const CUpti_CallbackId sizes[DOUBLE_DOMAINS] = {
	[CUPTI_CB_DOMAIN_DRIVER_API] = DOUBLE_DRIVER_CBIDS,
	[CUPTI_CB_DOMAIN_RUNTIME_API] = DOUBLE_RUNTIME_CBIDS,
	[CUPTI_CB_DOMAIN_RESOURCE] = DOUBLE_RESOURCE_CBIDS,
	[CUPTI_CB_DOMAIN_SYNCHRONIZE] = 3,
	[CUPTI_CB_DOMAIN_NVTX] = DOUBLE_CBIDS,
	[CUPTI_CB_DOMAIN_STATE] = 4,
};

void double_fire(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data)
{
	CUpti_SubscriberHandle now = atomic_load(&holder);

	if (now && cbid && cbid < DOUBLE_CBIDS &&
	    atomic_load_explicit(&now->enabled[domain][cbid], memory_order_relaxed))
		now->callback(now->userdata, domain, cbid, data);
}

/* Whose name it is, where the slot is taken; with the lock held. */
static const char *taken_by(void)
{
	const struct double_settings *settings = double_settings();
	CUpti_SubscriberHandle now = atomic_load(&holder);

	if (now)
		return now->name;
	if (settings->busy && granted >= settings->busy_after)
		return settings->busy;
	return NULL;
}

static CUptiResult subscribe(CUpti_SubscriberHandle *ret_handle,
			     CUpti_CallbackFunc callback, void *userdata,
			     CUpti_SubscriberParams *params)
{
	CUpti_SubscriberHandle handle;
	CUptiResult res = CUPTI_SUCCESS;
	const char *name;

	if (!ret_handle || !callback || (params && params->structSize != sizeof(*params)))
		return CUPTI_ERROR_INVALID_PARAMETER;
	handle = calloc(1, sizeof(*handle));
	if (!handle)
		return CUPTI_ERROR_OUT_OF_MEMORY;
	handle->callback = callback;
	handle->userdata = userdata;
	if (params && params->subscriberName)
		snprintf(handle->name, sizeof(handle->name), "CUPTI for %.53s",
			 params->subscriberName);
	else
		snprintf(handle->name, sizeof(handle->name), "CUPTI");
	pthread_mutex_lock(&lock);
	name = taken_by();
	if (name) {
		res = (CUptiResult) double_settings()->busy_result;
		if (params && params->oldSubscriberName)
			snprintf(params->oldSubscriberName, params->oldSubscriberSize,
				 "%s", name);
		double_log("refuse name=\"%s\" holder=\"%s\"", handle->name, name);
	} else {
		granted++;
		atomic_store(&holder, handle);
		double_log("subscribe name=\"%s\"", handle->name);
	}
	pthread_mutex_unlock(&lock);
	if (res == CUPTI_SUCCESS)
		*ret_handle = handle;
	else
		free(handle);
	return res;
}

DOUBLE_EXPORT CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber,
					 CUpti_CallbackFunc callback, void *userdata)
{
	CUptiResult res = double_begin_with_driver(__func__);

	return res ? res : subscribe(subscriber, callback, userdata, NULL);
}

#if DOUBLE_CUPTI_VERSION >= 13000
DOUBLE_EXPORT CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *subscriber,
					    CUpti_CallbackFunc callback, void *userdata,
					    CUpti_SubscriberParams *pParams)
{
	CUptiResult res = double_begin_with_driver(__func__);

	return res ? res : subscribe(subscriber, callback, userdata, pParams);
}
#endif

/* Does not wait for a callback that is running. */
void double_forget_subscriber(void)
{
	atomic_store(&holder, NULL);
}

static bool is_holder(CUpti_SubscriberHandle handle)
{
	return handle && handle == atomic_load(&holder);
}

DOUBLE_EXPORT CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber)
{
	CUptiResult res = double_begin(__func__);

	if (res)
		return res;
	pthread_mutex_lock(&lock);
	if (is_holder(subscriber)) {
		double_log("unsubscribe name=\"%s\"", subscriber->name);
		double_forget_subscriber();
	} else {
		res = CUPTI_ERROR_INVALID_PARAMETER;
	}
	pthread_mutex_unlock(&lock);
	return res;
}

static bool is_domain(CUpti_CallbackDomain domain)
{
	return (int) domain > 0 && (int) domain < DOUBLE_DOMAIN_COUNT;
}

static bool is_callback(CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
	return is_domain(domain) && cbid > 0 && cbid < sizes[domain];
}

DOUBLE_EXPORT CUptiResult cuptiGetCallbackState(uint32_t *enable,
						CUpti_SubscriberHandle subscriber,
						CUpti_CallbackDomain domain,
						CUpti_CallbackId cbid)
{
	CUptiResult res = double_begin(__func__);

	if (res)
		return res;
	if (!enable || !is_holder(subscriber) || !is_callback(domain, cbid))
		return CUPTI_ERROR_INVALID_PARAMETER;
	*enable = subscriber->enabled[domain][cbid];
	return CUPTI_SUCCESS;
}

DOUBLE_EXPORT CUptiResult cuptiEnableCallback(uint32_t enable,
					      CUpti_SubscriberHandle subscriber,
					      CUpti_CallbackDomain domain,
					      CUpti_CallbackId cbid)
{
	CUptiResult res = double_begin(__func__);

	if (res)
		return res;
	if (!is_holder(subscriber) || !is_callback(domain, cbid))
		return CUPTI_ERROR_INVALID_PARAMETER;
	subscriber->enabled[domain][cbid] = enable != 0;
	return CUPTI_SUCCESS;
}

static void enable_domain(CUpti_SubscriberHandle subscriber, int domain, bool enable)
{
	CUpti_CallbackId cbid;

	for (cbid = 1; cbid < sizes[domain]; cbid++)
		subscriber->enabled[domain][cbid] = enable;
}

DOUBLE_EXPORT CUptiResult cuptiEnableDomain(uint32_t enable,
					    CUpti_SubscriberHandle subscriber,
					    CUpti_CallbackDomain domain)
{
	CUptiResult res = double_begin(__func__);

	if (res)
		return res;
	if (!is_holder(subscriber) || !is_domain(domain))
		return CUPTI_ERROR_INVALID_PARAMETER;
	enable_domain(subscriber, (int) domain, enable != 0);
	return CUPTI_SUCCESS;
}

DOUBLE_EXPORT CUptiResult cuptiEnableAllDomains(uint32_t enable,
						CUpti_SubscriberHandle subscriber)
{
	CUptiResult res = double_begin(__func__);
	int domain;

	if (res)
		return res;
	if (!is_holder(subscriber))
		return CUPTI_ERROR_INVALID_PARAMETER;
	for (domain = 1; domain < DOUBLE_DOMAIN_COUNT; domain++)
		enable_domain(subscriber, domain, enable != 0);
	return CUPTI_SUCCESS;
}

DOUBLE_EXPORT CUptiResult cuptiSupportedDomains(size_t *domainCount,
						CUpti_DomainTable *domainTable)
{
	static CUpti_CallbackDomain domains[DOUBLE_DOMAINS];
	CUptiResult res = double_begin_with_driver(__func__);
	int i;

	if (res)
		return res;
	if (!domainCount || !domainTable)
		return CUPTI_ERROR_INVALID_PARAMETER;
	for (i = 1; i < DOUBLE_DOMAIN_COUNT; i++)
		domains[i - 1] = (CUpti_CallbackDomain) i;
	*domainCount = DOUBLE_DOMAIN_COUNT - 1;
	*domainTable = domains;
	return CUPTI_SUCCESS;
}
