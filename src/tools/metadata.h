/* SPDX-License-Identifier: MIT */
/*
 * On which host a trace was recorded, for who has to know it before anything is read.
 * Hides how LTTng packs the text of its metadata, and that a damaged one may kill
 * babeltrace2.
 */
#ifndef TAP_TOOLS_METADATA_H
#define TAP_TOOLS_METADATA_H

#include <stddef.h>

/* Fills in the name of the host, "" when the metadata has none or cannot be read. */
void tap_metadata_find_host(const char *trace, char *host, size_t size);

#endif
