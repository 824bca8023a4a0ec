/* SPDX-License-Identifier: MIT */
/* Our JSON as somebody else's reader understands it. */
#include "join/base/json.h"
#include "unit/draw.h"
#include "unit/tap.h"

#include <json-c/json.h>
#include <string.h>

/* Longer than what is copied in one go. */
#define STRING_MAX 600

/* Any bytes, or ASCII with few that are not plain, so that both ways are gone. */
static void draw_string(char *string)
{
	size_t length = draw_bits() % (draw_bits() % 8 ? 32 : STRING_MAX), i;
	bool is_text = draw_bits() & 1;

	for (i = 0; i < length; i++) {
		unsigned char c = (unsigned char) (draw_bits() >> 20);

		string[i] = (char) (is_text && draw_bits() % 64 ? 'a' + c % 26 : c);
	}
	string[length] = '\0';
}

/* What a line holds, or NULL when it is not JSON in UTF-8. */
static struct json_object *parse(const struct tap_buffer *line)
{
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *object;

	json_tokener_set_flags(tokener, JSON_TOKENER_VALIDATE_UTF8);
	object = json_tokener_parse_ex(tokener, line->data, (int) line->used);
	json_tokener_free(tokener);
	return object;
}

/* A string as its own name: what is mended in one way everywhere reads as the same. */
static void add_line(struct tap_json *json, const char *string, struct tap_buffer *line)
{
	line->used = 0;
	tap_json_open(json, NULL, '{');
	tap_json_string(json, string, string);
	tap_json_unsigned(json, "number", UINT64_MAX);
	tap_json_open(json, "list", '[');
	tap_json_signed(json, NULL, INT64_MIN);
	tap_json_hex(json, NULL, 255);
	tap_buffer_add_string(&json->text, string);
	tap_json_text(json, NULL);
	tap_json_close(json);
	tap_json_end_line(json, line);
}

static bool test_read_back(void)
{
	struct tap_buffer line = {0};
	struct tap_json json = {0};
	struct json_object *object, *number, *list;
	struct json_object_iterator first;
	bool is_passed = true;
	const char *name;
	char string[STRING_MAX];
	unsigned int i;

	for (i = 0; i < 20000 && is_passed; i++) {
		draw_string(string);
		add_line(&json, string, &line);
		CHECK(!line.is_short && line.data[line.used - 1] == '\n');
		object = parse(&line);
		CHECK(object && json_object_object_length(object) == 3);
		if (!is_passed)
			break;
		first = json_object_iter_begin(object);
		name = json_object_iter_peek_name(&first);
		CHECK(!strcmp(name, json_object_get_string(
					    json_object_iter_peek_value(&first))));
		CHECK(json_object_object_get_ex(object, "number", &number) &&
		      json_object_get_uint64(number) == UINT64_MAX);
		CHECK(json_object_object_get_ex(object, "list", &list) &&
		      json_object_array_length(list) == 3);
		CHECK(json_object_get_int64(json_object_array_get_idx(list, 0)) ==
		      INT64_MIN);
		CHECK(!strcmp(json_object_get_string(json_object_array_get_idx(list, 1)),
			      "0xff"));
		CHECK(!strcmp(json_object_get_string(json_object_array_get_idx(list, 2)),
			      name));
		json_object_put(object);
	}
	tap_json_free(&json);
	tap_buffer_free(&line);
	return is_passed;
}

int main(void)
{
	printf("1..1\n");
	report("any bytes become JSON that json-c reads", test_read_back);
	return 0;
}
