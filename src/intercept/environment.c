/* SPDX-License-Identifier: MIT */
/*
 * The environment variables that steer NCCL: each is recorded once, and again when its
 * value has changed by the time that a communicator has been made, since a program may
 * set variables itself, and NCCL sets those of its configuration files.
 *
 * It hides which variables these are, and that a state dump has copies: LTTng's thread,
 * which writes it, must not read the environment while the program changes it.  No value
 * is recorded of a variable whose name says that it is a secret.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/lock.h"
#include "intercept/layer.h"
#include "intercept/trace.h"

#define NR_VARIABLES 128

static const char *const prefixes[] = {"NCCL_", "RCCL_"};

/* They choose the GPUs, or how work gets to them. */
static const char *const names[] = {
	"CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_DEVICE_ORDER",
	"CUDA_LAUNCH_BLOCKING",	       "CUDA_MODULE_LOADING",
	"CUDA_VISIBLE_DEVICES",	       "GPU_MAX_HW_QUEUES",
	"HIP_VISIBLE_DEVICES",	       "HSA_FORCE_FINE_GRAIN_PCIE",
	"NVIDIA_VISIBLE_DEVICES",      "ROCR_VISIBLE_DEVICES",
};

static const char *const secrets[] = {"CREDENTIAL", "PASSWD", "PASSWORD",
				      "SECRET",	    "TOKEN",  "_KEY"};

/* What has been recorded.  The lock guards it. */
static struct variable {
	char name[64];
	char value[256];
	bool is_cut, is_withheld;
} variables[NR_VARIABLES];
static unsigned nr_variables;
static bool has_looked, is_full;

/* Free in a fork's child, which does not have the thread that held it (layer.h). */
static struct tap_lock lock;

/* Of "NAME=value"; 0: it is none that is recorded. */
static size_t name_length(const char *variable)
{
	const char *end = strchr(variable, '=');
	const size_t length = end ? (size_t) (end - variable) : 0;
	unsigned i;

	if (!length || length >= sizeof(variables[0].name))
		return 0;
	for (i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (!strncmp(variable, prefixes[i], strlen(prefixes[i])))
			return length;
	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (length == strlen(names[i]) && !strncmp(variable, names[i], length))
			return length;
	return 0;
}

static bool is_secret(const char *name)
{
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(secrets); i++)
		if (strstr(name, secrets[i]))
			return true;
	return false;
}

static struct variable *find(const char *name, size_t length)
{
	unsigned i;

	for (i = 0; i < nr_variables; i++)
		if (!strncmp(variables[i].name, name, length) &&
		    !variables[i].name[length])
			return &variables[i];
	return NULL;
}

static struct tap_variable describe(const struct variable *v)
{
	return (struct tap_variable){.name = v->name,
				     .value = v->value,
				     .is_cut = v->is_cut,
				     .is_withheld = v->is_withheld};
}

static void write_all(void (*write)(const struct tap_variable *))
{
	struct tap_variable none = {.name = "", .value = ""};
	unsigned i;

	for (i = 0; i < nr_variables; i++) {
		const struct tap_variable v = describe(&variables[i]);

		write(&v);
	}
	/* So that a reader knows that there are none. */
	if (!nr_variables && has_looked)
		write(&none);
}

static bool is_same(const struct variable *v, const char *value)
{
	const size_t length = strlen(v->value);

	return v->is_withheld || (!strncmp(v->value, value, length) &&
				  (v->is_cut ? value[length] != 0 : !value[length]));
}

static void keep_value(struct variable *v, const char *value)
{
	const size_t length = strlen(value), most = sizeof(v->value) - 1;

	v->is_withheld = is_secret(v->name);
	v->is_cut = !v->is_withheld && length > most;
	memcpy(v->value, value, length > most ? most : length);
	v->value[v->is_withheld ? 0 : length > most ? most : length] = '\0';
}

/* Records the variable "NAME=value" unless its value is known. */
static void take(const char *variable, size_t length)
{
	struct variable *v = find(variable, length);
	const char *value = variable + length + 1;
	struct tap_variable event;

	if (v && is_same(v, value))
		return;
	if (!v && nr_variables == NR_VARIABLES) {
		if (!is_full)
			tap_problem("not recorded",
				    "environment variables: there are too many", 1);
		is_full = true;
		return;
	}
	if (!v) {
		v = &variables[nr_variables++];
		memcpy(v->name, variable, length);
		v->name[length] = '\0';
	}
	keep_value(v, value);
	event = describe(v);
	tap_events_table->environment(&event);
}

/*
 * Called in a thread of the program that is in a call of a traced library, as are the
 * calls of getenv() that NCCL itself makes then.
 */
static void look(void)
{
	char **variable;

	for (variable = environ; variable && *variable; variable++) {
		const size_t length = name_length(*variable);

		if (length)
			take(*variable, length);
	}
}

static void look_again(void)
{
	if (!tap_has_events() || !tap_lock_take(&lock))
		return;
	look();
	tap_lock_drop(&lock);
}

static void announce(void)
{
	if (!tap_lock_take(&lock)) {
		tap_problem("not recorded", "the environment", 1);
		return;
	}
	/* A fork's child has the copies of its parent. */
	write_all(tap_events_table->environment);
	look();
	if (!has_looked && !nr_variables) {
		has_looked = true;
		write_all(tap_events_table->environment);
	}
	has_looked = true;
	tap_lock_drop(&lock);
}

static void write_statedump(struct tap_state_counts *counts)
{
	(void) counts;
	if (!tap_lock_take(&lock)) {
		tap_problem("not recorded", "the environment", 1);
		return;
	}
	write_all(tap_events_table->statedump_environment);
	tap_lock_drop(&lock);
}

const struct tap_layer tap_layer_environment = {
	.announce = announce,
	.write_statedump = write_statedump,
	.library_met = look_again,
	.comm_made = look_again,
	.lock = &lock,
};
