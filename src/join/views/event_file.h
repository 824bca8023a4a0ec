/* SPDX-License-Identifier: MIT */
/*
 * Reads a file in the Trace Event Format, as PyTorch's profiler and others write it.
 *
 * Hides that the file may be compressed, and that json-c gets it piece by piece: memory
 * is bounded by the largest event or member, not by the file.
 */
#ifndef TAP_JOIN_VIEWS_EVENT_FILE_H
#define TAP_JOIN_VIEWS_EVENT_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct json_object;

/* What is wrong with a file, to stand behind its name: "ends in the middle of ...". */
struct tap_event_file_error {
	char text[256];
};

/*
 * Each returns 0, or -errno to stop the reading.  What they get is freed after the call.
 */
struct tap_event_file_reader {
	int (*event)(void *data, struct json_object *event);
	/* A member of the file besides its events; of a file that is an array, none. */
	int (*member)(void *data, const char *name, struct json_object *value);
	void *data;
	struct tap_event_file_error *error; /* is written on failure */
};

/* Returns 0, or -errno with the error written: -EBADMSG when the file is not as it must
 * be. */
int tap_event_file_read(const char *path, const struct tap_event_file_reader *reader);

/* Writes the error, and returns -EBADMSG. */
int tap_event_file_fail(struct tap_event_file_error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
