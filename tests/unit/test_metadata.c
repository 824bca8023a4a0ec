/* SPDX-License-Identifier: MIT */
/* The host is found in the metadata of CTF 1.8, as text and in packets, and of CTF 2. */
#include "tools/metadata.h"
#include "unit/tap.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* As LTTng 2.13 and LTTng 2.16 write it. */
static const char one[] = "/* CTF 1.8 */\n\ntrace {\n\tmajor = 1;\n};\n\nenv {\n"
			  "\thostname = \"node-1\";\n\tdomain = \"ust\";\n};\n";
static const char two[] = "\036{\n  \"type\": \"preamble\",\n  \"version\": 2\n}\036{\n"
			  "  \"environment\": {\n    \"domain\": \"ust\",\n"
			  "    \"hostname\": \"node-2\",\n    \"trace_name\": \"h\"\n  }\n}";

static void write_metadata(const void *packet, size_t packet_size, const char *text,
			   size_t size)
{
	FILE *file = fopen("metadata.trace/metadata", "w");

	if (!file)
		exit(1);
	fwrite(packet, 1, packet_size, file);
	fwrite(text, 1, size, file);
	fclose(file);
}

static bool finds(const char *expected)
{
	char host[64];

	tap_metadata_find_host("metadata.trace", host, sizeof(host));
	return !strcmp(host, expected);
}

int main(void)
{
	const uint32_t bits = (37 + (uint32_t) strlen(one)) * 8;
	unsigned char packet[37] = {0};

	mkdir("metadata.trace", 0700);
	write_metadata("", 0, one, strlen(one));
	ok(finds("node-1"), "text of CTF 1.8");
	write_metadata("", 0, two, strlen(two));
	ok(finds("node-2"), "CTF 2");
	memcpy(packet, &(uint32_t){0x75d11d57}, 4);
	memcpy(packet + 24, &bits, 4);
	memcpy(packet + 28, &bits, 4);
	write_metadata(packet, sizeof(packet), one, strlen(one));
	ok(finds("node-1"), "packets of CTF 1.8");
	write_metadata("", 0, one, strlen("/* CTF 1.8 */\n\ntrace {\n"));
	ok(finds(""), "metadata without a host");
	unlink("metadata.trace/metadata");
	ok(finds(""), "no metadata");
	rmdir("metadata.trace");
	return tap_done();
}
