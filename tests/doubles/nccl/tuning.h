/* SPDX-License-Identifier: MIT */
/*
 * How long NCCL expects a collective to take, by which it chooses.
 *
 * Hides its model, with the numbers of a machine that has an A100 and a network of
 * 100 Gbit/s.
 */
#ifndef MINI_NCCL_TUNING_H
#define MINI_NCCL_TUNING_H

#include "plan.h"

/* Microseconds. */
double mini_tuning_time(const struct ncclComm *comm, enum mini_function function,
			enum mini_algorithm algorithm, enum mini_protocol protocol,
			size_t bytes, int operations);

#endif
