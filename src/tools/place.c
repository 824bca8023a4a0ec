/* SPDX-License-Identifier: MIT */
/* Looks beside the running command first, so that a folder that was moved still works. */
#include "tools/place.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRACER_FILE "libccltap.so"
#define PLUGIN_FILE "babeltrace-plugin-ccltap.so"
#define QUERY_FILE "skew.sql"
#define PAGE_FILE "page.html"

static const char *get_variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* Whether `folder` has the file; fills the path of both. */
static bool has_file(const char *folder, const char *name, char *ret_path, size_t size)
{
	return snprintf(ret_path, size, "%s/%s", folder, name) < (int) size &&
	       !access(ret_path, R_OK);
}

bool tap_place_bundled(const char *name, char *ret_path, size_t size)
{
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length < 0)
		return false;
	/* The command is in bin, whatever the folder around it is called. */
	for (int level = 0; level < 2; level++) {
		self[length] = '\0';
		length = strrchr(self, '/') ? strrchr(self, '/') - self : 0;
	}
	self[length] = '\0';
	return has_file(self, name, ret_path, size);
}

/* The folder of a file that may be bundled with this command. */
static const char *find_folder(const char *bundled, const char *built, char *path,
			       size_t size)
{
	if (!tap_place_bundled(bundled, path, size))
		return built;
	*strrchr(path, '/') = '\0';
	return path;
}

const char *tap_place_libraries(void)
{
	static char path[PATH_MAX];
	const char *folder = get_variable("CCLTAP_LIBDIR");

	return folder ? folder
		      : find_folder("lib/" TRACER_FILE, TAP_LIBDIR, path, sizeof(path));
}

const char *tap_place_plugins(void)
{
	static char path[PATH_MAX];
	const char *folder = get_variable("CCLTAP_LIBDIR");

	if (folder && has_file(folder, PLUGIN_FILE, path, sizeof(path)))
		return folder;
	if (folder &&
	    has_file(folder, "babeltrace2/plugins/" PLUGIN_FILE, path, sizeof(path))) {
		*strrchr(path, '/') = '\0';
		return path;
	}
	return find_folder("lib/babeltrace2/plugins/" PLUGIN_FILE, TAP_BT2PLUGINDIR, path,
			   sizeof(path));
}

const char *tap_place_queries(void)
{
	static char path[PATH_MAX];
	const char *folder = get_variable("CCLTAP_SQLDIR");

	return folder ? folder
		      : find_folder("share/ccltap/sql/" QUERY_FILE, TAP_DATADIR "/sql", path,
				    sizeof(path));
}

const char *tap_place_page(void)
{
	static char path[PATH_MAX];
	const char *folder = get_variable("CCLTAP_PAGEDIR");

	return folder ? folder
		      : find_folder("share/ccltap/page/" PAGE_FILE, TAP_DATADIR "/page",
				    path, sizeof(path));
}

/* A bundled daemon starts the bundled consumer. */
static bool is_daemon_bundled(char *ret_path, size_t size)
{
	return !get_variable("LTTNG_SESSIOND_PATH") &&
	       tap_place_bundled("libexec/lttng-sessiond", ret_path, size);
}

const char *tap_place_daemon(void)
{
	static char path[PATH_MAX];
	const char *chosen = get_variable("LTTNG_SESSIOND_PATH");

	if (chosen)
		return chosen;
	return is_daemon_bundled(path, sizeof(path)) ? path : "lttng-sessiond";
}

void tap_place_keep_daemon(void)
{
	const char *chosen = get_variable("LTTNG_SESSIOND_PATH");
	char *path;

	/* A name without a slash is looked up in PATH. */
	if (!chosen || *chosen == '/' || !strchr(chosen, '/'))
		return;
	path = realpath(chosen, NULL);
	if (path)
		setenv("LTTNG_SESSIOND_PATH", path, 1);
	free(path);
}

void tap_place_prepare_daemon(void)
{
	char path[PATH_MAX];

	if (!is_daemon_bundled(path, sizeof(path)))
		return;
	if (tap_place_bundled("libexec/lttng-consumerd", path, sizeof(path)))
		setenv("LTTNG_CONSUMERD64_BIN", path, 0);
	/*
	 * The daemon exits if it does not find this file, even if it has nothing to
	 * validate by it.
	 */
	if (tap_place_bundled("share/xml/lttng/session.xsd", path, sizeof(path))) {
		*strrchr(path, '/') = '\0';
		setenv("LTTNG_SESSION_CONFIG_XSD_PATH", path, 0);
	}
}
