/* SPDX-License-Identifier: MIT */
/* Choosing (NCCL 2.28.9, graph/tuning.cc:57-135 and enqueue.cc:1820-1905). */
#include "choice.h"

#include "comm.h"
#include "functions.h"
#include "release.h"
#include "settings.h"
#include "tuning.h"

#include <string.h>
#include <strings.h>

enum { WARP = 32, MOST_THREADS = 640 };

static bool is_word(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && strncasecmp(text, word, length) == 0;
}

static bool has_word(const char *list, size_t length, const char *word)
{
	size_t part;

	for (; length > 0; list += part, length -= part) {
		part = strcspn(list, ",");
		if (part > length)
			part = length;
		if (is_word(list, part, word))
			return true;
		if (part < length)
			part++;
	}
	return false;
}

/*
 * "ring,tree" for all functions, "allreduce:tree" for one, several of them with
 * semicolons, "^" before what is not allowed: what is said last of a function counts.
 */
static bool is_allowed(const char *text, const char *function, const char *word)
{
	bool is_allowed = true;
	size_t length;
	size_t prefix;

	for (; text && *text; text += length + (text[length] != 0)) {
		const char *list = text;
		size_t left;

		length = strcspn(text, ";");
		prefix = strcspn(text, ":;");
		if (prefix < length) {
			if (!is_word(text, prefix, function))
				continue;
			list += prefix + 1;
		}
		left = length - (size_t) (list - text);
		is_allowed = *list == '^' ? !has_word(list + 1, left - 1, word)
					  : has_word(list, left, word);
	}
	return is_allowed;
}

static bool allows(const struct mini_op *op, enum mini_setting setting, const char *word)
{
	return is_allowed(mini_text(setting), mini_function_name(op), word);
}

static const char *const algorithm_words[] = {[MINI_TREE] = "tree", [MINI_RING] = "ring"};
static const char *const protocol_words[] = {
	[MINI_LL] = "ll",
	[MINI_LL128] = "ll128",
	[MINI_SIMPLE] = "simple",
};

/* Of those that take the same time the first. */
static void choose_way(const struct ncclComm *comm, const struct mini_op *op,
		       size_t bytes, int operations, struct mini_choice *choice)
{
	double least = -1;
	double time;
	int algorithm;
	int protocol;

	for (algorithm = MINI_TREE; algorithm <= MINI_RING; algorithm++) {
		/* Trees are there for all-reduce only. */
		if ((algorithm == MINI_TREE && op->function != MINI_ALL_REDUCE) ||
		    !allows(op, SET_NCCL_ALGO, algorithm_words[algorithm]))
			continue;
		for (protocol = 0; protocol < MINI_PROTOCOLS; protocol++) {
			if (!allows(op, SET_NCCL_PROTO, protocol_words[protocol]))
				continue;
			time = mini_tuning_time(comm, op->function,
						(enum mini_algorithm) algorithm,
						(enum mini_protocol) protocol, bytes,
						operations);
			if (least >= 0 && time >= least)
				continue;
			least = time;
			choice->algorithm = (enum mini_algorithm) algorithm;
			choice->protocol = (enum mini_protocol) protocol;
		}
	}
}

static size_t most_threads(const struct mini_choice *choice)
{
	return choice->protocol == MINI_LL128 ? 640 : 512;
}

/* Bytes that are worth a thread. */
static size_t threshold_of(const struct ncclComm *comm, const struct mini_choice *choice)
{
	size_t threshold = choice->protocol == MINI_SIMPLE ? 64 : 8;

	if (choice->algorithm == MINI_RING && choice->protocol == MINI_LL)
		threshold *= (size_t) comm->nranks;
	return threshold;
}

static int fewer_channels(const struct ncclComm *comm, const struct mini_choice *choice,
			  size_t bytes, int channels)
{
	size_t threads = most_threads(choice);
	size_t threshold = threshold_of(comm, choice);

	while (channels > 1 && bytes < (size_t) channels * threads * threshold)
		channels--;
	return channels;
}

/*
 * Trees have all threads from 2.22 on, before that with SIMPLE four warps more for what
 * is split between up and down (NCCL 2.18.3, enqueue.cc:1189-1222; 2.21.5,
 * enqueue.cc:1566-1619; 2.22.3, enqueue.cc:1649-1655).
 */
static size_t tree_threads(size_t threads, enum mini_protocol protocol)
{
	if (mini_release() >= 22200)
		return MOST_THREADS;
	return protocol == MINI_SIMPLE ? threads + 4 * WARP : threads;
}

/* Fewer channels, then fewer threads, where each would have little to do. */
static void choose_size(const struct ncclComm *comm, struct mini_choice *choice,
			size_t bytes, int channels)
{
	size_t threads = most_threads(choice);
	size_t threshold = threshold_of(comm, choice);

	choice->channels = fewer_channels(comm, choice, bytes, channels);
	while (bytes < (size_t) choice->channels * threads * threshold &&
	       threads % 128 == 0)
		threads /= 2;
	/* One warp more keeps the others in step. */
	if (choice->algorithm == MINI_TREE)
		threads = tree_threads(threads, choice->protocol);
	else if (choice->protocol == MINI_SIMPLE)
		threads += WARP;
	if (threads < 3 * WARP)
		threads = 3 * WARP;
	choice->warps = (int) (threads / WARP);
}

int mini_choose_channels(const struct ncclComm *comm, const struct mini_choice *choice,
			 size_t bytes)
{
	return fewer_channels(comm, choice, bytes, comm->channels);
}

bool mini_choose(const struct ncclComm *comm, const struct mini_op *op, size_t bytes,
		 int operations, int channels, struct mini_choice *choice)
{
	*choice = (struct mini_choice){.algorithm = MINI_NO_ALGORITHM};
	choose_way(comm, op, bytes, operations, choice);
	if (choice->algorithm == MINI_NO_ALGORITHM) {
		/* Older ones did what was not allowed rather than nothing. */
		if (mini_release() >= 22400)
			return false;
		choice->algorithm = MINI_RING;
		choice->protocol = MINI_SIMPLE;
	}
	choose_size(comm, choice, bytes, channels);
	return true;
}
