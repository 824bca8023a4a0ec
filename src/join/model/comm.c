/* SPDX-License-Identifier: MIT */
/*
 * Members by (process, number), communicators by key.  A communicator whose key is not
 * known yet has one member; it is united with the communicator of the key when the key
 * becomes known.
 */
#include "join/model/comm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/vec.h"

/* A value of tap:comm's enumeration `phase`. */
#define PHASE_DESTROYED 5

static struct tap_comm *make_comm(struct tap_comms *comms, uint64_t key)
{
	struct tap_comm *comm;

	if (tap_array_reserve(comms->all, comms->room, comms->count + 1))
		return NULL;
	comm = calloc(1, sizeof(*comm));
	if (!comm)
		return NULL;
	if (key && tap_table_set(&comms->by_key, key, 0, comm)) {
		free(comm);
		return NULL;
	}
	comm->number = comms->count;
	comm->key = key;
	comm->nranks = -1;
	comms->all[comms->count++] = comm;
	return comm;
}

/*
 * The communicator of this key, made when new; each unknown key makes a new communicator.
 */
static struct tap_comm *find_comm(struct tap_comms *comms, uint64_t key)
{
	struct tap_comm *comm = key ? tap_table_find(&comms->by_key, key, 0) : NULL;

	return comm ? tap_comm_root(comm) : make_comm(comms, key);
}

/* Unites two communicators under the key of `into`. */
static void unite(struct tap_comms *comms, struct tap_comm *from, struct tap_comm *into)
{
	struct tap_member **last;

	if (from == into)
		return;
	from->united = into;
	for (last = &from->members; *last; last = &(*last)->next)
		;
	*last = into->members;
	into->members = from->members;
	from->members = NULL;
	if (into->nranks < 0)
		into->nranks = from->nranks;
	into->linked += from->linked;
	into->incomplete += from->incomplete;
	into->unmatched += from->unmatched;
	into->ambiguous += from->ambiguous;
	into->mismatched += from->mismatched;
	comms->changes++;
}

static struct tap_member *make_member(struct tap_comms *comms,
				      const struct tap_process *process, uint64_t comm_id,
				      uint64_t key)
{
	struct tap_member *member;

	if (tap_array_reserve(comms->members, comms->member_room,
			      comms->member_count + 1))
		return NULL;
	member = calloc(1, sizeof(*member));
	if (!member)
		return NULL;
	member->comm = find_comm(comms, key);
	if (!member->comm ||
	    tap_table_set(&comms->by_id, process->number, comm_id, member)) {
		free(member);
		return NULL;
	}
	member->number = comms->member_count;
	member->process = process;
	member->comm_id = comm_id;
	member->rank = -1;
	member->device = -1;
	member->next = member->comm->members;
	member->comm->members = member;
	comms->members[comms->member_count++] = member;
	return member;
}

struct tap_member *tap_comms_member(struct tap_comms *comms,
				    const struct tap_process *process, uint64_t comm_id,
				    uint64_t key)
{
	struct tap_member *member =
		tap_table_find(&comms->by_id, process->number, comm_id);
	struct tap_comm *other;

	if (!member)
		return make_member(comms, process, comm_id, key);
	if (!key || key == member->comm->key)
		return member;
	other = find_comm(comms, key);
	if (!other)
		return NULL;
	/* The member has two keys: the first one stays, unless it was unknown. */
	member->comm = tap_member_comm(member);
	if (member->comm->key)
		unite(comms, other, member->comm);
	else
		unite(comms, member->comm, other);
	return member;
}

static void learn(struct tap_comms *comms, int64_t *known, const struct tap_fields *about,
		  const char *name)
{
	int64_t value;

	if (*known >= 0 || tap_fields_get_signed(about, name, &value) || value < 0 ||
	    value > INT32_MAX)
		return;
	*known = value;
	comms->changes++;
}

int tap_comms_describe(struct tap_comms *comms, const struct tap_process *process,
		       struct tap_event *event, bool is_statedump,
		       struct tap_member **ret_member)
{
	const struct tap_fields *about = &event->fields;
	uint64_t comm_id, key = 0, alias = 0, collectives, phase = 0;
	struct tap_member *member;
	struct tap_comm *comm, *other;

	*ret_member = NULL;
	if (tap_fields_get_unsigned(about, "comm_id", &comm_id) || !comm_id)
		return -EINVAL;
	tap_fields_get_unsigned(about, "comm_key", &key);
	tap_fields_get_unsigned(about, "alias_key", &alias);
	tap_fields_get_unsigned(about, "phase", &phase);
	member = tap_comms_member(comms, process, comm_id, key);
	comm = member && key ? find_comm(comms, key) : NULL;
	other = member && key && alias ? find_comm(comms, alias) : NULL;
	if (!member || (key && !comm) || (key && alias && !other))
		return -ENOMEM;
	if (other) {
		unite(comms, other, comm);
		comm->key = key;
	}
	if (is_statedump &&
	    !tap_fields_get_unsigned(about, "collectives", &collectives) &&
	    collectives > member->collectives)
		member->collectives = collectives;
	member->is_made |= !is_statedump && phase < PHASE_DESTROYED;
	/* Another thread writes the state dump, which may come after the end. */
	if (member->is_over || tap_fields_are_equal(&member->about, about))
		return 0;
	learn(comms, &member->rank, about, "rank");
	learn(comms, &member->device, about, "device");
	learn(comms, &tap_member_comm(member)->nranks, about, "nranks");
	if (phase >= PHASE_DESTROYED) {
		member->is_over = true;
		comms->changes++;
	}
	tap_fields_swap(&member->about, &event->fields);
	*ret_member = member;
	return 0;
}

void tap_comms_free(struct tap_comms *comms)
{
	size_t i;

	for (i = 0; i < comms->member_count; i++) {
		tap_fields_free(&comms->members[i]->about);
		free(comms->members[i]);
	}
	for (i = 0; i < comms->count; i++)
		free(comms->all[i]);
	free(comms->members);
	free(comms->all);
	tap_table_free(&comms->by_id);
	tap_table_free(&comms->by_key);
	memset(comms, 0, sizeof(*comms));
}
