/* SPDX-License-Identifier: MIT */
/* Slurm's own command unfolds its lists: "node[1-3,7]". */
#include "tools/hosts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "tools/message.h"

#define BLANKS " \t\r\n"

int tap_hosts_add(struct tap_hosts *hosts, const char *name)
{
	char *copy;
	size_t i;

	/* It becomes an argument of rsync and ssh. */
	if (!*name || *name == '-' || *name == ':' || strpbrk(name, BLANKS)) {
		tap_message_write("host \"%s\": give a name, or HOST:PATH", name);
		return TAP_EXIT_USAGE;
	}
	for (i = 0; i < hosts->names.count; i++)
		if (!strcmp(hosts->names.items[i], name))
			return 0;
	copy = strdup(name);
	if (copy && !tap_vec_add(&hosts->names, copy))
		return 0;
	free(copy);
	tap_message_write("out of memory");
	return TAP_EXIT_FAILURE;
}

/* Adds the first word of each line. */
static int add_lines(struct tap_hosts *hosts, FILE *file)
{
	char line[1024], *word;
	int ret = 0;

	while (!ret && fgets(line, sizeof(line), file)) {
		word = line + strspn(line, BLANKS);
		word[strcspn(word, BLANKS)] = '\0';
		if (*word && *word != '#')
			ret = tap_hosts_add(hosts, word);
	}
	return ret;
}

int tap_hosts_add_file(struct tap_hosts *hosts, const char *path)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "re") : stdin;
	int ret;

	if (!file) {
		tap_message_write("cannot read %s: %s", path, strerror(errno));
		return TAP_EXIT_USAGE;
	}
	ret = add_lines(hosts, file);
	if (file != stdin)
		fclose(file);
	return ret;
}

int tap_hosts_add_slurm(struct tap_hosts *hosts)
{
	const char *list = getenv("SLURM_JOB_NODELIST");
	FILE *file;
	int ret, status;

	if (!list || !*list) {
		tap_message_write(
			"SLURM_JOB_NODELIST is not set: run this in the job (sbatch, "
			"salloc), or name the hosts");
		return TAP_EXIT_USAGE;
	}
	file = popen("exec scontrol show hostnames \"$SLURM_JOB_NODELIST\"", "re");
	if (!file) {
		tap_message_write("cannot run scontrol: %s", strerror(errno));
		return TAP_EXIT_FAILURE;
	}
	ret = add_lines(hosts, file);
	status = pclose(file);
	if (ret || !status)
		return ret;
	tap_message_write(
		"\"scontrol show hostnames\" failed, which lists the hosts of the "
		"job: name them, or put Slurm's commands into PATH");
	return TAP_EXIT_FAILURE;
}

void tap_hosts_free(struct tap_hosts *hosts)
{
	size_t i;

	for (i = 0; i < hosts->names.count; i++)
		free(hosts->names.items[i]);
	tap_vec_free(&hosts->names);
}
