/* SPDX-License-Identifier: MIT */
/*
 * libibverbs as NCCL finds it: opened by name, each function asked for with its version
 * (NCCL 2.28.9, misc/ibvsymbols.cc:66-152).  One that is missing, and there is none.
 */
#include "verbs.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

struct mini_verbs mini_verbs;

static const struct {
	const char *name;
	const char *version;
	void *place;
	bool is_optional;
} symbols[] = {
	{"ibv_get_device_list", "IBVERBS_1.1", &mini_verbs.get_device_list, false},
	{"ibv_free_device_list", "IBVERBS_1.1", &mini_verbs.free_device_list, false},
	{"ibv_get_device_name", "IBVERBS_1.1", &mini_verbs.get_device_name, false},
	{"ibv_open_device", "IBVERBS_1.1", &mini_verbs.open_device, false},
	{"ibv_close_device", "IBVERBS_1.1", &mini_verbs.close_device, false},
	{"ibv_get_async_event", "IBVERBS_1.1", &mini_verbs.get_async_event, false},
	{"ibv_ack_async_event", "IBVERBS_1.1", &mini_verbs.ack_async_event, false},
	{"ibv_query_device", "IBVERBS_1.1", &mini_verbs.query_device, false},
	{"ibv_query_port", "IBVERBS_1.1", &mini_verbs.query_port, false},
	{"ibv_query_gid", "IBVERBS_1.1", &mini_verbs.query_gid, false},
	{"ibv_query_qp", "IBVERBS_1.1", &mini_verbs.query_qp, false},
	{"ibv_alloc_pd", "IBVERBS_1.1", &mini_verbs.alloc_pd, false},
	{"ibv_dealloc_pd", "IBVERBS_1.1", &mini_verbs.dealloc_pd, false},
	{"ibv_reg_mr", "IBVERBS_1.1", &mini_verbs.reg_mr, false},
	{"ibv_reg_mr_iova2", "IBVERBS_1.8", &mini_verbs.reg_mr_iova2, true},
	{"ibv_reg_dmabuf_mr", "IBVERBS_1.12", &mini_verbs.reg_dmabuf_mr, true},
	{"ibv_query_ece", "IBVERBS_1.10", &mini_verbs.query_ece, true},
	{"ibv_set_ece", "IBVERBS_1.10", &mini_verbs.set_ece, true},
	{"ibv_dereg_mr", "IBVERBS_1.1", &mini_verbs.dereg_mr, false},
	{"ibv_create_cq", "IBVERBS_1.1", &mini_verbs.create_cq, false},
	{"ibv_destroy_cq", "IBVERBS_1.1", &mini_verbs.destroy_cq, false},
	{"ibv_create_qp", "IBVERBS_1.1", &mini_verbs.create_qp, false},
	{"ibv_modify_qp", "IBVERBS_1.1", &mini_verbs.modify_qp, false},
	{"ibv_destroy_qp", "IBVERBS_1.1", &mini_verbs.destroy_qp, false},
	{"ibv_fork_init", "IBVERBS_1.1", &mini_verbs.fork_init, false},
	{"ibv_event_type_str", "IBVERBS_1.1", &mini_verbs.event_type_str, false},
};

bool mini_verbs_load(void)
{
	void *library = dlopen("libibverbs.so", RTLD_NOW);
	void *symbol;
	size_t i;

	if (!library)
		library = dlopen("libibverbs.so.1", RTLD_NOW);
	if (!library)
		return false;
	for (i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		symbol = dlvsym(library, symbols[i].name, symbols[i].version);
		if (!symbol && !symbols[i].is_optional) {
			dlclose(library);
			return false;
		}
		memcpy(symbols[i].place, &symbol, sizeof(symbol));
	}
	return true;
}
