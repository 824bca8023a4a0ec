/* SPDX-License-Identifier: MIT */
/* CUPTI's numbers of functions, and the names that it gives them. */
#include "double.h"

#include <stdlib.h>
#include <string.h>

struct row {
	const char *entry;
	const char *name;
	CUpti_CallbackId cbid;
};

static const struct row driver_rows[] = {
#define CBID(name, number) {#name, #name, number},
#include "driver.def"
#undef CBID
};

static const struct row runtime_rows[] = {
#define CBID(name, version, number) {#name, #name #version, number},
#include "runtime.def"
#undef CBID
};

static int compare(const void *key, const void *row)
{
	return strcmp(key, ((const struct row *) row)->entry);
}

CUpti_CallbackId double_cbid(const char *entry, bool is_runtime)
{
	const struct row *rows = is_runtime ? runtime_rows : driver_rows;
	size_t count = is_runtime ? sizeof(runtime_rows) : sizeof(driver_rows);
	CUpti_CallbackId limit = is_runtime ? DOUBLE_RUNTIME_CBIDS : DOUBLE_DRIVER_CBIDS;
	const struct row *row =
		bsearch(entry, rows, count / sizeof(*rows), sizeof(*rows), compare);

	/* What came later this release has no number for, and does not see. */
	return row && row->cbid < limit ? row->cbid : 0;
}

DOUBLE_EXPORT CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid,
					       const char **name)
{
	CUptiResult res = double_begin(__func__);
	bool is_runtime = domain == CUPTI_CB_DOMAIN_RUNTIME_API;
	const struct row *rows = is_runtime ? runtime_rows : driver_rows;
	size_t count = is_runtime ? sizeof(runtime_rows) : sizeof(driver_rows);
	size_t i;

	if (res)
		return res;
	if (!name || cbid >= (is_runtime ? DOUBLE_RUNTIME_CBIDS : DOUBLE_DRIVER_CBIDS) ||
	    (!is_runtime && domain != CUPTI_CB_DOMAIN_DRIVER_API))
		return CUPTI_ERROR_INVALID_PARAMETER;
	for (i = 0; i < count / sizeof(*rows); i++) {
		if (rows[i].cbid != cbid)
			continue;
		*name = rows[i].name;
		return CUPTI_SUCCESS;
	}
	return CUPTI_ERROR_INVALID_PARAMETER;
}
