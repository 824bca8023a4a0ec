/* SPDX-License-Identifier: MIT */
/*
 * The layer of what a progress thread does as a whole: a ProxyCtrl, as NCCL's profiler
 * interface calls it, from one call that puts the thread to sleep, or wakes it, to the
 * next.
 *
 * While it is awake NCCL tells Idle from Active by turns without progress, after each of
 * which the thread offers its processor to others: of these only the number is known.
 */
#ifndef TAP_JOIN_NCCL_PROXY_CTRL_H
#define TAP_JOIN_NCCL_PROXY_CTRL_H

#include "join/model/layer.h"

extern const struct tap_layer tap_proxy_ctrls_layer;

#endif
