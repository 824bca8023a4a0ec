/* SPDX-License-Identifier: MIT */
/*
 * argp has no hook for an option that is not known, so long options are looked up before
 * it sees them. The verb's argp becomes the child of one that has the common options.
 */
#include "tools/command_line.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/message.h"
#include "tools/pager.h"

/* Longer names are cut: no verb or option is as long. */
#define NAME_SIZE 32

/* ---- Words that are alike ---- */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * How many letters to add, leave out, replace or swap with the next one to get from one
 * word to the other.
 */
static size_t measure(const char *from, const char *to)
{
	size_t rows[NAME_SIZE + 1][NAME_SIZE + 1];
	size_t i, j, from_length = strnlen(from, NAME_SIZE),
		     to_length = strnlen(to, NAME_SIZE);

	for (i = 0; i <= from_length; i++) {
		for (j = 0; j <= to_length; j++) {
			size_t *cell = &rows[i][j];

			if (!i || !j) {
				*cell = i + j;
				continue;
			}
			*cell = rows[i - 1][j - 1] + (from[i - 1] != to[j - 1]);
			*cell = least(*cell, least(rows[i - 1][j], rows[i][j - 1]) + 1);
			if (i > 1 && j > 1 && from[i - 1] == to[j - 2] &&
			    from[i - 2] == to[j - 1])
				*cell = least(*cell, rows[i - 2][j - 2] + 1);
		}
	}
	return rows[from_length][to_length];
}

void tap_meant_add(struct tap_meant *meant, const char *name)
{
	const size_t length = strlen(meant->word);
	size_t distance = measure(meant->word, name);

	/* The beginning of a name is like it, however much is missing. */
	if (length > 1 && !strncmp(meant->word, name, length))
		distance = 1;
	/* A third of the letters may be wrong. */
	if (distance > (length < 6 ? 1 : length / 3))
		return;
	if (meant->name && meant->distance <= distance)
		return;
	meant->name = name;
	meant->distance = distance;
}

/* ---- The options of a verb ---- */

static bool is_last(const struct argp_option *option)
{
	return !option->name && !option->key && !option->doc && !option->group;
}

/* Calls each for the options of the tree until it returns true. */
static const struct argp_option *
find_option(const struct argp *argp,
	    bool (*each)(const struct argp_option *option, void *data), void *data)
{
	const struct argp_option *option, *found;
	const struct argp_child *child;

	for (option = argp->options; option && !is_last(option); option++)
		if (each(option, data))
			return option;
	for (child = argp->children; child && child->argp; child++) {
		found = find_option(child->argp, each, data);
		if (found)
			return found;
	}
	return NULL;
}

struct long_name {
	char text[NAME_SIZE + 1]; /* as it was given, perhaps only the beginning */
	struct tap_meant meant;
};

static bool has_long_name(const struct argp_option *option, void *data)
{
	struct long_name *name = data;

	if (!option->name)
		return false;
	if (!(option->flags & OPTION_HIDDEN))
		tap_meant_add(&name->meant, option->name);
	return !strncmp(option->name, name->text, strlen(name->text));
}

static bool has_letter(const struct argp_option *option, void *data)
{
	return option->key == *(const char *) data;
}

static bool needs_argument(const struct argp_option *option)
{
	return option->arg && !(option->flags & OPTION_ARG_OPTIONAL);
}

/* Whether the argument after `-abc` belongs to it. */
static bool takes_next_letters(const struct argp *argp, const char *letters)
{
	for (; *letters; letters++) {
		const struct argp_option *option =
			find_option(argp, has_letter, (void *) letters);

		if (option && option->arg)
			return !letters[1] && needs_argument(option);
	}
	return false;
}

/* Returns an errno after a message if a long option is not known. */
static error_t check_long_options(const struct argp *argp, int argc, char **argv,
				  bool is_in_order)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		const char *given = argv[i];
		const struct argp_option *option;
		struct long_name name;

		if (*given != '-' && is_in_order)
			break;
		if (*given != '-' || given[1] != '-') {
			if (*given == '-')
				i += takes_next_letters(argp, given + 1);
			continue;
		}
		snprintf(name.text, sizeof(name.text), "%.*s",
			 (int) strcspn(given + 2, "="), given + 2);
		name.meant = (struct tap_meant){.word = name.text};
		option = find_option(argp, has_long_name, &name);
		if (option) {
			i += needs_argument(option) && !strchr(given, '=');
			continue;
		}
		if (name.meant.name)
			tap_message_write("no option \"--%s\": did you mean \"--%s\"? "
					  "\"%s --help\" lists them",
					  name.text, name.meant.name, argv[0]);
		else
			tap_message_write("no option \"--%s\": \"%s --help\" lists them",
					  name.text, argv[0]);
		return EINVAL;
	}
	return 0;
}

/* ---- What completion in a shell asks for ---- */

/* "--output=", a tab, and what it does; "=" where an argument must follow. */
static bool list_option(const struct argp_option *option, void *data)
{
	const char *doc = option->doc ? option->doc : "";

	(void) data;
	if (option->flags & OPTION_HIDDEN)
		return false;
	if (option->name)
		printf("--%s%s\t%s\n", option->name, needs_argument(option) ? "=" : "", doc);
	if (option->key > ' ' && option->key < 127)
		printf("-%c\t%s\n", option->key, doc);
	return false;
}

/* ---- The options of all verbs ---- */

enum { KEY_USAGE = 1024, KEY_NO_PAGER };

static const struct argp_option common_options[] = {
	{"help", 'h', NULL, 0, "list the options", -1},
	{NULL, '?', NULL, OPTION_HIDDEN, NULL, -1},
	{"no-pager", KEY_NO_PAGER, NULL, 0, "show long output without a pager", -1},
	{"usage", KEY_USAGE, NULL, 0, "show the usage in a few lines", -1},
	{"version", 'V', NULL, 0, "print the version", -1},
	{0},
};

static error_t parse_common(int key, char *arg, struct argp_state *state)
{
	(void) arg;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = state->input;
		/* One line for an error is enough: no "Try --help" after it. */
		state->err_stream = NULL;
		return 0;
	case 'h':
	case '?':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	case KEY_NO_PAGER:
		tap_pager_refuse();
		return 0;
	case KEY_USAGE:
		argp_state_help(state, stdout, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
		return 0;
	case 'V':
		puts(argp_program_version);
		exit(0);
	}
	return ARGP_ERR_UNKNOWN;
}

error_t tap_command_line_parse(const struct argp *argp, int argc, char **argv,
			       unsigned flags, void *input)
{
	const struct argp_child children[] = {{.argp = argp}, {0}};
	const struct argp whole = {
		.options = common_options,
		.parser = parse_common,
		.children = children,
	};
	error_t ret;

	if (argc == 2 && !strcmp(argv[1], "--list-options")) {
		find_option(&whole, list_option, NULL);
		exit(0);
	}
	ret = check_long_options(&whole, argc, argv, flags & ARGP_IN_ORDER);
	return ret ? ret
		   : argp_parse(&whole, argc, argv, flags | ARGP_NO_HELP, NULL, input);
}
