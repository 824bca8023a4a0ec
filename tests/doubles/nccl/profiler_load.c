/* SPDX-License-Identifier: MIT */
/*
 * Finding the plugin and taking its table (NCCL 2.28.9, plugin/plugin_open.cc,
 * plugin/profiler.cc:40-130).
 */
#include "profiler.h"

#include "comm.h"
#include "release.h"
#include "result.h"
#include "settings.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NAME_BYTES = 255, LOG_WARN = 2 };

/* The plugin's functions, of whichever version. */
struct mini_profiler {
	const struct mini_profiler_v5 *v5;
	const struct mini_profiler_v4 *v4;
	mini_profiler_start_function start;
	ncclResult_t (*stop)(void *handle);
	mini_profiler_record_function record;
	ncclResult_t (*finalize)(void *context);
};

const struct mini_profiler *_Atomic mini_profiler;

/* Guards the rest. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mini_profiler loaded;
static void *library;
static int users;
/* Once there was none there is none any more. */
static bool has_failed;
/* The plugin may write it at any time. */
static int wanted;

/* "S" is enough for the name of what is linked to the program. */
static void *open_named(const char *name)
{
	bool is_static = strncasecmp(name, "STATIC_PLUGIN", strlen(name)) == 0;

	return dlopen(is_static ? NULL : name, RTLD_NOW | RTLD_LOCAL);
}

/* Neither a path nor the name of a library. */
static bool is_short(const char *name)
{
	size_t length = strlen(name);
	bool is_library = strncmp(name, "lib", 3) == 0 && length >= 3 &&
			  strcmp(name + length - 3, ".so") == 0;

	return !strchr(name, '/') && !is_library;
}

static void *open_library(const char *asked)
{
	char name[NAME_BYTES];
	void *opened;

	snprintf(name, sizeof(name), "%s", asked ? asked : "libnccl-profiler.so");
	opened = open_named(name);
	if (opened || !asked || !is_short(asked))
		return opened;
	snprintf(name, sizeof(name), "libnccl-profiler-%s.so", asked);
	return open_named(name);
}

static bool take_v5(void)
{
	loaded.v5 = dlsym(library, "ncclProfiler_v5");
	if (!loaded.v5)
		return false;
	loaded.start = loaded.v5->start;
	loaded.stop = loaded.v5->stop;
	loaded.record = loaded.v5->record;
	loaded.finalize = loaded.v5->finalize;
	return true;
}

static ncclResult_t start_v4(void *context, void **handle, struct mini_event *event)
{
	if (event->kind > UINT8_MAX)
		return ncclSuccess;
	if (event->kind == MINI_EVENT_COLL)
		event->parent = event->coll.group;
	else if (event->kind == MINI_EVENT_P2P)
		event->parent = event->p2p.group;
	return loaded.v4->start(context, handle, event);
}

static bool take_v4(void)
{
	loaded.v4 = dlsym(library, "ncclProfiler_v4");
	if (!loaded.v4)
		return false;
	loaded.start = start_v4;
	loaded.stop = loaded.v4->stop;
	/* Events that have other states are never begun. */
	loaded.record = loaded.v4->record;
	loaded.finalize = loaded.v4->finalize;
	return true;
}

/* Since 2.27 version 4 is taken, since 2.28 version 5 before it, up to this day. */
static bool load(void)
{
	const char *asked = mini_text(SET_NCCL_PROFILER_PLUGIN);

	if (mini_release() < 22700)
		return false;
	if (mini_release() >= 22800 && asked && strcasecmp(asked, "none") == 0)
		return false;
	library = open_library(asked);
	if (!library)
		return false;
	memset(&loaded, 0, sizeof(loaded));
	if ((mini_release() >= 22800 && take_v5()) || take_v4())
		return true;
	dlclose(library);
	library = NULL;
	return false;
}

static bool use(void)
{
	bool is_there;

	pthread_mutex_lock(&lock);
	if (users == 0 && !has_failed) {
		has_failed = !load();
		if (!has_failed)
			atomic_store(&mini_profiler, &loaded);
	}
	is_there = !has_failed;
	users += is_there;
	pthread_mutex_unlock(&lock);
	return is_there;
}

static void unuse(void)
{
	pthread_mutex_lock(&lock);
	if (--users == 0) {
		atomic_store(&mini_profiler, NULL);
		dlclose(library);
		library = NULL;
	}
	pthread_mutex_unlock(&lock);
}

/* NCCL writes all where NCCL_DEBUG says so; here a warning is the last error. */
static void __attribute__((format(printf, 5, 6)))
hear(int level, unsigned long flags, const char *file, int line, const char *format, ...)
{
	char text[256];
	va_list args;

	(void) flags;
	(void) file;
	(void) line;
	if (level != LOG_WARN)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	mini_fail(ncclSuccess, "%s", text);
}

void mini_profiler_open(struct ncclComm *comm)
{
	struct mini_comm_profile *profile = &comm->profile;
	int nnodes = comm->topology->nnodes;

	profile->has_plugin = use();
	if (!profile->has_plugin)
		return;
	/* A failure is written to the log, and all goes on. */
	if (loaded.v5)
		loaded.v5->init(&profile->context, comm->hash, &wanted, profile->name,
				nnodes, comm->nranks, comm->rank, hear);
	else
		loaded.v4->init(&profile->context, &wanted, profile->name, comm->hash,
				nnodes, comm->nranks, comm->rank, hear);
}

void mini_profiler_close(struct ncclComm *comm)
{
	if (!comm->profile.has_plugin)
		return;
	if (comm->profile.context || mini_release() < 22800)
		loaded.finalize(comm->profile.context);
	unuse();
}

int mini_profiler_mask(void)
{
	return __atomic_load_n(&wanted, __ATOMIC_RELAXED);
}

void mini_profiler_start(void *context, void **handle, struct mini_event *event)
{
	loaded.start(context, handle, event);
}

void mini_profiler_stop(void *handle)
{
	loaded.stop(handle);
}

void mini_profiler_record(void *handle, enum mini_event_state state,
			  union mini_event_argument argument)
{
	loaded.record(handle, state, &argument);
}
