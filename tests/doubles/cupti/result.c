/* SPDX-License-Identifier: MIT */
/* What results are called, and which release this is. */
#include "double.h"

static const struct {
	CUptiResult result;
	const char *name;
	const char *message;
} results[] = {
	{CUPTI_SUCCESS, "CUPTI_SUCCESS", "no error"},
	{CUPTI_ERROR_INVALID_PARAMETER, "CUPTI_ERROR_INVALID_PARAMETER",
	 "an argument is not valid"},
	{CUPTI_ERROR_INVALID_DEVICE, "CUPTI_ERROR_INVALID_DEVICE", "no such device"},
	{CUPTI_ERROR_INVALID_CONTEXT, "CUPTI_ERROR_INVALID_CONTEXT", "no such context"},
	{CUPTI_ERROR_INVALID_OPERATION, "CUPTI_ERROR_INVALID_OPERATION", "not now"},
	{CUPTI_ERROR_OUT_OF_MEMORY, "CUPTI_ERROR_OUT_OF_MEMORY", "out of memory"},
	{CUPTI_ERROR_MAX_LIMIT_REACHED, "CUPTI_ERROR_MAX_LIMIT_REACHED", "no more"},
	{CUPTI_ERROR_NOT_READY, "CUPTI_ERROR_NOT_READY", "not ready"},
	{CUPTI_ERROR_NOT_COMPATIBLE, "CUPTI_ERROR_NOT_COMPATIBLE", "not compatible"},
	{CUPTI_ERROR_NOT_INITIALIZED, "CUPTI_ERROR_NOT_INITIALIZED", "not initialised"},
	{CUPTI_ERROR_QUEUE_EMPTY, "CUPTI_ERROR_QUEUE_EMPTY", "nothing there"},
	{CUPTI_ERROR_INVALID_HANDLE, "CUPTI_ERROR_INVALID_HANDLE", "no such handle"},
	{CUPTI_ERROR_INVALID_STREAM, "CUPTI_ERROR_INVALID_STREAM", "no such stream"},
	{CUPTI_ERROR_INVALID_KIND, "CUPTI_ERROR_INVALID_KIND", "no such kind"},
	{CUPTI_ERROR_NOT_SUPPORTED, "CUPTI_ERROR_NOT_SUPPORTED", "not supported"},
	{CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES",
	 "not permitted"},
	{CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
	 "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED", "another has subscribed"},
	{CUPTI_ERROR_UNKNOWN, "CUPTI_ERROR_UNKNOWN", "unknown error"},
};

/* 1 where it is none: the text is there all the same. */
static CUptiResult describe(CUptiResult result, const char **str, bool is_name)
{
	size_t i;

	if (!str)
		return CUPTI_ERROR_INVALID_PARAMETER;
	for (i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
		if (results[i].result != result)
			continue;
		*str = is_name ? results[i].name : results[i].message;
		return CUPTI_SUCCESS;
	}
	*str = "<unknown>";
	return CUPTI_ERROR_INVALID_PARAMETER;
}

DOUBLE_EXPORT CUptiResult cuptiGetResultString(CUptiResult result, const char **str)
{
	CUptiResult res = double_begin(__func__);

	return res ? res : describe(result, str, true);
}

#if DOUBLE_CUPTI_VERSION >= 12000
DOUBLE_EXPORT CUptiResult cuptiGetErrorMessage(CUptiResult result, const char **str)
{
	CUptiResult res = double_begin(__func__);

	return res ? res : describe(result, str, false);
}
#endif

DOUBLE_EXPORT CUptiResult cuptiGetVersion(uint32_t *version)
{
	CUptiResult res = double_begin(__func__);

	if (res)
		return res;
	if (!version)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*version = DOUBLE_API_VERSION;
	return CUPTI_SUCCESS;
}
