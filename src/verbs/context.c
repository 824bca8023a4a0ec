/* SPDX-License-Identifier: MIT */
/*
 * Contexts: the tracer patches a context's tables when the program opens it.
 *
 * The tables belong to the program from then on: it may put functions of its own there
 * that call the tracer's, so the tracer never puts the provider's functions back.  A
 * context whose table is patched already, because the program copied a table or opened
 * the context twice, keeps the functions of the first.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "verbs/address.h"
#include "verbs/extended.h"
#include "verbs/objects.h"
#include "verbs/entry_point.h"

/* Reports an object whose own function pointers the tracer cannot follow. */
static void emit_extended(const struct tap_context *c, const char *what)
{
	const struct tap_verbs_events *events;
	struct tap_guard guard;

	events = tap_verbs_begin_emit(&guard);
	if (events)
		events->unobserved(
			c->head.id, what,
			"the extended interface of this object is not followed");
	tap_guard_clear(guard);
}

static struct ibv_cq_ex *on_create_cq_ex(struct ibv_context *context,
					 struct ibv_cq_init_attr_ex *attr)
{
	const struct tap_context *c = tap_find(&tap_contexts, context);
	struct ibv_cq_ex *made;

	if (!c) {
		errno = ENOSYS;
		return NULL;
	}
	made = c->real.create_cq_ex(context, attr);
	if (!made)
		return made;
	tap_cq_made(ibv_cq_ex_to_cq(made), attr->channel, true);
	if (!tap_extended_cq_made(made, attr->wc_flags))
		emit_extended(c, "ibv_start_poll");
	return made;
}

static struct ibv_qp *on_create_qp_ex(struct ibv_context *context,
				      struct ibv_qp_init_attr_ex *attr)
{
	const struct tap_context *c = tap_find(&tap_contexts, context);
	struct ibv_qp *made;

	if (!c) {
		errno = ENOSYS;
		return NULL;
	}
	made = c->real.create_qp_ex(context, attr);
	if (!made)
		return made;
	tap_qp_made(made, &attr->cap, attr->sq_sig_all, true);
	if (!tap_extended_qp_made(made, attr))
		emit_extended(c, "ibv_wr_start");
	return made;
}

static struct ibv_qp *on_open_qp(struct ibv_context *context,
				 struct ibv_qp_open_attr *attr)
{
	const struct tap_context *c = tap_find(&tap_contexts, context);
	const struct ibv_qp_cap none = {0};
	struct ibv_qp *made;

	if (!c) {
		errno = ENOSYS;
		return NULL;
	}
	made = c->real.open_qp(context, attr);
	if (made)
		tap_qp_made(made, &none, false, false);
	return made;
}

static struct ibv_srq *on_create_srq_ex(struct ibv_context *context,
					struct ibv_srq_init_attr_ex *attr)
{
	const struct tap_context *c = tap_find(&tap_contexts, context);
	struct ibv_srq *made;

	if (!c) {
		errno = ENOSYS;
		return NULL;
	}
	made = c->real.create_srq_ex(context, attr);
	if (made)
		tap_srq_made(made, attr->attr.max_wr);
	return made;
}

static struct ibv_mr *on_alloc_null_mr(struct ibv_pd *pd)
{
	const struct tap_context *c = tap_find(&tap_contexts, pd->context);
	struct ibv_mr *made;

	if (!c) {
		errno = ENOSYS;
		return NULL;
	}
	made = c->real.alloc_null_mr(pd);
	if (made)
		tap_mr_made(made, pd, 0, UINT64_MAX, 0, TAP_MR_NULL);
	return made;
}

/* Replaces a function that the table has and that is not the tracer's already. */
#define PATCH(table, c, op) \
	do { \
		if ((table)->op && (table)->op != on_##op) { \
			(c)->real.op = (table)->op; \
			(table)->op = on_##op; \
		} \
	} while (0)

#define on_post_srq_recv tap_on_post_srq_recv

/* The same of a function of which the tracer has two. */
#define PATCH_HOT(table, c, op, is_metered) \
	do { \
		if ((table)->op && (table)->op != tap_on_##op && \
		    (table)->op != tap_on_##op##_metered) { \
			(c)->real.op = (table)->op; \
			(table)->op = \
				(is_metered) ? tap_on_##op##_metered : tap_on_##op; \
		} \
	} while (0)

static bool is_patched(const struct ibv_context *context)
{
	return context->ops.post_send == tap_on_post_send ||
	       context->ops.post_send == tap_on_post_send_metered;
}

static void patch(struct tap_context *c, struct ibv_context *context)
{
	/* Also while another thread makes the counters: queues come later. */
	const bool is_metered = tap_metrics_begin() != TAP_METRICS_OFF;

	PATCH_HOT(&context->ops, c, post_send, is_metered);
	PATCH_HOT(&context->ops, c, post_recv, is_metered);
	PATCH_HOT(&context->ops, c, poll_cq, is_metered);
	PATCH(&context->ops, c, post_srq_recv);
#define PATCH_EXTENDED(op) \
	do { \
		struct verbs_context *v = verbs_get_ctx_op(context, op); \
\
		if (v) \
			PATCH(v, c, op); \
	} while (0)
	PATCH_EXTENDED(create_cq_ex);
	PATCH_EXTENDED(create_qp_ex);
	PATCH_EXTENDED(create_srq_ex);
	PATCH_EXTENDED(open_qp);
	PATCH_EXTENDED(alloc_null_mr);
}

static void describe(struct tap_context *c, struct ibv_context *context)
{
	int (*query)(struct ibv_context *, struct ibv_device_attr *) =
		(int (*)(struct ibv_context *, struct ibv_device_attr *))
			tap_verbs_function("ibv_query_device", "IBVERBS_1.1");
	struct ibv_device_attr attr;
	Dl_info provider;

	c->about = (struct tap_verbs_context){
		.context_id = c->head.id,
		.device = c->device,
		.provider = c->provider,
		.transport = context->device->transport_type,
		.extended = verbs_get_ctx(context) != NULL,
		.observed = c->real.post_send && c->real.poll_cq,
	};
	snprintf(c->device, sizeof(c->device), "%s", context->device->name);
	snprintf(c->path, sizeof(c->path), "%s", context->device->ibdev_path);
	if (c->real.post_send && dladdr((void *) c->real.post_send, &provider) &&
	    provider.dli_fname)
		snprintf(c->provider, sizeof(c->provider), "%s", provider.dli_fname);
	memset(&attr, 0, sizeof(attr));
	if (!query || query(context, &attr))
		return;
	c->about.node_guid = be64toh(attr.node_guid);
	c->about.num_ports = attr.phys_port_cnt;
	c->about.vendor_id = attr.vendor_id;
	c->about.vendor_part_id = attr.vendor_part_id;
}

/* Every version of the query fills all attributes of a port but the newest. */
static void learn_ports(const struct tap_verbs_events *events,
			const struct tap_context *c, struct ibv_context *context)
{
	int (*query)(struct ibv_context *, uint8_t, struct _compat_ibv_port_attr *) =
		(int (*)(struct ibv_context *, uint8_t, struct _compat_ibv_port_attr *))
			tap_verbs_function("ibv_query_port", "IBVERBS_1.1");
	struct ibv_port_attr attr;
	uint32_t port;

	for (port = 1; query && port <= c->about.num_ports && port < 256; port++) {
		memset(&attr, 0, sizeof(attr));
		if (query(context, (uint8_t) port, (void *) &attr))
			continue;
		tap_port_learned(events, &(struct tap_verbs_port){
						 .context_id = c->head.id,
						 .port_num = (uint8_t) port,
						 .state = attr.state,
						 .link_layer = attr.link_layer,
						 .active_mtu = attr.active_mtu,
						 .lid = attr.lid,
						 .active_speed = attr.active_speed,
						 .active_width = attr.active_width,
					 });
	}
}

/*
 * Patches a table once per process: a function of the program's that stood there before
 * may call the tracer's.
 */
static void opened(struct ibv_context *context)
{
	const struct tap_context *known = tap_find(&tap_contexts, context);
	const struct tap_verbs_events *events;
	struct tap_context *c;
	struct tap_guard guard;

	if (known && is_patched(context))
		return;
	c = tap_table_make(&tap_contexts);
	if (!c) {
		tap_problem("not recorded", "a device: out of memory", 1);
		return;
	}
	events = tap_verbs_begin_emit(&guard);
	if (is_patched(context)) {
		/* The program copied this table from a patched one. */
		tap_table_free(&tap_contexts, c);
	} else {
		patch(c, context);
		describe(c, context);
		tap_table_show(&tap_contexts, c, context);
		if (events)
			events->context(&c->about, false);
		learn_ports(events, c, context);
	}
	tap_guard_clear(guard);
}

struct ibv_context *tap_on_ibv_open_device(ibv_open_device_function real,
					   struct ibv_device *device)
{
	struct ibv_context *context = real(device);

	if (context)
		opened(context);
	return context;
}

struct ibv_context *tap_on_ibv_import_device(ibv_import_device_function real, int cmd_fd)
{
	struct ibv_context *context = real(cmd_fd);

	if (context)
		opened(context);
	return context;
}

int tap_on_ibv_close_device(ibv_close_device_function real, struct ibv_context *context)
{
	struct tap_context *c = tap_table_hide(&tap_contexts, context);
	const struct tap_verbs_events *events;
	struct tap_guard guard;
	int ret = real(context);

	if (!c)
		return ret;
	if (ret) {
		tap_table_show(&tap_contexts, c, context);
		return ret;
	}
	events = tap_verbs_begin_emit(&guard);
	if (events)
		events->gone(TAP_GONE_CONTEXT, c->head.id);
	tap_addresses_forget(c->head.id);
	tap_table_free(&tap_contexts, c);
	tap_guard_clear(guard);
	return ret;
}
