/* SPDX-License-Identifier: MIT */
/*
 * Graphs of the driver double: work in an order in which it can run, which is that of its
 * capture or of the calls that added it.  A launch does it in that order.
 */
#include "driver.h"

#include <stdlib.h>

struct CUgraphExec_st {
	struct CUgraph_st *graph;
};

static uint64_t graph_ids;

struct CUgraph_st *double_graph_new(void)
{
	struct CUgraph_st *graph = calloc(1, sizeof(*graph));

	if (!graph)
		return NULL;
	graph->last = &graph->first;
	graph->id = ++graph_ids;
	return graph;
}

/* A node's number has its graph's in the upper half, as CUPTI shows it. */
static struct CUgraphNode_st *add_node(struct CUgraph_st *graph, struct double_work *work,
				       uint64_t id)
{
	struct CUgraphNode_st *node = calloc(1, sizeof(*node));

	if (!node)
		return NULL;
	node->work = work;
	node->graph = graph;
	node->id = id;
	*graph->last = node;
	graph->last = &node->next;
	graph->newest = node;
	graph->count++;
	return node;
}

struct CUgraphNode_st *double_graph_add(struct CUgraph_st *graph,
					struct double_work *work)
{
	return add_node(graph, work, graph->id << 32 | (graph->count + 1));
}

void double_graph_free(struct CUgraph_st *graph)
{
	struct CUgraphNode_st *node;

	while (graph->first) {
		node = graph->first;
		graph->first = node->next;
		double_work_put(node->work);
		free(node);
	}
	free(graph);
}

DOUBLE_EXPORT CUresult cuGraphCreate(CUgraph *phGraph, unsigned int flags)
{
	if (!phGraph || flags)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&double_lock);
	*phGraph = double_graph_new();
	pthread_mutex_unlock(&double_lock);
	if (!*phGraph)
		return CUDA_ERROR_OUT_OF_MEMORY;
	double_observe_changed(DOUBLE_GRAPH_CREATED,
			       &(struct double_observed_thing){.graph = *phGraph});
	return CUDA_SUCCESS;
}

/* What a node depends on was added before it, so that its place is after that. */
static CUresult add(struct double_call *call, CUgraphNode *ret_node, CUgraph graph,
		    struct double_work *work)
{
	struct CUgraphNode_st *node;

	double_call_note(call, work);
	pthread_mutex_lock(&double_lock);
	node = double_graph_add(graph, work);
	if (!node)
		double_work_put(work);
	pthread_mutex_unlock(&double_lock);
	if (!node)
		return CUDA_ERROR_OUT_OF_MEMORY;
	call->node = node->id;
	*ret_node = node;
	double_observe_node(node);
	return CUDA_SUCCESS;
}

static CUresult add_kernel(const char *entry, CUgraphNode *ret_node, CUgraph graph,
			   const CUDA_KERNEL_NODE_PARAMS_v1 *params, CUkernel kernel)
{
	struct double_work *work;
	struct double_call call;
	CUresult res;

	double_call_begin(&call, entry, NULL);
	if (!ret_node || !graph || !params)
		return double_call_end(&call, CUDA_ERROR_INVALID_VALUE);
	res = double_kernel_work(params->func ? params->func : (CUfunction) kernel,
				 (unsigned int[]){params->gridDimX, params->gridDimY,
						  params->gridDimZ},
				 (unsigned int[]){params->blockDimX, params->blockDimY,
						  params->blockDimZ},
				 params->kernelParams, params->extra, &work);
	if (res == CUDA_SUCCESS)
		work->shared = params->sharedMemBytes;
	if (res == CUDA_SUCCESS)
		res = add(&call, ret_node, graph, work);
	return double_call_end(&call, res);
}

DOUBLE_EXPORT CUresult cuGraphAddKernelNode(CUgraphNode *phGraphNode, CUgraph hGraph,
					    const CUgraphNode *dependencies,
					    size_t numDependencies,
					    const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
	(void) dependencies;
	(void) numDependencies;
	return add_kernel(__func__, phGraphNode, hGraph, nodeParams, NULL);
}

/* The newer structure begins with the older one. */
DOUBLE_EXPORT CUresult cuGraphAddKernelNode_v2(
	CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
	size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS_v2 *nodeParams)
{
	(void) dependencies;
	(void) numDependencies;
	return add_kernel(__func__, phGraphNode, hGraph,
			  (const CUDA_KERNEL_NODE_PARAMS_v1 *) nodeParams,
			  nodeParams ? nodeParams->kern : NULL);
}

DOUBLE_EXPORT CUresult cuGraphAddMemcpyNode(CUgraphNode *phGraphNode, CUgraph hGraph,
					    const CUgraphNode *dependencies,
					    size_t numDependencies,
					    const CUDA_MEMCPY3D *copyParams,
					    CUcontext ctx)
{
	struct double_work *work;
	struct double_call call;
	CUresult res;

	(void) dependencies;
	(void) numDependencies;
	(void) ctx;
	double_call_begin(&call, __func__, NULL);
	if (!phGraphNode || !hGraph || !copyParams)
		return double_call_end(&call, CUDA_ERROR_INVALID_VALUE);
	res = double_copy_work(copyParams, &work);
	if (res == CUDA_SUCCESS)
		res = add(&call, phGraphNode, hGraph, work);
	return double_call_end(&call, res);
}

DOUBLE_EXPORT CUresult cuGraphAddMemsetNode(CUgraphNode *phGraphNode, CUgraph hGraph,
					    const CUgraphNode *dependencies,
					    size_t numDependencies,
					    const CUDA_MEMSET_NODE_PARAMS *memsetParams,
					    CUcontext ctx)
{
	struct double_work *work;
	struct double_call call;
	CUresult res;

	(void) dependencies;
	(void) numDependencies;
	(void) ctx;
	double_call_begin(&call, __func__, NULL);
	if (!phGraphNode || !hGraph || !memsetParams)
		return double_call_end(&call, CUDA_ERROR_INVALID_VALUE);
	res = double_fill_work(memsetParams, &work);
	if (res == CUDA_SUCCESS)
		res = add(&call, phGraphNode, hGraph, work);
	return double_call_end(&call, res);
}

DOUBLE_EXPORT CUresult cuGraphAddHostNode(CUgraphNode *phGraphNode, CUgraph hGraph,
					  const CUgraphNode *dependencies,
					  size_t numDependencies,
					  const CUDA_HOST_NODE_PARAMS *nodeParams)
{
	struct double_work *work;
	struct double_call call;
	CUresult res;

	(void) dependencies;
	(void) numDependencies;
	double_call_begin(&call, __func__, NULL);
	if (!phGraphNode || !hGraph || !nodeParams)
		return double_call_end(&call, CUDA_ERROR_INVALID_VALUE);
	res = double_host_work(nodeParams->fn, nodeParams->userData, &work);
	if (res == CUDA_SUCCESS)
		res = add(&call, phGraphNode, hGraph, work);
	return double_call_end(&call, res);
}

DOUBLE_EXPORT CUresult cuGraphAddEmptyNode(CUgraphNode *phGraphNode, CUgraph hGraph,
					   const CUgraphNode *dependencies,
					   size_t numDependencies)
{
	struct double_work *work;
	struct double_call call;
	CUresult res = CUDA_ERROR_OUT_OF_MEMORY;

	(void) dependencies;
	(void) numDependencies;
	double_call_begin(&call, __func__, NULL);
	if (!phGraphNode || !hGraph)
		return double_call_end(&call, CUDA_ERROR_INVALID_VALUE);
	work = double_work_new(sizeof(*work), CU_GRAPH_NODE_TYPE_EMPTY, "empty", NULL);
	if (work)
		res = add(&call, phGraphNode, hGraph, work);
	return double_call_end(&call, res);
}

DOUBLE_EXPORT CUresult cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes,
				       size_t *numNodes)
{
	struct CUgraphNode_st *node;
	size_t i = 0;

	if (!hGraph || !numNodes)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&double_lock);
	if (!nodes)
		*numNodes = hGraph->count;
	for (node = hGraph->first; nodes && node && i < *numNodes; node = node->next)
		nodes[i++] = node;
	if (nodes)
		*numNodes = i;
	pthread_mutex_unlock(&double_lock);
	return CUDA_SUCCESS;
}

DOUBLE_EXPORT CUresult cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type)
{
	if (!hNode || !type)
		return CUDA_ERROR_INVALID_VALUE;
	*type = hNode->work->type;
	return CUDA_SUCCESS;
}

/* A copy that does the same work: the graph may change or go. */
static CUresult copy_graph(struct CUgraph_st *graph, struct CUgraph_st **ret_copy)
{
	struct CUgraph_st *copy = double_graph_new();
	struct CUgraphNode_st *node;

	if (!copy)
		return CUDA_ERROR_OUT_OF_MEMORY;
	for (node = graph->first; node; node = node->next) {
		if (!add_node(copy, node->work,
			      copy->id << 32 | (node->id & UINT32_MAX))) {
			double_graph_free(copy);
			return CUDA_ERROR_OUT_OF_MEMORY;
		}
		node->work->references++;
	}
	*ret_copy = copy;
	return CUDA_SUCCESS;
}

/* Of a copy that nobody else has yet. */
static void tell_cloned(struct CUgraph_st *original, struct CUgraphExec_st *exec)
{
	struct double_observed_thing thing = {.context = double_current_context(),
					      .graph = exec->graph,
					      .original_graph = original,
					      .exec = exec};
	struct CUgraphNode_st *from;
	struct CUgraphNode_st *node;

	if (!double_is_observed())
		return;
	double_observe_changed(DOUBLE_GRAPH_CLONED, &thing);
	for (node = exec->graph->first, from = original->first; node && from;
	     node = node->next, from = from->next) {
		thing.node = node;
		thing.original = from;
		thing.type = node->work->type;
		double_observe_changed(DOUBLE_NODE_CLONED, &thing);
	}
	thing.node = NULL;
	thing.original = NULL;
	double_observe_changed(DOUBLE_EXEC_CREATED, &thing);
}

uint32_t double_exec_number(CUgraphExec exec)
{
	return (uint32_t) exec->graph->id;
}

DOUBLE_EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec,
						   CUgraph hGraph,
						   unsigned long long flags)
{
	struct CUgraphExec_st *exec;
	struct double_call call;
	CUresult res;

	double_call_begin(&call, __func__, NULL);
	if (!phGraphExec || !hGraph)
		return double_call_end(&call, CUDA_ERROR_INVALID_VALUE);
	if (flags)
		return double_call_end(&call, CUDA_ERROR_NOT_SUPPORTED);
	exec = calloc(1, sizeof(*exec));
	if (!exec)
		return double_call_end(&call, CUDA_ERROR_OUT_OF_MEMORY);
	pthread_mutex_lock(&double_lock);
	res = copy_graph(hGraph, &exec->graph);
	pthread_mutex_unlock(&double_lock);
	if (res == CUDA_SUCCESS) {
		*phGraphExec = exec;
		tell_cloned(hGraph, exec);
	} else {
		free(exec);
	}
	call.graph = res == CUDA_SUCCESS ? exec : NULL;
	return double_call_end(&call, res);
}

static CUresult upload(const char *entry, CUgraphExec exec, CUstream stream)
{
	struct double_call call;

	double_call_begin(&call, entry, stream);
	call.graph = exec;
	return double_call_end(&call, exec ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

DOUBLE_STREAM_ENTRY(cuGraphUpload, upload, (CUgraphExec hGraphExec, CUstream hStream),
		    hGraphExec)

static CUresult launch(const char *entry, CUgraphExec exec, CUstream stream)
{
	struct double_call call;
	CUresult res;

	double_call_begin(&call, entry, stream);
	call.graph = exec;
	res = double_launch_failure();
	if (res == CUDA_SUCCESS && !exec)
		res = CUDA_ERROR_INVALID_VALUE;
	if (res == CUDA_SUCCESS)
		res = double_stream_enqueue_graph(&call, stream, exec->graph);
	return double_call_end(&call, res);
}

DOUBLE_STREAM_ENTRY(cuGraphLaunch, launch, (CUgraphExec hGraphExec, CUstream hStream),
		    hGraphExec)

/* What was launched holds its work itself. */
DOUBLE_EXPORT CUresult cuGraphExecDestroy(CUgraphExec hGraphExec)
{
	if (!hGraphExec)
		return CUDA_ERROR_INVALID_VALUE;
	double_observe_changed(DOUBLE_EXEC_DESTROYED,
			       &(struct double_observed_thing){.graph = hGraphExec->graph,
							       .exec = hGraphExec});
	pthread_mutex_lock(&double_lock);
	double_graph_free(hGraphExec->graph);
	pthread_mutex_unlock(&double_lock);
	free(hGraphExec);
	return CUDA_SUCCESS;
}

DOUBLE_EXPORT CUresult cuGraphDestroy(CUgraph hGraph)
{
	if (!hGraph)
		return CUDA_ERROR_INVALID_VALUE;
	double_observe_changed(DOUBLE_GRAPH_DESTROYED,
			       &(struct double_observed_thing){.graph = hGraph});
	pthread_mutex_lock(&double_lock);
	double_graph_free(hGraph);
	pthread_mutex_unlock(&double_lock);
	return CUDA_SUCCESS;
}
