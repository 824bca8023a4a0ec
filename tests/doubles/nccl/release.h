/* SPDX-License-Identifier: MIT */
/*
 * Which release of NCCL is imitated where the releases differ to be seen: in the form of
 * their threads, of what they say to each other, and of their messages.  Hides how that
 * is chosen: MININCCL_RELEASE=2.28.9 is the default.
 */
#ifndef MINI_NCCL_RELEASE_H
#define MINI_NCCL_RELEASE_H

/* As NCCL_VERSION_CODE: 22809.  The process ends where the environment names none. */
int mini_release(void);

#endif
