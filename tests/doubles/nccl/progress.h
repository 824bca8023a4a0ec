/* SPDX-License-Identifier: MIT */
/*
 * The loop of the progress thread.
 *
 * Hides which of the plans that it was given can go on, and when it sleeps.
 */
#ifndef MINI_NCCL_PROGRESS_H
#define MINI_NCCL_PROGRESS_H

/* The argument is a struct mini_proxy_state. */
void *mini_progress_main(void *argument);

#endif
