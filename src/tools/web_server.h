/* SPDX-License-Identifier: MIT */
/*
 * Serves a folder, and one file more, to a browser on this machine, until the user has
 * seen enough.
 *
 * Hides HTTP, and what keeps others away: it listens on loopback alone, answers only who
 * calls it by a name of this machine, so that no page of the web can ask through the
 * user's browser, and the file has a name that other users of the machine cannot guess.
 */
#ifndef TAP_TOOLS_WEB_SERVER_H
#define TAP_TOOLS_WEB_SERVER_H

#define TAP_WEB_SECRET 33

struct tap_web_server {
	int folder; /* a descriptor */
	int file;   /* likewise */
	const char *file_name;
	const char *way; /* a page that leads to it, removed once it was; NULL: none */
	char secret[TAP_WEB_SECRET]; /* the file is /SECRET/FILE-NAME */
	unsigned int port;
	int listener;
};

/* Listens on the port, 0: on any that is free; sets the port.  Returns 0 or -errno. */
int tap_web_server_open(struct tap_web_server *server, unsigned int port);

/* Serves until SIGINT, SIGTERM or SIGHUP, if it is not ignored.  Returns 0 or -errno. */
int tap_web_server_run(struct tap_web_server *server);

#endif
