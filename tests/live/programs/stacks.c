/* SPDX-License-Identifier: MIT */
/*
 * Calls from all kinds of stacks, each made once.  Those that end where nobody can tell
 * how they go on call ncclGroupStart(), the others ncclGetVersion().
 *
 * stacks many: from more different stacks than are kept.
 * stacks again FILE: the same call, until FILE is gone, which has a byte for each.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if __has_attribute(noclone)
#define apart __attribute__((noinline, noclone))
#else
#define apart __attribute__((noinline))
#endif
/* After a call: so it is no jump, and the frame stays. */
#define KEEP_FRAME() __asm__ volatile("" ::: "memory")

int ncclGetVersion(int *version);
int ncclGroupStart(void);

static inline __attribute__((always_inline)) void innermost(void)
{
	int version;

	ncclGetVersion(&version);
	KEEP_FRAME();
}

apart static void inner(void)
{
	innermost();
	KEEP_FRAME();
}

apart static void middle(void)
{
	inner();
	KEEP_FRAME();
}

apart static void outer(void)
{
	middle();
	KEEP_FRAME();
}

apart static int deep(int left)
{
	const int result = left ? deep(left - 1) + 1 : (middle(), 0);

	KEEP_FRAME();
	return result;
}

/* The frame has no size that a compiler knows. */
apart static void growing(size_t size)
{
	volatile char *space = alloca(size);

	space[0] = 1;
	middle();
	KEEP_FRAME();
}

/*
 * The frame begins where the stack is a multiple of 128, and the last arguments are
 * where it was before: so only an expression tells where the caller's frame is.
 */
apart static size_t aligned(size_t a, size_t b, size_t c, size_t d, size_t e, size_t f,
			    size_t g, size_t h)
{
	volatile char space[256] __attribute__((aligned(128)));
	volatile char *more = alloca(h);

	space[0] = more[0] = 1;
	growing((size_t) space[0] * 100);
	KEEP_FRAME();
	return a + b + c + d + e + f + g + h;
}

static int compare(const void *left, const void *right)
{
	static int calls;

	if (!calls++)
		middle();
	return *(const int *) left - *(const int *) right;
}

/* Through the C library, which may keep no frame pointers. */
apart static void called_back(void)
{
	int numbers[2] = {2, 1};

	qsort(numbers, 2, sizeof(numbers[0]), compare);
	KEEP_FRAME();
}

static void on_signal(int number)
{
	(void) number;
	middle();
	KEEP_FRAME();
}

/* The handler is between an instruction and the next, on a stack of its own or not. */
apart static void interrupted(int flags)
{
	static char space[65536];
	const stack_t other = {.ss_sp = space, .ss_size = sizeof(space)};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};

	sigaltstack(&other, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	sigaction(SIGTRAP, &action, NULL);
#ifdef __x86_64__
	__asm__ volatile("int3");
#else
	raise(SIGTRAP);
#endif
	KEEP_FRAME();
}

static void *in_thread(void *unused)
{
	outer();
	return unused;
}

static void threads(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	int i;

	for (i = 0; i < 2; i++) {
		pthread_attr_init(&attr);
		if (i)
			pthread_attr_setstacksize(&attr, (size_t) PTHREAD_STACK_MIN);
		if (pthread_create(&thread, &attr, in_thread, NULL))
			abort();
		pthread_join(thread, NULL);
		pthread_attr_destroy(&attr);
	}
}

/* On a stack that the program has made. */
static void other_stack(void)
{
	static ucontext_t here, there;
	static char space[65536];

	getcontext(&there);
	there.uc_stack.ss_sp = space;
	there.uc_stack.ss_size = sizeof(space);
	there.uc_link = &here;
	makecontext(&there, outer, 0);
	swapcontext(&here, &there);
}

static void lost(void)
{
	ncclGroupStart();
	KEEP_FRAME();
}

/* Code that was made at run time, of which no table tells. */
apart static void made(void)
{
	static const unsigned char code[] = {
#if defined(__x86_64__)
		0x48, 0x83, 0xec, 0x08, /* sub $8,%rsp */
		0xff, 0xd7,		/* call *%rdi */
		0x48, 0x83, 0xc4, 0x08, /* add $8,%rsp */
		0xc3,			/* ret */
#elif defined(__aarch64__)
		0xfd, 0x7b, 0xbf, 0xa9, /* stp x29, x30, [sp, #-16]! */
		0x00, 0x00, 0x3f, 0xd6, /* blr x0 */
		0xfd, 0x7b, 0xc1, 0xa8, /* ldp x29, x30, [sp], #16 */
		0xc0, 0x03, 0x5f, 0xd6, /* ret */
#endif
	};
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		abort();
	memcpy(page, code, sizeof(code));
	__builtin___clear_cache(page, (char *) page + sizeof(code));
	((void (*)(void (*)(void))) page)(lost);
	KEEP_FRAME();
}

/* Keeps a frame pointer, as its table says, and something else in the register. */
void call_with_frame(uintptr_t frame, void (*function)(void));
#if defined(__x86_64__)
__asm__(".text\n.type call_with_frame, @function\ncall_with_frame:\n"
	".cfi_startproc\n"
	"push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset %rbp, -16\n"
	"mov %rsp, %rbp\n.cfi_def_cfa_register %rbp\n"
	"push %rbp\npush %rbp\n"
	"mov %rdi, %rbp\n"
	"call *%rsi\n"
	"pop %rbp\npop %rbp\n"
	"pop %rbp\n.cfi_def_cfa %rsp, 8\n"
	"ret\n.cfi_endproc\n.size call_with_frame, .-call_with_frame\n");
#elif defined(__aarch64__)
__asm__(".text\n.type call_with_frame, %function\ncall_with_frame:\n"
	".cfi_startproc\n"
	"stp x29, x30, [sp, #-32]!\n.cfi_def_cfa_offset 32\n"
	".cfi_offset x29, -32\n.cfi_offset x30, -24\n"
	"mov x29, sp\n.cfi_def_cfa_register x29\n"
	"mov x29, x0\n"
	"blr x1\n"
	"ldp x29, x30, [sp], #32\n.cfi_restore x30\n.cfi_restore x29\n.cfi_def_cfa sp, 0\n"
	"ret\n.cfi_endproc\n.size call_with_frame, .-call_with_frame\n");
#endif

apart static void damaged(void)
{
	/* Nowhere; below the stack; above it, where nothing is; where nothing can be. */
	call_with_frame(8, lost);
	call_with_frame((uintptr_t) __builtin_frame_address(0) - 65536, lost);
	call_with_frame((uintptr_t) __builtin_frame_address(0) | 0x7fffffff0000, lost);
	call_with_frame(UINTPTR_MAX - 20, lost);
	KEEP_FRAME();
}

/* The second is where the first was, and is another. */
apart static void plugins(void)
{
	static const char *const names[] = {"plugin1.so", "plugin2.so", "plugin1.so"};
	unsigned i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		void *library = dlopen(names[i], RTLD_NOW);
		void (*call)(void) =
			library ? (void (*)(void)) dlsym(library, "plugin_call") : NULL;

		if (!call)
			abort();
		call();
		dlclose(library);
	}
	KEEP_FRAME();
}

/* Two ways at each level, which a compiler must not take for one. */
static void go(unsigned ways, unsigned levels);

apart static void go_left(unsigned ways, unsigned levels)
{
	go(ways, levels);
	__asm__ volatile("# left" ::: "memory");
}

apart static void go_right(unsigned ways, unsigned levels)
{
	go(ways, levels);
	__asm__ volatile("# right" ::: "memory");
}

static inline __attribute__((always_inline)) void go(unsigned ways, unsigned levels)
{
	int version;

	if (!levels)
		ncclGetVersion(&version);
	else if (ways & 1)
		go_left(ways >> 1, levels - 1);
	else
		go_right(ways >> 1, levels - 1);
}

static void many(void)
{
	unsigned i;

	for (i = 0; i < 1u << 13; i++)
		go_left(i, 13);
}

static void again(const char *file)
{
	off_t calls = 0;

	while (!access(file, F_OK)) {
		outer();
		if (truncate(file, ++calls))
			break;
		usleep(10000);
	}
}

static void at_exit(void)
{
	middle();
	KEEP_FRAME();
}

__attribute__((constructor)) static void start(void)
{
	outer();
	KEEP_FRAME();
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "many")) {
		many();
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "again")) {
		again(argv[2]);
		return 0;
	}
	outer();
	deep(100);
	growing(1000);
	aligned(1, 2, 3, 4, 5, 6, 7, 800);
	called_back();
	interrupted(0);
	interrupted(SA_ONSTACK);
	threads();
	other_stack();
	made();
	damaged();
	plugins();
	outer();
	atexit(at_exit);
	return 0;
}
