/* SPDX-License-Identifier: MIT */
/*
 * Samples the counters of the ports of the devices that the program has opened, from
 * sysfs.
 *
 * The state of queue pairs is not asked for: the program may destroy one while another
 * thread queries it.  Their changes and their completions are recorded anyway.
 */
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/counters.h"
#include "common/port_counters.h"
#include "intercept/own_fd.h"
#include "verbs/entry_point.h"
#include "verbs/objects.h"

/* Ports that are sampled; more than a node's adapters have. */
#define PORTS_MAX 32

_Static_assert(ARRAY_SIZE(tap_port_counters) <= TAP_COUNTERS_MAX, "a bit for each");

struct port {
	char folder[320]; /* the port's in sysfs */
	char subject[72]; /* "mlx5_0/1" */
	char state[64];
	struct tap_counters counters;
	uint64_t is_missing; /* a bit for each counter without a file */
};

/* The watchdog alone uses these; a fork's child has its own. */
static struct port ports[PORTS_MAX];
static unsigned nr_ports;
static struct tap_counters_looks looks;

static void add_port(const struct tap_context *c, unsigned number)
{
	char folder[sizeof(ports->folder)];
	unsigned i;

	/* A path that is cut names no file. */
	snprintf(folder, sizeof(folder), "%s/ports/%u", c->path, number);
	for (i = 0; i < nr_ports; i++)
		if (!strcmp(ports[i].folder, folder))
			return;
	if (nr_ports == PORTS_MAX)
		return;
	memcpy(ports[nr_ports].folder, folder, sizeof(folder));
	snprintf(ports[nr_ports].subject, sizeof(ports->subject), "%s/%u", c->device,
		 number);
	nr_ports++;
}

/* A device that was closed goes on being sampled: its ports still serve others. */
static void find_ports(void)
{
	const struct tap_context *c;
	unsigned number;

	if (!tap_tables_lock())
		return;
	tap_table_each(&tap_contexts, c)
	{
		for (number = 1; *c->path && number <= c->about.num_ports; number++)
			add_port(c, number);
	}
	tap_tables_unlock();
}

/* "4: ACTIVE" becomes "ACTIVE". */
static void read_state(const struct port *port, char *ret_state, size_t size)
{
	char path[400], text[64];
	const char *name;

	snprintf(path, sizeof(path), "%s/state", port->folder);
	*ret_state = 0;
	if (!tap_own_fd_read(path, text, sizeof(text)))
		return;
	text[strcspn(text, "\n")] = 0;
	name = strchr(text, ' ');
	snprintf(ret_state, size, "%s", name ? name + 1 : text);
}

static void sample(struct port *port)
{
	static struct tap_counters_sample found;
	char path[400], text[32], state[sizeof(port->state)];
	uint64_t value;
	bool is_new;
	unsigned i;

	tap_counters_begin(&port->counters, &found, tap_now_ns());
	read_state(port, state, sizeof(state));
	for (i = 0;
	     i < ARRAY_SIZE(tap_port_counters) && !tap_counters_look_is_long(&looks);
	     i++) {
		if (port->is_missing >> i & 1)
			continue;
		snprintf(path, sizeof(path), "%s/%s", port->folder,
			 tap_port_counters[i]);
		if (tap_own_fd_read(path, text, sizeof(text)) &&
		    tap_counters_number(text, &value))
			tap_counters_note(&port->counters, &found, i,
					  strchr(tap_port_counters[i], '/') + 1, value);
		else
			port->is_missing |= UINT64_C(1) << i;
	}
	is_new = strcmp(state, port->state);
	memcpy(port->state, state, sizeof(state));
	if (!tap_counters_end(&port->counters, &found) && !is_new)
		return;
	tap_events_table->sample(&(struct tap_sample){
		.source = "port",
		.subject = port->subject,
		.state = port->state,
		.interval_ns = found.interval_ns,
		.names = found.names,
		.nr = found.nr,
		.values = found.values,
		.growth = found.growth,
	});
}

void tap_verbs_sample(unsigned sources)
{
	unsigned i;

	if (!(sources & TAP_SAMPLE_PORTS) || !tap_counters_look(&looks))
		return;
	find_ports();
	for (i = 0; i < nr_ports && !tap_counters_look_is_long(&looks); i++)
		sample(&ports[i]);
	if (tap_counters_look_end(&looks))
		tap_problem("not sampled", "the counters of a port take long to read", 1);
}
