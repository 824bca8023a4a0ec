/* SPDX-License-Identifier: MIT */
/*
 * Which attributes a change of a queue pair's state must and may have: the table of
 * ibv_modify_qp(3) for what must be, that of the kernel (qp_state_table) for what may be.
 */
#include "soft.h"

#include <errno.h>

struct transition {
	enum ibv_qp_state from;
	enum ibv_qp_state to;
	struct {
		int required;
		int optional;
	} masks[3]; /* RC, UC, UD */
};

#define INIT (IBV_QP_PKEY_INDEX | IBV_QP_PORT)
#define RTR (IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN)
#define PATH (IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS)
#define AGAIN (IBV_QP_CUR_STATE | PATH | IBV_QP_PATH_MIG_STATE)

static const struct transition transitions[] = {
	{IBV_QPS_RESET,
	 IBV_QPS_INIT,
	 {{INIT | IBV_QP_ACCESS_FLAGS, 0},
	  {INIT | IBV_QP_ACCESS_FLAGS, 0},
	  {INIT | IBV_QP_QKEY, 0}}},
	{IBV_QPS_INIT,
	 IBV_QPS_INIT,
	 {{0, INIT | IBV_QP_ACCESS_FLAGS},
	  {0, INIT | IBV_QP_ACCESS_FLAGS},
	  {0, INIT | IBV_QP_QKEY}}},
	{IBV_QPS_INIT,
	 IBV_QPS_RTR,
	 {{RTR | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
	   PATH | IBV_QP_PKEY_INDEX},
	  {RTR, PATH | IBV_QP_PKEY_INDEX},
	  {0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY}}},
	{IBV_QPS_RTR,
	 IBV_QPS_RTS,
	 {{IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
		   IBV_QP_MAX_QP_RD_ATOMIC,
	   AGAIN | IBV_QP_MIN_RNR_TIMER | IBV_QP_RATE_LIMIT},
	  {IBV_QP_SQ_PSN, AGAIN | IBV_QP_RATE_LIMIT},
	  {IBV_QP_SQ_PSN, IBV_QP_CUR_STATE | IBV_QP_QKEY | IBV_QP_RATE_LIMIT}}},
	{IBV_QPS_RTS,
	 IBV_QPS_RTS,
	 {{0, AGAIN | IBV_QP_MIN_RNR_TIMER | IBV_QP_RATE_LIMIT},
	  {0, AGAIN | IBV_QP_RATE_LIMIT},
	  {0, IBV_QP_CUR_STATE | IBV_QP_QKEY | IBV_QP_RATE_LIMIT}}},
	{IBV_QPS_RTS,
	 IBV_QPS_SQD,
	 {{0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
	  {0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
	  {0, IBV_QP_EN_SQD_ASYNC_NOTIFY}}},
	{IBV_QPS_SQD,
	 IBV_QPS_RTS,
	 {{0, AGAIN | IBV_QP_MIN_RNR_TIMER},
	  {0, AGAIN},
	  {0, IBV_QP_CUR_STATE | IBV_QP_QKEY}}},
	{IBV_QPS_SQD,
	 IBV_QPS_SQD,
	 {{0, IBV_QP_PORT | IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
		      IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC |
		      IBV_QP_MAX_DEST_RD_ATOMIC | PATH | IBV_QP_PKEY_INDEX |
		      IBV_QP_MIN_RNR_TIMER | IBV_QP_PATH_MIG_STATE},
	  {0, IBV_QP_AV | PATH | IBV_QP_PKEY_INDEX | IBV_QP_PATH_MIG_STATE},
	  {0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY}}},
	/* A reliable queue pair has no SQE. */
	{IBV_QPS_SQE,
	 IBV_QPS_RTS,
	 {{-1, 0},
	  {0, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS},
	  {0, IBV_QP_CUR_STATE | IBV_QP_QKEY}}},
};

int soft_check_transition(enum ibv_qp_type type, enum ibv_qp_state from,
			  enum ibv_qp_state to, int mask)
{
	unsigned int column = type - IBV_QPT_RC;
	size_t i;

	mask &= ~IBV_QP_STATE;
	/* From anywhere, and nothing may come with it. */
	if (to == IBV_QPS_RESET || to == IBV_QPS_ERR)
		return mask & ~IBV_QP_CUR_STATE ? EINVAL : 0;
	for (i = 0; i < sizeof(transitions) / sizeof(transitions[0]); i++) {
		int required = transitions[i].masks[column].required;
		int optional = transitions[i].masks[column].optional;

		if (transitions[i].from != from || transitions[i].to != to)
			continue;
		return (mask & required) == required && !(mask & ~(required | optional))
			       ? 0
			       : EINVAL;
	}
	return EINVAL;
}
