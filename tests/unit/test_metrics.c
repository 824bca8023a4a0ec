/* SPDX-License-Identifier: MIT */
/* Pages of processes: those that are spoilt, and what is left of those that end. */
#include "tools/metrics.c"

#include <sys/mman.h>

#include "unit/tap.h"

#define AR 5 /* a row */

static struct tap_metrics_page *map_page(int *ret_fd, int32_t rank)
{
	struct tap_metrics_page *page;

	*ret_fd = memfd_create("page", MFD_ALLOW_SEALING);
	if (*ret_fd < 0 || ftruncate(*ret_fd, sizeof(*page)))
		return NULL;
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, *ret_fd, 0);
	if (page == MAP_FAILED)
		return NULL;
	memcpy(page->magic, TAP_METRICS_MAGIC, sizeof(page->magic));
	page->version = TAP_METRICS_VERSION;
	page->bytes = sizeof(*page);
	page->rank = rank;
	strcpy(page->host, "host");
	strcpy(page->names[AR], "ncclAllReduce");
	page->used = 1;
	page->comms[0].use = TAP_METRICS_LIVE;
	page->comms[0].of[AR] = (struct tap_metrics_slot){10, 10, 1, 90};
	return page;
}

static bool has_line(const struct tap_metrics *metrics, const char *line, int64_t now_ms)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool has = false;

	if (out &&
	    !tap_metrics_text_write(out, metrics->processes.items,
				    metrics->processes.count, 0, now_ms) &&
	    !fclose(out))
		has = strstr(text, line) != NULL;
	free(text);
	return has;
}

static void end(struct tap_metrics *metrics)
{
	metrics->file = NULL;
	tap_metrics_close(metrics);
}

static bool spoilt(void)
{
	struct tap_metrics metrics = {.file = "none"};
	struct tap_metrics_page *page;
	bool is_passed = true;
	int fd;

	page = map_page(&fd, 3);
	CHECK(page != NULL);
	if (!page)
		return false;
	tap_metrics_take(&metrics, fd);
	CHECK(metrics.met == 1);
	page->comms[0].of[AR].begun = page->comms[0].of[AR].ended = 11;
	page->rank = INT32_MIN;
	page->comms[0].nranks = INT32_MIN;
	look_at_processes(&metrics, 1000);
	CHECK(metrics.processes.items[0]->page->rank == -1);
	CHECK(metrics.processes.items[0]->page->comms[0].nranks == -1);
	memset(page, 0xff, sizeof(*page));
	look_at_processes(&metrics, 2000);
	CHECK(metrics.processes.items[0]->page->used == 1);
	CHECK(has_line(
		&metrics,
		"ccltap_nccl_calls_total{host=\"host\",function=\"ncclAllReduce\"} 11\n",
		2000));
	memcpy(page->magic, TAP_METRICS_MAGIC, sizeof(page->magic));
	page->version = TAP_METRICS_VERSION;
	page->bytes = sizeof(*page);
	page->used = TAP_METRICS_COMMS + 1;
	look_at_processes(&metrics, 3000);
	CHECK(metrics.processes.items[0]->page->used == 1);
	munmap(page, sizeof(*page));
	end(&metrics);
	return is_passed;
}

#define CALLS \
	"ccltap_nccl_calls_total{host=\"host\",rank=\"3\",function=\"ncclAllReduce\"} "

static bool ended(void)
{
	struct tap_metrics metrics = {.file = "none"};
	struct tap_metrics_page *pages[3];
	bool is_passed = true;
	int fd;

	for (int i = 0; i < 3; i++) {
		pages[i] = map_page(&fd, i < 2 ? 3 : 4);
		CHECK(pages[i] != NULL);
		if (!pages[i])
			return false;
		tap_metrics_take(&metrics, fd);
	}
	CHECK(has_line(&metrics, CALLS "20\n", 1000));
	munmap(pages[0], sizeof(*pages[0]));
	look_at_processes(&metrics, 1000);
	look_at_processes(&metrics, 2000 + STAY_MS);
	CHECK(metrics.processes.count == 2);
	CHECK(has_line(&metrics, CALLS "20\n", 2000 + STAY_MS));
	CHECK(has_line(
		&metrics,
		"_bytes_total{host=\"host\",rank=\"3\",function=\"ncclAllReduce\"} 180\n",
		2000 + STAY_MS));
	munmap(pages[1], sizeof(*pages[1]));
	look_at_processes(&metrics, 3000 + STAY_MS);
	CHECK(has_line(&metrics, CALLS "20\n", 3000 + STAY_MS));
	look_at_processes(&metrics, 4000 + 2 * STAY_MS);
	CHECK(metrics.processes.count == 1);
	CHECK(!has_line(&metrics, CALLS, 4000 + 2 * STAY_MS));
	munmap(pages[2], sizeof(*pages[2]));
	end(&metrics);
	return is_passed;
}

/* What a supervisor with this number left when it was killed. */
static bool leftover(void)
{
	struct tap_metrics metrics = {0};
	bool is_passed = true;
	char folder[] = "/tmp/test_metrics.XXXXXX", file[64], beside[96];
	struct stat st;
	FILE *left;

	CHECK(mkdtemp(folder) != NULL);
	snprintf(file, sizeof(file), "%s/job.prom", folder);
	snprintf(beside, sizeof(beside), "%s.%d", file, getpid());
	left = fopen(beside, "w");
	CHECK(left && !fclose(left));
	umask(077);
	CHECK(!tap_metrics_open(&metrics, file));
	CHECK(!stat(file, &st) && st.st_size && (st.st_mode & 0777) == 0644);
	CHECK(stat(beside, &st) < 0);
	tap_metrics_close(&metrics);
	CHECK(stat(file, &st) < 0);
	CHECK(!rmdir(folder));
	return is_passed;
}

int main(void)
{
	puts("1..3");
	report("a page that its process spoils stays what was read last", spoilt);
	report("the counts of a process stay while another has its labels", ended);
	report("a file that was left beside it is in nobody's way", leftover);
	return 0;
}
