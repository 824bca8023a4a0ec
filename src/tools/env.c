/* SPDX-License-Identifier: MIT */
/*
 * `ccltap env`: prints lines for a shell. Hides where the tracer lies and its load order.
 */
#include "tools/env.h"

#include <argp.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/compiler.h"
#include "tools/command_line.h"
#include "tools/counting.h"
#include "tools/message.h"
#include "tools/needed.h"
#include "tools/place.h"
#include "tools/stacks.h"
#include "tools/commands.h"

static const char tracer[] = "libccltap.so";
static const char fd_guard[] = "liblttng-ust-fd.so.1";

/* What ld.so accepts between two names in LD_PRELOAD. */
static const char separators[] = ": ";

static int find_tracer(char **ret_path)
{
	const char *folder = tap_place_libraries();
	char *real, *path;
	int ret;

	real = realpath(folder, NULL);
	ret = asprintf(&path, "%s/%s", real ? real : folder, tracer);
	free(real);
	if (ret < 0)
		return -ENOMEM;
	if (access(path, R_OK) < 0) {
		ret = -errno;
		tap_message_write("cannot read %s: %s; install ccltap there, or set "
				  "CCLTAP_LIBDIR to the directory of %s",
				  path, strerror(-ret), tracer);
		free(path);
		return ret;
	}
	if (strpbrk(path, separators)) {
		tap_message_write("%s: LD_PRELOAD cannot hold a path with a space or a "
				  "colon; install ccltap elsewhere, or set CCLTAP_LIBDIR",
				  path);
		free(path);
		return -EINVAL;
	}
	*ret_path = path;
	return 0;
}

/*
 * Without the library, ld.so would complain in every process of the program; and with a
 * name without a slash, in every set-user-ID process.
 */
static int find_fd_guard(char **ret_path)
{
	struct link_map *map;
	char path[PATH_MAX];
	void *handle;

	if (tap_place_bundled("lib/liblttng-ust-fd.so.1", path, sizeof(path)) &&
	    !strpbrk(path, separators)) {
		*ret_path = strdup(path);
		return *ret_path ? 0 : -ENOMEM;
	}
	/* NODELETE: the library's constructor allocates memory that is never freed. */
	handle = dlopen(fd_guard, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
	if (!handle) {
		tap_message_write("cannot load %s: install LTTng-UST 2.13 or later "
				  "(Debian: liblttng-ust1)", fd_guard);
		return -ENOENT;
	}
	if (dlinfo(handle, RTLD_DI_LINKMAP, &map) || strpbrk(map->l_name, separators))
		*ret_path = strdup(fd_guard);
	else
		*ret_path = strdup(map->l_name);
	dlclose(handle);
	return *ret_path ? 0 : -ENOMEM;
}

static bool is_sanitizer(const char *library, size_t length)
{
	static const char *const prefixes[] = {
		"libasan.so", "libhwasan.so", "liblsan.so", "libtsan.so", "libubsan.so",
		"libclang_rt.",
	};
	const char *slash = memrchr(library, '/', length);

	if (slash) {
		length -= slash + 1 - library;
		library = slash + 1;
	}
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (length >= strlen(prefixes[i]) &&
		    !memcmp(library, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

static bool is_same(const char *library, size_t length, const char *other)
{
	return length == strlen(other) && !memcmp(library, other, length);
}

/* Writes the names in `present` that are sanitizers, or those that are not. */
static void write_present(FILE *out, const char *present, bool sanitizers,
			  const char *tracer_path, const char *guard_path)
{
	size_t length;

	for (; present && *present; present += length) {
		present += strspn(present, separators);
		length = strcspn(present, separators);
		if (!length || is_sanitizer(present, length) != sanitizers)
			continue;
		/* The line of `ccltap env` may already be in effect. */
		if (is_same(present, length, tracer_path) ||
		    (guard_path && is_same(present, length, guard_path)) ||
		    is_same(present, length, fd_guard))
			continue;
		fprintf(out, sanitizers ? "%.*s:" : ":%.*s", (int)length, present);
	}
}

static void write_need(const char *library, void *out)
{
	if (is_sanitizer(library, strlen(library)))
		fprintf(out, "%s:", library);
}

int tap_env_compose_preload(const char *present, const char *program,
			    bool is_metrics_alone, char **ret_preload)
{
	char *path = NULL, *guard = NULL;
	size_t size;
	FILE *out;
	int ret;

	ret = find_tracer(&path);
	if (ret)
		return ret;
	ret = is_metrics_alone ? 0 : find_fd_guard(&guard);
	if (ret)
		goto out;
	out = open_memstream(ret_preload, &size);
	if (!out) {
		ret = -errno;
		goto out;
	}
	write_present(out, present, true, path, guard);
	if (program && !ftell(out))
		tap_needed_each(program, write_need, out);
	fputs(path, out);
	if (guard)
		fprintf(out, ":%s", guard);
	write_present(out, present, false, path, guard);
	if (fclose(out) == EOF)
		ret = -ENOMEM;
out:
	free(guard);
	free(path);
	return ret;
}

int tap_env_compose_nvtx(const char *present, char **ret_path)
{
	int ret = find_tracer(ret_path);

	if (ret || !present || !*present || !strcmp(present, *ret_path))
		return ret;
	free(*ret_path);
	*ret_path = NULL;
	return 0;
}

/* Prints a word that sh reads back unchanged. */
static void print_quoted(const char *text)
{
	putchar('\'');
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*text);
	}
	putchar('\'');
}

static const char name_characters[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";

const char *tap_env_gpu(const char *text)
{
	if (!strcmp(text, "off") || !strcmp(text, "kernels") || !strcmp(text, "all"))
		return text;
	tap_message_write("gpu \"%s\": give off, kernels or all", text);
	return NULL;
}

enum { KEY_STACKS = 256, KEY_GPU, KEY_METRICS };

struct request {
	const char *session;
	bool nvtx;
	const char *depth; /* of stacks, NULL: none */
	const char *gpu; /* NULL: the tracer's default */
	bool has_metrics;
	const char *counting; /* which supervisor, NULL: the only one */
};

static const struct argp_option options[] = {
	{ "session", 's', "NAME", 0,
	  "name of the session in the commands shown [ccltap]", 0 },
	{ "nvtx", 'n', NULL, 0,
	  "also record what the program itself reports to NVTX", 0 },
	TAP_STACKS_RECORD_OPTION(KEY_STACKS),
	TAP_ENV_GPU_OPTION(KEY_GPU),
	{ "metrics", KEY_METRICS, "SESSION", OPTION_ARG_OPTIONAL,
	  "count and record nothing, for a recording with metrics that runs", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *request = state->input;

	switch (key) {
	case 's':
		/* The name is printed into lines that a shell may run. */
		if (!*arg || arg[strspn(arg, name_characters)]) {
			tap_message_write("session name \"%s\": use letters, digits and "
					  "any of . _ -", arg);
			return EINVAL;
		}
		request->session = arg;
		return 0;
	case 'n':
		request->nvtx = true;
		return 0;
	case KEY_STACKS:
		request->depth = tap_stacks_depth(arg);
		return request->depth ? 0 : EINVAL;
	case KEY_GPU:
		request->gpu = tap_env_gpu(arg);
		return request->gpu ? 0 : EINVAL;
	case KEY_METRICS:
		request->has_metrics = true;
		request->counting = arg;
		return 0;
	case ARGP_KEY_ARG:
		tap_message_write("env takes no argument, and got \"%s\": "
				  "\"ccltap env --help\" says more", arg);
		return EINVAL;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.doc = "Prints the lines that make a shell trace what it starts:"
	       " eval \"$(ccltap env)\"",
};

static void print_commands(const char *session)
{
	printf("# The session, before the program is started:\n"
	       "#   lttng create %s\n"
	       "#   lttng enable-channel -u --subbuf-size=256k --num-subbuf=4 setup\n"
	       "#   lttng enable-channel -u --subbuf-size=4M --num-subbuf=8 hot\n"
	       "#   lttng enable-event -u -c setup 'tap:*,nccl:*,nvtx:*,verbs:*,net:*,cuda:*,gpu:*' --loglevel-only=INFO\n"
	       "#   lttng enable-event -u -c hot 'tap:*,nccl:*,nvtx:*,verbs:*,net:*,cuda:*,gpu:*' --loglevel-only=DEBUG\n"
	       "#   lttng add-context -u -t vpid -t vtid -t pid_ns\n"
	       "#   lttng start\n"
	       "# After it has ended:\n"
	       "#   lttng destroy %s\n", session, session);
}

/* On one line, so that `eval` also reads it from an unquoted substitution. */
static void print_variables(const char *preload, const char *nvtx,
			    const struct request *request)
{
	printf("export LD_PRELOAD=");
	print_quoted(preload);
	if (nvtx) {
		printf(" NVTX_INJECTION64_PATH=");
		print_quoted(nvtx);
	}
	if (request->nvtx)
		printf(" CCLTAP_NVTX=1");
	if (request->depth)
		printf(" %s=%s", TAP_STACKS_VARIABLE, request->depth);
	if (request->gpu)
		printf(" %s=%s", TAP_ENV_GPU_VARIABLE, request->gpu);
	/* After --metrics in the same shell. */
	if (getenv(TAP_ENV_METRICS_VARIABLE))
		printf(" %s=0", TAP_ENV_METRICS_VARIABLE);
	putchar('\n');
	if (!nvtx)
		printf("# NVTX_INJECTION64_PATH names another library, and is left as it "
		       "is.\n");
}

static int finish(void)
{
	if (fflush(stdout) != EOF && !ferror(stdout))
		return 0;
	tap_message_write("cannot write to the standard output: %s", strerror(errno));
	return TAP_EXIT_FAILURE;
}

static int print_counting(const struct request *request)
{
	struct tap_countings found = {0};
	char *preload;
	int ret;

	if (request->nvtx || request->depth || request->gpu) {
		tap_message_write("--metrics records nothing: leave out --nvtx, --stacks "
				  "and --gpu");
		return TAP_EXIT_USAGE;
	}
	tap_countings_find(&found, request->counting);
	ret = tap_countings_check(&found, request->counting, "with --metrics=SESSION");
	if (!ret && tap_env_compose_preload(getenv("LD_PRELOAD"), NULL, true, &preload))
		ret = TAP_EXIT_FAILURE;
	if (!ret) {
		printf("export LD_PRELOAD=");
		print_quoted(preload);
		printf(" CCLTAP_RECORDER=");
		print_quoted(found.of.items[0].recorder);
		/* For what "ccltap start" records of them. */
		printf(" CCLTAP_JOB=");
		print_quoted(found.of.items[0].job);
		if (*found.of.items[0].lttng_home) {
			printf(" LTTNG_HOME=");
			print_quoted(found.of.items[0].lttng_home);
		}
		printf(" %s=alone\n", TAP_ENV_METRICS_VARIABLE);
		free(preload);
		ret = finish();
	}
	tap_vec_free(&found.of);
	return ret;
}

int tap_env_main(int argc, char **argv)
{
	struct request request = { .session = "ccltap" };
	char *preload, *nvtx;

	if (tap_command_line_parse(&argp, argc, argv, 0, &request))
		return TAP_EXIT_USAGE;
	if (request.has_metrics)
		return print_counting(&request);
	if (tap_env_compose_preload(getenv("LD_PRELOAD"), NULL, false, &preload))
		return TAP_EXIT_FAILURE;
	if (tap_env_compose_nvtx(getenv("NVTX_INJECTION64_PATH"), &nvtx)) {
		free(preload);
		return TAP_EXIT_FAILURE;
	}
	print_variables(preload, nvtx, &request);
	print_commands(request.session);
	free(preload);
	free(nvtx);
	return finish();
}
