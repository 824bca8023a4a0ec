/* SPDX-License-Identifier: MIT */
/* Pages of processes: those that are spoilt, and what is left of those that end. */
#include <sched.h>

/* How often a page was to be read again. */
static int torn;
#define sched_yield() (torn++)
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
	page->comms[0].of[AR] = (struct tap_metrics_slot){.begun = 10,
							  .ended = 10,
							  .failed = 1,
							  .bytes = 90};
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
				    metrics->processes.count, labels_of(metrics), 0,
				    now_ms) &&
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

/* A process that was stopped while room passed to another communicator. */
static bool stays_torn(void)
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
	page->turn = 1;
	torn = 0;
	look_at_processes(&metrics, 1000);
	CHECK(torn == READ_TRIES);
	page->comms[0].of[AR].bytes = 91;
	look_at_processes(&metrics, 2000);
	CHECK(torn == READ_TRIES + 1);
	CHECK(metrics.processes.items[0]->page->comms[0].of[AR].bytes == 91);
	page->turn = 2;
	look_at_processes(&metrics, 3000);
	CHECK(torn == READ_TRIES + 1);
	page->turn = 3;
	look_at_processes(&metrics, 4000);
	CHECK(torn == 2 * READ_TRIES + 1);
	munmap(page, sizeof(*page));
	end(&metrics);
	return is_passed;
}

/* What is left of two names, without what no label has, may be the same. */
static bool alike(void)
{
	struct tap_metrics metrics = {.file = "none"};
	struct tap_metrics_page *page;
	bool is_passed = true;
	int fd;

	page = map_page(&fd, 3);
	CHECK(page != NULL);
	if (!page)
		return false;
	strcpy(page->names[AR + 1], "ncclAll/\n\"Reduce");
	page->comms[0].of[AR + 1] = page->comms[0].of[AR];
	page->devices_used = 2;
	strcpy(page->devices[0].name, "mlx5_0");
	strcpy(page->devices[1].name, "mlx5{_0");
	page->devices[0].failed = page->devices[1].failed = 2;
	tap_metrics_take(&metrics, fd);
	CHECK(has_line(&metrics,
		       "ccltap_nccl_calls_total{host=\"host\",rank=\"3\","
		       "function=\"ncclAllReduce\"} 20\n",
		       1000));
	CHECK(has_line(&metrics,
		       "ccltap_rdma_failed_completions_total{host=\"host\",rank=\"3\","
		       "device=\"mlx5_0\"} 4\n",
		       1000));
	munmap(page, sizeof(*page));
	end(&metrics);
	return is_passed;
}

#define CALLS \
	"ccltap_nccl_calls_total{host=\"host\",rank=\"3\",function=\"ncclAllReduce\"} "

static void use_device(struct tap_metrics_page *page, const char *name, uint64_t nr)
{
	struct tap_metrics_device *device = &page->devices[0];

	strcpy(device->name, name);
	device->rest.sent = 5;
	device->failed = 1;
	device->timed[0] = 2;
	device->timed[TAP_METRICS_TIMES - 1] = 1;
	device->timed_ns = UINT64_C(20000000001);
	page->devices_used = 1;
	page->queues[0] = (struct tap_metrics_queue){.sent = nr, .sent_bytes = 100 * nr};
	/* Of a device that is not there: it was written over. */
	page->queues[1] = (struct tap_metrics_queue){.sent = 1000, .device = 7};
	page->queues_used = 2;
	page->requests_timed = TAP_METRICS_REQUESTS_TIMED;
}

#define DEVICE "{host=\"host\",rank=\"3\",device=\"mlx5_0\""

static bool devices(void)
{
	struct tap_metrics metrics = {.file = "none"};
	struct tap_metrics_page *pages[2];
	bool is_passed = true;
	int fd;

	for (int i = 0; i < 2; i++) {
		pages[i] = map_page(&fd, 3);
		CHECK(pages[i] != NULL);
		if (!pages[i])
			return false;
		use_device(pages[i], "mlx5_0", 10);
		tap_metrics_take(&metrics, fd);
	}
	for (int64_t now_ms = 1000; now_ms < 3 * STAY_MS; now_ms += STAY_MS + 1) {
		look_at_processes(&metrics, now_ms);
		CHECK(has_line(&metrics,
			       "ccltap_rdma_posts_total" DEVICE ",queue=\"send\"} 30\n",
			       now_ms));
		CHECK(has_line(&metrics,
			       "ccltap_rdma_bytes_total" DEVICE ",queue=\"send\"} 2000\n",
			       now_ms));
		CHECK(has_line(&metrics,
			       "ccltap_rdma_failed_completions_total" DEVICE "} 2\n",
			       now_ms));
		CHECK(has_line(&metrics,
			       "completion_seconds_bucket" DEVICE
			       ",le=\"1.024e-06\"} 4\n",
			       now_ms));
		CHECK(has_line(&metrics,
			       "completion_seconds_bucket" DEVICE
			       ",le=\"17.179869184\"} 4\n",
			       now_ms));
		CHECK(has_line(&metrics,
			       "completion_seconds_bucket" DEVICE ",le=\"+Inf\"} 6\n",
			       now_ms));
		CHECK(has_line(&metrics,
			       "completion_seconds_sum" DEVICE "} 40.000000002\n",
			       now_ms));
		CHECK(has_line(&metrics, "completion_seconds_count" DEVICE "} 6\n",
			       now_ms));
		if (metrics.processes.count == 2 && !metrics.processes.items[0]->ended_ms)
			munmap(pages[0], sizeof(*pages[0]));
	}
	CHECK(metrics.processes.count == 1);
	munmap(pages[1], sizeof(*pages[1]));
	end(&metrics);
	return is_passed;
}

static bool older(void)
{
	struct tap_metrics metrics = {.file = "none"};
	bool is_passed = true;
	int fd;
	struct tap_metrics_page *page = map_page(&fd, 3);

	CHECK(page != NULL);
	if (!page)
		return false;
	page->version = TAP_METRICS_VERSION - 1;
	tap_metrics_take(&metrics, fd);
	CHECK(!metrics.met && metrics.refused == 1);
	munmap(page, sizeof(*page));
	end(&metrics);
	return is_passed;
}

static bool times(void)
{
	static const struct {
		uint64_t ns;
		unsigned index;
	} of[] = {{0, 0},
		  {1, 0},
		  {1024, 0},
		  {1025, 1},
		  {2048, 1},
		  {2049, 2},
		  {UINT64_C(1) << 34, TAP_METRICS_TIMES - 2},
		  {(UINT64_C(1) << 34) + 1, TAP_METRICS_TIMES - 1},
		  {UINT64_MAX, TAP_METRICS_TIMES - 1}};
	bool is_passed = true;

	for (size_t i = 0; i < ARRAY_SIZE(of); i++)
		CHECK(tap_metrics_time_index(of[i].ns) == of[i].index);
	return is_passed;
}

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

/* Whether a recording with such a file, and no process, has this line. */
static bool is_line(const char *folder, const char *name, const char *line)
{
	struct tap_metrics metrics = {0};
	char file[128];
	bool has;

	snprintf(file, sizeof(file), "%s/%s", folder, name);
	has = !tap_metrics_open(&metrics, file) && has_line(&metrics, line, 1000);
	tap_metrics_close(&metrics);
	return has;
}

/* Files of one folder have no series in common. */
static bool told_apart(void)
{
	bool is_passed = true;
	char folder[] = "/tmp/test_metrics.XXXXXX";

	CHECK(mkdtemp(folder) != NULL);
	unsetenv("CCLTAP_JOB");
	unsetenv("SLURM_JOB_ID");
	unsetenv("PBS_JOBID");
	unsetenv("LSB_JOBID");
	CHECK(is_line(folder, "one.prom",
		      "\nccltap_refused_processes_total{recording=\"one\"} 0\n"));
	CHECK(is_line(folder, "two.prom",
		      "\nccltap_rdma_ports_given_up{recording=\"two\"} 0\n"));
	CHECK(is_line(folder, "a \"b\"\n%.prom",
		      "\nccltap_rdma_uncounted_queues{recording=\"a%20%22b%22%0A%25\"} "
		      "0\n"));
	CHECK(is_line(folder, ".prom",
		      "\nccltap_rdma_uncounted_queues{recording=\".prom\"} 0\n"));
	setenv("SLURM_JOB_ID", "4711", 1);
	CHECK(is_line(folder, "one.prom",
		      "\nccltap_refused_processes_total{recording=\"one\","
		      "job_id=\"4711\"} 0\n"));
	setenv("SLURM_JOB_ID", "", 1);
	setenv("PBS_JOBID",
	       "12[3].server-of-a-name-that-is-longer-than-any-that-a-batch-system-has", 1);
	CHECK(is_line(folder, "one.prom",
		      "\nccltap_refused_processes_total{recording=\"one\",job_id=\"12[3]."
		      "server-of-a-name-that-is-longer-than-any-that-a-batch-sys\"} 0\n"));
	unsetenv("PBS_JOBID");
	unsetenv("SLURM_JOB_ID");
	CHECK(!rmdir(folder));
	return is_passed;
}

/* One process attaches, one cannot, one makes no call; the last comes later. */
static bool wished(void)
{
	struct tap_metrics metrics = {.file = "none"};
	struct tap_metrics_page *pages[4];
	struct tap_metrics_reach reach;
	bool is_passed = true;
	int fds[4];

	for (int i = 0; i < 4; i++) {
		pages[i] = map_page(&fds[i], i - 1);
		CHECK(pages[i] != NULL);
		if (!pages[i])
			return false;
		pages[i]->pid = 100 + i;
		if (i < 3)
			tap_metrics_take(&metrics, fds[i]);
	}
	tap_metrics_wish(&metrics, true);
	CHECK(pages[0]->wish == TAP_METRICS_WISH);
	tap_metrics_look_at_reach(&metrics, &reach);
	CHECK(reach.running == 3 && !reach.attached && !reach.unable);
	CHECK(!strcmp(reach.waiting,
		      "process 100, rank 0 (process 101), rank 1 (process 102)"));
	pages[0]->attached = TAP_METRICS_ATTACHED;
	pages[1]->attached = TAP_METRICS_UNABLE;
	pages[2]->attached = TAP_METRICS_BEGUN;
	tap_metrics_take(&metrics, fds[3]);
	CHECK(pages[3]->wish == TAP_METRICS_WISH);
	munmap(pages[3], sizeof(*pages[3]));
	tap_metrics_look_at_reach(&metrics, &reach);
	CHECK(reach.running == 3 && reach.attached == 1 && reach.unable == 1);
	CHECK(reach.loading == 1);
	CHECK(!strcmp(reach.waiting, "rank 1 (process 102)"));
	CHECK(pages[1]->wish == TAP_METRICS_NO_WISH);
	CHECK(pages[2]->wish == TAP_METRICS_WISH);
	tap_metrics_wish(&metrics, false);
	CHECK(pages[2]->wish == TAP_METRICS_NO_WISH);
	for (int i = 0; i < 3; i++)
		munmap(pages[i], sizeof(*pages[i]));
	end(&metrics);
	return is_passed;
}

int main(void)
{
	puts("1..10");
	report("a page that its process spoils stays what was read last", spoilt);
	report("a page that stays torn is read once each time, and as it is", stays_torn);
	report("names that become the same label are the same", alike);
	report("the counts of a process stay while another has its labels", ended);
	report("devices are the sum of their queues, also when a process is gone",
	       devices);
	report("a process of another version is refused", older);
	report("times are counted by powers of two", times);
	report("processes are asked to load LTTng, and say how far they are", wished);
	report("a file that was left beside it is in nobody's way", leftover);
	report("two files have no labels in common", told_apart);
	return 0;
}
