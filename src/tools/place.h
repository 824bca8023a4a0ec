/* SPDX-License-Identifier: MIT */
/*
 * Where files are: ccltap's libraries and plugin, and the parts of LTTng and babeltrace2
 * that the portable form brings along. Hides the variables that set a place, the folders
 * chosen at build time, and the place of the running command.
 */
#ifndef TAP_TOOLS_PLACE_H
#define TAP_TOOLS_PLACE_H

#include <stdbool.h>
#include <stddef.h>

/* The folder of libccltap.so, whether the file exists or not; the string stays valid. */
const char *tap_place_libraries(void);

/* The folder of the plugin, likewise. */
const char *tap_place_plugins(void);

/* The folder of the questions of "ccltap query", likewise. */
const char *tap_place_queries(void);

/* The folder of the template of "ccltap report --html", likewise. */
const char *tap_place_page(void);

/*
 * Fills in the path of a file that came with this command, as "lib/NAME"; false: the
 * caller has to use the system's.
 */
bool tap_place_bundled(const char *name, char *ret_path, size_t size);

/*
 * The session daemon to start, a path or a name to look up in PATH; the string stays
 * valid.
 */
const char *tap_place_daemon(void);

/* The same one from another current folder; before the process leaves this one. */
void tap_place_keep_daemon(void);

/* For the process that is about to become that daemon. */
void tap_place_prepare_daemon(void);

#endif
