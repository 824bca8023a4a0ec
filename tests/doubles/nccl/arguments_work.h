/* SPDX-License-Identifier: MIT */
/*
 * A work in the argument buffer, NCCL's ncclDevWorkColl or ncclDevWorkP2p, and what else
 * of a batch changed since 2.22.
 *
 * Hides the layouts of the releases: 2.22 to 2.30 from device.h at the tags, 2.31
 * and 2.32 from the debugging information of NVIDIA's libraries.
 */
#ifndef MINI_NCCL_ARGUMENTS_WORK_H
#define MINI_NCCL_ARGUMENTS_WORK_H

#include "work.h"

enum { MINI_MOST_WORK_BYTES = 128 };

/* To as many bytes as mini_coll_bytes() and MINI_P2P_BYTES say. */
void mini_write_coll(char *to, const struct ncclComm *comm, const struct mini_coll *coll);
void mini_write_pair(char *to, const struct mini_pair *pair, int channels);
/* Where an operator's argument is, or the argument. */
uint64_t mini_operator_argument(const struct mini_operation *operation);

/* Of the works of a batch. */
size_t mini_batch_bytes(void);
/* What a batch says of its function, whose number it is given. */
unsigned int mini_batch_function(const struct mini_op *op, unsigned int number);

#endif
