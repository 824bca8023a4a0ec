/* SPDX-License-Identifier: MIT */
/* A file whose head is written last. */
#include "join/base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define COPY_SIZE 65536
#define BUFFER_SIZE 65536

/*
 * Opens a terminal, a pipe or /dev/null: these have no content that the view would
 * replace.
 */
static int open_special(const char *path)
{
	struct stat status;

	if (stat(path, &status))
		return -1;
	if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) {
		errno = S_ISDIR(status.st_mode) ? EISDIR : EEXIST;
		return -1;
	}
	return open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
}

int tap_outfile_open(struct tap_outfile *output, const char *path, bool overwrite)
{
	int fd;

	memset(output, 0, sizeof(*output));
	if (!strcmp(path, "-")) {
		/* The plugin's own descriptor: closing it reports errors of writing. */
		fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	} else {
		fd = open(path,
			  O_RDWR | O_CREAT | O_CLOEXEC | (overwrite ? O_TRUNC : O_EXCL),
			  0666);
		if (fd < 0 && errno == EEXIST)
			fd = open_special(path);
		output->path = fd < 0 ? NULL : strdup(path);
	}
	if (fd < 0)
		return -errno;
	output->file = fdopen(fd, "w");
	if (!output->file) {
		/* Standard output is not open for writing, or memory is short. */
		int ret = errno == EINVAL ? -EBADF : -errno;

		close(fd);
		return ret;
	}
	output->body = output->file;
	return 0;
}

/* Whether the output can seek back to bytes that were written. */
static bool can_return(struct tap_outfile *output)
{
	int fd = fileno(output->file);
	struct stat status;

	if (fstat(fd, &status) || !S_ISREG(status.st_mode))
		return false;
	if (fcntl(fd, F_GETFL) & O_APPEND)
		return false;
	output->start = lseek(fd, 0, SEEK_CUR);
	return output->start >= 0;
}

static const char *temporary_folder(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && *folder ? folder : "/tmp";
}

static FILE *open_temporary(void)
{
	char path[4096];
	FILE *file;
	int fd, length;

	length = snprintf(path, sizeof(path), "%s/ccltapXXXXXX", temporary_folder());
	if (length >= (int) sizeof(path)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return NULL;
	unlink(path);
	file = fdopen(fd, "w+");
	if (!file)
		close(fd);
	return file;
}

/*
 * Gives the stream a larger buffer: stdio's own holds a few lines.  Without memory,
 * stdio's own stays.
 */
static void set_buffer(struct tap_outfile *output)
{
	output->buffer = malloc(BUFFER_SIZE);
	if (output->buffer)
		setvbuf(output->body, output->buffer, _IOFBF, BUFFER_SIZE);
}

int tap_outfile_begin(struct tap_outfile *output, size_t head, bool is_bound)
{
	size_t i;

	if (is_bound && can_return(output)) {
		set_buffer(output);
		output->kept = head;
		for (i = 1; i < head; i++)
			putc_unlocked(' ', output->file);
		if (head)
			putc_unlocked('\n', output->file);
		return ferror(output->file) ? -EIO : 0;
	}
	output->body = open_temporary();
	if (output->body) {
		set_buffer(output);
		return 0;
	}
	output->body = output->file;
	output->failed_folder = temporary_folder();
	return -errno;
}

bool tap_outfile_is_streamed(const struct tap_outfile *output)
{
	struct stat status;

	return !output->path && !fstat(fileno(output->file), &status) &&
	       !S_ISREG(status.st_mode);
}

void tap_outfile_begin_headless(struct tap_outfile *output)
{
	set_buffer(output);
}

int tap_outfile_begin_gzip(struct tap_outfile *output)
{
	int fd = fcntl(fileno(output->file), F_DUPFD_CLOEXEC, 3);

	if (fd < 0)
		return -errno;
	output->gzip = gzdopen(fd, "wb");
	if (output->gzip)
		return 0;
	close(fd);
	return -ENOMEM;
}

/* What zlib says went wrong: mostly it is what the system says. */
static int gzip_error(int error)
{
	if (error == Z_ERRNO && errno)
		return -errno;
	return error == Z_MEM_ERROR ? -ENOMEM : -EIO;
}

/* Appends the buffer to the compressed file. */
static int compress_buffer(struct tap_outfile *output, struct tap_buffer *buffer)
{
	int error;

	errno = 0;
	if (buffer->used &&
	    gzfwrite(buffer->data, 1, buffer->used, output->gzip) != buffer->used) {
		gzerror(output->gzip, &error);
		return gzip_error(error);
	}
	buffer->used = 0;
	return 0;
}

int tap_outfile_write(struct tap_outfile *output, struct tap_buffer *buffer)
{
	size_t written;

	if (buffer->is_short)
		return -ENOMEM;
	if (output->gzip)
		return compress_buffer(output, buffer);
	written = fwrite_unlocked(buffer->data, 1, buffer->used, output->body);
	if (written != buffer->used) {
		if (output->body != output->file)
			output->failed_folder = temporary_folder();
		return errno ? -errno : -EIO;
	}
	buffer->used = 0;
	return 0;
}

/* Copies all of the temporary file to the end of the file. */
static int copy(struct tap_outfile *output)
{
	FILE *from = output->body;
	char bytes[COPY_SIZE];
	size_t length;

	if (fflush(from) || fseeko(from, 0, SEEK_SET)) {
		output->failed_folder = temporary_folder();
		return -errno;
	}
	while ((length = fread(bytes, 1, sizeof(bytes), from)))
		if (fwrite(bytes, 1, length, output->file) != length)
			return -errno;
	if (!ferror(from))
		return 0;
	output->failed_folder = temporary_folder();
	return -EIO;
}

static int write_at_start(struct tap_outfile *output, struct tap_buffer *head)
{
	size_t done = 0;

	head->used--;
	tap_buffer_fill(head, 0, output->kept - 1, ' ');
	tap_buffer_add_char(head, '\n');
	if (head->is_short)
		return -ENOMEM;
	if (fflush(output->file))
		return -errno;
	while (done < head->used) {
		ssize_t length = pwrite(fileno(output->file), head->data + done,
					head->used - done, output->start + (off_t) done);

		if (length < 0)
			return -errno;
		done += length;
	}
	return 0;
}

/* The last lines, and the end of the compressed file. */
static int finish_gzip(struct tap_outfile *output, struct tap_buffer *lines)
{
	int ret = compress_buffer(output, lines), error;

	errno = 0;
	error = gzclose(output->gzip);
	output->gzip = NULL;
	return ret || error == Z_OK ? ret : gzip_error(error);
}

int tap_outfile_finish(struct tap_outfile *output, struct tap_buffer *head)
{
	int ret = 0;

	if (head->is_short)
		return -ENOMEM;
	if (output->gzip)
		return finish_gzip(output, head);
	if (output->body != output->file) {
		if (fwrite(head->data, 1, head->used, output->file) != head->used)
			return -errno;
		ret = copy(output);
	} else if (output->kept) {
		if (head->used > output->kept)
			return -EOVERFLOW;
		ret = write_at_start(output, head);
	} else if (fwrite(head->data, 1, head->used, output->file) != head->used) {
		return -errno;
	}
	if (!ret && fflush(output->file))
		ret = -errno;
	return ret;
}

void tap_outfile_close(struct tap_outfile *output)
{
	if (output->gzip)
		gzclose(output->gzip);
	if (output->body && output->body != output->file)
		fclose(output->body);
	if (output->file)
		fclose(output->file);
	free(output->buffer);
	free(output->path);
	memset(output, 0, sizeof(*output));
}
