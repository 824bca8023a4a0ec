/* SPDX-License-Identifier: MIT */
/*
 * The two variables that wrappers and resolvers share.
 */
#include "intercept/guard.h"

const int tap_not_ready = 1;

uint32_t tap_epoch = 1;
