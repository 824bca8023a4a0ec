/* SPDX-License-Identifier: MIT */
/*
 * What the environment asks for.  Each variable stands once, in settings.def: its name,
 * its range, and what it means.  A setting that is not what the test asked for would make
 * the test show something else, so a wrong one ends the program and says what would be
 * right, and so does a name that begins like one of ours and is none.
 *
 * Hides how a value is read and checked.  A variable is read whenever it is asked for, so
 * a program may change it between two communicators.
 */
#ifndef MINI_NCCL_SETTINGS_H
#define MINI_NCCL_SETTINGS_H

#include <stdint.h>

/* clang-format off */
enum mini_setting {
#define NUMBER(name, otherwise, least, most, meaning) SET_##name,
#define TEXT(name, meaning) SET_##name,
#include "settings.def"
#undef NUMBER
#undef TEXT
	MINI_SETTINGS
};
/* clang-format on */

/* What is said, or what the table says where nothing is. */
int64_t mini_number(enum mini_setting which);
/* For what has no value of its own, but follows from something else. */
int64_t mini_number_or(enum mini_setting which, int64_t otherwise);
/* NULL where nothing is said. */
const char *mini_text(enum mini_setting which);
/* Looks at all of them, once per process. */
void mini_settings_check(void);

#endif
