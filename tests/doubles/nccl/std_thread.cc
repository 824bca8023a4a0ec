// SPDX-License-Identifier: MIT
// std::thread, with one class of state per type of argument as in NCCL: so each has a
// vtable of its own in this library.
#include "std_thread.h"

#include <cstddef>
#include <system_error>
#include <thread>

namespace {

struct ProxyState;
struct AsyncJob;
struct RootArguments;
struct Adapter;
struct SocketResources;

using Main = void *(*)(void *);

template <typename Argument> std::thread *start(Main main, void *argument)
{
	return new std::thread(main, static_cast<Argument *>(argument));
}

std::thread *start_as(mini_argument type, Main main, void *argument)
{
	switch (type) {
	case MINI_ARGUMENT_PROXY:
		return start<ProxyState>(main, argument);
	case MINI_ARGUMENT_JOB:
		return start<AsyncJob>(main, argument);
	case MINI_ARGUMENT_ROOT:
		return start<RootArguments>(main, argument);
	case MINI_ARGUMENT_ADAPTER:
		return start<Adapter>(main, argument);
	case MINI_ARGUMENT_SOCKET:
		return start<SocketResources>(main, argument);
	case MINI_ARGUMENT_NONE:
		break;
	}
	return new std::thread(main, nullptr);
}

} // namespace

void *mini_std_thread_start(mini_argument type, Main main, void *argument,
			    pthread_t *ret_id)
{
	try {
		std::thread *thread = start_as(type, main, argument);

		*ret_id = thread->native_handle();
		return thread;
	} catch (const std::system_error &) {
		return nullptr;
	}
}

void mini_std_thread_join(void *object)
{
	std::thread *thread = static_cast<std::thread *>(object);

	thread->join();
	delete thread;
}

void mini_std_thread_detach(void *object)
{
	std::thread *thread = static_cast<std::thread *>(object);

	thread->detach();
	delete thread;
}
