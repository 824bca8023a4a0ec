/* SPDX-License-Identifier: MIT */
/*
 * The device's half of a plan: what the blocks of the kernel do, one per channel.
 *
 * Hides how data goes through rings and trees, and how it lies in the buffers.
 */
#ifndef MINI_NCCL_DEVICE_H
#define MINI_NCCL_DEVICE_H

#include "plan.h"

/* 0 or -errno. */
int mini_device_create(struct mini_plan *plan);
/* Goes on with all channels: 1 when all is done, 0, or -errno. */
int mini_device_step(struct mini_device *device, bool *moved);
void mini_device_destroy(struct mini_device *device);

#endif
