/* SPDX-License-Identifier: MIT */
/*
 * What a connection has for the case that a port fails (NCCL 2.30.7, p2p_resiliency.cc:
 * 645-985): on each device a queue pair, by which the sender would read at the receiver
 * what has arrived.  As long as none fails nothing is posted on it.
 */
#include "verbs.h"

#include <errno.h>

int mini_ib_make_probe_cq(struct mini_net_connection *connection,
			  struct mini_ib_side *side)
{
	int err = 0;

	if (!connection->is_resilient)
		return 0;
	if (connection->is_send)
		err = mini_ib_reg_own(side, connection->probed,
				      sizeof(connection->probed), IBV_ACCESS_LOCAL_WRITE,
				      &side->probe_mr);
	if (err)
		return err;
	/* The receiver's gets none, but there is no queue of no length. */
	side->probe_cq =
		mini_verbs.create_cq(side->device->context,
				     connection->is_send ? mini_ib_rules()->slots : 1,
				     &connection->stats, NULL, 0);
	return side->probe_cq ? 0 : -errno;
}

static int create(struct mini_net_connection *connection, int s)
{
	struct mini_ib_side *side = &connection->sides[s];
	const struct mini_ib_room room = {
		connection->is_send ? mini_ib_rules()->slots : 0, 0,
		connection->is_send ? IBV_ACCESS_LOCAL_WRITE : IBV_ACCESS_REMOTE_READ};
	int err = mini_ib_create_qp(connection, side, side->probe_cq, &room,
				    &side->probe_qp);

	if (!err)
		connection->local.probes[s] = side->probe_qp->qp_num;
	return err;
}

static int make_ready(struct mini_net_connection *connection, int s)
{
	struct mini_ib_side *side = &connection->sides[s];
	int remote = s % connection->remote.device_count;

	return mini_ib_ready_qp(connection, side, side->probe_qp,
				connection->remote.probes[remote],
				&connection->remote.devices[remote]);
}

int mini_ib_create_probe_qps(struct mini_net_connection *connection)
{
	int err = 0;
	int s;

	for (s = 0; connection->is_resilient && s < connection->side_count && !err; s++) {
		err = create(connection, s);
		if (!err && !connection->is_send)
			err = make_ready(connection, s);
	}
	return err;
}

int mini_ib_ready_probe_qps(struct mini_net_connection *connection)
{
	int err = 0;
	int s;

	for (s = 0; connection->is_resilient && s < connection->side_count && !err; s++)
		err = make_ready(connection, s);
	return err;
}

void mini_ib_close_probe(struct mini_ib_side *side)
{
	if (side->probe_cq)
		mini_verbs.destroy_cq(side->probe_cq);
	if (side->probe_mr)
		mini_verbs.dereg_mr(side->probe_mr);
}
