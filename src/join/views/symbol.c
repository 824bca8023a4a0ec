/* SPDX-License-Identifier: MIT */
/* Files by build id and name, each opened by libdwfl, with its places by offset. */
#include "join/views/symbol.h"

#include "join/base/demangle.h"

#include "common/compiler.h"
#include "common/vec.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The digits of a build id that the tracer records. */
#define ID_DIGITS 40

/* The most functions shown at one place. */
#define SYMBOLS_MAX 64

#define FOLDERS_OPEN 16

/* A file in the folder of copies. */
struct copy {
	char *path;
	char build_id[ID_DIGITS + 1];
};

struct place {
	struct place *next;
	int count;
	struct tap_symbol symbols[];
};

struct module {
	struct tap_module about;
	char *path, *build_id, *file, *problem;
	Dwfl *dwfl;
	Dwfl_Module *opened; /* NULL: no file is used */
	struct tap_table by_offset;
	struct place *places;
};

struct tap_symbols {
	char *folder;
	struct copy *copies;
	size_t copy_count, copy_room;
	bool has_looked; /* the folder was searched */
	char *debug_path;
	struct tap_table by_library;
	const struct tap_module *modules;
	char **names; /* the demangled names */
	size_t name_count, name_room;
};

/* nftw() passes no argument to its callback: set during look_through() only. */
static struct tap_symbols *looking;

struct tap_symbols *tap_symbols_create(const char *modules, const char *debug)
{
	struct tap_symbols *symbols = calloc(1, sizeof(*symbols));

	if (!symbols)
		return NULL;
	elf_version(EV_CURRENT);
	/* libdwfl compares build ids, and where there is none the checksum. */
	if (asprintf(&symbols->debug_path, "+%s%s:.debug:/usr/lib/debug",
		     debug ? ":" : "", debug ? debug : "") < 0)
		symbols->debug_path = NULL;
	if (modules)
		symbols->folder = strdup(modules);
	if (!symbols->debug_path || (modules && !symbols->folder)) {
		tap_symbols_destroy(symbols);
		return NULL;
	}
	return symbols;
}

void tap_symbols_destroy(struct tap_symbols *symbols)
{
	struct place *place;
	size_t i;

	if (!symbols)
		return;
	while (symbols->modules) {
		struct module *module = (struct module *) symbols->modules;

		symbols->modules = module->about.next;
		while ((place = module->places)) {
			module->places = place->next;
			free(place);
		}
		tap_table_free(&module->by_offset);
		if (module->dwfl)
			dwfl_end(module->dwfl);
		free(module->path);
		free(module->build_id);
		free(module->file);
		free(module->problem);
		free(module);
	}
	for (i = 0; i < symbols->copy_count; i++)
		free(symbols->copies[i].path);
	free(symbols->copies);
	for (i = 0; i < symbols->name_count; i++)
		free(symbols->names[i]);
	free(symbols->names);
	tap_table_free(&symbols->by_library);
	free(symbols->folder);
	free(symbols->debug_path);
	free(symbols);
}

const struct tap_module *tap_symbols_modules(const struct tap_symbols *symbols)
{
	return symbols->modules;
}

/* ---- Files ---- */

static void write_id(char *ret_hex, const unsigned char *id, int length)
{
	int i;

	ret_hex[0] = '\0';
	for (i = 0; i < length && 2 * i < ID_DIGITS; i++)
		sprintf(ret_hex + 2 * i, "%02x", id[i]);
}

/* Whether the file is ELF. Gets its build id, which may be empty. */
static bool read_build_id(const char *path, char *ret_hex)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), length;
	const void *id;
	bool is_elf;
	Elf *elf;

	if (fd < 0)
		return false;
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	is_elf = elf && elf_kind(elf) == ELF_K_ELF;
	length = is_elf ? (int) dwelf_elf_gnu_build_id(elf, &id) : 0;
	write_id(ret_hex, id, length);
	elf_end(elf);
	close(fd);
	return is_elf;
}

static int take_file(const char *path, const struct stat *status, int type,
		     struct FTW *at)
{
	struct tap_symbols *symbols = looking;
	char build_id[ID_DIGITS + 1];
	struct copy *copy;

	(void) at;
	if (type != FTW_F || !S_ISREG(status->st_mode) || !read_build_id(path, build_id))
		return 0;
	if (tap_array_reserve(symbols->copies, symbols->copy_room,
			      symbols->copy_count + 1))
		return ENOMEM;
	copy = &symbols->copies[symbols->copy_count];
	copy->path = strdup(path);
	if (!copy->path)
		return ENOMEM;
	memcpy(copy->build_id, build_id, sizeof(build_id));
	symbols->copy_count++;
	return 0;
}

/* Lists the folder of copies; files that cannot be read are ignored. */
static int look_through(struct tap_symbols *symbols)
{
	int ret;

	if (!symbols->folder || symbols->has_looked)
		return 0;
	symbols->has_looked = true;
	looking = symbols;
	ret = nftw(symbols->folder, take_file, FOLDERS_OPEN, 0);
	looking = NULL;
	return ret == ENOMEM ? -ENOMEM : 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_named(const struct copy *copy, const char *name)
{
	return !strcmp(base_name(copy->path), name);
}

/*
 * The best copy: with the same build id, preferably under the same name; else with the
 * same name.
 */
static const char *find_copy(const struct tap_symbols *symbols,
			     const struct tap_library *library)
{
	const char *by_id = NULL, *by_name = NULL;
	size_t i;

	for (i = 0; i < symbols->copy_count; i++) {
		const struct copy *copy = &symbols->copies[i];

		if (*library->build_id && !strcmp(copy->build_id, library->build_id) &&
		    (!by_id || is_named(copy, library->base_name)))
			by_id = copy->path;
		if (!by_name && is_named(copy, library->base_name))
			by_name = copy->path;
	}
	return by_id ? by_id : by_name;
}

/* ---- Modules ---- */

static const Dwfl_Callbacks *callbacks_for(char **debug_path)
{
	static Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
	};

	callbacks.debuginfo_path = debug_path;
	return &callbacks;
}

static tap_printf(2, 3) int set_problem(struct module *module, const char *format, ...)
{
	va_list arguments;
	int length;

	free(module->problem);
	va_start(arguments, format);
	length = vasprintf(&module->problem, format, arguments);
	va_end(arguments);
	if (length >= 0)
		return 0;
	module->problem = NULL;
	return -ENOMEM;
}

/* Opens a file if it is the library's, or notes the problem.  Returns 0 or -ENOMEM. */
static int open_file(struct tap_symbols *symbols, struct module *module, const char *path)
{
	char build_id[ID_DIGITS + 1];

	if (access(path, R_OK))
		return set_problem(module, "%s: %s", path, strerror(errno));
	if (!read_build_id(path, build_id))
		return set_problem(module, "%s is no ELF file", path);
	if (strcmp(build_id, module->build_id))
		return set_problem(module, "%s is another build: %s instead of %s", path,
				   *build_id ? build_id : "none",
				   *module->build_id ? module->build_id : "none");
	module->dwfl = dwfl_begin(callbacks_for(&symbols->debug_path));
	if (!module->dwfl)
		return -ENOMEM;
	dwfl_report_begin(module->dwfl);
	module->opened = dwfl_report_offline(module->dwfl, module->path, path, -1);
	dwfl_report_end(module->dwfl, NULL, NULL);
	if (!module->opened)
		return set_problem(module, "%s: %s", path, dwfl_errmsg(-1));
	free(module->problem);
	module->problem = NULL;
	module->file = strdup(path);
	return module->file ? 0 : -ENOMEM;
}

static int open_module(struct tap_symbols *symbols, struct module *module,
		       const struct tap_library *library)
{
	const char *copy;
	int ret;

	ret = look_through(symbols);
	if (ret)
		return ret;
	copy = find_copy(symbols, library);
	if (copy)
		ret = open_file(symbols, module, copy);
	/*
	 * A copy that does not match is a problem to show; a path that does not exist is
	 * not.
	 */
	if (!ret && !module->opened && (!copy || !access(module->path, R_OK)))
		ret = open_file(symbols, module, module->path);
	module->about = (struct tap_module){.path = module->path,
					    .build_id = module->build_id,
					    .file = module->file,
					    .problem = module->problem,
					    .next = module->about.next};
	return ret;
}

/* The module that all processes with the same library share. */
static struct module *known_module(const struct tap_symbols *symbols,
				   const struct tap_library *library)
{
	const struct tap_module *module;

	for (module = symbols->modules; module; module = module->next)
		if (!strcmp(module->path, library->path) &&
		    !strcmp(module->build_id, library->build_id))
			return (struct module *) module;
	return NULL;
}

static struct module *module_of(struct tap_symbols *symbols,
				const struct tap_library *library)
{
	struct module *module =
		tap_table_find(&symbols->by_library, (uintptr_t) library, 0);

	if (module)
		return module;
	module = known_module(symbols, library);
	if (!module) {
		module = calloc(1, sizeof(*module));
		if (!module)
			return NULL;
		module->path = strdup(library->path);
		module->build_id = strdup(library->build_id);
		module->about.path = module->path ? module->path : "";
		module->about.build_id = module->build_id ? module->build_id : "";
		module->about.next = symbols->modules;
		symbols->modules = &module->about;
		if (!module->path || !module->build_id ||
		    open_module(symbols, module, library))
			return NULL;
	}
	if (tap_table_set(&symbols->by_library, (uintptr_t) library, 0, module))
		return NULL;
	return module;
}

/* ---- Names ---- */

/* The name as the source has it, demangled where possible. */
static const char *readable(struct tap_symbols *symbols, const char *name)
{
	char *demangled;

	if (!name)
		return name;
	if (tap_array_reserve(symbols->names, symbols->name_room, symbols->name_count + 1))
		return name;
	demangled = tap_demangle(name);
	if (!demangled)
		return name;
	symbols->names[symbols->name_count++] = demangled;
	return demangled;
}

/* The symbol that covers an address; the nearest one may belong to other code. */
static const char *symbol_name(Dwfl_Module *module, Dwarf_Addr address)
{
	const char *name;
	GElf_Off offset;
	GElf_Sym symbol;

	name = dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL);
	return name && *name && offset < symbol.st_size ? name : NULL;
}

static const char *die_name(Dwarf_Die *die)
{
	static const unsigned int names[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name,
					     DW_AT_name};
	Dwarf_Attribute attribute;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (dwarf_attr_integrate(die, names[i], &attribute))
			return dwarf_formstring(&attribute);
	return NULL;
}

/* Sets the place where an inlined function was called. */
static void set_call(Dwarf_Die *unit, Dwarf_Die *inlined, struct tap_symbol *symbol)
{
	Dwarf_Attribute attribute;
	Dwarf_Files *files;
	Dwarf_Word number;
	size_t count;

	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &number) ||
	    dwarf_getsrcfiles(unit, &files, &count) || number >= count)
		return;
	symbol->file = dwarf_filesrc(files, number, NULL, NULL);
	if (!dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &number) &&
	    number <= INT32_MAX)
		symbol->line = (int) number;
}

/* Finds the compilation unit; only gcc writes the table of their addresses. */
static Dwarf_Die *find_unit(Dwfl_Module *module, Dwarf_Addr address, Dwarf_Addr *ret_bias)
{
	Dwarf_Die *unit = dwfl_module_addrdie(module, address, ret_bias);

	if (unit)
		return unit;
	while ((unit = dwfl_module_nextcu(module, unit, ret_bias)))
		if (dwarf_haspc(unit, address - *ret_bias) > 0)
			break;
	return unit;
}

/* Returns how many symbols there are. */
static int find_symbols(struct tap_symbols *symbols, struct module *module,
			uint64_t offset, struct tap_symbol *ret)
{
	Dwarf_Die *unit, *scopes = NULL;
	Dwarf_Addr address, bias;
	Dwarf_Line *line;
	int i, scope_count, count = 0;

	if (!dwfl_module_getelf(module->opened, &bias))
		return 0;
	/* The call is before the return address. */
	address = offset - 1 + bias;
	unit = find_unit(module->opened, address, &bias);
	line = unit ? dwarf_getsrc_die(unit, address - bias) : NULL;
	if (line) {
		ret[0].file = dwarf_linesrc(line, NULL, NULL);
		dwarf_lineno(line, &ret[0].line);
	}
	scope_count = unit ? dwarf_getscopes(unit, address - bias, &scopes) : 0;
	for (i = 0; i < scope_count && count < SYMBOLS_MAX - 1; i++) {
		const int tag = dwarf_tag(&scopes[i]);

		if (tag == DW_TAG_subprogram)
			break;
		if (tag != DW_TAG_inlined_subroutine)
			continue;
		ret[count].function = readable(symbols, die_name(&scopes[i]));
		set_call(unit, &scopes[i], &ret[++count]);
	}
	/* With the arguments, in C++. */
	ret[count].function = readable(symbols, symbol_name(module->opened, address));
	if (!ret[count].function && i < scope_count)
		ret[count].function = readable(symbols, die_name(&scopes[i]));
	free(scopes);
	return count + (ret[count].function || ret[count].file);
}

int tap_symbols_find(struct tap_symbols *symbols, const struct tap_library *library,
		     uint64_t offset, const struct tap_symbol **ret_symbols)
{
	struct module *module = module_of(symbols, library);
	struct tap_symbol found[SYMBOLS_MAX] = {0};
	struct place *place;
	int count;

	if (!module)
		return -ENOMEM;
	if (!module->opened)
		return 0;
	place = tap_table_find(&module->by_offset, offset, 0);
	if (!place) {
		count = find_symbols(symbols, module, offset, found);
		place = malloc(sizeof(*place) + (size_t) count * sizeof(found[0]));
		if (!place)
			return -ENOMEM;
		place->count = count;
		memcpy(place->symbols, found, (size_t) count * sizeof(found[0]));
		if (tap_table_set(&module->by_offset, offset, 0, place)) {
			free(place);
			return -ENOMEM;
		}
		place->next = module->places;
		module->places = place;
	}
	*ret_symbols = place->symbols;
	return place->count;
}
