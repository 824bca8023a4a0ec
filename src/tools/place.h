/* SPDX-License-Identifier: MIT */
/*
 * Where things are: our own libraries and plugin, and what the portable form has along
 * of LTTng and babeltrace2.  Hides the variables that say so, the folders that were
 * chosen when this was built, and the place of the running command.
 */
#ifndef TAP_TOOLS_PLACE_H
#define TAP_TOOLS_PLACE_H

#include <stdbool.h>
#include <stddef.h>

/* The folder of libccltap.so, be it there or not; it stays valid. */
const char *tap_place_libraries(void);

/* The folder of our plugin, likewise. */
const char *tap_place_plugins(void);

/*
 * Tells the path of a file that came with this command, as "lib/NAME"; false means that
 * the system's is to be used.
 */
bool tap_place_bundled(const char *name, char *ret_path, size_t size);

/* The session daemon to start, a path or a name to be found in PATH; it stays valid. */
const char *tap_place_daemon(void);

/* In the process that is about to become that daemon. */
void tap_place_prepare_daemon(void);

#endif
