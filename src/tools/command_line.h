/* SPDX-License-Identifier: MIT */
/*
 * What the command lines of all verbs have in common: -h, --usage, --version and
 * --no-pager, and what to say about a word that is not known. Hides how argp is told of these, how its options
 * are found, and which words are alike.
 */
#ifndef TAP_TOOLS_COMMAND_LINE_H
#define TAP_TOOLS_COMMAND_LINE_H

#include <argp.h>
#include <stddef.h>

/*
 * argp_parse() for a verb, whose full name is argv[0]. Returns 0, or an errno after a line
 * on stderr; does not return after --help, nor after --list-options, which completion in a
 * shell asks for and no help mentions.
 */
error_t tap_command_line_parse(const struct argp *argp, int argc, char **argv,
			       unsigned flags, void *input);

/* The name that a wrong word may have been meant for; begins with all but `word` zero. */
struct tap_meant {
	const char *word;
	const char *name; /* the most alike that was added, NULL: none is alike */
	size_t distance;
};
void tap_meant_add(struct tap_meant *meant, const char *name);

#endif
