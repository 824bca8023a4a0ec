/* SPDX-License-Identifier: MIT */
/*
 * The recording that is meant where none is named: the newest in the current folder. Hides
 * how recordings are found there, and which is the newest.
 *
 * What was recorded from here into a folder elsewhere is not found: that would take a file
 * in each folder that ccltap is run in.
 */
#ifndef TAP_TOOLS_HERE_H
#define TAP_TOOLS_HERE_H

/*
 * Returns the folder of the recording, after a line on stderr that names it; not to be
 * freed. NULL: there is none.
 */
char *tap_here_find(void);

#endif
