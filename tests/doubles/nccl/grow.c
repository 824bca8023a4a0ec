/* SPDX-License-Identifier: MIT */
/*
 * A communicator that takes new ranks in.  The ring of the new one is that of the
 * old one, cut after its last rank: there the new ranks come in, which meet with
 * the last and the first of the old ones at a root.
 */
#include "comm.h"
#include "result.h"

#include <errno.h>

/* Not a hash, which is what the other tags are. */
#define INVITATION 1

static uint64_t growth_magic(const struct ncclComm *comm, unsigned int count)
{
	uint64_t origin[2] = {comm->bootstrap.magic, count};

	return mini_bootstrap_hash(origin, sizeof(origin));
}

uint64_t mini_comm_growth_magic(const struct ncclComm *comm)
{
	return growth_magic(comm, comm->child_count);
}

int mini_comm_invite(struct ncclComm *comm, ncclUniqueId *ret_id)
{
	int bounds[2] = {0, comm->nranks - 1};
	int err;
	int i;

	/* The ranks will have counted the growth when they come to it. */
	err = mini_bootstrap_create_join_root(ret_id,
					      growth_magic(comm, comm->child_count + 1),
					      comm->nranks);
	for (i = 0; i < 2 && comm->nranks > 1 && !err; i++)
		err = mini_bootstrap_send(&comm->bootstrap,
					  &comm->peers[bounds[i]].bootstrap, INVITATION,
					  ret_id, sizeof(*ret_id));
	return err;
}

int mini_comm_wait_for_invitation(struct ncclComm *comm, ncclUniqueId *ret_id,
				  const ncclUniqueId **id)
{
	int err;

	/* One rank alone has asked for the id itself. */
	if (comm->nranks == 1 || (comm->rank != 0 && comm->rank != comm->nranks - 1))
		return 0;
	err = mini_bootstrap_receive(&comm->bootstrap, -1, INVITATION, ret_id,
				     sizeof(*ret_id));
	*id = ret_id;
	return err;
}

/* An old rank tells the one before it where it is, unless a root does that. */
static int meet_old(const struct mini_comm_request *request, struct sockaddr_in *ret_next)
{
	struct mini_bootstrap *bootstrap = &request->comm->bootstrap;
	struct ncclComm *parent = request->parent;
	int count = request->comm->nranks - parent->nranks + 1;
	int rank = parent->rank;
	int err;

	if (rank == 0)
		err = mini_bootstrap_check_in(bootstrap, request->ids, count, count,
					      NULL);
	else
		err = mini_bootstrap_send(&parent->bootstrap,
					  &parent->peers[rank - 1].bootstrap,
					  request->growth_magic, &bootstrap->address,
					  sizeof(bootstrap->address));
	if (err)
		return err;
	if (rank == parent->nranks - 1)
		return mini_bootstrap_check_in(bootstrap, request->ids, 0, count,
					       ret_next);
	return mini_bootstrap_receive(&parent->bootstrap, rank + 1, request->growth_magic,
				      ret_next, sizeof(*ret_next));
}

static int meet(const struct mini_comm_request *request)
{
	struct ncclComm *comm = request->comm;
	struct mini_bootstrap *bootstrap = &comm->bootstrap;
	int old = request->parent ? request->parent->nranks
				  : mini_bootstrap_joined(request->ids);
	struct sockaddr_in next;
	int err;

	if (old == 1)
		return mini_bootstrap_meet(bootstrap, request->ids, 1);
	if (request->parent)
		err = meet_old(request, &next);
	else
		err = mini_bootstrap_check_in(bootstrap, request->ids,
					      comm->rank - (old - 1),
					      comm->nranks - (old - 1), &next);
	return err ? err : mini_bootstrap_join(bootstrap, &next);
}

ncclResult_t mini_comm_init_grown(const struct mini_comm_request *request)
{
	struct ncclComm *comm = request->comm;
	uint64_t origin[2] = {request->growth_magic, (uint64_t) comm->nranks};
	int err;

	comm->hash = mini_bootstrap_hash(origin, sizeof(origin));
	err = mini_bootstrap_open(&comm->bootstrap, request->growth_magic, comm->rank,
				  comm->nranks, &comm->aborted);
	if (!err)
		err = meet(request);
	return err ? mini_result(err) : mini_comm_meet_peers(comm);
}
