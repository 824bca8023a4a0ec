/* SPDX-License-Identifier: MIT */
/* Ports and GIDs, each looked up by its context, port number and index. */
#include "verbs/address.h"

struct port {
	struct tap_object head;
	struct tap_verbs_port about;
};

struct gid {
	struct tap_object head;
	struct tap_verbs_port_gid about;
};

static struct tap_table ports = {.size = sizeof(struct port)};
static struct tap_table gids = {.size = sizeof(struct gid)};

/* No context's number is 0, so that no key is NULL. */
static const void *key_of(uint32_t context_id, uint8_t port_num, uint32_t index)
{
	return (const void *) (((uintptr_t) context_id << 24 |
				(uintptr_t) port_num << 16 | (index & UINT16_MAX))
			       << 6);
}

void tap_port_learned(const struct tap_verbs_events *events,
		      const struct tap_verbs_port *port)
{
	struct port *p = tap_table_make(&ports);

	if (p) {
		p->about = *port;
		tap_table_show(&ports, p, key_of(port->context_id, port->port_num, 0));
	}
	if (events)
		events->port(port, false);
}

void tap_gid_learned(const struct tap_verbs_events *events,
		     const struct tap_verbs_port_gid *gid)
{
	struct gid *g = tap_table_make(&gids);

	if (g) {
		g->about = *gid;
		tap_table_show(&gids, g,
			       key_of(gid->context_id, gid->port_num, gid->index));
	}
	if (events)
		events->gid(gid, false);
}

/* The key of one port of the context; NULL when it has none left. */
static const void *port_of(uint32_t context_id)
{
	const struct port *p;

	tap_table_each(&ports, p)
	{
		if (p->about.context_id == context_id)
			return p->head.address;
	}
	return NULL;
}

static const void *gid_of(uint32_t context_id)
{
	const struct gid *g;

	tap_table_each(&gids, g)
	{
		if (g->about.context_id == context_id)
			return g->head.address;
	}
	return NULL;
}

static bool forget_one(struct tap_table *table, const void *(*one_of)(uint32_t),
		       uint32_t context_id)
{
	const void *key;

	if (!tap_tables_lock())
		return false;
	key = one_of(context_id);
	tap_tables_unlock();
	if (key)
		tap_table_free(table, tap_table_hide(table, key));
	return key;
}

void tap_addresses_forget(uint32_t context_id)
{
	while (forget_one(&ports, port_of, context_id))
		;
	while (forget_one(&gids, gid_of, context_id))
		;
}

void tap_addresses_write_statedump(const struct tap_verbs_events *events)
{
	const struct port *p;
	const struct gid *g;

	tap_table_each(&ports, p) events->port(&p->about, true);
	tap_table_each(&gids, g) events->gid(&g->about, true);
}
