/* SPDX-License-Identifier: MIT */
/*
 * Lines of `perf buildid-list`: 40 columns of build id, a blank, the name. Observed with crafted
 * files: the host first, then guests by rising pid, else in file order; a name that occurs twice
 * has the position of the first and the id of the last.
 */
#include "core/escape.h"
#include "core/json.h"
#include "file/feature.h"
#include "image/image.h"
#include "inspect/inspector.h"
#include "proc/proc.h"
#include "session/file.h"
#include "session/session.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct line {
	int32_t pid; /* process of a guest; -1: the host */
	size_t place;
	const char *name;
	struct span id;
	bool replaced; /* the id is from a later entry with the same name */
};

struct lines {
	struct line *items;
	size_t n;
};

static void put_lines(struct text *out, const struct lines *lines)
{
	for (size_t i = 0; i < lines->n; i++) {
		const struct line *l = &lines->items[i];

		text_hex_bytes(out, l->id.p, l->id.n);
		text_fill(out, ' ', 2 * (BUILD_ID_MAX - l->id.n) + 1);
		text_plain(out, l->name);
		text_char(out, '\n');
	}
}

static void put_json(struct text *out, const struct lines *lines)
{
	struct json j = {.out = out};

	json_begin(&j, "buildid-list", 1);
	json_array(&j, "build_ids");
	for (size_t i = 0; i < lines->n; i++) {
		const struct line *l = &lines->items[i];

		json_object(&j, NULL);
		if (l->id.n != 0) {
			json_hex(&j, "build_id", l->id);
		} else {
			json_text(&j, "build_id", NULL);
		}
		json_text(&j, "name", l->name);
		json_s64(&j, "pid", l->pid);
		json_close(&j);
	}
	json_end(&j);
}

/* By machine and name; equal names in file order. */
static int by_name(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int order =
	        x->pid != y->pid ? (x->pid > y->pid) - (x->pid < y->pid) : strcmp(x->name, y->name);

	return order != 0 ? order : (x->place > y->place) - (x->place < y->place);
}

static int by_place(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->replaced != y->replaced) {
		return x->replaced ? 1 : -1;
	}
	if (x->pid != y->pid) {
		return x->pid > y->pid ? 1 : -1;
	}
	return (x->place > y->place) - (x->place < y->place);
}

/* Keeps one line for each machine and name. */
static void lines_settle(struct lines *lines)
{
	size_t n = 0;

	qsort(lines->items, lines->n, sizeof(*lines->items), by_name);
	for (size_t i = 0, first = 0; i < lines->n; i++) {
		struct line *l = &lines->items[i];

		if (i != first && l->pid == lines->items[first].pid &&
		        strcmp(l->name, lines->items[first].name) == 0) {
			lines->items[first].id = l->id;
			l->replaced = true;
			continue;
		}
		first = i;
		n++;
	}
	qsort(lines->items, lines->n, sizeof(*lines->items), by_place);
	lines->n = n;
}

/* Records whose cpu mode is neither host nor guest are ignored. */
static bool has_machine(uint16_t misc)
{
	unsigned mode = misc & MISC_CPUMODE_MASK;

	return mode != 0 && mode != MISC_HYPERVISOR && mode <= MISC_GUEST_USER;
}

/* diags: NULL if opening has reported already. */
static int lines_read(
        struct lines *lines, const struct file *f, struct arena *a, struct diag_sink *diags)
{
	struct span bytes = file_feature(f, FEATURE_BUILD_ID);
	struct cursor c = cursor_make(bytes, f->swap);
	struct feature_build_id_view b;
	uint64_t offset = f->features[FEATURE_BUILD_ID].offset;
	size_t place = 0;

	lines->items = arena_alloc(a, bytes.n / 32 * sizeof(*lines->items) + 1);
	if (lines->items == NULL) {
		return SONDE_ENOMEM;
	}
	for (; feature_build_id_next(&c, &b); place++) {
		const char *name = arena_text(a, (const char *)b.name.p, b.name.n);

		if (name == NULL) {
			return SONDE_ENOMEM;
		}
		if (b.damaged && diags != NULL) {
			diag_report(diags, SONDE_DIAG_DAMAGED, offset,
			        "a build id claims to be longer than 20 bytes");
		}
		if (has_machine(b.misc)) {
			lines->items[lines->n++] = (struct line){
			        .pid = b.pid, .place = place, .name = name, .id = b.id};
		}
	}
	if (c.bad && diags != NULL) {
		diag_report(diags, SONDE_DIAG_DAMAGED, offset,
		        "the list of build ids in the header ends inside an entry");
	}
	return 0;
}

static int lines_of_feature(
        struct lines *lines, const struct file *f, struct arena *a, struct diag_sink *diags)
{
	TRY(lines_read(lines, f, a, diags));
	lines_settle(lines);
	return 0;
}

static int only_by_name(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->name, ((const struct line *)b)->name);
}

/* Objects in the recorder's list come first, in its order. */
static int lines_order(struct lines *lines, const struct file *f, struct arena *a)
{
	struct lines listed = {0};

	if (lines_read(&listed, f, a, NULL) == SONDE_ENOMEM) {
		return SONDE_ENOMEM;
	}
	qsort(listed.items, listed.n, sizeof(*listed.items), only_by_name);
	for (size_t i = 0; i < lines->n; i++) {
		struct line *l = &lines->items[i];
		const struct line *found =
		        bsearch(l, listed.items, listed.n, sizeof(*listed.items), only_by_name);

		l->place = found != NULL ? found->place : listed.n + l->place;
	}
	qsort(lines->items, lines->n, sizeof(*lines->items), by_place);
	return 0;
}

static int lines_of_hits(struct lines *lines, struct sonde_session *s, struct arena *a)
{
	const struct timeline *t = session_timeline(s);
	size_t n = timeline_objects(t);
	bool *hit = arena_zalloc(a, n + 1);

	lines->items = arena_alloc(a, n * sizeof(*lines->items) + 1);
	if (lines->items == NULL || hit == NULL) {
		return SONDE_ENOMEM;
	}
	TRY(session_hits(s, hit));
	for (size_t i = 0; i < n; i++) {
		const struct timeline_object *o = timeline_object(t, (uint32_t)i);

		if (hit[i] && o->kind != TIMELINE_CODE && o->kind != TIMELINE_JIT) {
			lines->items[lines->n++] = (struct line){.pid = -1,
			        .place = i,
			        .name = timeline_text(t, o->name),
			        .id = {o->build_id, o->build_id_size}};
		}
	}
	return lines_order(lines, session_file(s), a);
}

/*
 * Whether the list in the header is enough, so that no record must be read. Which objects a trace
 * hit is unknown before it is decoded: then all of them count.
 */
static bool list_is_enough(const struct file *f, const struct sonde_build_ids_options *options)
{
	return file_has_feature(f, FEATURE_BUILD_ID) &&
	       (!options->with_hits || file_has_feature(f, FEATURE_AUXTRACE));
}

/* Whether perf's cache in a folder has an object. */
static bool is_cached(const char *folder, struct span id)
{
	struct text path = {0};
	bool found;

	text_printf(&path, "%s/.build-id/%02x/", folder, id.p[0]);
	text_hex_bytes(&path, id.p + 1, id.n - 1);
	text_char(&path, '\0');
	found = !path.failed && access(path.p, F_OK) == 0; /* the link leads somewhere */
	text_fini(&path);
	return found;
}

static void lines_keep_missing(struct lines *lines, const char *folder)
{
	size_t n = 0;

	for (size_t i = 0; i < lines->n; i++) {
		if (lines->items[i].id.n > 1 && !is_cached(folder, lines->items[i].id)) {
			lines->items[n++] = lines->items[i];
		}
	}
	lines->n = n;
}

/* What is done with the list. */
struct taker {
	struct text *out; /* printed here; NULL: passed to fn */
	sonde_build_id_fn fn;
	void *arg;
};

static int lines_pass(const struct lines *lines, const struct taker *to)
{
	int rc = 0;

	for (size_t i = 0; i < lines->n && rc >= 0; i++) {
		const struct line *l = &lines->items[i];
		const struct sonde_build_id object = {l->id.p, l->id.n, l->name};

		rc = to->fn(to->arg, &object);
	}
	return rc;
}

static int list_take(struct sonde_inspector *in, struct sonde_session *s, const char *path,
        const struct sonde_build_ids_options *options, const struct taker *to)
{
	struct arena arena = {0};
	struct lines lines = {0};
	int rc = session_open_header(s, path);

	if (rc >= 0 && list_is_enough(session_file(s), options)) {
		rc = lines_of_feature(&lines, session_file(s), &arena, session_diags(s));
	} else if (rc >= 0) {
		session_want_hits(s);
		rc = session_open_records(s);
		rc = rc >= 0 ? lines_of_hits(&lines, s, &arena) : rc;
	}
	if (rc >= 0 && options->missing_in != NULL) {
		lines_keep_missing(&lines, options->missing_in);
	}
	if (rc >= 0 && to->out == NULL) {
		rc = lines_pass(&lines, to);
	} else if (rc >= 0) {
		(in->options.json ? put_json : put_lines)(to->out, &lines);
	}
	arena_fini(&arena);
	return inspector_failed(in, error_plain(session_error(s), rc), session_error(s));
}

/* A line of /proc/modules: name, size in bytes, ..., and as the sixth word its address. */
static void put_module(struct text *out, const char *line)
{
	uint8_t id[IMAGE_BUILD_ID_MAX];
	unsigned long long size, start;
	char name[64];
	int n;

	if (sscanf(line, "%63s %llu %*s %*s %*s %llx", name, &size, &start) != 3 || start == 0) {
		return;
	}
	n = image_build_id_of_module(name, id);
	if (n > 0) {
		text_hex_bytes(out, id, (size_t)n);
		text_printf(out, " %llx %llx [%s]\n", start, start + size, name);
	}
}

static void put_modules(struct text *out)
{
	struct text text = {0};

	if (proc_read_file(AT_FDCWD, "/proc/modules", &text)) {
		char *next = NULL;

		text_char(&text, '\0');
		for (char *line = text.failed ? NULL : strtok_r(text.p, "\n", &next); line != NULL;
		        line = strtok_r(NULL, "\n", &next)) {
			put_module(out, line);
		}
	}
	text_fini(&text);
}

int sonde_inspector_kernel_maps(struct sonde_inspector *in, sonde_write_fn write, void *arg)
{
	uint8_t id[IMAGE_BUILD_ID_MAX];
	int n = image_build_id_of_kernel(id);
	struct proc_kernel kernel;
	struct text out = {0};

	TRY(in->status);
	if (n <= 0) {
		return error_set(&in->error, SONDE_ENOENT, NO_OFFSET,
		        "the running kernel has no build id in /sys/kernel/notes");
	}
	if (!proc_kernel_text(AT_FDCWD, &kernel)) {
		return error_set(&in->error, SONDE_EPERM, NO_OFFSET,
		        "/proc/kallsyms hides the addresses of the kernel: run this as root, or "
		        "set "
		        "kernel.kptr_restrict to 0");
	}
	text_hex_bytes(&out, id, (size_t)n);
	text_printf(&out, " %llx %llx [kernel.kallsyms]\n", (unsigned long long)kernel.start,
	        (unsigned long long)kernel.end);
	put_modules(&out);
	return inspector_write(in, &out, write, arg);
}

/* Reads the list; 1: part of the input is missing. */
static int list_read(struct sonde_inspector *in, const char *path,
        const struct sonde_build_ids_options *options, const struct taker *to)
{
	struct sonde_build_ids_options o = {0};
	struct sonde_session_options so = {.size = sizeof(so),
	        .on_diag = in->options.on_diag,
	        .diag_arg = in->options.diag_arg,
	        .check_owner = in->options.check_owner,
	        .temp_dir = in->options.temp_dir,
	        .on_progress = in->options.on_progress,
	        .progress_arg = in->options.progress_arg};
	struct sonde_session *s;
	int rc;

	TRY(inspector_begin(in, &o, sizeof(o), options));
	s = sonde_session_new(&so);
	if (s == NULL) {
		return error_nomem(&in->error);
	}
	rc = list_take(in, s, path, &o, to);
	rc = rc < 0 ? rc : inspector_part_missing(session_diags(s));
	sonde_session_free(s);
	return rc;
}

int sonde_inspector_build_ids(struct sonde_inspector *in, const char *path,
        const struct sonde_build_ids_options *options, sonde_write_fn write, void *arg)
{
	struct text out = {0};
	int rc = list_read(in, path, options, &(struct taker){.out = &out});
	int written = rc < 0 ? rc : inspector_write(in, &out, write, arg);

	text_fini(&out);
	return written < 0 ? written : rc;
}

int sonde_inspector_list_build_ids(struct sonde_inspector *in, const char *path,
        const struct sonde_build_ids_options *options, sonde_build_id_fn fn, void *arg)
{
	return list_read(in, path, options, &(struct taker){.fn = fn, .arg = arg});
}
