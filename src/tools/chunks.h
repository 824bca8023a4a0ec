/* SPDX-License-Identifier: MIT */
/*
 * Joins two adjacent chunks of a recording into one. Hides how LTTng lays a chunk out, and
 * that a stream's packets may follow each other in one file.
 */
#ifndef TAP_TOOLS_CHUNKS_H
#define TAP_TOOLS_CHUNKS_H

/*
 * Appends chunk `newer` to chunk `older`, the one before it, both in the folder archives,
 * and removes `newer`. Returns the name of what they have become, which the caller frees;
 * or NULL, and both are as they were.
 */
char *tap_chunks_join(const char *archives, const char *older, const char *newer);

#endif
