/* SPDX-License-Identifier: MIT */
/*
 * NET/IB or NET/Socket of a stock libnccl.so.2.  Each is a table of functions, ncclNetIb and
 * ncclNetSocket, that no release exports: .symtab of the file says where it is, so the file must not be stripped.  How
 * the table looks is said by a header of each release, and by the size of the symbol.
 * Hidden here are the differences between them: the others see one set of functions.
 */
#include "nib.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef void nib_log_fn(int level, unsigned long flags, const char *file, int line,
			const char *format, ...);

struct comm_config {
	int traffic_class;
};

/* The greatest of all releases: v12 has eight, those before it four. */
struct vdevice {
	int ndevs;
	int devs[8];
};

/* The name is the first in every release; the rest is not read. */
struct properties {
	char *name;
	char rest[1024];
};

/* src/include/nccl_net.h of 2.18.3: ncclNet_v6_t. */
struct table_v6 {
	const char *name;
	int (*init)(nib_log_fn *log);
	int (*devices)(int *ndev);
	int (*get_properties)(int dev, struct properties *props);
	int (*listen)(int dev, void *handle, void **comm);
	int (*connect)(int dev, void *handle, void **comm);
	int (*accept)(void *listening, void **comm);
	int (*reg_mr)(void *comm, void *data, int size, int type, void **mr);
	void *reg_mr_dma_buf;
	int (*dereg_mr)(void *comm, void *mr);
	int (*isend)(void *comm, void *data, int size, int tag, void *mr, void **request);
	int (*irecv)(void *comm, int n, void **data, int *sizes, int *tags, void **mrs,
		     void **request);
	int (*iflush)(void *comm, int n, void **data, int *sizes, void **mrs,
		      void **request);
	int (*test)(void *request, int *done, int *sizes);
	int (*close_send)(void *comm);
	int (*close_recv)(void *comm);
	int (*close_listen)(void *comm);
};

/* src/include/nccl_net.h of 2.19.3: ncclNet_v7_t. */
struct table_v7 {
	const char *name;
	int (*init)(nib_log_fn *log);
	int (*devices)(int *ndev);
	int (*get_properties)(int dev, struct properties *props);
	int (*listen)(int dev, void *handle, void **comm);
	int (*connect)(int dev, void *handle, void **comm, void **offload);
	int (*accept)(void *listening, void **comm, void **offload);
	int (*reg_mr)(void *comm, void *data, int size, int type, void **mr);
	void *reg_mr_dma_buf;
	int (*dereg_mr)(void *comm, void *mr);
	int (*isend)(void *comm, void *data, int size, int tag, void *mr, void **request);
	int (*irecv)(void *comm, int n, void **data, int *sizes, int *tags, void **mrs,
		     void **request);
	int (*iflush)(void *comm, int n, void **data, int *sizes, void **mrs,
		      void **request);
	int (*test)(void *request, int *done, int *sizes);
	int (*close_send)(void *comm);
	int (*close_recv)(void *comm);
	int (*close_listen)(void *comm);
	void *get_device_mr;
	void *irecv_consumed;
};

/* src/include/nccl_net.h of 2.20.5, 2.21.5, 2.22.3, 2.23.4: ncclNet_v8_t. */
struct table_v8 {
	const char *name;
	int (*init)(nib_log_fn *log);
	int (*devices)(int *ndev);
	int (*get_properties)(int dev, struct properties *props);
	int (*listen)(int dev, void *handle, void **comm);
	int (*connect)(int dev, void *handle, void **comm, void **offload);
	int (*accept)(void *listening, void **comm, void **offload);
	int (*reg_mr)(void *comm, void *data, size_t size, int type, void **mr);
	void *reg_mr_dma_buf;
	int (*dereg_mr)(void *comm, void *mr);
	int (*isend)(void *comm, void *data, int size, int tag, void *mr, void **request);
	int (*irecv)(void *comm, int n, void **data, int *sizes, int *tags, void **mrs,
		     void **request);
	int (*iflush)(void *comm, int n, void **data, int *sizes, void **mrs,
		      void **request);
	int (*test)(void *request, int *done, int *sizes);
	int (*close_send)(void *comm);
	int (*close_recv)(void *comm);
	int (*close_listen)(void *comm);
	void *get_device_mr;
	void *irecv_consumed;
};

/* src/include/nccl_net.h of 2.24.3 and 2.25.1: ncclNet_v9_t. */
struct table_v9 {
	const char *name;
	int (*init)(nib_log_fn *log);
	int (*devices)(int *ndev);
	int (*get_properties)(int dev, struct properties *props);
	int (*listen)(int dev, void *handle, void **comm);
	int (*connect)(int dev, void *handle, void **comm, void **offload);
	int (*accept)(void *listening, void **comm, void **offload);
	int (*reg_mr)(void *comm, void *data, size_t size, int type, void **mr);
	void *reg_mr_dma_buf;
	int (*dereg_mr)(void *comm, void *mr);
	int (*isend)(void *comm, void *data, size_t size, int tag, void *mr,
		     void **request);
	int (*irecv)(void *comm, int n, void **data, size_t *sizes, int *tags, void **mrs,
		     void **request);
	int (*iflush)(void *comm, int n, void **data, int *sizes, void **mrs,
		      void **request);
	int (*test)(void *request, int *done, int *sizes);
	int (*close_send)(void *comm);
	int (*close_recv)(void *comm);
	int (*close_listen)(void *comm);
	void *get_device_mr;
	void *irecv_consumed;
	int (*make_vdevice)(int *dev, struct vdevice *props);
};

/* src/include/plugin/net/net_v10.h of 2.27.7; 2.26 has it too: ncclNet_v10_t. */
struct table_v10 {
	const char *name;
	int (*init)(nib_log_fn *log, void *profile);
	int (*devices)(int *ndev);
	int (*get_properties)(int dev, struct properties *props);
	int (*listen)(int dev, void *handle, void **comm);
	int (*connect)(int dev, struct comm_config *config, void *handle, void **comm,
		       void **offload);
	int (*accept)(void *listening, void **comm, void **offload);
	int (*reg_mr)(void *comm, void *data, size_t size, int type, void **mr);
	void *reg_mr_dma_buf;
	int (*dereg_mr)(void *comm, void *mr);
	int (*isend)(void *comm, void *data, size_t size, int tag, void *mr,
		     void *profiled, void **request);
	int (*irecv)(void *comm, int n, void **data, size_t *sizes, int *tags, void **mrs,
		     void **profiled, void **request);
	int (*iflush)(void *comm, int n, void **data, int *sizes, void **mrs,
		      void **request);
	int (*test)(void *request, int *done, int *sizes);
	int (*close_send)(void *comm);
	int (*close_recv)(void *comm);
	int (*close_listen)(void *comm);
	void *get_device_mr;
	void *irecv_consumed;
	int (*make_vdevice)(int *dev, struct vdevice *props);
};

/* src/include/plugin/net/net_v11.h of 2.28.9 and 2.29.7: ncclNet_v11_t; net_v12.h
 * of 2.30.7 differs in structures that are not used here.  2.31 and 2.32 have no public
 * source: the names of their functions in .symtab take the structures of v12. */
struct table_v11 {
	const char *name;
	int (*init)(void **context, uint64_t comm_id, struct comm_config *config,
		    nib_log_fn *log, void *profile);
	int (*devices)(int *ndev);
	int (*get_properties)(int dev, struct properties *props);
	int (*listen)(void *context, int dev, void *handle, void **comm);
	int (*connect)(void *context, int dev, void *handle, void **comm, void **offload);
	int (*accept)(void *listening, void **comm, void **offload);
	int (*reg_mr)(void *comm, void *data, size_t size, int type, void **mr);
	void *reg_mr_dma_buf;
	int (*dereg_mr)(void *comm, void *mr);
	int (*isend)(void *comm, void *data, size_t size, int tag, void *mr,
		     void *profiled, void **request);
	int (*irecv)(void *comm, int n, void **data, size_t *sizes, int *tags, void **mrs,
		     void **profiled, void **request);
	int (*iflush)(void *comm, int n, void **data, int *sizes, void **mrs,
		      void **request);
	int (*test)(void *request, int *done, int *sizes);
	int (*close_send)(void *comm);
	int (*close_recv)(void *comm);
	int (*close_listen)(void *comm);
	void *get_device_mr;
	void *irecv_consumed;
	int (*make_vdevice)(int *dev, struct vdevice *props);
	int (*finalize)(void *context);
	void *set_net_attr;
};

static const struct layout {
	int layout;
	/* The first release that has it; the next row's has it no more. */
	int since;
	size_t size;
} layouts[] = {
	{6, 21700, sizeof(struct table_v6)},   {7, 21900, sizeof(struct table_v7)},
	{8, 22000, sizeof(struct table_v8)},   {9, 22400, sizeof(struct table_v9)},
	{10, 22600, sizeof(struct table_v10)}, {11, 22800, sizeof(struct table_v11)},
	{12, 23000, sizeof(struct table_v11)}, {0, 23300, 0},
};

struct nib_net {
	const char *path;
	uintptr_t base;
	bool is_socket;
	int version;
	int layout;
	char description[64];
	void *context;
	struct comm_config config;
	union {
		void *at;
		/* In all tables these functions are alike and in the same places. */
		struct table_v6 *v6;
		struct table_v7 *v7;
		struct table_v8 *v8;
		struct table_v9 *v9;
		struct table_v10 *v10;
		struct table_v11 *v11;
	};
};

#define PTR_HOST 1

/* Where in the file's own addresses a symbol of .symtab is, or one that begins so. */
static bool find(const char *path, const char *name, bool is_beginning, Elf64_Sym *found)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const Elf64_Ehdr *file;
	const Elf64_Shdr *sections;
	const Elf64_Sym *symbols;
	const char *names;
	struct stat status;
	bool is_found = false;
	size_t count;
	size_t i;
	int s;

	if (fd < 0 || fstat(fd, &status))
		nib_cannot("%s: cannot be read", path);
	file = mmap(NULL, (size_t) status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (file == MAP_FAILED || memcmp(file->e_ident, ELFMAG, SELFMAG) ||
	    file->e_ident[EI_CLASS] != ELFCLASS64)
		nib_cannot("%s: no 64-bit ELF file", path);
	sections = (const Elf64_Shdr *) ((const char *) file + file->e_shoff);
	for (s = 0; s < file->e_shnum && !is_found; s++) {
		if (sections[s].sh_type != SHT_SYMTAB)
			continue;
		symbols =
			(const Elf64_Sym *) ((const char *) file + sections[s].sh_offset);
		names = (const char *) file + sections[sections[s].sh_link].sh_offset;
		count = sections[s].sh_size / sizeof(*symbols);
		for (i = 0; i < count && !is_found; i++) {
			const char *its = names + symbols[i].st_name;

			is_found = is_beginning ? !strncmp(its, name, strlen(name))
						: !strcmp(its, name);
			if (is_found)
				*found = symbols[i];
		}
	}
	munmap((void *) file, (size_t) status.st_size);
	return is_found;
}

void *nib_function(struct nib_net *net, const char *name)
{
	Elf64_Sym symbol;

	if (!find(net->path, name, true, &symbol))
		nib_cannot("%s: %s is not in .symtab", net->path, name);
	return (void *) (net->base + symbol.st_value);
}

struct nib_net *nib_open(const char *path, bool is_socket)
{
	const char *const name = is_socket ? "ncclNetSocket" : "ncclNetIb";
	struct nib_net *net = calloc(1, sizeof(*net));
	int (*get_version)(int *version);
	struct link_map *map;
	const struct layout *row;
	Elf64_Sym symbol;
	void *library;
	int version;

	if (!net)
		nib_die("no memory");
	if (!find(path, name, false, &symbol))
		nib_cannot("%s: %s is not in .symtab; is the file stripped?", path, name);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		nib_cannot("%s", dlerror());
	*(void **) &get_version = dlsym(library, "ncclGetVersion");
	if (!get_version || get_version(&version) ||
	    dlinfo(library, RTLD_DI_LINKMAP, &map))
		nib_cannot("%s: does not say which release it is", path);
	for (row = layouts; row->layout && version >= row[1].since; row++)
		;
	/* A double has one form, whichever release it is. */
	if (version < 22800 && symbol.st_size == sizeof(struct table_v11))
		for (row = layouts; row->layout != 11; row++)
			;
	if (version < layouts[0].since || !row->layout)
		nib_cannot("%s: the table of release %d is not known", path, version);
	if (symbol.st_size != row->size)
		nib_cannot("%s: the table of release %d has %zu bytes, and not %zu", path,
			   version, (size_t) symbol.st_size, row->size);
	net->path = path;
	net->base = map->l_addr;
	net->is_socket = is_socket;
	net->version = version;
	net->layout = row->layout;
	net->at = (void *) (map->l_addr + symbol.st_value);
	net->config.traffic_class = -1;
	snprintf(net->description, sizeof(net->description), "NCCL %d.%d.%d, table v%d",
		 version / 10000, version / 100 % 100, version % 100, row->layout);
	if (strcmp(net->v6->name, is_socket ? "Socket" : "IB"))
		nib_cannot("%s: the table is not that of NET/%s", path,
			   is_socket ? "Socket" : "IB");
	return net;
}

int nib_version(const struct nib_net *net)
{
	return net->version;
}

const char *nib_describe(const struct nib_net *net)
{
	return net->description;
}

/* NCCL_DEBUG has it told by NCCL itself. */
static void say_nothing(int level, unsigned long flags, const char *file, int line,
			const char *format, ...)
{
	(void) level;
	(void) flags;
	(void) file;
	(void) line;
	(void) format;
}

int nib_init(struct nib_net *net)
{
	if (net->layout >= 11)
		return net->v11->init(&net->context, 1, &net->config, say_nothing, NULL);
	if (net->layout == 10)
		return net->v10->init(say_nothing, NULL);
	return net->v6->init(say_nothing);
}

int nib_devices(struct nib_net *net, int *count)
{
	return net->v6->devices(count);
}

const char *nib_device_name(struct nib_net *net, int device)
{
	struct properties properties = {NULL, {0}};

	if (net->v6->get_properties(device, &properties) || !properties.name)
		return "?";
	return properties.name;
}

int nib_merge(struct nib_net *net, int count, int *device)
{
	struct vdevice props = {.ndevs = count, .devs = {0}};
	int i;

	for (i = 0; i < count; i++)
		props.devs[i] = i;
	switch (net->layout) {
	case 9:
		return net->v9->make_vdevice(device, &props);
	case 10:
		return net->v10->make_vdevice(device, &props);
	case 11:
	case 12:
		return net->v11->make_vdevice(device, &props);
	default:
		return -1;
	}
}

int nib_listen(struct nib_net *net, int device, void *handle, void **comm)
{
	if (net->layout >= 11)
		return net->v11->listen(net->context, device, handle, comm);
	return net->v6->listen(device, handle, comm);
}

static int connect_once(struct nib_net *net, int device, void *handle, void **comm)
{
	void *offload = NULL;

	switch (net->layout) {
	case 6:
		return net->v6->connect(device, handle, comm);
	case 7:
		return net->v7->connect(device, handle, comm, &offload);
	case 8:
		return net->v8->connect(device, handle, comm, &offload);
	case 9:
		return net->v9->connect(device, handle, comm, &offload);
	case 10:
		return net->v10->connect(device, &net->config, handle, comm, &offload);
	default:
		return net->v11->connect(net->context, device, handle, comm, &offload);
	}
}

int nib_connect(struct nib_net *net, int device, void *handle, void **comm)
{
	const int result = connect_once(net, device, handle, comm);

	if (!result || !net->is_socket || !nib_socket_connect(net, handle))
		return result;
	return connect_once(net, device, handle, comm);
}

static int accept_once(struct nib_net *net, void *listening, void **comm)
{
	void *offload = NULL;

	if (net->layout == 6)
		return net->v6->accept(listening, comm);
	return net->v7->accept(listening, comm, &offload);
}

int nib_accept(struct nib_net *net, void *listening, void **comm)
{
	const int result = accept_once(net, listening, comm);

	if (!result || !net->is_socket || !nib_socket_accept(net, listening))
		return result;
	return accept_once(net, listening, comm);
}

int nib_reg(struct nib_net *net, void *comm, void *data, size_t size, void **mr)
{
	if (net->layout <= 7)
		return net->v6->reg_mr(comm, data, (int) size, PTR_HOST, mr);
	return net->v8->reg_mr(comm, data, size, PTR_HOST, mr);
}

int nib_dereg(struct nib_net *net, void *comm, void *mr)
{
	return net->v6->dereg_mr(comm, mr);
}

int nib_isend(struct nib_net *net, void *comm, void *data, size_t size, int tag, void *mr,
	      void **request)
{
	if (net->layout <= 8)
		return net->v6->isend(comm, data, (int) size, tag, mr, request);
	if (net->layout == 9)
		return net->v9->isend(comm, data, size, tag, mr, request);
	return net->v10->isend(comm, data, size, tag, mr, NULL, request);
}

int nib_irecv(struct nib_net *net, void *comm, int n, void **data, const size_t *sizes,
	      int *tags, void **mrs, void **request)
{
	void *profiled[NIB_MAX_GROUP] = {NULL};
	size_t long_sizes[NIB_MAX_GROUP];
	int int_sizes[NIB_MAX_GROUP];
	int i;

	for (i = 0; i < n; i++) {
		long_sizes[i] = sizes[i];
		int_sizes[i] = (int) sizes[i];
	}
	if (net->layout <= 8)
		return net->v6->irecv(comm, n, data, int_sizes, tags, mrs, request);
	if (net->layout == 9)
		return net->v9->irecv(comm, n, data, long_sizes, tags, mrs, request);
	return net->v10->irecv(comm, n, data, long_sizes, tags, mrs, profiled, request);
}

int nib_iflush(struct nib_net *net, void *comm, int n, void **data, int *sizes,
	       void **mrs, void **request)
{
	return net->v6->iflush(comm, n, data, sizes, mrs, request);
}

int nib_test(struct nib_net *net, void *request, int *done, int *sizes)
{
	return net->v6->test(request, done, sizes);
}

int nib_close_send(struct nib_net *net, void *comm)
{
	return net->v6->close_send(comm);
}

int nib_close_recv(struct nib_net *net, void *comm)
{
	return net->v6->close_recv(comm);
}

int nib_close_listen(struct nib_net *net, void *comm)
{
	return net->v6->close_listen(comm);
}

/* 2.18 and 2.19 only tell whether a message of a group had data; those before 2.21 add up
 * the size once for each queue pair that carried a part. */
int nib_told(const struct nib_net *net, uint32_t size, int of)
{
	const char *split = getenv("NCCL_IB_SPLIT_DATA_ON_QPS");
	const char *qps = getenv("NCCL_IB_QPS_PER_CONNECTION");

	if (net->is_socket)
		return (int) size;
	if (of > 1)
		return net->version < 22000 ? size > 0 : (int) size;
	if (net->version >= 22100 || !qps ||
	    (split ? !atoi(split) : net->version >= 22000))
		return (int) size;
	return (int) size * atoi(qps);
}
