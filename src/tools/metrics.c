/* SPDX-License-Identifier: MIT */
/* Pages of processes, and when the file is written. */
#include "tools/metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/launcher.h"
#include "tools/message.h"
#include "tools/metrics_devices.h"
#include "tools/metrics_label.h"

/* The exporter's users scrape every 15 to 60 s. */
#define INTERVAL_MS 5000
/* How long a text is given to all who ask. */
#define TEXT_MS 250
/* How long the last values of a process stay, so that a scrape sees them. */
#define STAY_MS 60000
/* More processes than any host runs: what sends as many pages is no program's fault. */
#define PROCESSES_MAX 4096
/*
 * Room of a page changes hands in less than a microsecond.  Where the last look found it
 * so each time, the process was stopped or killed meanwhile, or has spoilt it.
 */
#define READ_TRIES 100
/* No batch system has as much; the variables may hold anything. */
#define JOB_MAX 63

/* ---- A page ---- */

static bool read_at(int fd, void *to, size_t size, size_t offset)
{
	return pread(fd, to, size, (off_t) offset) == (ssize_t) size;
}

/* What comes from a process is cleaned here before anything else sees it. */
static struct tap_metrics_page scratch;

static bool is_known(const struct tap_metrics_page *page)
{
	return !memcmp(page->magic, TAP_METRICS_MAGIC, sizeof(page->magic)) &&
	       page->version == TAP_METRICS_VERSION && page->bytes == sizeof(*page) &&
	       page->used <= TAP_METRICS_COMMS &&
	       page->devices_used <= TAP_METRICS_DEVICES &&
	       page->queues_used <= TAP_METRICS_QUEUES;
}

static int32_t clean_number(int32_t number)
{
	return number < -1 ? -1 : number;
}

static void clean_name(char *name, size_t size)
{
	name[size - 1] = '\0';
	tap_metrics_label_clean(name);
}

static void clean(struct tap_metrics_page *page)
{
	clean_name(page->host, sizeof(page->host));
	for (size_t i = 0; i < TAP_METRICS_FUNCTIONS; i++)
		clean_name(page->names[i], TAP_METRICS_NAME);
	for (size_t i = 0; i < TAP_METRICS_DEVICES; i++)
		clean_name(page->devices[i].name, TAP_METRICS_DEVICE_NAME);
	page->rank = clean_number(page->rank);
	for (unsigned i = 0; i < page->used; i++) {
		page->comms[i].rank = clean_number(page->comms[i].rank);
		page->comms[i].nranks = clean_number(page->comms[i].nranks);
	}
}

/*
 * Reads what is used of a process's page.  A program may write anything over its own:
 * false when it is none that this version knows, and then the copy stays what it was.
 */
static bool read_page(struct tap_metrics_process *process)
{
	const size_t head = offsetof(struct tap_metrics_page, comms);
	const int most = process->is_torn ? 1 : READ_TRIES, fd = process->fd;
	size_t comms, queues;
	uint32_t turn;

	process->is_torn = true;
	for (int tries = 0; tries < most && process->is_torn; tries++) {
		if (!read_at(fd, &scratch, head, 0) || !is_known(&scratch))
			return false;
		comms = scratch.used * sizeof(*scratch.comms);
		queues = scratch.queues_used * sizeof(*scratch.queues);
		if (!read_at(fd, scratch.comms, comms, head) ||
		    !read_at(fd, scratch.queues, queues,
			     offsetof(struct tap_metrics_page, queues)) ||
		    !read_at(fd, &turn, sizeof(turn),
			     offsetof(struct tap_metrics_page, turn)))
			return false;
		process->is_torn = turn != scratch.turn || turn & 1;
		/* What stays so is read as it is. */
		if (process->is_torn)
			sched_yield();
	}
	clean(&scratch);
	memcpy(process->page, &scratch, head + comms);
	memcpy(process->page->queues, scratch.queues, queues);
	return true;
}

/*
 * The kernel seals a file against writing only when no process maps it for that: neither
 * the process, which may be in another namespace of process numbers, nor a child of it.
 */
static bool has_ended(int fd)
{
	return !fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) ||
	       (errno == EPERM && fcntl(fd, F_GET_SEALS) & F_SEAL_WRITE);
}

/* ---- Whether its process is to be recorded ---- */

static void write_wish(int fd, bool is_wished)
{
	const int32_t wish = is_wished ? TAP_METRICS_WISH : TAP_METRICS_NO_WISH;

	if (pwrite(fd, &wish, sizeof(wish), offsetof(struct tap_metrics_page, wish)) < 0)
		errno = 0; /* it has ended */
}

static enum tap_metrics_attached read_attached(int fd)
{
	uint32_t attached;

	return read_at(fd, &attached, sizeof(attached),
		       offsetof(struct tap_metrics_page, attached))
		       ? (enum tap_metrics_attached) attached
		       : TAP_METRICS_UNABLE;
}

void tap_metrics_wish(struct tap_metrics *metrics, bool is_wished)
{
	metrics->is_wished = is_wished;
	for (size_t i = 0; i < metrics->processes.count; i++)
		if (!metrics->processes.items[i]->ended_ms)
			write_wish(metrics->processes.items[i]->fd, is_wished);
}

static void add_name(char *names, size_t size, const struct tap_metrics_page *page)
{
	const size_t used = strlen(names);
	const char *comma = used ? ", " : "";

	if (page->rank >= 0)
		snprintf(names + used, size - used, "%srank %d (process %d)", comma,
			 page->rank, page->pid);
	else
		snprintf(names + used, size - used, "%sprocess %d", comma, page->pid);
}

void tap_metrics_look_at_reach(const struct tap_metrics *metrics,
			       struct tap_metrics_reach *ret_reach)
{
	*ret_reach = (struct tap_metrics_reach){0};
	for (size_t i = 0; i < metrics->processes.count; i++) {
		const struct tap_metrics_process *process = metrics->processes.items[i];

		if (process->ended_ms || has_ended(process->fd))
			continue;
		ret_reach->running++;
		switch (read_attached(process->fd)) {
		case TAP_METRICS_BEGUN:
			ret_reach->loading++;
			add_name(ret_reach->waiting, sizeof(ret_reach->waiting),
				 process->page);
			break;
		case TAP_METRICS_ATTACHED:
			ret_reach->attached++;
			break;
		case TAP_METRICS_UNABLE:
			ret_reach->unable++;
			/* It would look at each call whether it is to try. */
			write_wish(process->fd, false);
			break;
		default:
			add_name(ret_reach->waiting, sizeof(ret_reach->waiting),
				 process->page);
		}
	}
}

static void drop(struct tap_metrics_process *process)
{
	close(process->fd);
	free(process->page);
	free(process);
}

void tap_metrics_take(struct tap_metrics *metrics, int page_fd)
{
	struct tap_metrics_process *process = calloc(1, sizeof(*process));
	struct stat st;

	if (process) {
		process->fd = page_fd;
		process->page = calloc(1, sizeof(*process->page));
	}
	/* What may be cut short, or is no file in memory, is not from the tracer. */
	if (metrics->file && process && process->page &&
	    metrics->processes.count < PROCESSES_MAX && !fstat(page_fd, &st) &&
	    S_ISREG(st.st_mode) && fcntl(page_fd, F_GET_SEALS) >= 0 &&
	    read_page(process) && !tap_vec_add(&metrics->processes, process)) {
		metrics->met++;
		if (metrics->is_wished)
			write_wish(page_fd, true);
		return;
	}
	metrics->refused++;
	if (process) {
		drop(process);
		return;
	}
	close(page_fd);
}

/* ---- What a process leaves ---- */

/* Another version's process may have its functions in other rows. */
static unsigned find_row(const struct tap_metrics_page *page, const char *name,
			 unsigned row)
{
	if (!strcmp(page->names[row], name))
		return row;
	for (row = 0; row < TAP_METRICS_FUNCTIONS; row++)
		if (!strcmp(page->names[row], name))
			break;
	return row;
}

static void leave_slot(struct tap_metrics_process *heir, const char *name, unsigned row,
		       const struct tap_metrics_slot *slot, bool is_operation)
{
	struct tap_metrics_slot *to;

	if (!slot->begun)
		return;
	row = find_row(heir->page, name, row);
	if (row == TAP_METRICS_FUNCTIONS)
		return;
	to = &heir->before.of[row];
	to->begun += slot->begun;
	to->ended += slot->ended;
	/* One that was killed may have counted a failure and not the end. */
	to->failed += slot->failed < slot->ended ? slot->failed : slot->ended;
	to->bytes += slot->bytes;
	to->timed += slot->timed;
	to->timed_ns += slot->timed_ns;
	heir->before.is_operation[row] |= is_operation;
}

static void leave_device(struct tap_metrics_before *before,
			 const struct tap_metrics_device *device)
{
	unsigned i = 0;

	while (i < before->nr_devices &&
	       strcmp(before->devices[i].name, device->name) != 0)
		i++;
	if (i == TAP_METRICS_DEVICES)
		return;
	if (i == before->nr_devices) {
		before->devices[i] = (struct tap_metrics_device){0};
		memcpy(before->devices[i].name, device->name, sizeof(device->name));
		before->nr_devices++;
	}
	tap_metrics_device_add(&before->devices[i], device);
}

static void leave_devices(const struct tap_metrics_process *process,
			  struct tap_metrics_before *before)
{
	static struct tap_metrics_device devices[TAP_METRICS_DEVICES];

	tap_metrics_devices_of(process->page, devices);
	for (unsigned i = 0; i < process->page->devices_used; i++)
		leave_device(before, &devices[i]);
	for (unsigned i = 0; i < process->before.nr_devices; i++)
		leave_device(before, &process->before.devices[i]);
}

static void leave(const struct tap_metrics_process *process,
		  struct tap_metrics_process *heir)
{
	const struct tap_metrics_page *page = process->page;
	const struct tap_metrics_before *before = &process->before;

	heir->before.dropped += before->dropped + page->dropped;
	heir->before.proxy_yields += before->proxy_yields + page->proxy_yields;
	heir->before.kernels += before->kernels + page->kernels;
	heir->before.kernel_ns += before->kernel_ns + page->kernel_ns;
	leave_devices(process, &heir->before);
	for (unsigned i = 0; i < page->used; i++)
		heir->before.dropped += page->comms[i].dropped;
	for (unsigned row = 0; row < TAP_METRICS_FUNCTIONS; row++) {
		const char *name = page->names[row];

		leave_slot(heir, name, row, &before->of[row], before->is_operation[row]);
		leave_slot(heir, name, row, &page->shared[row], page->is_operation[row]);
		for (unsigned i = 0; i < page->used; i++)
			leave_slot(heir, name, row, &page->comms[i].of[row], true);
	}
}

/*
 * The sums by rank are those of all processes with the same host and rank: when one of
 * several goes, another has its counts, or a counter would fall.
 */
static void leave_to_another(struct tap_metrics *metrics,
			     const struct tap_metrics_process *process)
{
	for (size_t i = 0; i < metrics->processes.count; i++) {
		struct tap_metrics_process *other = metrics->processes.items[i];

		if (!other || other == process ||
		    other->page->rank != process->page->rank ||
		    strcmp(other->page->host, process->page->host) != 0)
			continue;
		leave(process, other);
		return;
	}
}

/* ---- Calls that are open ---- */

static void look_at_open(struct tap_metrics_open *open, unsigned row, uint64_t life,
			 const struct tap_metrics_slot *slot, int64_t now_ms)
{
	if (open->since_ms && open->row == row && open->life == life &&
	    open->begun == slot->begun)
		return;
	*open = (struct tap_metrics_open){.life = life,
					  .begun = slot->begun,
					  .row = row,
					  .since_ms = now_ms};
}

static bool is_open(const struct tap_metrics_slot *slot)
{
	return slot->begun > slot->ended;
}

static void look_for_open(struct tap_metrics_process *process, int64_t now_ms)
{
	const struct tap_metrics_page *page = process->page;

	for (unsigned i = 0; i < page->used; i++) {
		const struct tap_metrics_comm *comm = &page->comms[i];
		unsigned row = 0;

		while (row < TAP_METRICS_FUNCTIONS && !is_open(&comm->of[row]))
			row++;
		if (row < TAP_METRICS_FUNCTIONS)
			look_at_open(&process->open[i], row, comm->life, &comm->of[row],
				     now_ms);
		else
			process->open[i].since_ms = 0;
	}
	for (unsigned row = 0; row < TAP_METRICS_FUNCTIONS; row++)
		if (is_open(&page->shared[row]))
			look_at_open(&process->open_shared[row], row, 0,
				     &page->shared[row], now_ms);
		else
			process->open_shared[row].since_ms = 0;
}

/* ---- The file ---- */

static void drop_old(struct tap_metrics *metrics, int64_t now_ms)
{
	struct tap_metrics_process **items = metrics->processes.items;
	size_t kept = 0;

	for (size_t i = 0; i < metrics->processes.count; i++) {
		if (!items[i]->ended_ms || now_ms - items[i]->ended_ms <= STAY_MS)
			continue;
		leave_to_another(metrics, items[i]);
		drop(items[i]);
		items[i] = NULL;
	}
	for (size_t i = 0; i < metrics->processes.count; i++)
		if (items[i])
			items[kept++] = items[i];
	metrics->processes.count = kept;
}

static void look_at_processes(struct tap_metrics *metrics, int64_t now_ms)
{
	drop_old(metrics, now_ms);
	for (size_t i = 0; i < metrics->processes.count; i++) {
		struct tap_metrics_process *process = metrics->processes.items[i];

		if (process->ended_ms)
			continue;
		/* First, so that what is read next is the last. */
		if (has_ended(process->fd))
			process->ended_ms = now_ms;
		if (read_page(process) && !process->ended_ms)
			look_for_open(process, now_ms);
		if (metrics->is_wished && process->page->attached == TAP_METRICS_UNABLE)
			write_wish(process->fd, false);
	}
}

static const char *labels_of(const struct tap_metrics *metrics)
{
	return metrics->recording ? metrics->recording : "";
}

/*
 * node_exporter puts all files of a folder together, and refuses two series with the same
 * labels: what differs there for sure is the file's name.  The batch system's number goes
 * along where there is one, since that is what people look for.
 */
static int find_labels(struct tap_metrics *metrics, const char *file)
{
	static const char ending[] = ".prom";
	const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
	const char *job = tap_launcher_job();
	size_t length = strlen(name), size;
	FILE *out;

	if (length >= sizeof(ending) &&
	    !strcmp(name + length - (sizeof(ending) - 1), ending))
		length -= sizeof(ending) - 1;
	out = open_memstream(&metrics->recording, &size);
	if (!out)
		return -errno;
	tap_metrics_label_text(out, "recording", name, length);
	if (*job) {
		fputc(',', out);
		tap_metrics_label_text(out, "job_id", job, strnlen(job, JOB_MAX));
	}
	return fclose(out) == EOF ? -ENOMEM : 0;
}

/* What is there was left by a process of the same number, which was killed. */
static int make_file(const char *path)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int fd = open(path, flags, 0644);

	if (fd < 0 && errno == EEXIST && !unlink(path))
		fd = open(path, flags, 0644);
	return fd;
}

static int write_file(struct tap_metrics *metrics, int64_t now_ms)
{
	char path[PATH_MAX];
	struct stat st = {0};
	int fd, ret;
	FILE *out;

	if (snprintf(path, sizeof(path), "%s.%d", metrics->file, getpid()) >=
	    (int) sizeof(path))
		return -ENAMETOOLONG;
	fd = make_file(path);
	if (fd < 0)
		return -errno;
	/* The exporter is another user, also where the umask lets nobody read. */
	fchmod(fd, 0644);
	out = fdopen(fd, "w");
	if (!out) {
		ret = -errno;
		close(fd);
	} else {
		ret = tap_metrics_text_write(out, metrics->processes.items,
					     metrics->processes.count, labels_of(metrics),
					     metrics->refused, now_ms);
		if (!ret && fstat(fd, &st) < 0)
			ret = -errno;
		if (fclose(out) == EOF && !ret)
			ret = -errno;
	}
	if (!ret && rename(path, metrics->file) < 0)
		ret = -errno;
	if (ret) {
		unlink(path);
		return ret;
	}
	metrics->device = st.st_dev;
	metrics->inode = st.st_ino;
	return 0;
}

/* Returns 0 if there is no file, or one of metrics, which this one replaces. */
static int check_file(const char *file)
{
	static const char start[] = "# HELP ccltap_";
	char found[sizeof(start) - 1];
	int fd = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ssize_t got;
	int ret;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	got = read(fd, found, sizeof(found));
	ret = got < 0 ? -errno : 0;
	close(fd);
	if (ret)
		return ret;
	return got == (ssize_t) sizeof(found) && !memcmp(found, start, sizeof(found))
		       ? 0
		       : -EEXIST;
}

int tap_metrics_open(struct tap_metrics *metrics, const char *file)
{
	int ret;

	ret = check_file(file);
	if (ret == -EEXIST) {
		tap_message_write("%s is there, and is not of metrics: move it away, or "
				  "give another file with --metrics=FILE",
				  file);
		return ret;
	}
	metrics->file = file;
	if (!ret)
		ret = find_labels(metrics, file);
	if (!ret)
		ret = write_file(metrics, tap_now_ms());
	metrics->next_ms = tap_now_ms() + INTERVAL_MS;
	if (!ret)
		return 0;
	free(metrics->recording);
	metrics->recording = NULL;
	tap_message_write("cannot write %s: %s; give another file with --metrics=FILE",
			  file, strerror(-ret));
	return ret;
}

int64_t tap_metrics_due_ms(const struct tap_metrics *metrics)
{
	return metrics->file ? metrics->next_ms : INT64_MAX;
}

void tap_metrics_keep(struct tap_metrics *metrics)
{
	const int64_t now_ms = tap_now_ms();

	if (now_ms < tap_metrics_due_ms(metrics))
		return;
	look_at_processes(metrics, now_ms);
	metrics->error = -write_file(metrics, now_ms);
	metrics->next_ms = now_ms + INTERVAL_MS;
}

static int render(struct tap_metrics *metrics, int64_t now_ms)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int ret;

	if (!out)
		return -errno;
	ret = tap_metrics_text_write(out, metrics->processes.items,
				     metrics->processes.count, labels_of(metrics),
				     metrics->refused, now_ms);
	if (fclose(out) == EOF && !ret)
		ret = -errno;
	if (ret) {
		free(text);
		return ret;
	}
	free(metrics->text);
	metrics->text = text;
	metrics->text_size = size;
	metrics->text_ms = now_ms;
	return 0;
}

int tap_metrics_text(struct tap_metrics *metrics, const char **ret_text, size_t *ret_size)
{
	const int64_t now_ms = tap_now_ms();
	int ret;

	if (!metrics->text || now_ms - metrics->text_ms >= TEXT_MS) {
		look_at_processes(metrics, now_ms);
		ret = render(metrics, now_ms);
		if (ret)
			return ret;
	}
	*ret_text = metrics->text;
	*ret_size = metrics->text_size;
	return 0;
}

void tap_metrics_close(struct tap_metrics *metrics)
{
	struct stat st;

	if (metrics->file && !stat(metrics->file, &st) && st.st_dev == metrics->device &&
	    st.st_ino == metrics->inode)
		unlink(metrics->file);
	for (size_t i = 0; i < metrics->processes.count; i++)
		drop(metrics->processes.items[i]);
	tap_vec_free(&metrics->processes);
	free(metrics->text);
	free(metrics->recording);
	metrics->text = metrics->recording = NULL;
	metrics->file = NULL;
}
