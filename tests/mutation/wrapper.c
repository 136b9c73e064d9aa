// SPDX-License-Identifier: MIT
/*
 * Runs the real sonde and spoils what it prints, so that tests which compare nothing are found (scripts/mutate-tests).
 *
 * A copy of this program lies in a folder of its own as `sonde`, beside a link `real` to the command and a file `mode`:
 *
 *	whole	every line is passed on; shows what the wrapper itself disturbs
 *	nothing	no line is
 *	half	every second line, from the second on
 *	last	the last word of each line is removed
 *	middle	the word in the middle of each line is removed
 *
 * `record` and `stat` print on standard error, and their standard output belongs to the command that they run; where
 * another command's standard error goes to the same file as its output, its lines are spoiled as well. Pages of
 * `flamegraph` and texts of `stat -o` are spoiled in their files. Recordings stay as they are, as perf reads those, but in
 * modes that begin with "records-" or "events-": these leave texts alone, and spoil the file of `record -o` instead. It is
 * emptied, loses half of its records or events, or the last or middle 8 bytes of each record are inverted, or the flags or
 * the sample type of each event.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum mode { WHOLE, NOTHING, HALF, LAST, MIDDLE };
enum part { TEXT, RECORDS, EVENTS };
static const char *const mode_names[] = {"whole", "nothing", "half", "last", "middle"};

struct stream {
	int from; // -1: ended, or passed on as it is
	FILE *to;
	char *line;
	size_t used, room;
	size_t lines;
};

static pid_t child; // for forward(): a signal handler gets no argument

static void forward(int signal)
{
	kill(child, signal);
}

static void forward_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct sigaction now;
		if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN) {
			sigaction(signals[i], &(struct sigaction){.sa_handler = forward}, NULL);
		}
	}
}

__attribute__((noreturn)) static void die(const char *what)
{
	(void)fprintf(stderr, "mutation wrapper: %s: %s\n", what, strerror(errno));
	_exit(99);
}

static enum mode read_mode(const char *folder, enum part *part)
{
	char path[4096], word[32] = "";
	(void)snprintf(path, sizeof(path), "%s/mode", folder);
	FILE *file = fopen(path, "re");
	if (file == NULL || fscanf(file, "%31s", word) != 1) {
		die(path);
	}
	(void)fclose(file);
	const char *dash = strchr(word, '-');
	const char *name = dash == NULL ? word : dash + 1;
	*part = dash == NULL ? TEXT : word[0] == 'e' ? EVENTS : RECORDS;
	for (size_t i = 0; i < sizeof(mode_names) / sizeof(mode_names[0]); i++) {
		if (strcmp(name, mode_names[i]) == 0) {
			return (enum mode)i;
		}
	}
	errno = EINVAL;
	die(word);
}

static bool is_blank(char c)
{
	return isspace((unsigned char)c) != 0;
}

static bool starts_word(const char *line, size_t at)
{
	return !is_blank(line[at]) && (at == 0 || is_blank(line[at - 1]));
}

/* Writes a line, of which the terminator is no part, without its word number `skipped`. */
static void put_without(FILE *to, const char *line, size_t n, size_t skipped)
{
	size_t word = 0;
	for (size_t i = 0; i < n; i++) {
		word += starts_word(line, i);
		if (word != skipped || is_blank(line[i])) {
			(void)fputc(line[i], to);
		}
	}
}

static void put_line(struct stream *s, enum mode mode)
{
	size_t n = s->used, words = 0;
	bool ended = n > 0 && s->line[n - 1] == '\n';
	n -= ended;
	s->lines++;
	if (mode == NOTHING || (mode == HALF && s->lines % 2 == 1)) {
		return;
	}
	if (mode == LAST || mode == MIDDLE) {
		for (size_t i = 0; i < n; i++) {
			words += starts_word(s->line, i);
		}
		put_without(s->to, s->line, n, mode == LAST ? words : (words + 1) / 2);
	} else {
		(void)fwrite(s->line, 1, n, s->to);
	}
	if (ended) {
		(void)fputc('\n', s->to);
	}
}

static void feed(struct stream *s, const char *bytes, size_t n, enum mode mode)
{
	for (size_t i = 0; i < n; i++) {
		if (s->used == s->room) {
			s->room = s->room > 0 ? 2 * s->room : 4096;
			s->line = realloc(s->line, s->room);
			if (s->line == NULL) {
				die("a long line");
			}
		}
		s->line[s->used++] = bytes[i];
		if (bytes[i] == '\n') {
			put_line(s, mode);
			s->used = 0;
		}
	}
	(void)fflush(s->to);
}

static void finish(struct stream *s, enum mode mode)
{
	if (s->used > 0) {
		put_line(s, mode);
	}
	(void)fflush(s->to);
	free(s->line);
}

/* Reads once from each stream that poll() names; those that end are marked. */
static void read_ready(
        struct stream *streams, const struct pollfd *polled, size_t count, enum mode mode)
{
	static char buffer[65536];
	for (size_t i = 0; i < count; i++) {
		if (polled[i].revents == 0) {
			continue;
		}
		ssize_t n = read(streams[i].from, buffer, sizeof(buffer));
		if (n > 0) {
			feed(&streams[i], buffer, (size_t)n, mode);
		} else if (n == 0) {
			streams[i].from = -1;
		}
	}
}

/* Passes on what comes until the child has ended and nothing is left; returns its wait status. */
static int pass_on(struct stream *streams, size_t count, enum mode mode)
{
	int status = 0;
	bool ended = false;
	for (;;) {
		struct pollfd polled[2];
		size_t open = 0;
		for (size_t i = 0; i < count; i++) {
			polled[i] = (struct pollfd){.fd = streams[i].from, .events = POLLIN};
			open += streams[i].from >= 0;
		}
		if (!ended && waitpid(child, &status, open > 0 ? WNOHANG : 0) == child) {
			ended = true;
		}
		if (open == 0 && ended) {
			return status;
		}
		int ready = poll(polled, count, ended ? 0 : 50);
		if (ended && ready == 0) {
			return status; // a process in the background has the pipe still
		}
		if (ready > 0) {
			read_ready(streams, polled, count, mode);
		}
	}
}

static void spoil_file(const char *path, enum mode mode)
{
	char *text = NULL;
	size_t size = 0;
	struct stream s = {.to = open_memstream(&text, &size)};
	struct stat info;
	if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) { // a device, or never written
		return;
	}
	FILE *file = fopen(path, "r+e");
	if (s.to == NULL || file == NULL) {
		die(path);
	}
	int c;
	while ((c = fgetc(file)) != EOF) {
		feed(&s, &(char){(char)c}, 1, mode);
	}
	finish(&s, mode);
	(void)fclose(s.to);
	rewind(file);
	if (fwrite(text, 1, size, file) != size || ftruncate(fileno(file), (off_t)size) != 0) {
		die(path);
	}
	(void)fclose(file);
}

static void invert(uint8_t *bytes)
{
	for (size_t i = 0; i < 8; i++) {
		bytes[i] = (uint8_t)~bytes[i];
	}
}

/* Inverts 8 bytes of each record that has them besides its header; returns where the first half of them ends. */
static uint64_t spoil_records(uint8_t *data, uint64_t begin, uint64_t end, enum mode mode)
{
	uint64_t half = begin;
	for (uint64_t at = begin; at + 8 <= end;) {
		uint16_t size;
		memcpy(&size, data + at + 6, sizeof(size));
		if (size < 8 || size > end - at) {
			break;
		}
		if (size >= 24 && (mode == LAST || mode == MIDDLE)) {
			invert(data + at + (mode == LAST ? size - 8u : size / 16u * 8u));
		}
		at += size;
		half = at <= begin + (end - begin) / 2 ? at : half;
	}
	return half;
}

/* Inverts the flags or the sample type of each event, or leaves only half of them. */
static void spoil_events(uint8_t *data, uint64_t file_size, enum mode mode)
{
	uint64_t head[3]; // the size of an event; offset and size of all
	memcpy(head, data + 16, sizeof(head));
	if (head[0] < 48 || head[1] > file_size || head[2] > file_size - head[1]) {
		return;
	}
	uint64_t count = head[2] / head[0], half = count / 2 * head[0];
	if (mode == HALF) {
		memcpy(data + 32, &half, sizeof(half));
	}
	for (uint64_t i = 0; i < count && (mode == LAST || mode == MIDDLE); i++) {
		invert(data + head[1] + i * head[0] + (mode == LAST ? 40 : 24));
	}
}

static void spoil_recording(const char *path, enum part what, enum mode mode)
{
	struct stat info;
	if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size < 104) {
		return; // a folder, a device or a stream, or never written
	}
	int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		die(path);
	}
	if (mode == NOTHING) {
		if (ftruncate(fd, 0) != 0) {
			die(path);
		}
		return;
	}
	uint8_t *data = mmap(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (data == MAP_FAILED) {
		die(path);
	}
	if (what == EVENTS) {
		spoil_events(data, (uint64_t)info.st_size, mode);
	}
	uint64_t part[2]; // offset and size of the records
	memcpy(part, data + 40, sizeof(part));
	if (what == RECORDS && part[0] <= (uint64_t)info.st_size &&
	        part[1] <= (uint64_t)info.st_size - part[0]) {
		uint64_t half = spoil_records(data, part[0], part[0] + part[1], mode) - part[0];
		if (mode == HALF) {
			memcpy(data + 48, &half, sizeof(half));
		}
	}
	munmap(data, (size_t)info.st_size);
	close(fd);
}

/* The file that -o or --output names, in front of the command to run. */
static const char *output_file(char **argv)
{
	for (int i = 2; argv[i] != NULL && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], "-o") == 0 || strcmp(argv[i], "--output") == 0) {
			return argv[i + 1];
		}
	}
	return NULL;
}

__attribute__((noreturn)) static void end_alike(int status)
{
	if (WIFSIGNALED(status)) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){0});
		(void)signal(WTERMSIG(status), SIG_DFL);
		sigset_t one;
		sigemptyset(&one);
		sigaddset(&one, WTERMSIG(status));
		sigprocmask(SIG_UNBLOCK, &one, NULL);
		(void)raise(WTERMSIG(status));
	}
	_exit(WEXITSTATUS(status));
}

/* Whether both go to one file, where their lines have to keep their order: 2>&1. */
static bool errors_join_output(void)
{
	struct stat out, err;
	return fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &err) == 0 &&
	       out.st_dev == err.st_dev && out.st_ino == err.st_ino;
}

/* joined: standard error goes where standard output does. */
static pid_t start(const char *real, char **argv, const int *fds, size_t count, bool joined,
        struct stream *streams)
{
	int ends[2][2];
	for (size_t i = 0; i < count; i++) {
		if (pipe2(ends[i], O_CLOEXEC) != 0) {
			die("pipe");
		}
		streams[i] =
		        (struct stream){.from = ends[i][0], .to = fds[i] == 1 ? stdout : stderr};
	}
	struct sigaction before; // where it is ignored waitpid() finds no status
	sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &before);
	pid_t pid = fork();
	if (pid < 0) {
		die("fork");
	}
	if (pid > 0) {
		for (size_t i = 0; i < count; i++) {
			close(ends[i][1]);
		}
		return pid;
	}
	sigaction(SIGCHLD, &before, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < count; i++) {
		dup2(ends[i][1], fds[i]);
	}
	if (joined) {
		dup2(STDOUT_FILENO, STDERR_FILENO);
	}
	execv(real, argv);
	die(real);
}

int main(int argc, char **argv)
{
	char folder[2048], real[4096];
	ssize_t n = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
	if (n < 0) {
		die("/proc/self/exe");
	}
	folder[n] = '\0';
	*strrchr(folder, '/') = '\0';
	(void)snprintf(real, sizeof(real), "%s/real", folder);
	enum part part;
	enum mode mode = read_mode(folder, &part);
	enum mode text_mode = part == TEXT ? mode : WHOLE;
	const char *command = argc > 1 ? argv[1] : "";
	bool stats = strcmp(command, "stat") == 0, record = strcmp(command, "record") == 0;
	const char *saved = part != TEXT && record ? output_file(argv) : NULL;
	const char *file = stats || strcmp(command, "flamegraph") == 0 ? output_file(argv) : NULL;
	int fds[2], count = 0;
	if (!record && (!stats || (argc > 2 && strcmp(argv[2], "report") == 0))) {
		fds[count++] = STDOUT_FILENO;
	}
	if (record || stats) {
		fds[count++] = STDERR_FILENO;
	}
	bool joined = count == 1 && fds[0] == STDOUT_FILENO && errors_join_output();
	if (text_mode == NOTHING && file == NULL) { // as it is, without a process between
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		for (int i = 0; i < count; i++) {
			dup2(null, fds[i]);
		}
		if (joined) {
			dup2(null, STDERR_FILENO);
		}
		execv(real, argv);
		die(real);
	}
	struct stream streams[2];
	child = start(real, argv, fds, (size_t)count, joined, streams);
	forward_signals();
	(void)signal(SIGPIPE, SIG_IGN);
	int status = pass_on(streams, (size_t)count, text_mode);
	for (int i = 0; i < count; i++) {
		finish(&streams[i], text_mode);
	}
	if (file != NULL) {
		spoil_file(file, text_mode);
	}
	if (saved != NULL) {
		spoil_recording(saved, part, mode);
	}
	end_alike(status);
}
