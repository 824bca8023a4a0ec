/* SPDX-License-Identifier: MIT */
/*
 * What the environment asks for, read once.  An adapter that is not what the test asked
 * for would make the test show something else, so a wrong setting ends the program.
 */
#include "soft.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct soft_settings settings;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void wrong(const char *name, const char *value)
{
	fprintf(stderr,
		"softverbs: %s=%s: not understood; see tests/doubles/verbs/README\n",
		name, value);
	exit(2);
}

static unsigned long number(const char *name, const char *text, unsigned long least,
			    unsigned long most)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (end == text || *end || value < least || value > most)
		wrong(name, text);
	return value;
}

/* Cuts at the colon, in a copy of our own; what follows it. */
static char *behind_colon(const char *name, char *text)
{
	char *colon = strchr(text, ':');

	if (!colon)
		wrong(name, text);
	*colon = '\0';
	return colon + 1;
}

static uint64_t microseconds(const char *name, const char *text, unsigned long least)
{
	return number(name, text, least, 1000000000) * 1000;
}

static double percent(const char *name, const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= 0 && value <= 100))
		wrong(name, text);
	return value;
}

/* HOST:US */
static void read_slow_link(const char *name, char *text)
{
	char *rest = behind_colon(name, text);

	settings.slow_host = (unsigned int) number(name, text, 0, SOFT_HOSTS - 1);
	settings.slow_ns = microseconds(name, rest, 1);
}

/* DEVICE:MB */
static void read_rate(const char *name, char *text)
{
	char *rest = behind_colon(name, text);

	settings.bytes_per_us[number(name, text, 0, SOFT_MAX_DEVICES - 1)] =
		number(name, rest, 1, 1000000);
}

/* PERCENT:US */
static void read_chance(const char *name, char *text, double *ret_percent,
			uint64_t *ret_ns)
{
	char *rest = behind_colon(name, text);

	*ret_percent = percent(name, text);
	*ret_ns = microseconds(name, rest, 1);
}

static void read_fault(char *fault)
{
	const char *name = "SOFTVERBS_FAULTS";

	if (!strncmp(fault, "rnr@", 4))
		settings.rnr_at = number(name, fault + 4, 1, UINT32_MAX);
	else if (!strncmp(fault, "retry@", 6))
		settings.retry_at = number(name, fault + 6, 1, UINT32_MAX);
	else if (!strncmp(fault, "flush@", 6))
		settings.flush_at = number(name, fault + 6, 1, UINT32_MAX);
	else if (!strncmp(fault, "fatal@", 6))
		settings.fatal_at = number(name, fault + 6, 1, UINT32_MAX);
	else if (!strncmp(fault, "loss/", 5))
		settings.loss_every = number(name, fault + 5, 1, UINT32_MAX);
	else if (!strncmp(fault, "lost@", 5))
		settings.lost_at = number(name, fault + 5, 1, UINT32_MAX);
	else if (!strncmp(fault, "seed=", 5))
		settings.seed = number(name, fault + 5, 0, UINT64_MAX);
	else if (!strncmp(fault, "loss=", 5))
		settings.loss_percent = percent(name, fault + 5);
	else if (!strncmp(fault, "resend=", 7))
		read_chance(name, fault + 7, &settings.resend_percent,
			    &settings.resend_ns);
	else if (!strncmp(fault, "late=", 5))
		read_chance(name, fault + 5, &settings.late_percent, &settings.late_ns);
	else if (!strncmp(fault, "rate=", 5))
		read_rate(name, fault + 5);
	else if (!strncmp(fault, "delay=", 6))
		settings.delay_ns = microseconds(name, fault + 6, 0);
	else if (!strncmp(fault, "delay-to=", 9))
		read_slow_link(name, fault + 9);
	else
		wrong(name, fault);
}

static void read_environment(void)
{
	const char *devices = getenv("SOFTVERBS_DEVICES");
	const char *ports = getenv("SOFTVERBS_PORTS");
	const char *host = getenv("SOFTVERBS_HOST");
	const char *link = getenv("SOFTVERBS_LINK");
	const char *faults = getenv("SOFTVERBS_FAULTS");
	char *copy;
	char *rest;
	char *fault;

	settings.devices =
		devices ? (int) number("SOFTVERBS_DEVICES", devices, 0, SOFT_MAX_DEVICES)
			: 1;
	settings.ports = ports ? number("SOFTVERBS_PORTS", ports, 1, SOFT_MAX_PORTS) : 1;
	settings.host = host ? number("SOFTVERBS_HOST", host, 0, SOFT_HOSTS - 1) : 0;
	settings.fabric = getenv("SOFTVERBS_FABRIC");
	settings.sysfs = getenv("SOFTVERBS_SYSFS");
	if (!settings.sysfs)
		settings.sysfs = "/sys/class/infiniband";
	if (strlen(settings.sysfs) > 128)
		wrong("SOFTVERBS_SYSFS", settings.sysfs);
	if (!settings.fabric)
		settings.fabric = "";
	if (strlen(settings.fabric) > 64)
		wrong("SOFTVERBS_FABRIC", settings.fabric);
	if (link && !strcmp(link, "infiniband"))
		settings.is_infiniband = true;
	else if (link && strcmp(link, "ethernet"))
		wrong("SOFTVERBS_LINK", link);
	copy = faults ? strdup(faults) : NULL;
	for (fault = copy ? strtok_r(copy, ",", &rest) : NULL; fault;
	     fault = strtok_r(NULL, ",", &rest))
		read_fault(fault);
	free(copy);
}

const struct soft_settings *soft_settings(void)
{
	pthread_once(&once, read_environment);
	return &settings;
}
