/* SPDX-License-Identifier: MIT */
/*
 * Every way in which a program can reach NCCL, one per argument.  What it
 * prints on stdout must be the same with libccltap and without; descriptor 3,
 * if open, is told which object the function came from.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef int (*version_function)(int *);

static const char *folder;

static void *open_library(const char *name, int flags)
{
	char path[4096];
	void *handle;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	handle = dlopen(path, flags);
	if (!handle)
		printf("%s\n", dlerror());
	return handle;
}

static void origin(const char *what, void *function)
{
	const char *name = "nothing";
	char line[256];
	Dl_info info;
	int len;

	if (function && dladdr(function, &info))
		name = strrchr(info.dli_fname, '/') ? strrchr(info.dli_fname, '/') + 1 :
						      info.dli_fname;
	len = snprintf(line, sizeof(line), "%s from %s\n", what, name);
	if (write(3, line, (size_t) len) < 0)
		return;
}

static void report(const char *what, void *function)
{
	int version = -1, result;

	origin(what, function);
	if (!function) {
		/* The path of the program is not part of what is compared. */
		const char *error = dlerror();
		const char *colon = error ? strrchr(error, '/') : NULL;

		printf("%s: none, %s\n", what, colon ? colon + 1 : error);
		return;
	}
	errno = 0;
	result = ((version_function) function)(&version);
	printf("%s: result %d version %d errno %d\n", what, result, version, errno);
}

static void probe(void)
{
	report("default", dlsym(RTLD_DEFAULT, "ncclGetVersion"));
	report("default pnccl", dlsym(RTLD_DEFAULT, "pncclGetVersion"));
	report("next", dlsym(RTLD_NEXT, "ncclGetVersion"));
	report("default dlvsym", dlvsym(RTLD_DEFAULT, "ncclGetVersion", "NCCL_2"));
}

static void handle(void)
{
	void *library = open_library("copy1.so", RTLD_NOW | RTLD_LOCAL);

	report("nccl", dlsym(library, "ncclGetVersion"));
	report("pnccl", dlsym(library, "pncclGetVersion"));
	report("unknown", dlsym(library, "ncclNoSuchCall"));
	report("absent", dlsym(library, "ncclAllReduce"));
	report("dlvsym", dlvsym(library, "ncclGetVersion", "NCCL_2"));
	report("default", dlsym(RTLD_DEFAULT, "ncclGetVersion"));
	printf("no error left: %s\n", dlerror() ? "no" : "yes");
}

static void global(void)
{
	open_library("copy1.so", RTLD_NOW | RTLD_GLOBAL);
	report("default", dlsym(RTLD_DEFAULT, "ncclGetVersion"));
	report("program", dlsym(dlopen(NULL, RTLD_NOW), "ncclGetVersion"));
}

/* A framework opened as Python does: NCCL is in no global scope at all. */
static void local(void)
{
	void *user = open_library("user.so", RTLD_NOW | RTLD_LOCAL);
	int (*linked)(void) = (int (*)(void)) dlsym(user, "user_version");
	int (*profiled)(void) = (int (*)(void)) dlsym(user, "user_profiled_version");
	void *(*by_default)(const char *) =
		(void *(*) (const char *) ) dlsym(user, "user_default");

	printf("linked: %d\n", linked());
	printf("linked pnccl: %d\n", profiled());
	report("default of the library", by_default("ncclGetVersion"));
	report("default of the program", dlsym(RTLD_DEFAULT, "ncclGetVersion"));
	report("handle of the library", dlsym(user, "ncclGetVersion"));
}

/* The same one level deeper: what asks was not opened but needed by another. */
static void deep(void)
{
	void *top = open_library("top.so", RTLD_NOW | RTLD_LOCAL);
	int (*linked)(void) = (int (*)(void)) dlsym(top, "top_version");
	void *(*by_default)(const char *) = (void *(*) (const char *) ) dlsym(top, "top_default");

	printf("linked: %d\n", linked());
	report("default of the library", by_default("ncclGetVersion"));
	report("absent in the library", by_default("ncclAllReduce"));
	report("handle", dlsym(top, "pncclGetVersion"));
}

static void two(void)
{
	void *one = open_library("copy1.so", RTLD_NOW | RTLD_LOCAL);
	void *other = open_library("copy2.so", RTLD_NOW | RTLD_LOCAL);
	version_function first = (version_function) dlsym(one, "ncclGetVersion");
	version_function second = (version_function) dlsym(other, "ncclGetVersion");

	report("first", (void *) first);
	report("second", (void *) second);
	report("first again", (void *) first);
	report("user", dlsym(open_library("user.so", RTLD_NOW | RTLD_LOCAL), "ncclGetVersion"));
}

/* Two frameworks opened for themselves, each linked to a NCCL of its own. */
static void frameworks(void)
{
	void *one = open_library("user.so", RTLD_NOW | RTLD_LOCAL);
	void *other = open_library("user3.so", RTLD_NOW | RTLD_LOCAL);
	int (*first)(void) = (int (*)(void)) dlsym(one, "user_version");
	int (*second)(void) = (int (*)(void)) dlsym(other, "user_version");
	int (*profiled)(void) = (int (*)(void)) dlsym(other, "user_profiled_version");

	printf("first: %d\n", first());
	printf("second: %d %d\n", second(), profiled());
	printf("first again: %d\n", first());
}

/* Likewise, and their NCCLs call themselves by a jump. */
static void jumps(void)
{
	void *one = open_library("user.so", RTLD_NOW | RTLD_LOCAL);
	void *other = open_library("user3.so", RTLD_NOW | RTLD_LOCAL);
	int (*first)(void) = (int (*)(void)) dlsym(one, "user_device");
	int (*second)(void) = (int (*)(void)) dlsym(other, "user_device");
	void *copy = open_library("copy4.so", RTLD_NOW | RTLD_LOCAL);
	int (*device)(void *, int *) =
		(int (*)(void *, int *)) dlsym(copy, "ncclCommCuDevice");
	int third = -1;

	printf("first: %d\n", first());
	printf("second: %d\n", second());
	printf("first again: %d\n", first());
	device(NULL, &third);
	printf("third: %d\n", third);
}

/* The second comes when the first has long begun, and goes before it. */
static void late(void)
{
	void *one = open_library("user.so", RTLD_NOW | RTLD_LOCAL), *other;
	int (*first)(void) = (int (*)(void)) dlsym(one, "user_version");
	int (*grouped)(void) = (int (*)(void)) dlsym(one, "user_group"), (*second)(void);
	int round;

	printf("first: %d %d\n", first(), grouped());
	for (round = 0; round < 2; round++) {
		other = open_library("user3.so", RTLD_NOW | RTLD_LOCAL);
		second = (int (*)(void)) dlsym(other, "user_group");
		printf("second: %d\n", second());
		second = (int (*)(void)) dlsym(other, "user_version");
		printf("second: %d\n", second());
		printf("first again: %d %d\n", first(), grouped());
		printf("closed: %d\n", dlclose(other));
		printf("first again: %d %d\n", first(), grouped());
	}
}

static struct {
	int (*broadcast)(void *comm);
	volatile int is_over;
} crowd;

static void *broadcast_on(void *comm)
{
	long wrong = 0;

	while (!crowd.is_over)
		wrong += crowd.broadcast(comm) != 1;
	return (void *) wrong;
}

/* Others go on with the first, as fast as they can, while the second comes and goes. */
static void race(void)
{
	void *one = open_library("user.so", RTLD_NOW | RTLD_LOCAL), *other, *wrong;
	int (*group)(void), (*broadcast)(void *), round, wrong_second = 0;
	pthread_t threads[3];
	long i, wrong_first = 0;

	crowd.broadcast = (int (*)(void *)) dlsym(one, "user_broadcast");
	for (i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, broadcast_on, (void *) (0x1000 * (i + 1)));
	for (round = 0; round < 300; round++) {
		other = open_library("user3.so", RTLD_NOW | RTLD_LOCAL);
		group = (int (*)(void)) dlsym(other, "user_group");
		broadcast = (int (*)(void *)) dlsym(other, "user_broadcast");
		wrong_second += group() != 3;
		wrong_second += broadcast((void *) 0x5000) != 3;
		wrong_second += dlclose(other) != 0;
	}
	crowd.is_over = 1;
	for (i = 0; i < 3; i++) {
		pthread_join(threads[i], &wrong);
		wrong_first += (long) wrong;
	}
	printf("wrong: %ld %d\n", wrong_first, wrong_second);
}

/* As many as there are wrappers for, and one more. */
static void many(void)
{
	static const char *const names[] = {"copy1.so", "copy2.so", "copy3.so", "copy4.so",
					    "copy5.so"};
	version_function functions[5];
	void *libraries[5];
	int i;

	for (i = 0; i < 5; i++) {
		libraries[i] = open_library(names[i], RTLD_NOW | RTLD_LOCAL);
		functions[i] = (version_function) dlsym(libraries[i], "ncclGetVersion");
		report(names[i], (void *) functions[i]);
	}
	for (i = 0; i < 5; i++)
		report("again", (void *) functions[i]);
	/* The place of one that went is free. */
	printf("closed: %d\n", dlclose(libraries[1]));
	report("the last once more", dlsym(libraries[4], "ncclGetVersion"));
}

/* One that is linked to a NCCL of its own hands out what it was asked for. */
static void passed_on(void)
{
	void *library = open_library("copy1.so", RTLD_NOW | RTLD_LOCAL);
	void *user = open_library("user3.so", RTLD_NOW | RTLD_LOCAL);
	int (*call)(version_function) = (int (*)(version_function)) dlsym(user, "user_call");
	int (*linked)(void) = (int (*)(void)) dlsym(user, "user_version");

	printf("linked: %d\n", linked());
	printf("called for another: %d\n",
	       call((version_function) dlsym(library, "ncclGetVersion")));
}

/* The name of the second comes to lie at another address than the first had. */
static void again(void)
{
	void *user = open_library("user.so", RTLD_NOW | RTLD_LOCAL);
	int (*linked)(void) = (int (*)(void)) dlsym(user, "user_version");
	void *library = open_library("copy2.so", RTLD_NOW | RTLD_LOCAL);

	report("looked up", dlsym(library, "ncclGetVersion"));
	printf("linked: %d\n", linked());
	printf("closed: %d %d\n", dlclose(library), dlclose(user));
	report("gone", dlsym(RTLD_DEFAULT, "ncclGetVersion"));
	open_library("filler.so", RTLD_NOW | RTLD_LOCAL);
	user = open_library("user.so", RTLD_NOW | RTLD_LOCAL);
	linked = (int (*)(void)) dlsym(user, "user_version");
	printf("linked: %d\n", linked());
	library = open_library("copy3.so", RTLD_NOW | RTLD_LOCAL);
	report("looked up", dlsym(library, "ncclGetVersion"));
}

/* What is looked up there leads through us; what is bound there does not. */
static void apart(void)
{
	char path[4096];
	void *user, *space;
	int round;

	for (round = 0; round < 2; round++) {
		snprintf(path, sizeof(path), "%s/copy1.so", folder);
		space = dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
		report("namespace", dlsym(space, "ncclGetVersion"));
		printf("closed: %d\n", dlclose(space));
	}
	user = open_library("user3.so", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	report("deepbind", dlsym(user, "ncclGetVersion"));
	printf("bound: %d\n", ((int (*)(void)) dlsym(user, "user_version"))());
}

/* What a trampoline was given once is called for ever. */
static void trampoline(void)
{
	void *stub = open_library("stub.so", RTLD_NOW | RTLD_LOCAL);
	version_function version = (version_function) dlsym(stub, "stub_version");
	void *(*cached)(void) = (void *(*) (void) ) dlsym(stub, "stub_cached");

	report("trampoline", (void *) version);
	open_library("copy2.so", RTLD_NOW | RTLD_GLOBAL);
	report("trampoline", (void *) version);
	printf("closed: %d\n", dlclose(open_library("filler.so", RTLD_NOW)));
	report("trampoline", (void *) version);
	origin("cached", cached());
}

/* Calls that no preloaded library can stand in the way of; and one that it can. */
static void unseen(void)
{
	void *user = open_library("user-nccl.so", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	char path[4096];

	snprintf(path, sizeof(path), "%s/user-nccl.so", folder);
	printf("deep: %d\n", ((int (*)(void)) dlsym(user, "user_version"))() > 20000);
	user = dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
	printf("apart: %d\n", ((int (*)(void)) dlsym(user, "user_version"))() > 20000);
	handle();
}

static void errors(void)
{
	printf("dlclose: %d\n", dlclose(open_library("copy1.so", RTLD_NOW)));
	dlsym(RTLD_DEFAULT, "no_such_symbol");
	/* A call of ours in between must not take the program's error away. */
	open_library("user.so", RTLD_NOW | RTLD_LOCAL);
	dlsym(RTLD_DEFAULT, "no_such_symbol");
	printf("error kept: %s\n", dlerror() ? "yes" : "no");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} ways[] = {
		{"probe", probe}, {"handle", handle}, {"global", global}, {"local", local},
		{"deep", deep},	  {"two", two},	      {"again", again},	  {"errors", errors},
		{"frameworks", frameworks}, {"jumps", jumps}, {"late", late}, {"race", race}, {"many", many},
		{"passed_on", passed_on}, {"apart", apart}, {"trampoline", trampoline}, {"unseen", unseen},
	};
	unsigned i;

	if (argc != 3)
		return 2;
	folder = argv[2];
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(argv[1], ways[i].name)) {
			ways[i].run();
			return 0;
		}
	return 2;
}
