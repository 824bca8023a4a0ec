/* SPDX-License-Identifier: MIT */
/*
 * Damaged input: texts of events and CTF traces with bytes changed at random,
 * always the same ones.  The reader must come to an end each time, with or
 * without an error, and must not crash; sanitizers make the test stricter.
 */
#include "golden/views.h"

#include <dirent.h>
#include <glob.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEXT_ROUNDS 600
#define CTF_ROUNDS 150
/* What babeltrace2 may take to read one small trace, and we with it. */
#define READ_CPU_S 1
#define VIEW_CPU_S 20
/* In kilobytes: it takes all that a damaged length asks for, once for each view. */
#define READ_MEMORY_MAX (512L << 10)
#define FILE_MAX 65536

static uint64_t state = 0x9e3779b97f4a7c15u;

/* xorshift64*: the same numbers everywhere. */
static uint64_t draw(uint64_t below)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (state * 0x2545f4914f6cdd1du >> 16) % below;
}

static size_t read_file(const char *path, char *data)
{
	FILE *file = fopen(path, "r");
	size_t size;

	if (!file)
		return 0;
	size = fread(data, 1, FILE_MAX, file);
	fclose(file);
	return size;
}

static bool write_file(const char *path, const char *data, size_t size)
{
	FILE *file = fopen(path, "w");
	bool is_written;

	if (!file)
		return false;
	is_written = fwrite(data, 1, size, file) == size;
	return !fclose(file) && is_written;
}

/* Texts keep their shape better when what replaces a byte may stand there. */
static size_t damage(char *data, size_t size, bool is_text)
{
	static const char letters[] = "0123456789-:=[]{}\"@x abc_\n,";
	uint64_t changes = 1 + draw(is_text ? 8 : 2);

	while (changes-- && size) {
		size_t at = draw(size), length;

		switch (draw(is_text ? 4 : 8)) {
		case 0:
			length = 1 + draw(size - at < 40 ? size - at : 40);
			memmove(data + at, data + at + length, size - at - length);
			size -= length;
			break;
		case 1:
			length = 1 + draw(40);
			if (length > at || at + length > size || size + length > FILE_MAX)
				break;
			memmove(data + at + length, data + at, size - at);
			memcpy(data + at, data + at - length, length);
			size += length;
			break;
		default:
			data[at] = is_text ? letters[draw(sizeof(letters) - 1)]
					   : (char) draw(256);
			break;
		case 5:
			size = at;
			break;
		}
	}
	return size;
}

static unsigned int fuzz_texts(const struct test_plugins *plugins, unsigned int *sound)
{
	static char original[FILE_MAX], data[FILE_MAX];
	const char *source = getenv("top_srcdir");
	char pattern[4096];
	unsigned int round;
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/tests/golden/traces/*.events",
		 source ? source : ".");
	if (glob(pattern, 0, NULL, &found))
		return 0;
	for (round = 0; round < TEXT_ROUNDS; round++) {
		size_t size = read_file(found.gl_pathv[round % found.gl_pathc], original);

		memcpy(data, original, size);
		size = damage(data, size, true);
		if (!write_file("fuzz.events", data, size))
			break;
		*sound += test_views_run(plugins, "fuzz.events", false);
	}
	unlink("fuzz.events");
	globfree(&found);
	return round;
}

/* Copies the trace with one of its files damaged. */
static bool copy_damaged(const char *from, const char *to)
{
	static char data[FILE_MAX];
	char path[4096 + 512];
	unsigned int count = 0, chosen;
	struct dirent *entry;
	DIR *folder = opendir(from);

	if (!folder)
		return false;
	while ((entry = readdir(folder)))
		count += *entry->d_name != '.';
	chosen = (unsigned int) draw(count);
	rewinddir(folder);
	while ((entry = readdir(folder))) {
		size_t size;

		if (*entry->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", from, entry->d_name);
		size = read_file(path, data);
		if (!chosen--)
			size = damage(data, size, !strcmp(entry->d_name, "metadata"));
		snprintf(path, sizeof(path), "%s/%s", to, entry->d_name);
		if (!write_file(path, data, size))
			break;
	}
	closedir(folder);
	return !entry;
}

/* Whether a process of its own, which reads the trace, ends by itself. */
static bool survives(const struct test_plugins *plugins, bool is_own, unsigned int *sound)
{
	struct rlimit limit = {.rlim_cur = is_own ? VIEW_CPU_S : READ_CPU_S};
	unsigned int count = 0;
	struct rusage usage;
	char cause[512];
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		return false;
	if (!pid) {
		limit.rlim_max = limit.rlim_cur;
		setrlimit(RLIMIT_CPU, &limit);
		/* babeltrace2 draws a picture when an assertion fails. */
		if (!is_own && !freopen("/dev/null", "w", stderr))
			_exit(99);
		if (is_own)
			count = test_views_run(plugins, "fuzz.damaged", true);
		else
			test_graph_run(plugins, "fuzz.damaged", true, "dummy", NULL,
				       cause, sizeof(cause));
		_exit((int) count);
	}
	if (wait4(pid, &status, 0, &usage) != pid || !WIFEXITED(status) ||
	    (!is_own && usage.ru_maxrss > READ_MEMORY_MAX))
		return false;
	if (WEXITSTATUS(status) > test_view_count)
		return false;
	*sound += (unsigned int) WEXITSTATUS(status);
	return true;
}

/*
 * babeltrace2's own reader of CTF does not survive every damaged trace (2.0.4 fails
 * assertions, reads an enumeration of 2^60 values, or takes all memory): there, nothing is
 * asked of us.
 */
static unsigned int fuzz_ctf(const struct test_plugins *plugins, const char *name,
			     unsigned int *sound)
{
	const char *source = getenv("top_srcdir");
	bt_value *params = bt_value_map_create();
	unsigned int round, given_up = 0;
	char path[4096], cause[512];

	test_folder_remove("fuzz.ctf");
	test_folder_remove("fuzz.damaged");
	snprintf(path, sizeof(path), "%s/tests/golden/traces/%s.events", source ? source : ".",
		 name);
	bt_value_map_insert_string_entry(params, "path", "fuzz.ctf");
	bt_value_map_insert_bool_entry(params, "assume-single-trace", BT_TRUE);
	bt_value_map_insert_bool_entry(params, "quiet", BT_TRUE);
	if (!test_graph_run(plugins, path, false, "ctf", params, cause, sizeof(cause))) {
		printf("# cannot write a trace: %s\n", cause);
		return 0;
	}
	if (!test_folder_make("fuzz.damaged"))
		return 0;
	for (round = 0; round < CTF_ROUNDS; round++) {
		if (!copy_damaged("fuzz.ctf", "fuzz.damaged"))
			break;
		if (!survives(plugins, false, sound)) {
			given_up++;
			continue;
		}
		if (!survives(plugins, true, sound)) {
			printf("# the damaged trace is left in fuzz.damaged\n");
			return round;
		}
	}
	printf("# babeltrace2 itself did not survive %u of %u\n", given_up, CTF_ROUNDS);
	test_folder_remove("fuzz.ctf");
	test_folder_remove("fuzz.damaged");
	return round;
}

int main(void)
{
	struct test_plugins plugins;
	static const char *const traces[] = {"nesting", "comm", "wire-rc"};
	unsigned int sound = 0;
	size_t i;

	printf("1..4\n");
	fflush(stdout);
	if (!test_plugins_load(&plugins)) {
		printf("Bail out! no plugins\n");
		return 1;
	}
	printf("%s 1 - damaged texts of events are read to an end\n",
	       fuzz_texts(&plugins, &sound) == TEXT_ROUNDS && sound ? "ok" : "not ok");
	printf("# %u of %u readings went through\n", sound,
	       TEXT_ROUNDS * (unsigned int) test_view_count);
	fflush(stdout);
	for (i = 0; i < sizeof(traces) / sizeof(traces[0]); i++) {
		sound = 0;
		printf("%s %zu - the CTF trace \"%s\", damaged, is read to an end\n",
		       fuzz_ctf(&plugins, traces[i], &sound) == CTF_ROUNDS && sound
			       ? "ok"
			       : "not ok",
		       i + 2, traces[i]);
		printf("# %u of %u readings went through\n", sound,
		       CTF_ROUNDS * (unsigned int) (test_view_count));
		fflush(stdout);
	}
	test_plugins_unload(&plugins);
	return 0;
}
