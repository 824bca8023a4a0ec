/* SPDX-License-Identifier: MIT */
/* Looks at each port now and then; each metric writes its part of what was found. */
#include "tools/metrics_ports.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/compiler.h"
#include "common/counters.h"
#include "common/port_counters.h"
#include "common/vec.h"
#include "tools/metrics_label.h"

/* More than an adapter has. */
#define PORTS_MAX 8
/* A look may wait for firmware; the metrics are written up to four times a second. */
#define LOOK_MS 5000
/* After which what was given up is tried again. */
#define GIVEN_UP_MS 60000

struct found {
	char device[TAP_METRICS_DEVICE_NAME]; /* it may outlive the process's page */
	unsigned port;
	const char *counter; /* of tap_port_counters */
	uint64_t value;
};

struct all {
	TAP_VEC(struct found) of;
	bool is_cut; /* the look took too long: some are missing */
};

/* The ports are the host's: there is one of this. */
static struct {
	struct all all; /* of the last look that was not cut */
	struct tap_counters_looks looks;
	int64_t next_ms; /* the next look */
	bool is_given_up;
} self;

/* A name comes from a process's memory, and becomes a part of a path. */
static bool is_name(const char *name)
{
	return *name && *name != '.' && !strchr(name, '/');
}

/* Whether the file is there and begins with a number. */
static bool read_number(const char *path, uint64_t *ret)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[32];
	ssize_t length;

	if (fd < 0)
		return false;
	length = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[length < 0 ? 0 : length] = 0;
	return tap_counters_number(text, ret);
}

static int look_at_port(struct all *all, const char *folder, const char *device,
			unsigned port, const struct tap_counters_looks *looks)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < ARRAY_SIZE(tap_port_counters); i++) {
		struct found found = {.port = port, .counter = tap_port_counters[i]};
		char path[PATH_MAX];

		all->is_cut |= tap_counters_look_is_long(looks);
		if (all->is_cut)
			break;
		snprintf(found.device, sizeof(found.device), "%s", device);
		if (snprintf(path, sizeof(path), "%s/%s", folder, found.counter) <
			    (int) sizeof(path) &&
		    read_number(path, &found.value))
			ret = tap_vec_add(&all->of, found);
	}
	return ret;
}

static int look_at_device(struct all *all, const char *device,
			  const struct tap_counters_looks *looks)
{
	const char *sysfs = getenv("CCLTAP_SYSFS");
	char folder[PATH_MAX];
	int ret = 0;

	for (unsigned port = 1; !ret && port <= PORTS_MAX; port++) {
		if (snprintf(folder, sizeof(folder), "%s/%s/ports/%u",
			     sysfs ? sysfs : "/sys/class/infiniband", device,
			     port) >= (int) sizeof(folder) ||
		    access(folder, X_OK))
			break;
		ret = look_at_port(all, folder, device, port, looks);
	}
	return ret;
}

static bool is_there(const struct all *all, const char *device)
{
	for (size_t i = 0; i < all->of.count; i++)
		if (!strcmp(all->of.items[i].device, device))
			return true;
	return false;
}

static int look_at_all(struct all *all, struct tap_metrics_process *const *processes,
		       size_t count, const struct tap_counters_looks *looks)
{
	int ret = 0;

	for (size_t i = 0; i < count; i++) {
		const struct tap_metrics_page *page = processes[i]->page;

		for (unsigned j = 0; !ret && j < page->devices_used; j++)
			if (is_name(page->devices[j].name) &&
			    !is_there(all, page->devices[j].name))
				ret = look_at_device(all, page->devices[j].name, looks);
	}
	return ret;
}

static void keep(struct all *all)
{
	tap_vec_free(&self.all.of);
	self.all = *all;
}

static int look(struct tap_metrics_process *const *processes, size_t count,
		int64_t now_ms)
{
	struct all all = {0};
	int ret;

	(void) tap_counters_look(&self.looks);
	ret = look_at_all(&all, processes, count, &self.looks);
	if (ret) {
		tap_vec_free(&all.of);
		return ret;
	}
	self.next_ms = now_ms + LOOK_MS;
	if (tap_counters_look_end(&self.looks)) {
		/* What was found before would be taken for a port that is idle. */
		tap_vec_free(&all.of);
		keep(&all);
		self.is_given_up = true;
		self.looks = (struct tap_counters_looks){0};
		self.next_ms = now_ms + GIVEN_UP_MS;
	} else if (all.is_cut) {
		tap_vec_free(&all.of);
	} else {
		keep(&all);
		self.is_given_up = false;
	}
	return 0;
}

/* counter NULL: of all but the two of traffic, each with its name as a label. */
static void write_metric(FILE *out, const struct all *all, const char *host,
			 const char *recording, const char *name, const char *help,
			 const char *counter)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s counter\n", name, help, name);
	for (size_t i = 0; i < all->of.count; i++) {
		const struct found *found = &all->of.items[i];
		const bool is_traffic = !strcmp(found->counter, TAP_PORT_SENT) ||
					!strcmp(found->counter, TAP_PORT_RECEIVED);
		uint64_t value = found->value;

		if (counter ? strcmp(found->counter, counter) != 0 : is_traffic)
			continue;
		fprintf(out, "%s{", name);
		tap_metrics_label_rank(out, host, recording, -1);
		fputc(',', out);
		tap_metrics_label_word(out, "device", found->device);
		fprintf(out, ",port=\"%u\"", found->port);
		if (counter)
			value *= TAP_PORT_WORD_BYTES;
		else
			fprintf(out, ",event=\"%s\"", strchr(found->counter, '/') + 1);
		fprintf(out, "} %" PRIu64 "\n", value);
	}
}

int tap_metrics_ports_write(FILE *out, struct tap_metrics_process *const *processes,
			    size_t count, const char *recording, int64_t now_ms)
{
	struct utsname host;
	int ret = 0;

	if (uname(&host))
		host.nodename[0] = '\0';
	tap_metrics_label_clean(host.nodename);
	if (now_ms >= self.next_ms)
		ret = look(processes, count, now_ms);
	if (ret)
		return ret;
	write_metric(out, &self.all, host.nodename, recording,
		     "ccltap_rdma_port_sent_bytes_total",
		     "Bytes that the port has sent, for anybody.", TAP_PORT_SENT);
	write_metric(out, &self.all, host.nodename, recording,
		     "ccltap_rdma_port_received_bytes_total",
		     "Bytes that the port has received, for anybody.", TAP_PORT_RECEIVED);
	write_metric(out, &self.all, host.nodename, recording,
		     "ccltap_rdma_port_events_total",
		     "What the port's driver counts of losses and congestion.", NULL);
	fputs("# HELP ccltap_rdma_ports_given_up 1 while counters of ports are not read, "
	      "since they were long in answering.\n"
	      "# TYPE ccltap_rdma_ports_given_up gauge\n",
	      out);
	tap_metrics_value_one(out, "ccltap_rdma_ports_given_up", recording,
			      self.is_given_up);
	return 0;
}
