/* SPDX-License-Identifier: MIT */
/* One table, made of settings.def. */
#include "settings.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What all settings of our own begin with. */
#define OWN "MININCCL_"

struct setting {
	const char *name;
	bool is_number;
	int64_t otherwise;
	int64_t least;
	int64_t most;
	const char *meaning;
};

/* clang-format off */
static const struct setting settings[] = {
#define NUMBER(name, otherwise, least, most, meaning) \
	{#name, true, otherwise, least, most, meaning},
#define TEXT(name, meaning) {#name, false, 0, 0, 0, meaning},
#include "settings.def"
#undef NUMBER
#undef TEXT
};
/* clang-format on */

static void __attribute__((noreturn))
refuse(const struct setting *setting, const char *value)
{
	fprintf(stderr,
		"mini-NCCL: %s=%s: not a number from %" PRId64 " to %" PRId64 ": %s\n",
		setting->name, value, setting->least, setting->most, setting->meaning);
	exit(2);
}

static int64_t parse(const struct setting *setting, const char *value)
{
	char *end;
	long long number;

	errno = 0;
	number = strtoll(value, &end, 0);
	if (errno || end == value || *end || number < setting->least ||
	    number > setting->most)
		refuse(setting, value);
	return number;
}

int64_t mini_number_or(enum mini_setting which, int64_t otherwise)
{
	const char *value = getenv(settings[which].name);

	return value ? parse(&settings[which], value) : otherwise;
}

int64_t mini_number(enum mini_setting which)
{
	return mini_number_or(which, settings[which].otherwise);
}

const char *mini_text(enum mini_setting which)
{
	const char *value = getenv(settings[which].name);

	return value && *value ? value : NULL;
}

static bool is_known(const char *variable)
{
	size_t length = strcspn(variable, "=");
	size_t i;

	for (i = 0; i < MINI_SETTINGS; i++) {
		if (strlen(settings[i].name) == length &&
		    strncmp(settings[i].name, variable, length) == 0)
			return true;
	}
	return false;
}

static void list(const char *unknown)
{
	size_t i;

	fprintf(stderr, "mini-NCCL: %.*s: no such setting; there are\n",
		(int) strcspn(unknown, "="), unknown);
	for (i = 0; i < MINI_SETTINGS; i++)
		fprintf(stderr, "  %-28s %s\n", settings[i].name, settings[i].meaning);
	exit(2);
}

static void check_all(void)
{
	char **variable;
	size_t i;

	for (i = 0; i < MINI_SETTINGS; i++) {
		const char *value = getenv(settings[i].name);

		if (value && settings[i].is_number)
			parse(&settings[i], value);
	}
	for (variable = environ; *variable; variable++) {
		if (strncmp(*variable, OWN, strlen(OWN)) == 0 && !is_known(*variable))
			list(*variable);
	}
}

void mini_settings_check(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, check_all);
}
