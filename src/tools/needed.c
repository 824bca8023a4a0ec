/* SPDX-License-Identifier: MIT */
/* Reads the dynamic section through the program headers, as the dynamic linker does. */
#include "tools/needed.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct file {
	const unsigned char *bytes;
	uint64_t size;
	const Elf64_Phdr *headers;
	unsigned int nr_headers;
};

/* Returns the file's bytes at an offset; NULL where the file has fewer than `size`. */
static const void *at(const struct file *f, uint64_t offset, uint64_t size)
{
	if (offset > f->size || size > f->size - offset || offset % _Alignof(Elf64_Dyn))
		return NULL;
	return f->bytes + offset;
}

static bool read_headers(struct file *f)
{
	const Elf64_Ehdr *head = at(f, 0, sizeof(*head));

	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) ||
	    head->e_ident[EI_CLASS] != ELFCLASS64 ||
	    head->e_ident[EI_DATA] != ELFDATA2LSB ||
	    head->e_phentsize != sizeof(Elf64_Phdr))
		return false;
	f->nr_headers = head->e_phnum;
	f->headers = at(f, head->e_phoff, f->nr_headers * sizeof(Elf64_Phdr));
	return f->headers;
}

static const Elf64_Phdr *header_of(const struct file *f, uint32_t type, uint64_t address)
{
	for (unsigned int i = 0; i < f->nr_headers; i++) {
		const Elf64_Phdr *h = &f->headers[i];

		if (h->p_type == type &&
		    (type != PT_LOAD || (address >= h->p_vaddr &&
					 address - h->p_vaddr < h->p_filesz)))
			return h;
	}
	return NULL;
}

/* Returns the string table, and how many bytes of it the file has. */
static const char *strings_at(const struct file *f, uint64_t address, uint64_t *ret_size)
{
	const Elf64_Phdr *load = header_of(f, PT_LOAD, address);
	uint64_t offset;

	if (!load)
		return NULL;
	offset = address - load->p_vaddr + load->p_offset;
	if (offset >= f->size)
		return NULL;
	*ret_size = f->size - offset;
	return (const char *)f->bytes + offset;
}

static void read_needs(const struct file *f, void (*each)(const char *, void *), void *data)
{
	const Elf64_Phdr *dynamic = header_of(f, PT_DYNAMIC, 0);
	const char *strings = NULL;
	const Elf64_Dyn *entries;
	uint64_t nr, size = 0;

	entries = dynamic ? at(f, dynamic->p_offset, dynamic->p_filesz) : NULL;
	if (!entries)
		return;
	nr = dynamic->p_filesz / sizeof(*entries);
	for (uint64_t i = 0; i < nr && entries[i].d_tag != DT_NULL; i++)
		if (entries[i].d_tag == DT_STRTAB)
			strings = strings_at(f, entries[i].d_un.d_ptr, &size);
	for (uint64_t i = 0; strings && i < nr && entries[i].d_tag != DT_NULL; i++) {
		uint64_t name = entries[i].d_un.d_val;

		if (entries[i].d_tag == DT_NEEDED && name < size &&
		    memchr(strings + name, '\0', size - name))
			each(strings + name, data);
	}
}

void tap_needed_each(const char *path, void (*each)(const char *name, void *data),
		     void *data)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct file f = { 0 };
	struct stat st;
	void *bytes;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0) {
		f.size = (uint64_t)st.st_size;
		bytes = mmap(NULL, f.size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (bytes != MAP_FAILED) {
			f.bytes = bytes;
			if (read_headers(&f))
				read_needs(&f, each, data);
			munmap(bytes, f.size);
		}
	}
	close(fd);
}
