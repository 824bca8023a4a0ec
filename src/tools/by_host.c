/* SPDX-License-Identifier: MIT */
/* Of a host whose reader has not begun or is over, its watch says so, too. */
#include "tools/by_host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tools/message.h"
#include "tools/metadata.h"

/* Returns the host, which is added if need be, or NULL. */
static struct tap_host_traces *find_host(struct tap_by_host *by_host, const char *name)
{
	struct tap_host_traces host = {.name = NULL};
	size_t i;

	for (i = 0; i < by_host->hosts.count; i++)
		if (!strcmp(by_host->hosts.items[i].name, name))
			return &by_host->hosts.items[i];
	host.name = strdup(name);
	host.traces.watch = host.name ? tap_traces_make_watch() : NULL;
	if (host.traces.watch && !tap_vec_add(&by_host->hosts, host))
		return &by_host->hosts.items[i];
	if (host.traces.watch)
		munmap(host.traces.watch, sizeof(*host.traces.watch));
	free(host.name);
	return NULL;
}

static int add(struct tap_by_host *by_host, const struct tap_trace *trace)
{
	const struct stat status = {.st_dev = trace->device, .st_ino = trace->inode};
	struct tap_host_traces *host;
	char name[256], *path;

	tap_metadata_find_host(trace->path, name, sizeof(name));
	host = find_host(by_host, name);
	path = host ? strdup(trace->path) : NULL;
	if (!path)
		return -ENOMEM;
	host->size += tap_traces_size(path);
	if (tap_traces_append(&host->traces, path, &status)) {
		free(path);
		return -ENOMEM;
	}
	return tap_snapshots_add(&host->traces.snapshots, path, path) ? -ENOMEM : 0;
}

static int compare(const void *left, const void *right)
{
	const struct tap_host_traces *a = left, *b = right;

	return strcmp(a->name, b->name);
}

int tap_by_host_sort(struct tap_by_host *by_host, const struct tap_traces *traces)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < traces->count; i++)
		ret = add(by_host, &traces->list[i]);
	if (!ret) {
		qsort(by_host->hosts.items, by_host->hosts.count,
		      sizeof(*by_host->hosts.items), compare);
		return 0;
	}
	tap_message_write("out of memory");
	return TAP_EXIT_FAILURE;
}

void tap_by_host_measure(const struct tap_by_host *by_host, uint64_t *done, uint64_t *all)
{
	size_t i;

	*done = *all = 0;
	for (i = 0; i < by_host->hosts.count; i++) {
		const struct tap_host_traces *host = &by_host->hosts.items[i];
		const uint64_t of = atomic_load(&host->traces.watch->all_bytes),
			       read = atomic_load(&host->traces.watch->read_bytes);

		*all += host->size;
		if (of)
			*done += (uint64_t) ((double) host->size *
					     (read < of ? (double) read / (double) of
							: 1));
	}
}

void tap_by_host_free(struct tap_by_host *by_host)
{
	size_t i;

	for (i = 0; i < by_host->hosts.count; i++) {
		struct tap_host_traces *host = &by_host->hosts.items[i];

		munmap(host->traces.watch, sizeof(*host->traces.watch));
		tap_traces_free(&host->traces);
		free(host->name);
	}
	tap_vec_free(&by_host->hosts);
}
