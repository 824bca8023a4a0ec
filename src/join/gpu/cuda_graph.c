/* SPDX-License-Identifier: MIT */
/* Keeps captures by stream, graphs and executable graphs by address. */
#include "join/gpu/cuda_graph.h"

#include "join/model/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Most of each kind: a damaged trace cannot fill the memory. */
#define GRAPHS_MAX 65536

struct capture {
	struct tap_graph graph;
	uint64_t strangers; /* of the process, when the capture began */
};

/* Of one process. */
struct count {
	uint64_t captures;
	uint64_t strangers; /* captured calls whose capture is unknown */
	uint64_t doubted;   /* captures up to this number may have one */
	int64_t end_ns;	    /* of the last capture */
};

static struct count *count_of(struct tap_graphs *graphs,
			      const struct tap_process *process)
{
	struct count *count = tap_table_find(&graphs->counts, process->number, 0);

	if (count)
		return count;
	count = calloc(1, sizeof(*count));
	if (count && !tap_table_set(&graphs->counts, process->number, 0, count))
		return count;
	free(count);
	return NULL;
}

/* The per-thread stream is a different one in each thread. */
static uint64_t key_of(const struct tap_span *span, uint64_t stream)
{
	return stream == TAP_STREAM_PER_THREAD
		       ? UINT64_C(1) << 63 | ((uint64_t) span->tid & UINT32_MAX)
		       : stream;
}

/* Keeps a value of this size under the key, in place of what was there. */
static int keep(struct tap_table *table, uint64_t a, uint64_t b, const void *value,
		size_t size)
{
	void *kept = tap_table_find(table, a, b);

	if (!kept) {
		if (table->count >= GRAPHS_MAX)
			return 0;
		kept = malloc(size);
		if (!kept || tap_table_set(table, a, b, kept)) {
			free(kept);
			return -ENOMEM;
		}
	}
	memcpy(kept, value, size);
	return 0;
}

int tap_graphs_captured(struct tap_graphs *graphs, const struct tap_span *span,
			bool has_stream, uint64_t stream, const struct tap_graph **ret)
{
	struct capture *capture =
		has_stream ? tap_table_find(&graphs->captures, span->process->number,
					    key_of(span, stream))
			   : NULL;
	struct count *count;

	*ret = NULL;
	if (capture) {
		capture->graph.calls++;
		capture->graph.kernels += span->name->cuda == TAP_CUDA_KERNEL;
		*ret = &capture->graph;
		return 0;
	}
	count = count_of(graphs, span->process);
	if (!count)
		return -ENOMEM;
	count->strangers++;
	/* Another thread's event may come after the capture has ended. */
	if (span->begin_ns <= count->end_ns)
		count->doubted = count->captures;
	return 0;
}

static int begin(struct tap_graphs *graphs, const struct tap_span *span)
{
	struct count *count = count_of(graphs, span->process);
	struct capture capture = {.graph.known = TAP_GRAPH_EXACT};
	uint64_t stream;

	if (!count)
		return -ENOMEM;
	if (!tap_cuda_stream(span, &stream))
		return 0;
	capture.graph.capture_id = ++count->captures;
	capture.strangers = count->strangers;
	/* The capture extends an existing graph, which may have contents. */
	if (span->name->cuda == TAP_CUDA_BEGIN_CAPTURE_TO_GRAPH)
		capture.graph.known = TAP_GRAPH_IN_PART;
	return keep(&graphs->captures, span->process->number, key_of(span, stream),
		    &capture, sizeof(capture));
}

static int end(struct tap_graphs *graphs, const struct tap_span *span)
{
	struct count *count = count_of(graphs, span->process);
	struct capture *capture;
	uint64_t stream, graph = 0;
	int ret = 0;

	if (!count)
		return -ENOMEM;
	if (!tap_cuda_stream(span, &stream))
		return 0;
	capture = tap_table_remove(&graphs->captures, span->process->number,
				   key_of(span, stream));
	if (!capture)
		return 0;
	count->end_ns = span->end_ns;
	if (capture->strangers != count->strangers)
		capture->graph.known = TAP_GRAPH_IN_PART;
	tap_call_get(span->name->row, TAP_ROLE_MADE_GRAPH, &span->exit, &graph);
	if (graph)
		ret = keep(&graphs->graphs, span->process->number, graph, &capture->graph,
			   sizeof(capture->graph));
	free(capture);
	return ret;
}

/* Gives `to` the contents of graph `from`; those of an unseen graph are unknown. */
static int copy(struct tap_graphs *graphs, const struct tap_span *span,
		struct tap_table *table, uint64_t from, uint64_t to)
{
	const struct tap_graph *graph =
		tap_table_find(&graphs->graphs, span->process->number, from);

	if (!to)
		return 0;
	if (graph)
		return keep(table, span->process->number, to, graph, sizeof(*graph));
	free(tap_table_remove(table, span->process->number, to));
	return 0;
}

int tap_graphs_ended(struct tap_graphs *graphs, const struct tap_span *span)
{
	const struct tap_call_row *row = span->name->row;
	const uint64_t process = span->process->number;
	struct tap_graph *found;
	uint64_t graph = 0, exec = 0, made = 0;

	if (span->state != TAP_SPAN_COMPLETE ||
	    tap_span_is_failure(tap_span_result(span)))
		return 0;
	tap_call_get(row, TAP_ROLE_GRAPH, &span->entry, &graph);
	tap_call_get(row, TAP_ROLE_GRAPH_EXEC, &span->entry, &exec);
	switch (span->name->cuda) {
	case TAP_CUDA_BEGIN_CAPTURE:
	case TAP_CUDA_BEGIN_CAPTURE_TO_GRAPH:
		return begin(graphs, span);
	case TAP_CUDA_END_CAPTURE:
		return end(graphs, span);
	case TAP_CUDA_INSTANTIATE_GRAPH:
		tap_call_get(row, TAP_ROLE_MADE_GRAPH_EXEC, &span->exit, &made);
		return copy(graphs, span, &graphs->execs, graph, made);
	case TAP_CUDA_UPDATE_GRAPH:
		return copy(graphs, span, &graphs->execs, graph, exec);
	case TAP_CUDA_CLONE_GRAPH:
		tap_call_get(row, TAP_ROLE_MADE_GRAPH, &span->exit, &made);
		return copy(graphs, span, &graphs->graphs, graph, made);
	case TAP_CUDA_ADD_TO_GRAPH:
		found = tap_table_find(&graphs->graphs, process, graph);
		if (found)
			found->known = TAP_GRAPH_IN_PART;
		return 0;
	case TAP_CUDA_DESTROY_GRAPH:
		free(tap_table_remove(&graphs->graphs, process, graph));
		return 0;
	case TAP_CUDA_DESTROY_GRAPH_EXEC:
		free(tap_table_remove(&graphs->execs, process, exec));
		return 0;
	default:
		return 0;
	}
}

const struct tap_graph *tap_graphs_find(const struct tap_graphs *graphs,
					const struct tap_loss *loss,
					const struct tap_process *process, uint64_t exec)
{
	struct tap_graph *graph = tap_table_find(&graphs->execs, process->number, exec);
	const struct count *count = tap_table_find(&graphs->counts, process->number, 0);

	/* Calls that are missing from the trace may have been captured. */
	if (graph &&
	    (loss->discarded_events || loss->discarded_unknown || loss->damaged_streams ||
	     (count && graph->capture_id <= count->doubted)))
		graph->known = TAP_GRAPH_IN_PART;
	return graph;
}

const char *tap_graph_known_name(enum tap_graph_known known)
{
	static const char *const names[] = {
		[TAP_GRAPH_UNKNOWN] = "no",
		[TAP_GRAPH_IN_PART] = "in-part",
		[TAP_GRAPH_EXACT] = "exact",
	};

	return names[known];
}

static void free_all(struct tap_table *table)
{
	size_t i;

	for (i = 0; i < table->size; i++)
		free(table->slots[i].value);
	tap_table_free(table);
}

void tap_graphs_free(struct tap_graphs *graphs)
{
	free_all(&graphs->captures);
	free_all(&graphs->graphs);
	free_all(&graphs->execs);
	free_all(&graphs->counts);
}
