/* SPDX-License-Identifier: MIT */
/* Ports whose counters are long in coming: what is written, and when they are read. */
#include "common/clock.h"

/* Each look at the clock takes so long. */
static int64_t clock_ns, step_ns;

static int64_t passing_ns(void)
{
	return clock_ns += step_ns;
}

#define tap_now_ns passing_ns
#include "common/counters.c"
#include "tools/metrics_ports.c"

#include <sys/stat.h>

#include "unit/tap.h"

#define LONG_NS (TAP_SECOND_NS / 30)
#define GIVEN_UP "ccltap_rdma_ports_given_up 1\n"

static char folder[] = "/tmp/test_ports.XXXXXX";
static struct tap_metrics_page page;
static struct tap_metrics_process process = {.page = &page};

/* Both ports have sent so many words. */
static bool have_sent(unsigned words)
{
	for (int port = 1; port <= 2; port++) {
		char path[128];
		FILE *file;

		snprintf(path, sizeof(path), "%s/mlx5_0/ports/%d/%s", folder, port,
			 TAP_PORT_SENT);
		file = fopen(path, "w");
		if (!file || fprintf(file, "%u\n", words) < 0 || fclose(file))
			return false;
	}
	return true;
}

static bool make_ports(void)
{
	static const char *const folders[] = {"",	  "/ports",
					      "/ports/1", "/ports/1/counters",
					      "/ports/2", "/ports/2/counters"};

	if (!mkdtemp(folder) || setenv("CCLTAP_SYSFS", folder, 1))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		char path[128];

		snprintf(path, sizeof(path), "%s/mlx5_0%s", folder, folders[i]);
		if (mkdir(path, 0755))
			return false;
	}
	strcpy(page.devices[0].name, "mlx5_0");
	page.devices_used = 1;
	return true;
}

static void remove_ports(void)
{
	static const char *const left[] = {"/ports/1/" TAP_PORT_SENT,
					   "/ports/2/" TAP_PORT_SENT,
					   "/ports/1/counters",
					   "/ports/2/counters",
					   "/ports/1",
					   "/ports/2",
					   "/ports",
					   ""};
	char path[128];

	for (size_t i = 0; i < ARRAY_SIZE(left); i++) {
		snprintf(path, sizeof(path), "%s/mlx5_0%s", folder, left[i]);
		remove(path);
	}
	rmdir(folder);
}

/* The bytes that the metrics of that time have of port 2, -1 none; whether it is given
 * up. */
static long sent(int64_t now_ms, bool *ret_is_given_up)
{
	struct tap_metrics_process *processes = &process;
	const char *at;
	char *text = NULL;
	long bytes = -1;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out || tap_metrics_ports_write(out, &processes, 1, "", now_ms) || fclose(out))
		return -2;
	*ret_is_given_up = strstr(text, GIVEN_UP);
	at = strstr(text, ",port=\"2\"} ");
	if (at)
		bytes = strtol(strchr(at, ' '), NULL, 10);
	free(text);
	return bytes;
}

static bool ports(void)
{
	bool is_passed = true, is_given_up;

	CHECK(make_ports() && have_sent(5));
	CHECK(sent(1000, &is_given_up) == 20 && !is_given_up);
	CHECK(have_sent(6));
	CHECK(sent(1000 + LOOK_MS - 1, &is_given_up) == 20);
	CHECK(sent(1000 + LOOK_MS, &is_given_up) == 24);
	/* The third counter of port 1 comes too late. */
	step_ns = LONG_NS;
	CHECK(have_sent(7));
	CHECK(sent(1000 + 2 * LOOK_MS, &is_given_up) == 24 && !is_given_up);
	CHECK(sent(1000 + 3 * LOOK_MS, &is_given_up) == 24 && !is_given_up);
	CHECK(sent(1000 + 4 * LOOK_MS, &is_given_up) == -1 && is_given_up);
	step_ns = 0;
	CHECK(sent(1000 + 5 * LOOK_MS, &is_given_up) == -1 && is_given_up);
	CHECK(sent(1000 + 4 * LOOK_MS + GIVEN_UP_MS, &is_given_up) == 28 && !is_given_up);
	/* A single long look is not the third in a row. */
	step_ns = LONG_NS;
	CHECK(sent(1000 + 5 * LOOK_MS + GIVEN_UP_MS, &is_given_up) == 28 && !is_given_up);
	tap_vec_free(&self.all.of);
	remove_ports();
	return is_passed;
}

int main(void)
{
	puts("1..1");
	report("ports that are long in answering are given up for a while, and that is said",
	       ports);
	return 0;
}
