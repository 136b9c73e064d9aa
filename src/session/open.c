/* SPDX-License-Identifier: MIT */
/* Opening a recording. */
#include "session/inside.h"

#include "core/array.h"
#include "core/options.h"
#include "core/pool.h"
#include "record/feature.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Lists the folders of symfs; false: out of memory. */
static bool roots_list(struct sonde_session *s)
{
	const struct sonde_session_options *o = &s->options;
	size_t more = 0;

	while (o->symfs != NULL && o->more_symfs != NULL && o->more_symfs[more] != NULL) {
		more++;
	}
	if (o->symfs == NULL || (more == 0 && strspn(o->symfs, "/") == strlen(o->symfs))) {
		return true; /* as in perf, "/" means the running system */
	}
	s->roots_list = calloc(more + 1, sizeof(*s->roots_list));
	if (s->roots_list == NULL) {
		return false;
	}
	s->roots_list[0] = o->symfs;
	for (size_t i = 0; i < more; i++) {
		s->roots_list[i + 1] = o->more_symfs[i];
	}
	s->roots = (struct image_roots){s->roots_list, more + 1};
	return true;
}

struct sonde_session *sonde_session_new(const struct sonde_session_options *options)
{
	struct sonde_session *s = calloc(1, sizeof(*s));

	if (s == NULL) {
		return NULL;
	}
	s->reader = sonde_file_new(NULL);
	if (s->reader == NULL) {
		free(s);
		return NULL;
	}
	s->misused = options_copy(&s->options, sizeof(s->options), options, &s->error) < 0;
	if (!roots_list(s)) {
		sonde_file_free(s->reader);
		free(s);
		return NULL;
	}
	if (s->options.jobs == 0) {
		s->options.jobs = pool_default_jobs();
	}
	if (s->options.stitch_call_stacks) {
		s->options.jobs = 1;
	}
	if (s->options.jobs > POOL_JOBS_MAX) {
		s->options.jobs = POOL_JOBS_MAX;
	}
	s->diags.fn = s->options.on_diag;
	s->diags.arg = s->options.diag_arg;
	s->file = reader_file(s->reader);
	s->file->diags = &s->diags;
	session_worker_init(&s->next, s);
	return s;
}

void sonde_session_free(struct sonde_session *s)
{
	if (s == NULL) {
		return;
	}
	session_worker_fini(&s->next);
	session_shown_fini(&s->shown_sample);
	for (size_t i = 0; i < s->nsources; i++) {
		s->sources[i]->ops->free(s->sources[i]);
	}
	aux_free(s->aux); /* uses the timeline and the resolver */
	session_locator_free(s);
	frame_resolver_fini(&s->frames);
	arena_fini(&s->header);
	free(s->debug_folder);
	free(s->roots_list);
	index_fini(&s->cgroup_ids);
	free(s->cgroups);
	index_fini(&s->guest_ids);
	free(s->guests);
	hit_pages_free(s->pages);
	free(s->kernel_copy);
	timeline_free(s->timeline);
	sonde_file_free(s->reader);
	pick_fini(&s->pick);
	free(s->events);
	free(s->build_ids);
	free(s->windows);
	session_reads_fini(&s->reads);
	free(s);
}

const struct sonde_error *sonde_session_error(const struct sonde_session *s)
{
	return error_show(&s->error);
}

static int add_build_id(
        struct sonde_session *s, const struct feature_build_id_view *b, uint64_t offset)
{
	char name[4096];

	if (b->damaged || b->name.n >= sizeof(name)) {
		diag_report(&s->diags, SONDE_DIAG_DAMAGED, offset,
		        b->damaged ? "a build id claims to be longer than 20 bytes"
		                   : "the name behind a build id is longer than any path");
	}
	if (b->name.n >= sizeof(name)) {
		return 0;
	}
	memcpy(name, b->name.p, b->name.n);
	name[b->name.n] = '\0';
	return s->options.counts_only ? 0
	                              : timeline_add_build_id(s->timeline, name, b->id.p, b->id.n,
	                                        (b->misc & MISC_CPUMODE_MASK) == MISC_KERNEL);
}

/* Reads build ids from the header, and from records of pipe streams. */
static int read_build_ids(struct sonde_session *s)
{
	uint64_t offset = s->file->features[FEATURE_BUILD_ID].offset;
	struct cursor c = cursor_make(file_feature(s->file, FEATURE_BUILD_ID), s->file->swap);
	struct feature_build_id_view b;

	while (feature_build_id_next(&c, &b)) {
		TRY(add_build_id(s, &b, offset));
	}
	if (c.bad) {
		diag_report(&s->diags, SONDE_DIAG_DAMAGED, offset,
		        "the list of build ids in the header ends inside an entry");
	}
	for (size_t i = 0; i < s->nbuild_ids; i++) {
		const struct record *r = &s->build_ids[i];

		if (feature_build_id_view(r->body, r->misc, s->file->swap, &b)) {
			TRY(add_build_id(s, &b, r->offset));
		} else {
			diag_report(
			        &s->diags, SONDE_DIAG_DAMAGED, r->offset, "a build id is damaged");
		}
	}
	return 0;
}

/* Chooses the folder of objects by build id; SONDE_ENOMEM. */
static int choose_build_ids(struct sonde_session *s, const char **out)
{
	const char *home = s->options.home;
	size_t n;

	*out = s->options.build_ids;
	if (*out != NULL || home == NULL) {
		return 0;
	}
	n = strlen(home) + sizeof("/.debug");
	s->debug_folder = malloc(n);
	if (s->debug_folder == NULL) {
		return SONDE_ENOMEM;
	}
	(void)snprintf(s->debug_folder, n, "%s/.debug", home);
	*out = s->debug_folder;
	return 0;
}

/* The number after `branches` among the capabilities of a PMU; 0: there is none. */
static uint32_t branches_of(const struct feature_pairs *caps)
{
	unsigned long n = 0;

	for (size_t i = 0; i < caps->n; i++) {
		if (strcmp(caps->items[i].name.s, "branches") == 0) {
			n = strtoul(caps->items[i].value.s, NULL, 10);
		}
	}
	return n <= UINT16_MAX ? (uint32_t)n : 0;
}

/* Finds the size of the processor's branch stack; SONDE_EARG if call stacks cannot be stitched. */
static int choose_stitching(struct sonde_session *s, uint32_t *slots)
{
	struct feature_pairs caps = {0};
	struct feature_all_caps all = {0};
	struct arena arena = {0};
	bool any = false;
	int rc;

	*slots = 0;
	if (!s->options.stitch_call_stacks) {
		return 0;
	}
	for (size_t i = 0; i < s->nevents; i++) {
		any = any || frame_call_stacks(&s->events[i].attr);
	}
	rc = SESSION_FEATURE(s, FEATURE_CPU_PMU_CAPS, &arena, &caps);
	if (rc != SONDE_ENOMEM) {
		rc = SESSION_FEATURE(s, FEATURE_PMU_CAPS, &arena, &all);
	}
	*slots = branches_of(&caps);
	for (size_t i = 0; i < all.n && *slots == 0; i++) {
		*slots = branches_of(&all.items[i].caps);
	}
	arena_fini(&arena);
	if (rc == SONDE_ENOMEM) {
		return error_nomem(&s->error);
	}
	if (any && *slots != 0) {
		return 0;
	}
	return error_set(&s->error, SONDE_EARG, NO_OFFSET,
	        any ? "LBR call stacks cannot be stitched: the header does not have the size of "
	              "the processor's branch stack"
	            : "there are no LBR call stacks to stitch: record with --call-graph lbr");
}

int session_find_kernel(const struct sonde_session *s, bool *can)
{
	struct layout_text release = {0}, host = {0};
	struct arena arena = {0};
	int rc = SESSION_FEATURE(s, FEATURE_OSRELEASE, &arena, &release);

	if (rc != SONDE_ENOMEM) {
		rc = SESSION_FEATURE(s, FEATURE_HOSTNAME, &arena, &host);
	}
	*can = frame_is_running_kernel(release.s, host.s);
	arena_fini(&arena);
	return rc == SONDE_ENOMEM ? SONDE_ENOMEM : 0;
}

/* Finds the machine of copied stacks: sets *known if the recording names its machine; SONDE_ENOMEM. */
static int find_machine(const struct sonde_session *s, bool *known, enum unwind_machine *machine)
{
	static const struct {
		const char *name; /* as in uname -m */
		enum unwind_machine machine;
	} machines[] = {
	        {"x86_64", UNWIND_X86_64}, {"aarch64", UNWIND_AARCH64}, {"arm64", UNWIND_AARCH64}};
	struct layout_text name = {0};
	struct arena arena = {0};
	int rc = SESSION_FEATURE(s, FEATURE_ARCH, &arena, &name);

	*known = rc > 0 && name.s != NULL;
	*machine = UNWIND_OTHER;
	for (size_t i = 0; *known && i < sizeof(machines) / sizeof(machines[0]); i++) {
		if (strcmp(name.s, machines[i].name) == 0) {
			*machine = machines[i].machine;
		}
	}
	arena_fini(&arena);
	return rc == SONDE_ENOMEM ? rc : 0;
}

static int seal(struct sonde_session *s, uint32_t stitch_slots)
{
	enum unwind_machine machine;
	const char *build_ids;
	bool known, running;

	TRY(timeline_seal(s->timeline));
	TRY(find_machine(s, &known, &machine));
	TRY(session_find_kernel(s, &running));
	TRY(choose_build_ids(s, &build_ids));
	TRY(read_build_ids(s));
	TRY(session_programs_add(s));
	TRY(session_choose_kernel(s, build_ids));
	s->frames.options = (struct frame_options){.roots = s->roots,
	        .kallsyms = s->options.kallsyms,
	        .vmlinux = s->options.vmlinux,
	        .guest_kallsyms = s->options.guest_kallsyms,
	        .guest_vmlinux = s->options.guest_vmlinux,
	        .demangle_kernel = s->options.demangle_kernel,
	        .home = s->options.home,
	        .build_ids = build_ids,
	        .stitch_slots = stitch_slots,
	        .machine_known = known,
	        .machine = machine,
	        .cache = s->options.cache,
	        .bundle = s->file->bundle,
	        .debuginfod = s->options.debuginfod,
	        .on_download = s->options.on_download,
	        .download_arg = s->options.download_arg,
	        .jobs = session_jobs(s),
	        .running_kernel = running && s->file->bundle == NULL,
	        .demangle = !s->options.no_demangle};
	return frame_resolver_seal(&s->frames, s->timeline);
}

int session_add_event(struct sonde_session *s, const struct session_event *event)
{
	if (!array_reserve(&s->events, &s->events_cap, s->nevents + 1, sizeof(*s->events))) {
		return SONDE_ENOMEM;
	}
	s->events[s->nevents] = *event;
	s->ids = s->ids || event->nids != 0;
	return (int)s->nevents++;
}

int session_add_source(struct sonde_session *s, struct session_source *src)
{
	if (s->nsources == SESSION_STREAMS) {
		src->ops->free(src);
		return SONDE_ELIMIT;
	}
	src->stream = (uint32_t)s->nsources;
	s->sources[s->nsources++] = src;
	return (int)src->stream;
}

/* Adds the file as the first source, with its events. */
static int add_file(struct sonde_session *s)
{
	const struct file *f = s->file;
	struct session_source *src = session_file_source(f, &s->diags, s->options.counts_only);

	if (src == NULL) {
		return SONDE_ENOMEM;
	}
	TRY(session_add_source(s, src));
	s->swap = f->swap;
	for (size_t i = 0; i < f->nevents; i++) {
		const struct file_event *e = &f->events[i];
		const struct session_event own = {.name = e->name,
		        .ids = e->ids,
		        .nids = e->nids,
		        .attr = e->attr,
		        .plan = e->plan};

		TRY(session_add_event(s, &own));
	}
	return 0;
}

/* The input: a path, bytes or a descriptor. */
struct input {
	const char *path;
	const int *fd; /* NULL: path or bytes */
	struct span bytes;
};

/* SONDE_ENOENT if a file for symbols of the kernel is requested and cannot be read. */
static int symbols_check(struct sonde_session *s, const struct image_roots *roots, const char *path)
{
	char name[IMAGE_PATH_MAX];

	errno = ENOENT;
	for (size_t i = 0; path != NULL && image_root_name(roots, i, path, name, sizeof(name));
	        i++) {
		if (access(name, R_OK) == 0) {
			return 0;
		}
	}
	if (path == NULL) {
		return 0;
	}
	return error_errno(&s->error, SONDE_ENOENT, errno,
	        "cannot read the symbols of the kernel from %s", path);
}

static int open_input(struct sonde_session *s, const struct input *in)
{
	static const struct image_roots here; /* the running system */
	int rc;

	if (s->misused) {
		return error_status(&s->error);
	}
	if (s->opened) {
		return error_set(
		        &s->error, SONDE_EARG, NO_OFFSET, "this session has a file already");
	}
	s->opened = true;
	if (s->options.itrace != NULL) {
		TRY(itrace_parse(&s->itrace, s->options.itrace, &s->error));
		s->itrace.depth = s->options.trace_calls;
	}
	TRY(symbols_check(s, &here, s->options.kallsyms));
	TRY(symbols_check(s, &s->roots, s->options.vmlinux));
	TRY(symbols_check(s, &here, s->options.guest_kallsyms));
	TRY(symbols_check(s, &s->roots, s->options.guest_vmlinux));
	s->file->check_owner = s->options.check_owner;
	s->file->temp_dir = s->options.temp_dir;
	rc = in->fd != NULL     ? file_open_fd(s->file, *in->fd)
	     : in->path != NULL ? file_open(s->file, in->path)
	                        : file_open_bytes(s->file, in->bytes, "memory");
	if (rc < 0) {
		return error_take(&s->error, error_show(&s->file->error));
	}
	return add_file(s) < 0 ? error_nomem(&s->error) : 0;
}

int session_open_header(struct sonde_session *s, const char *path)
{
	return open_input(s, &(struct input){.path = path});
}

int session_open_records(struct sonde_session *s)
{
	int rc = file_inflate(s->file);
	uint32_t slots;

	if (rc < 0) {
		return error_take(&s->error, error_show(&s->file->error));
	}
	reader_begin(s->reader);
	if (s->options.kallsyms == NULL) {
		s->options.kallsyms = s->file->kallsyms;
	}
	if (s->options.itrace != NULL) {
		s->aux = aux_new();
		if (s->aux == NULL) {
			return error_nomem(&s->error);
		}
	}
	s->timeline = timeline_new(&s->diags);
	if (s->timeline == NULL) {
		return error_nomem(&s->error);
	}
	s->guest_code = s->options.guest_kallsyms != NULL || s->options.guest_vmlinux != NULL;
	if (s->guest_code) {
		timeline_with_guests(s->timeline);
	}
	s->frames.swap = s->swap;
	session_aux_choose(s);
	if (session_walk(s) < 0) {
		return error_nomem(&s->error);
	}
	TRY(choose_stitching(s, &slots));
	if (seal(s, slots) < 0 || session_aux_open(s) < 0) {
		return error_nomem(&s->error);
	}
	if (s->options.strict &&
	        s->diags.counts[SONDE_DIAG_TRUNCATED] + s->diags.counts[SONDE_DIAG_DAMAGED] != 0) {
		return error_set(
		        &s->error, SONDE_EFORMAT, NO_OFFSET, "%s is damaged", s->file->path);
	}
	s->ready = true;
	return 0;
}

int sonde_session_open(struct sonde_session *s, const char *path)
{
	TRY(open_input(s, &(struct input){.path = path}));
	return session_open_records(s);
}

int sonde_session_open_fd(struct sonde_session *s, int fd)
{
	TRY(open_input(s, &(struct input){.fd = &fd}));
	return session_open_records(s);
}

int sonde_session_open_memory(struct sonde_session *s, const void *bytes, size_t n)
{
	TRY(open_input(s, &(struct input){.bytes = {bytes, n}}));
	return session_open_records(s);
}

struct sonde_file *sonde_session_file(struct sonde_session *s)
{
	return s->ready ? s->reader : NULL;
}
