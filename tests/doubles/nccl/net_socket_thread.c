/* SPDX-License-Identifier: MIT */
/* The threads that move shares of messages (NCCL 2.28.9, net_socket.cc: 220-275,
 * 488-530). */
#include "net_socket.h"

#include "truth.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

static bool is_open(const struct mini_socket_task *task)
{
	return task->is_used && !task->err && task->moved < task->size;
}

/* Without the lock while it moves: nobody else touches a task that is not done. */
static void go_on(struct mini_socket_helper *helper, struct mini_socket_task *task)
{
	size_t moved = task->moved;
	int err;

	pthread_mutex_unlock(&helper->lock);
	err = mini_stream_move(task->fd, helper->connection->is_send, task->data,
			       task->size, &moved);
	pthread_mutex_lock(&helper->lock);
	task->moved = moved;
	task->err = err == -EAGAIN ? 0 : err;
}

/* Each open task once: whether there is any. */
static bool go_on_with_all(struct mini_socket_helper *helper)
{
	bool has_any = false;
	int i;

	for (i = 0; i < helper->task_count; i++) {
		if (is_open(&helper->tasks[i])) {
			go_on(helper, &helper->tasks[i]);
			has_any = true;
		}
	}
	return has_any;
}

static void *helper_main(void *argument)
{
	struct mini_socket_helper *helper = argument;
	int mark;

	mini_truth_thread(MINI_THREAD_SOCKET, NULL);
	pthread_mutex_lock(&helper->lock);
	while (!helper->is_stopping) {
		mark = helper->next;
		if (go_on_with_all(helper)) {
			pthread_mutex_unlock(&helper->lock);
			sched_yield();
			pthread_mutex_lock(&helper->lock);
			continue;
		}
		while (mark == helper->next && !helper->is_stopping)
			pthread_cond_wait(&helper->changed, &helper->lock);
	}
	pthread_mutex_unlock(&helper->lock);
	return NULL;
}

static int start(struct mini_net_connection *connection, int number)
{
	struct mini_socket_helper *helper = &connection->helpers[number];
	int each = connection->socket_count / connection->thread_count;
	int err;

	helper->connection = connection;
	helper->task_count = MINI_NET_REQUESTS * each;
	helper->tasks = calloc((size_t) helper->task_count, sizeof(*helper->tasks));
	if (!helper->tasks)
		return -ENOMEM;
	pthread_mutex_init(&helper->lock, NULL);
	pthread_cond_init(&helper->changed, NULL);
	err = mini_thread_start(&helper->thread, MINI_ARGUMENT_SOCKET, helper_main,
				helper);
	if (!err)
		mini_thread_name(&helper->thread, "NCCL Sock%c%1u%2u%2u",
				 connection->is_send ? 'S' : 'R', 0U,
				 (unsigned int) number, 0U);
	return err;
}

int mini_socket_task(struct mini_net_request *request, char *data, size_t size)
{
	struct mini_net_connection *connection = request->connection;
	int number = connection->next % connection->thread_count;
	struct mini_socket_helper *helper = &connection->helpers[number];
	struct mini_socket_task *task;
	int err = helper->tasks ? 0 : start(connection, number);

	if (err)
		return err;
	pthread_mutex_lock(&helper->lock);
	task = &helper->tasks[helper->next];
	if (task->is_used)
		err = -ENOBUFS;
	if (!err) {
		*task = (struct mini_socket_task){
			data, size, connection->fds[connection->next], true, 0, 0};
		helper->next = (helper->next + 1) % helper->task_count;
		pthread_cond_signal(&helper->changed);
		connection->next = (connection->next + 1) % connection->socket_count;
		request->helpers[request->task_count] = helper;
		request->tasks[request->task_count++] = task;
	}
	pthread_mutex_unlock(&helper->lock);
	return err;
}

/* What the thread has made of it. */
static int look(struct mini_socket_helper *helper, struct mini_socket_task *task,
		bool leave)
{
	int rest;

	pthread_mutex_lock(&helper->lock);
	rest = task->err ? task->err : task->moved < task->size;
	if (leave)
		task->is_used = false;
	pthread_mutex_unlock(&helper->lock);
	return rest;
}

int mini_socket_tasks(struct mini_net_request *request)
{
	int rest = 0;
	int i;

	for (i = 0; i < request->task_count && !rest; i++)
		rest = look(request->helpers[i], request->tasks[i], false);
	for (i = 0; i < request->task_count && !rest; i++)
		look(request->helpers[i], request->tasks[i], true);
	return rest;
}

void mini_socket_helpers_stop(struct mini_net_connection *connection)
{
	int i;

	for (i = 0; i < connection->thread_count; i++) {
		struct mini_socket_helper *helper = &connection->helpers[i];

		if (!helper->tasks)
			continue;
		pthread_mutex_lock(&helper->lock);
		helper->is_stopping = true;
		pthread_cond_signal(&helper->changed);
		pthread_mutex_unlock(&helper->lock);
		mini_thread_join(&helper->thread);
		pthread_cond_destroy(&helper->changed);
		pthread_mutex_destroy(&helper->lock);
		free(helper->tasks);
		helper->tasks = NULL;
	}
}
