/* SPDX-License-Identifier: MIT */
/*
 * Samples of the GPUs that the process uses: how busy they are, their power and clocks.
 *
 * Hides NVML, which is opened when the user asks for samples of GPUs.
 */
#ifndef TAP_CUPTI_NVML_H
#define TAP_CUPTI_NVML_H

#include "common/compiler.h"

/* Called by the watchdog alone, once a second: layer.h. */
void tap_cupti_sample(unsigned sources) tap_hidden;
/* Called in the child of a fork. */
void tap_cupti_sample_fork_child(void) tap_hidden;

#endif
