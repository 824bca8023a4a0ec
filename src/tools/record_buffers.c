/* SPDX-License-Identifier: MIT */
/* Fits LTTng's buffers into shared memory; hides where Linux says how much there is. */
#include "tools/record_buffers.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/compiler.h"
#include "tools/message.h"

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)

static const char shared_memory[] = "/dev/shm";

/*
 * From what a busy process fills without loss down to what still records a quiet one. The
 * last step fits 160 processors into half of a container's usual 64 MiB.
 */
static const struct tap_buffers steps[] = {
	{ 4 * MIB, 8, 256 * KIB, 4 },
	{ 2 * MIB, 8, 256 * KIB, 4 },
	{ 1 * MIB, 8, 128 * KIB, 4 },
	{ 512 * KIB, 8, 128 * KIB, 4 },
	{ 256 * KIB, 8, 64 * KIB, 4 },
	{ 128 * KIB, 8, 64 * KIB, 4 },
	{ 64 * KIB, 8, 32 * KIB, 4 },
	{ 64 * KIB, 4, 32 * KIB, 4 },
	{ 32 * KIB, 4, 16 * KIB, 4 },
	{ 16 * KIB, 4, 16 * KIB, 4 },
};

int tap_buffers_parse(const char *text, uint64_t *ret_bytes, uint64_t most)
{
	static const char units[] = "KMGT";
	unsigned long long number;
	const char *unit;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno || number > most)
		return -EINVAL;
	if (*end) {
		unit = strchr(units, *end >= 'a' ? *end - 'a' + 'A' : *end);
		if (!unit || end[1])
			return -EINVAL;
		for (; unit >= units; unit--) {
			number *= KIB;
			if (number > most)
				return -EINVAL;
		}
	}
	if (number < 64 * KIB)
		return -EINVAL;
	*ret_bytes = number;
	return 0;
}

/* The first number in a file, or the largest number if it has none. */
static uint64_t read_number(const char *path)
{
	uint64_t number = UINT64_MAX;
	FILE *file = fopen(path, "re");

	if (!file)
		return number;
	if (fscanf(file, "%" SCNu64, &number) != 1)
		number = UINT64_MAX;
	fclose(file);
	return number;
}

/*
 * LTTng has one buffer for each possible processor, which may be more than are present.
 * The list reads "0-127".
 */
static uint64_t count_possible_processors(void)
{
	char list[256] = "";
	char *last;
	FILE *file = fopen("/sys/devices/system/cpu/possible", "re");
	long configured = sysconf(_SC_NPROCESSORS_CONF);

	if (file) {
		if (!fgets(list, sizeof(list), file))
			list[0] = '\0';
		fclose(file);
	}
	last = strrchr(list, '-');
	if (!last)
		last = strrchr(list, ',');
	if (last && atol(last + 1) + 1 > configured)
		configured = atol(last + 1) + 1;
	return configured > 0 ? configured : 1;
}

static uint64_t free_memory(void)
{
	char line[256];
	uint64_t kib, bytes = UINT64_MAX;
	FILE *file = fopen("/proc/meminfo", "re");

	if (!file)
		return bytes;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %" SCNu64 " kB", &kib) == 1)
			bytes = kib * KIB;
	fclose(file);
	return bytes;
}

/* What one control group leaves: its limit minus its usage. */
static uint64_t free_in_group(const char *folder, const char *limit, const char *usage)
{
	char path[PATH_MAX + 64];
	uint64_t most, used;

	snprintf(path, sizeof(path), "%s/%s", folder, limit);
	most = read_number(path);
	if (most == UINT64_MAX)
		return most;
	snprintf(path, sizeof(path), "%s/%s", folder, usage);
	used = read_number(path);
	if (used == UINT64_MAX)
		return most;
	return used < most ? most - used : 0;
}

/* A group's parents limit it too. In a container the root is its own group. */
static uint64_t free_up_to_root(const char *root, const char *group, const char *limit,
				const char *usage)
{
	char folder[PATH_MAX];
	uint64_t here, least = UINT64_MAX;
	char *slash;

	snprintf(folder, sizeof(folder), "%s%s", root, group);
	for (;;) {
		here = free_in_group(folder, limit, usage);
		if (here < least)
			least = here;
		slash = strrchr(folder, '/');
		if (!slash || strlen(folder) <= strlen(root))
			return least;
		*slash = '\0';
	}
}

static uint64_t free_in_groups(void)
{
	char line[PATH_MAX], *controllers, *group;
	uint64_t here, least = UINT64_MAX;
	FILE *file = fopen("/proc/self/cgroup", "re");

	if (!file)
		return least;
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		controllers = strchr(line, ':');
		group = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!group)
			continue;
		*group++ = '\0';
		if (!controllers[1])
			here = free_up_to_root("/sys/fs/cgroup", group, "memory.max",
					       "memory.current");
		else if (strstr(controllers, "memory"))
			here = free_up_to_root("/sys/fs/cgroup/memory", group,
					       "memory.limit_in_bytes",
					       "memory.usage_in_bytes");
		else
			continue;
		if (here < least)
			least = here;
	}
	fclose(file);
	return least;
}

static uint64_t free_shared_memory(void)
{
	struct statvfs fs;

	if (statvfs(shared_memory, &fs) < 0)
		return UINT64_MAX;
	return (uint64_t)fs.f_bavail * fs.f_frsize;
}

static uint64_t least_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * LTTng-UST 2.13 makes one sub-buffer more than asked for, which the reader holds; in a
 * measurement it took some 100 KiB more for two processors.
 */
static uint64_t total(const struct tap_buffers *buffers, uint64_t processors)
{
	return 64 * KIB +
	       processors * (32 * KIB + buffers->hot_bytes * (buffers->hot_count + 1) +
			     buffers->setup_bytes * (buffers->setup_count + 1));
}

/* LTTng takes no sub-buffer that is smaller than a page, which may have 64 KiB. */
static struct tap_buffers of_pages(struct tap_buffers buffers)
{
	const long page = sysconf(_SC_PAGESIZE);

	if (page > 0 && buffers.hot_bytes < (uint64_t) page)
		buffers.hot_bytes = page;
	if (page > 0 && buffers.setup_bytes < (uint64_t) page)
		buffers.setup_bytes = page;
	return buffers;
}

static struct tap_buffers enlarge(uint64_t asked_bytes)
{
	struct tap_buffers chosen = steps[ARRAY_SIZE(steps) - 1];

	chosen.hot_bytes = 16 * KIB;
	while (chosen.hot_bytes * chosen.hot_count < asked_bytes) {
		chosen.hot_bytes *= 2;
		if (chosen.hot_bytes == 64 * KIB && chosen.hot_count < 8) {
			chosen.hot_bytes /= 2;
			chosen.hot_count *= 2;
		}
	}
	return chosen;
}

int tap_buffers_choose(uint64_t asked_bytes, struct tap_buffers *ret_buffers,
		       struct tap_buffers_room *ret_room)
{
	uint64_t processors = count_possible_processors();
	uint64_t available = least_of(free_shared_memory(),
				      least_of(free_memory(), free_in_groups()));
	struct tap_buffers least = of_pages(asked_bytes ? enlarge(asked_bytes)
							: steps[ARRAY_SIZE(steps) - 1]);

	/* Half is left to others. */
	if (!asked_bytes)
		available /= 2;
	*ret_room = (struct tap_buffers_room){ processors, total(&least, processors),
					       available };
	if (ret_room->needed_bytes > available)
		return -ENOSPC;
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		*ret_buffers = of_pages(steps[i]);
		if (asked_bytes) {
			ret_buffers->hot_bytes = least.hot_bytes;
			ret_buffers->hot_count = least.hot_count;
		}
		if (total(ret_buffers, processors) <= available)
			return 0;
	}
	return -ENOSPC;
}

int tap_buffers_fit(uint64_t asked_bytes, struct tap_buffers *ret_buffers)
{
	struct tap_buffers_room room;

	if (!tap_buffers_choose(asked_bytes, ret_buffers, &room))
		return 0;
	tap_message_write("buffers for %" PRIu64 " processors need %" PRIu64 " KiB and "
			  "%s or the memory limit has %" PRIu64 " KiB to give: %s",
			  room.processors, room.needed_bytes / KIB, shared_memory,
			  room.available_bytes / KIB,
			  asked_bytes ? "ask for less with --buffer-size" :
					"enlarge it (a container: --shm-size), or set "
					"--buffer-size, which may take all of it");
	return -ENOSPC;
}

int tap_buffers_fit_flight(uint64_t bytes, struct tap_buffers *ret_buffers)
{
	uint64_t processors = count_possible_processors();
	struct tap_buffers larger;
	size_t i;

	if (!bytes)
		return tap_buffers_fit(0, ret_buffers);
	for (i = 0; i < ARRAY_SIZE(steps) && total(&steps[i], processors) > bytes; i++)
		;
	if (i == ARRAY_SIZE(steps)) {
		tap_message_write("a flight recorder for %" PRIu64 " processors needs %" PRIu64
				  " KiB: ask for more than %" PRIu64 " KiB with "
				  "--flight-recorder", processors,
				  total(&steps[i - 1], processors) / KIB, bytes / KIB);
		return -ENOSPC;
	}
	larger = steps[i];
	do {
		*ret_buffers = larger;
		larger.hot_bytes *= 2;
	} while (total(&larger, processors) <= bytes);
	bytes = total(ret_buffers, processors);
	if (bytes <= least_of(free_shared_memory(), least_of(free_memory(), free_in_groups())))
		return 0;
	tap_message_write("a flight recorder of %" PRIu64 " KiB does not fit into %s and the "
			  "memory limit: ask for less with --flight-recorder", bytes / KIB,
			  shared_memory);
	return -ENOSPC;
}
