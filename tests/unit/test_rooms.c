/* SPDX-License-Identifier: MIT */
/* Who has room among the counters of --metrics: queues of devices, and NCCL's threads. */
#include "intercept/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "intercept/layer.h"
#include "intercept/nccl/comm.h"
#include "intercept/recorder.h"
#include "unit/tap.h"

/* No layer is told that there is a page. */
const struct tap_layer *const tap_layers[1];
const unsigned tap_nr_layers;

struct tap_comm tap_no_comm;
static struct tap_metrics_page page;

bool tap_recorder_send_page(int page_fd)
{
	(void) page_fd;
	return true;
}

static unsigned nr_notes;

void tap_recorder_notify(const char *why)
{
	(void) why;
	nr_notes++;
}

static bool passes_on(void)
{
	struct tap_metrics_room first, other, again;
	bool is_passed = true;

	first = tap_metrics_take_room("mlx5_0");
	CHECK(first.queue == &page.queues[0] && first.is_own);
	CHECK(first.device == &page.devices[0] &&
	      !strcmp(page.devices[0].name, "mlx5_0"));
	first.queue->sent = 7;
	tap_metrics_return_room(&first);
	other = tap_metrics_take_room("mlx5_1");
	CHECK(other.queue == &page.queues[1] && other.queue->device == 1);
	again = tap_metrics_take_room("mlx5_0");
	CHECK(again.queue == first.queue && again.queue->sent == 7);
	CHECK(page.queues_used == 2 && page.devices_used == 2);
	return is_passed;
}

static bool shares(void)
{
	struct tap_metrics_room room = {0};
	bool is_passed = true;

	while (page.queues_used < TAP_METRICS_QUEUES)
		room = tap_metrics_take_room("mlx5_1");
	CHECK(room.is_own);
	room = tap_metrics_take_room("mlx5_1");
	CHECK(!room.is_own && room.queue == &page.devices[1].rest);
	tap_metrics_return_room(&room);
	room = tap_metrics_take_room("mlx5_2");
	CHECK(!room.is_own && room.queue == &page.devices[2].rest);
	CHECK(room.queue->device == 2 && !page.queues_without);
	return is_passed;
}

static bool leaves_out(void)
{
	struct tap_metrics_room room;
	bool is_passed = true;
	char name[16];

	for (unsigned i = page.devices_used; i < TAP_METRICS_DEVICES; i++) {
		snprintf(name, sizeof(name), "mlx5_%u", i);
		CHECK(tap_metrics_take_room(name).queue);
	}
	room = tap_metrics_take_room("one_more");
	CHECK(!room.queue && page.queues_without == 1);
	tap_metrics_page = NULL;
	CHECK(!tap_metrics_take_room("mlx5_0").queue && page.queues_without == 1);
	tap_metrics_page = &page;
	return is_passed;
}

/* The program writes into the page: the process keeps its own numbers. */
static bool is_spoiled(void)
{
	struct tap_metrics_comm *comm = NULL;
	bool is_passed = true;

	page.devices_used = page.queues_used = page.used = UINT32_MAX;
	CHECK(!tap_metrics_take_room("another").queue && page.queues_without == 2);
	tap_metrics_give_room(&comm);
	CHECK(comm == &page.comms[0] && page.used == 1);
	return is_passed;
}

static bool counts_threads(void)
{
	struct tap_ccl_thread one = {0}, two = {0};
	bool is_passed = true;

	tap_metrics_proxy_rests(&one, true);
	CHECK(page.proxies == 1 && page.proxies_asleep == 1);
	tap_metrics_proxy_rests(&two, false);
	CHECK(page.proxies == 2 && page.proxies_asleep == 1);
	tap_metrics_proxy_rests(&one, false);
	CHECK(page.proxies == 2 && page.proxies_asleep == 0);
	tap_metrics_proxy_yields(&two);
	CHECK(page.proxies == 2 && page.proxy_yields == TAP_METRICS_YIELDS);
	tap_metrics_proxy_rests(&one, true);
	tap_metrics_proxy_ends(&one);
	tap_metrics_proxy_ends(&one);
	CHECK(page.proxies == 1 && page.proxies_asleep == 0);
	/* It wakes where nobody counts, and ends where somebody does. */
	tap_metrics_proxy_rests(&two, true);
	tap_metrics_page = NULL;
	tap_metrics_proxy_rests(&two, false);
	tap_metrics_page = &page;
	tap_metrics_proxy_ends(&two);
	CHECK(page.proxies == 0 && page.proxies_asleep == 0);
	return is_passed;
}

/* As in a child that was forked while LTTng was being loaded. */
static bool gives_reason(void)
{
	bool is_passed = true;

	setenv("CCLTAP_METRICS", "1", true);
	tap_metrics_tell(TAP_METRICS_UNABLE);
	CHECK(tap_metrics_begin() == TAP_METRICS_ON && tap_metrics_page != &page);
	CHECK(tap_metrics_page && tap_metrics_page->attached == TAP_METRICS_UNABLE);
	CHECK(nr_notes == 1);
	return is_passed;
}

int main(void)
{
	tap_metrics_page = &page;
	puts("1..6");
	report("room passes to a queue of the same device, which counts on", passes_on);
	report("queues without room share that of their device", shares);
	report("queues of a device too many are told of", leaves_out);
	report("a page that the program has spoilt gives no room outside it", is_spoiled);
	report("threads are counted as they sleep, wake and end", counts_threads);
	report("a new page that says no recording is possible has a reason",
	       gives_reason);
	return 0;
}
