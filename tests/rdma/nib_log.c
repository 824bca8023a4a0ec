/* SPDX-License-Identifier: MIT */
/*
 * Writes the log, whose form nib.c describes.  Only at the end, so that writing it is no
 * part of what is measured.
 */
#include "nib.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void write_time(FILE *file, uint64_t time)
{
	if (time)
		fprintf(file, " %" PRIu64, time);
	else
		fputs(" -", file);
}

static void write_line(FILE *file, const struct nib_plan *plan, uint32_t ordinal,
		       bool is_send, const struct nib_times *times)
{
	const struct nib_message *message = &plan->messages[ordinal];

	fprintf(file, "%d>%d %s %u %u %u %u %u %d", plan->connection,
		1 - plan->connection, is_send ? "send" : "recv", ordinal, message->group,
		message->place, message->of, message->size, message->tag);
	write_time(file, times->tried);
	write_time(file, times->called);
	write_time(file, times->accepted);
	write_time(file, times->done);
	write_time(file, times->flush);
	write_time(file, times->flushed);
	fputc('\n', file);
}

void nib_log_write(const struct nib_options *options, int rank, const struct nib_net *net,
		   const struct nib_plan plans[2], struct nib_times *const times[2])
{
	uint32_t ordinal;
	char *path;
	FILE *file;
	int c;

	if (asprintf(&path, "%s.%d", options->log, rank) < 0)
		nib_die("no memory");
	file = fopen(path, "w");
	if (!file)
		nib_die("%s: cannot be written", path);
	fprintf(file, "# nib 1: %s, rank %d, process %d\n", nib_describe(net), rank,
		(int) getpid());
	fputs("# connection end ordinal group place of size tag tried called accepted done "
	      "flush flushed\n",
	      file);
	for (c = 0; c < 2; c++)
		for (ordinal = 0; ordinal < (uint32_t) plans[c].nr; ordinal++)
			write_line(file, &plans[c], ordinal, c == rank,
				   &times[c][ordinal]);
	if (fclose(file))
		nib_die("%s: cannot be written", path);
	free(path);
}
