/* SPDX-License-Identifier: MIT */
/* What a supervisor answers, in words. */
#ifndef TAP_TOOLS_ANSWER_H
#define TAP_TOOLS_ANSWER_H

#include "common/compiler.h"
#include "tools/control_socket.h"

struct tap_recording;

/* Appends to the text. */
void tap_answer_say(struct tap_answer *answer, const char *format, ...) tap_printf(2, 3);
/* Makes it an error with this text. */
void tap_answer_refuse(struct tap_answer *answer, const char *format, ...)
	tap_printf(2, 3);
/* Appends what a recording that has ended lacks, if it lacks anything. */
void tap_answer_say_losses(struct tap_answer *answer, const struct tap_answer *outcome);
/* Fills in what a program that joins, or a reader, needs to know of the recording. */
void tap_answer_fill_joined(struct tap_answer *answer,
			    const struct tap_recording *recording);

#endif
