/* SPDX-License-Identifier: MIT */
/* The one instance of what thread.h describes. */
#include "common/thread.h"

__thread struct tap_thread tap_thread = {.last_comm = &tap_no_comm};
