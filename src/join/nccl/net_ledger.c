/* SPDX-License-Identifier: MIT */
/* Entries in a table and, by their age, in a list. */
#include "join/nccl/net_ledger.h"

#include <errno.h>
#include <stdlib.h>

struct tap_net_entry {
	uint64_t connection, kernel; /* numbers */
	int64_t begin_ns;	     /* of the kernel */
	struct tap_fit_sum sum;
	bool has_left_over;
	struct tap_net_entry *next;
};

static void forget(struct tap_net_ledger *ledger)
{
	struct tap_net_entry *oldest = ledger->first;

	ledger->first = oldest->next;
	if (!ledger->first)
		ledger->last = NULL;
	if (!ledger->has_forgotten || oldest->begin_ns > ledger->forgotten_ns)
		ledger->forgotten_ns = oldest->begin_ns;
	ledger->has_forgotten = true;
	tap_table_remove(&ledger->entries, oldest->connection, oldest->kernel);
	free(oldest);
}

static struct tap_net_entry *add_entry(struct tap_net_ledger *ledger, uint64_t connection,
				       const struct tap_op_kernel *kernel)
{
	struct tap_net_entry *entry = calloc(1, sizeof(*entry));
	const uint64_t number = kernel->work.run.number;

	if (!entry || tap_table_set(&ledger->entries, connection, number, entry)) {
		free(entry);
		return NULL;
	}
	entry->connection = connection;
	entry->kernel = number;
	entry->begin_ns = kernel->begin_ns;
	if (ledger->last)
		ledger->last->next = entry;
	else
		ledger->first = entry;
	ledger->last = entry;
	return entry;
}

int tap_net_ledger_add(struct tap_net_ledger *ledger, uint64_t connection,
		       const struct tap_op_kernel *kernel, uint64_t bytes,
		       bool is_left_over)
{
	struct tap_net_entry *entry =
		tap_table_find(&ledger->entries, connection, kernel->work.run.number);

	if (!entry)
		entry = add_entry(ledger, connection, kernel);
	if (!entry)
		return -ENOMEM;
	tap_fit_add(&entry->sum, bytes);
	entry->has_left_over |= is_left_over;
	while (ledger->entries.count > ledger->kept_max)
		forget(ledger);
	return 0;
}

struct tap_fit_sum tap_net_ledger_find(const struct tap_net_ledger *ledger,
				       uint64_t connection,
				       const struct tap_op_kernel *kernel,
				       bool *has_left_over)
{
	const struct tap_net_entry *entry =
		tap_table_find(&ledger->entries, connection, kernel->work.run.number);

	*has_left_over |= entry && entry->has_left_over;
	return entry ? entry->sum : (struct tap_fit_sum){0};
}

void tap_net_ledger_free(struct tap_net_ledger *ledger)
{
	while (ledger->first)
		forget(ledger);
	tap_table_free(&ledger->entries);
}
