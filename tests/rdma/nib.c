/* SPDX-License-Identifier: MIT */
/*
 * Runs NCCL's own network code without a GPU: opens a stock libnccl.so.2, finds the table
 * of NET/IB in it and moves messages between two processes over whatever libibverbs is
 * there; or that of NET/Socket, over the interfaces that NCCL finds.  So what is traced is what NCCL posts, and what happened is known from
 *elsewhere: the log.
 *
 * Each rank, 0 and 1, sends to the other over a connection of its own.  Both know what is
 * sent (nib_plan.c), look at each message's size and data, and log what they did when.
 *
 * The log of rank R is LOG.R: text, a comment where a line begins with #, else one line
 *for each message of each connection, as this end saw it.  Words with a blank between:
 *
 *	connection	0>1: what rank 0 sends to rank 1; 1>0
 *	end		send or recv: which end this is
 *	ordinal		which of the connection's messages: 0, 1, ..., alike at both ends,
 *in the order in which they are received group		which of its receives: 0, 1, ...;
 *a receive takes up to 8 messages place of	the message's place in its receive: 0 of
 *1, or 0 to n-1 of n size tag	in bytes, and as isend and irecv were told tried
 *when isend or irecv was first asked to take it called accepted	when the call that
 *took it began and had returned.  NCCL posts a group when it has taken the last one: the
 *group's latest done		when test had said that it is done
 *	flush flushed	when iflush was called for the receive it came with, and when that
 *			was done; - where there was none: other ends, no flush, no data
 *
 * Times are CLOCK_MONOTONIC in ns.  The log is written when all is done: one that is
 *there is whole.  Messages of a group are offered in another order than they are
 *received.
 */
#include "nib.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
	"usage: nib [OPTION...] LIBNCCL\n"
	"Moves messages between two processes by NET/IB of a stock libnccl.so.2.\n"
	"\n"
	"  --socket              by NET/Socket, in a thread of NCCL's\n"
	"  --messages N          each way (1000)\n"
	"  --groups N            receives take 1 to N messages, at most 8 (1)\n"
	"  --max-size BYTES      of the few large ones (16777216)\n"
	"  --flush               after each receive; NET/IB must think that there is a GPU's\n"
	"                        driver: /sys/kernel/mm/memory_peers/nv_mem/version\n"
	"  --merge N             make one adapter of the first N\n"
	"  --devices A,B         for what rank 0 sends, and for what rank 1 sends (0,0)\n"
	"  --env RANK:NAME=VALUE in the environment of that rank alone\n"
	"  --stall PERCENT,US    of all sends, receives and tests wait up to so long (10,300)\n"
	"  --seed N              of sizes, groups and stalls (1)\n"
	"  --timeout SECONDS     in which nothing moves (120)\n"
	"  --log FILE            write FILE.0 and FILE.1: nib.c says in which form\n"
	"  --rank R              be only this one; the other is another command's,\n"
	"  --rendezvous FOLDER   and they meet in this folder, which is empty\n"
	"  --describe            say which release and table it is, and end\n"
	"\n"
	"Ends with 0; 1: something went wrong; 2: usage; 77: it cannot be done here.\n";

uint64_t nib_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t) now.tv_sec * 1000000000ULL + (uint64_t) now.tv_nsec;
}

static _Noreturn void wrong_usage(void)
{
	fputs(usage, stderr);
	exit(2);
}

static unsigned long number(const char *text, unsigned long least, unsigned long most)
{
	char *end;
	const unsigned long value = strtoul(text, &end, 10);

	if (end == text || *end || value < least || value > most)
		wrong_usage();
	return value;
}

/* What each rank has in its environment alone. */
static char *variables[2][8];
static int num_variables[2];

static void add_variable(char *text)
{
	const int rank = *text - '0';

	if (rank < 0 || rank > 1 || text[1] != ':' || !strchr(text, '=') ||
	    num_variables[rank] == 8)
		wrong_usage();
	variables[rank][num_variables[rank]++] = text + 2;
}

enum {
	MESSAGES = 1,
	GROUPS,
	MAX_SIZE,
	FLUSH,
	MERGE,
	DEVICES,
	ENV,
	STALL,
	SEED,
	TIMEOUT,
	LOG,
	RANK,
	RENDEZVOUS,
	DESCRIBE,
	SOCKET,
	HELP,
};

static const struct option names[] = {
	{"messages", required_argument, NULL, MESSAGES},
	{"groups", required_argument, NULL, GROUPS},
	{"max-size", required_argument, NULL, MAX_SIZE},
	{"flush", no_argument, NULL, FLUSH},
	{"merge", required_argument, NULL, MERGE},
	{"devices", required_argument, NULL, DEVICES},
	{"env", required_argument, NULL, ENV},
	{"stall", required_argument, NULL, STALL},
	{"seed", required_argument, NULL, SEED},
	{"timeout", required_argument, NULL, TIMEOUT},
	{"log", required_argument, NULL, LOG},
	{"rank", required_argument, NULL, RANK},
	{"rendezvous", required_argument, NULL, RENDEZVOUS},
	{"describe", no_argument, NULL, DESCRIBE},
	{"socket", no_argument, NULL, SOCKET},
	{"help", no_argument, NULL, HELP},
	{NULL, 0, NULL, 0},
};

static void read_option(struct nib_options *options, int option, bool *describe)
{
	switch (option) {
	case MESSAGES:
		options->messages = (int) number(optarg, 1, 10000000);
		break;
	case GROUPS:
		options->max_group = (int) number(optarg, 1, NIB_MAX_GROUP);
		break;
	case MAX_SIZE:
		options->max_size = number(optarg, 1, 1UL << 30);
		break;
	case FLUSH:
		options->flush = true;
		break;
	case MERGE:
		options->num_merged = (int) number(optarg, 1, NIB_MAX_DEVICES);
		break;
	case DEVICES:
		if (sscanf(optarg, "%d,%d", &options->devices[0], &options->devices[1]) !=
		    2)
			wrong_usage();
		break;
	case ENV:
		add_variable(optarg);
		break;
	case STALL:
		if (sscanf(optarg, "%u,%u", &options->stall_percent,
			   &options->stall_us) != 2)
			wrong_usage();
		break;
	case SEED:
		options->seed = (uint32_t) number(optarg, 0, UINT32_MAX);
		break;
	case TIMEOUT:
		options->timeout_s = (unsigned int) number(optarg, 1, 86400);
		break;
	case LOG:
		options->log = optarg;
		break;
	case RANK:
		options->rank = (int) number(optarg, 0, 1);
		break;
	case RENDEZVOUS:
		options->rendezvous = optarg;
		break;
	case DESCRIBE:
		*describe = true;
		break;
	case SOCKET:
		options->is_socket = true;
		break;
	case HELP:
		fputs(usage, stdout);
		exit(0);
	default:
		wrong_usage();
	}
}

static int be(const struct nib_options *options, int rank)
{
	int i;

	for (i = 0; i < num_variables[rank]; i++)
		putenv(variables[rank][i]);
	return nib_run(options, rank);
}

/* Both ranks, each in a process of its own that has not used the library before. */
static int be_both(struct nib_options *options)
{
	static const char *const told[] = {"handle.0", "handle.1", "done.0", "done.1"};
	char folder[] = "/tmp/nib.XXXXXX";
	char path[64];
	pid_t children[2];
	pid_t ended;
	int status;
	int result = 0;
	size_t i;
	int rank;

	if (!mkdtemp(folder))
		nib_die("%s: cannot be made", folder);
	options->rendezvous = folder;
	for (rank = 0; rank < 2; rank++) {
		children[rank] = fork();
		if (children[rank] < 0)
			nib_die("cannot fork");
		if (!children[rank])
			exit(be(options, rank));
	}
	for (i = 0; i < 2; i++) {
		ended = wait(&status);
		status = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
		if (status && !result) {
			result = status;
			/* The other would wait for it. */
			if (i == 0)
				kill(children[ended == children[0]], SIGKILL);
		}
	}
	for (i = 0; i < sizeof(told) / sizeof(*told); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, told[i]);
		unlink(path);
	}
	rmdir(folder);
	return result;
}

int main(int argc, char **argv)
{
	struct nib_options options = {
		.rank = -1,
		.messages = 1000,
		.max_group = 1,
		.max_size = 16 << 20,
		.stall_percent = 10,
		.stall_us = 300,
		.timeout_s = 120,
		.seed = 1,
	};
	bool describe = false;
	int option;

	while ((option = getopt_long(argc, argv, "", names, NULL)) != -1)
		read_option(&options, option, &describe);
	if (optind + 1 != argc || (options.rank >= 0) != !!options.rendezvous)
		wrong_usage();
	options.library = argv[optind];
	if (describe) {
		puts(nib_describe(nib_open(options.library, options.is_socket)));
		return 0;
	}
	return options.rendezvous ? be(&options, options.rank) : be_both(&options);
}
