/* SPDX-License-Identifier: MIT */
/* A loop over keys, between two looks. */
#include "tools/top_screen.h"

#include <errno.h>
#include <string.h>

#include "tools/message.h"

#ifdef HAVE_NCURSES

#include <ncurses.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/compiler.h"
#include "tools/top_text.h"

/* A snapshot may take the disk a while. */
#define SNAPSHOT_SECONDS 120
/* A signal that comes just before a wait is seen after so long. */
#define WAIT_MS 250
/* A call that is open for so long is marked, as the alert does. */
#define LONG_OPEN_S 60

/* The title, a line for what happened, and the columns' names; and the keys. */
#define LINES_ABOVE 3
#define LINES_BELOW 1

enum { COLOUR_BAD = 1, COLOUR_LAST };

static struct screen {
	const struct tap_counting *counting;
	struct tap_top_wish *wish;
	struct tap_top_table table;
	char said[512]; /* what happened, "": nothing */
	size_t first;	/* of the rows that are shown */
	bool has_colours, has_help, is_over, has_ended;
} self;

static volatile sig_atomic_t is_interrupted;

static void interrupt(int signal)
{
	(void) signal;
	is_interrupted = 1;
}

static const char *const help[] = {
	"q          quit",
	"< >        sort by the column before or after",
	"r          reverse the order",
	"/          show only what has some letters, or is of a rank; nothing: all",
	"s          have a flight recorder write a snapshot",
	"up, down   and page up, page down, home: other rows",
	"h ?        this",
	"",
	"OPS/S, BYTES/S, BUSBW  since the look before; BUSBW as nccl-tests has it",
	"BEHIND     collectives fewer than the rank of this host that has called most",
	"LAST       in how many of the looks no other rank here was as far behind",
	"ERRORS     calls that failed, and operations dropped with their group",
	"OPEN CALL  a call that has not returned, and for how long, at least",
};

/* ---- What is drawn ---- */

static void draw_line(int line, const char *text, int attributes)
{
	attrset((attr_t) attributes);
	/* The last column of the last line stays empty: a terminal may scroll there. */
	mvaddnstr(line, 0, text, COLS - (line == LINES - 1));
	attrset(A_NORMAL);
}

static int attributes_of(const struct tap_top_row *row)
{
	if (row->open_s >= LONG_OPEN_S || row->failures || row->dropped)
		return A_BOLD | (self.has_colours ? COLOR_PAIR(COLOUR_BAD) : 0);
	if (row->is_last)
		return self.has_colours ? COLOR_PAIR(COLOUR_LAST) : A_BOLD;
	return A_NORMAL;
}

static int rows_shown(void)
{
	return LINES > LINES_ABOVE + LINES_BELOW ? LINES - LINES_ABOVE - LINES_BELOW : 1;
}

static void draw_rows(void)
{
	char line[TAP_TOP_LINE];
	size_t meant = 0;
	int drawn = 0;

	tap_top_text_line(NULL, (unsigned) COLS, line);
	draw_line(LINES_ABOVE - 1, line, A_REVERSE);
	for (size_t i = 0; i < self.table.rows.count; i++) {
		const struct tap_top_row *row = &self.table.rows.items[i];

		if (!tap_top_row_is_meant(row, self.wish->filter) ||
		    meant++ < self.first || drawn >= rows_shown())
			continue;
		tap_top_text_line(row, (unsigned) COLS, line);
		draw_line(LINES_ABOVE + drawn++, line, attributes_of(row));
	}
	if (!drawn && self.first) {
		self.first = 0;
		draw_rows();
	} else if (!meant) {
		draw_line(LINES_ABOVE,
			  *self.wish->filter ? "nothing has these letters"
					     : "no process has made a communicator yet",
			  A_DIM);
	}
}

static void draw(void)
{
	char line[TAP_TOP_LINE], at[16] = "";
	const time_t now = time(NULL);
	struct tm tm;

	tap_top_table_sort(&self.table, self.wish->key, self.wish->is_reversed);
	erase();
	tap_top_text_title(&self.table, self.counting->session, line);
	draw_line(0, line, A_BOLD);
	if (localtime_r(&now, &tm) && strftime(at, sizeof(at), "%H:%M:%S", &tm) &&
	    (size_t) COLS > strlen(line) + strlen(at) + 1)
		mvaddstr(0, COLS - (int) strlen(at), at);
	if (*self.said)
		draw_line(1, self.said, A_NORMAL);
	else if (*self.wish->filter) {
		snprintf(line, sizeof(line), "only: %s", self.wish->filter);
		draw_line(1, line, A_NORMAL);
	}
	for (size_t i = 0; self.has_help && i < ARRAY_SIZE(help); i++)
		draw_line(LINES_ABOVE - 1 + (int) i, help[i], A_NORMAL);
	if (!self.has_help)
		draw_rows();
	snprintf(line, sizeof(line),
		 "q quit  h help  < > sort: %s%s  r reverse  / filter  s snapshot",
		 tap_top_key_name(self.wish->key),
		 self.wish->is_reversed ? ", reversed" : "");
	draw_line(LINES - 1, line, A_DIM);
	refresh();
}

/* ---- Keys ---- */

/* Like getch(); when the terminal is gone, nobody wants to see more. */
static int get_key(void)
{
	struct pollfd terminal = {.fd = STDIN_FILENO, .events = POLLIN};
	const int key = getch();

	if (key == ERR && poll(&terminal, 1, 0) > 0 &&
	    terminal.revents & (POLLHUP | POLLERR | POLLNVAL))
		is_interrupted = 1;
	return key;
}

/* Waits for an answer, but not once a key is heeded: get_key() has that next. */
static int await(int link, unsigned seconds, bool (*is_heeded)(int key))
{
	const int64_t until_ms = tap_now_ms() + (int64_t) seconds * 1000;
	int key;

	timeout(0);
	while (!is_interrupted) {
		struct pollfd waited[] = {{.fd = link, .events = POLLIN},
					  {.fd = STDIN_FILENO, .events = POLLIN}};

		if (poll(waited, ARRAY_SIZE(waited), WAIT_MS) > 0 && waited[0].revents)
			return 0;
		if (tap_now_ms() >= until_ms)
			return -ETIMEDOUT;
		key = get_key();
		if (key == KEY_RESIZE)
			draw();
		else if (key != ERR && is_heeded(key)) {
			ungetch(key);
			break;
		}
	}
	return -EINTR;
}

/* A look that is late is left for any key: the next one is soon. */
static bool is_any(int key)
{
	(void) key;
	return true;
}

static int await_look(int link, unsigned seconds)
{
	return await(link, seconds, is_any);
}

static bool is_quit(int key)
{
	return key == 'q';
}

static int await_snapshot(int link, unsigned seconds)
{
	return await(link, seconds, is_quit);
}

static void take_snapshot(void)
{
	struct tap_answer answer;
	int ret;

	snprintf(self.said, sizeof(self.said), "a snapshot is written ...");
	draw();
	ret = tap_link_request_awaiting(self.counting->place, TAP_LINK_SNAPSHOT,
					SNAPSHOT_SECONDS, await_snapshot, &answer, NULL);
	if (ret)
		snprintf(self.said, sizeof(self.said), "no snapshot: %s", strerror(-ret));
	else
		snprintf(self.said, sizeof(self.said), "%.*s",
			 (int) strcspn(answer.text, "\n"), answer.text);
}

/* A line of the screen, until Enter; Escape leaves it as it was. */
static void ask_filter(void)
{
	char word[sizeof(self.wish->filter)] = "";
	size_t used = 0;
	int key = 0;

	timeout(-1);
	while (key != '\n' && key != KEY_ENTER && !is_interrupted) {
		snprintf(self.said, sizeof(self.said), "only what has: %s_", word);
		draw();
		key = get_key();
		if (key == 27 || key == KEY_RESIZE)
			break;
		if ((key == KEY_BACKSPACE || key == 127 || key == '\b') && used)
			word[--used] = '\0';
		else if (key > ' ' && key < 127 && used < sizeof(word) - 1) {
			word[used++] = (char) key;
			word[used] = '\0';
		}
	}
	*self.said = '\0';
	if (key == '\n' || key == KEY_ENTER)
		strcpy(self.wish->filter, word);
	self.first = 0;
}

static void move_key(int by)
{
	self.wish->key = (enum tap_top_key)(
		((int) self.wish->key + by + TAP_NR_TOP_KEYS) % TAP_NR_TOP_KEYS);
}

static void scroll_by(int by)
{
	if (by < 0 && self.first < (size_t) -by)
		self.first = 0;
	else
		self.first += (size_t) by;
	if (self.first >= self.table.rows.count)
		self.first = self.table.rows.count ? self.table.rows.count - 1 : 0;
}

static void handle(int key)
{
	/* What was said is read by now. */
	if (key != KEY_RESIZE)
		*self.said = '\0';
	if (self.has_help && key != 'q') {
		self.has_help = key == KEY_RESIZE;
		return;
	}
	switch (key) {
	case 'q':
		self.is_over = true;
		break;
	case 'h':
	case '?':
		self.has_help = true;
		break;
	case '<':
		move_key(-1);
		break;
	case '>':
		move_key(1);
		break;
	case 'r':
		self.wish->is_reversed = !self.wish->is_reversed;
		break;
	case '/':
		ask_filter();
		break;
	case 's':
		take_snapshot();
		break;
	case KEY_UP:
		scroll_by(-1);
		break;
	case KEY_DOWN:
		scroll_by(1);
		break;
	case KEY_PPAGE:
		scroll_by(-rows_shown());
		break;
	case KEY_NPAGE:
		scroll_by(rows_shown());
		break;
	case KEY_HOME:
		self.first = 0;
		break;
	}
}

/* ---- The loop ---- */

static void look(void)
{
	char why[sizeof(self.said)];
	int ret = tap_top_look(self.counting, &self.table, await_look, why, sizeof(why));

	self.has_ended = ret == -EPIPE;
	if (ret && ret != -EINTR && !self.has_ended)
		strcpy(self.said, why);
}

static void watch(void)
{
	const int64_t interval_ms = (int64_t) (self.wish->interval_s * 1000);
	int64_t next_ms = tap_now_ms();
	int key;

	while (!self.is_over && !self.has_ended && !is_interrupted) {
		const int64_t now_ms = tap_now_ms();

		if (now_ms >= next_ms) {
			look();
			next_ms = now_ms + interval_ms;
		}
		draw();
		timeout((int) (next_ms > now_ms ? next_ms - now_ms : 0));
		key = get_key();
		if (key != ERR)
			handle(key);
	}
}

/* Which of several recordings: a digit chooses. */
static void choose(const struct tap_countings *found)
{
	const size_t count = found->of.count < 9 ? found->of.count : 9;
	char line[TAP_TOP_LINE];
	int key = 0;

	timeout(-1);
	while (key != 'q' && !is_interrupted && !self.counting) {
		erase();
		snprintf(line, sizeof(line),
			 "%zu recordings have metrics: which one? (1 to %zu, q quits)",
			 found->of.count, count);
		draw_line(0, line, A_BOLD);
		for (size_t i = 0; i < count; i++) {
			snprintf(line, sizeof(line), "%zu  %.200s", i + 1,
				 found->of.items[i].session);
			draw_line(2 + (int) i, line, A_NORMAL);
		}
		refresh();
		key = get_key();
		if (key > '0' && (size_t) (key - '0') <= count)
			self.counting = &found->of.items[key - '1'];
	}
}

static void catch_signals(void)
{
	/* Before ncurses, whose handlers would end this with another status. */
	static const int handled[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
	const struct sigaction action = {.sa_handler = interrupt};

	for (size_t i = 0; i < ARRAY_SIZE(handled); i++)
		sigaction(handled[i], &action, NULL);
}

static void begin_colours(void)
{
	const char *refused = getenv("NO_COLOR");

	if ((refused && *refused) || !has_colors() || start_color() == ERR)
		return;
	use_default_colors();
	init_pair(COLOUR_BAD, COLOR_RED, -1);
	init_pair(COLOUR_LAST, COLOR_YELLOW, -1);
	self.has_colours = true;
}

/* Returns NULL where no terminal is, or one that cannot put letters where they belong. */
static SCREEN *open_screen(void)
{
	const char *place;
	SCREEN *screen;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return NULL;
	catch_signals();
	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return NULL;
	place = tigetstr("cup");
	if (place && place != (char *) -1)
		return screen;
	endwin();
	delscreen(screen);
	return NULL;
}

int tap_top_screen_run(const struct tap_countings *found, struct tap_top_wish *wish)
{
	SCREEN *screen = open_screen();

	if (!screen) {
		tap_message_write("no terminal that can show a table is here: --once "
				  "writes one");
		return TAP_EXIT_USAGE;
	}
	begin_colours();
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	set_escdelay(100);
	curs_set(0);
	self.wish = wish;
	if (found->of.count == 1)
		self.counting = &found->of.items[0];
	else
		choose(found);
	if (self.counting)
		watch();
	endwin();
	delscreen(screen);
	if (self.has_ended)
		tap_message_write("%s has ended", self.counting->session);
	tap_top_table_free(&self.table);
	return 0;
}

#else

int tap_top_screen_run(const struct tap_countings *found, struct tap_top_wish *wish)
{
	(void) found;
	(void) wish;
	tap_message_write("this ccltap was built without ncurses: install that (Debian: "
			  "libncurses-dev) and build ccltap again, or give --once");
	return TAP_EXIT_USAGE;
}

#endif
