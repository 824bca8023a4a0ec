/* SPDX-License-Identifier: MIT */
/* The tables, and an index of queue pairs by number. */
#include "verbs/objects.h"

struct tap_table tap_contexts = {.size = sizeof(struct tap_context)};
struct tap_table tap_pds = {.size = sizeof(struct tap_pd)};
struct tap_table tap_mrs = {.size = sizeof(struct tap_mr)};
struct tap_table tap_ahs = {.size = sizeof(struct tap_ah)};
struct tap_table tap_channels = {.size = sizeof(struct tap_channel)};
struct tap_table tap_cqs = {.size = sizeof(struct tap_cq)};
struct tap_table tap_srqs = {.size = sizeof(struct tap_srq)};
struct tap_table tap_qps = {.size = sizeof(struct tap_qp)};

/* Two devices use equal queue pair numbers, so the key includes the context. */
struct numbered {
	struct tap_object head;
	struct tap_qp *qp;
};
static struct tap_table numbers = {.size = sizeof(struct numbered)};

static const void *key_of(uint32_t context_id, uint32_t qp_num)
{
	return (const void *) (((uintptr_t) context_id << 32 | qp_num) << 6);
}

uint32_t tap_id_of(struct tap_table *table, const void *address)
{
	const struct tap_object *o = address ? tap_find(table, address) : NULL;

	return o ? o->id : 0;
}

void tap_qp_show(struct tap_qp *qp, const struct ibv_qp *at)
{
	struct numbered *n = tap_table_make(&numbers);

	if (n) {
		n->qp = qp;
		tap_table_show(&numbers, n,
			       key_of(qp->about.context_id, qp->about.qp_num));
	}
	tap_table_show(&tap_qps, qp, at);
}

struct tap_qp *tap_qp_hide(const struct ibv_qp *at)
{
	struct tap_qp *qp = tap_table_hide(&tap_qps, at);
	struct numbered *n;

	if (!qp)
		return NULL;
	n = tap_table_hide(&numbers, key_of(qp->about.context_id, qp->about.qp_num));
	tap_table_free(&numbers, n);
	return qp;
}

void tap_qp_free(struct tap_qp *qp)
{
	tap_table_free(&tap_qps, qp);
}

struct tap_qp *tap_qp_numbered(uint32_t context_id, uint32_t qp_num)
{
	const void *key = key_of(context_id, qp_num);
	const struct numbered *n = key ? tap_find(&numbers, key) : NULL;

	return n ? n->qp : NULL;
}
