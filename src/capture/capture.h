/* SPDX-License-Identifier: MIT */
/* What the files of this folder share: the kernel's table of functions, rings, the recorder. */
#ifndef SONDE_CAPTURE_CAPTURE_H
#define SONDE_CAPTURE_CAPTURE_H

#include "capture/aux.h"
#include "capture/bpf.h"
#include "capture/control.h"
#include "capture/log.h"
#include "capture/output.h"
#include "capture/plan/plan.h"
#include "capture/stream.h"
#include "capture/wait.h"
#include "core/status.h"
#include "core/text.h"
#include "event/event.h"
#include "file/writer.h"
#include "host/affinity.h"
#include "host/kernel.h"
#include "host/synth.h"
#include "host/tasks.h"
#include "host/workload.h"

#include <sonde/preview/record.h>

#include <sys/types.h>

/* One ring: `page` is the control page, data stands behind it. */
struct capture_ring {
	void *page;
	size_t map_size;
	uint8_t *data;
	uint64_t size; /* bytes, a power of two */
	uint64_t tail;
	uint64_t head; /* as of the last look */
	bool backward; /* the kernel writes from the end to the start, over what is old */
	int fd; /* of the event that it is mapped from */
};

/* Checks the control page; false when it makes no sense. */
bool capture_ring_init(struct capture_ring *ring, void *page, size_t map_size);

/* Takes a look at the head (acquire); true when there is something to read. */
bool capture_ring_look(struct capture_ring *ring);

/* What is between tail and head as one or two pieces; returns how many. */
int capture_ring_pieces(const struct capture_ring *ring, struct iovec out[2]);

/* Gives the bytes up to the head back to the kernel (release). */
void capture_ring_release(struct capture_ring *ring);

/* Whole records of a ring that is written backward and stands still; SONDE_ENOMEM. */
int capture_ring_backward(struct capture_ring *ring, struct iovec **out, size_t *n);

/* One opened event: fds by [cpu][thread]; -1 where the thread had ended. */
struct capture_fds {
	int *fds;
	uint64_t *ids;
	size_t nids;
};

/* What makes the recording go on in another file. */
struct capture_triggers {
	struct event_list events;
	struct capture_ring *rings; /* by event and cpu */
	int *fds;
	size_t n; /* that are open */
};

struct sonde_record {
	struct sonde_record_options options;
	const struct host_kernel *kernel;
	struct capture_log log;
	int root_fd; /* where proc and sys are: "/" but for tests */
	struct error error;
	struct sonde_error public_error;
	struct sonde_record_result result;

	struct capture_plan plan;
	int *cgroup_fds; /* by event, -1: none; NULL: nobody asked */
	struct capture_fds *opened; /* one for each event */
	pid_t *cpus;
	size_t ncpus;
	pid_t *picked; /* the cpus of all events but those for side-band; NULL: all */
	size_t npicked;
	struct capture_bpf *bpf; /* NULL: nobody asks about BPF programs */
	struct host_tasks tasks;
	struct capture_ring *rings; /* one for each cpu or thread */
	size_t nrings;
	size_t ring_pages;
	struct capture_aux aux;
	struct host_affinity affinity; /* near which cpu it reads a ring */
	struct pollfd *polls; /* by ring; fd -1: nothing comes from it any more */

	struct host_workload workload;
	struct capture_stop stop;
	int snapshot_fd;

	struct file_writer writer;
	struct capture_output output;
	struct capture_stream *streams; /* threads that read rings; NULL: none */
	size_t nstreams;
	int streams_stop_fd;
	int streams_news_fd; /* raised by a thread: its tasks have all ended, or max_bytes is reached */
	uint64_t streams_before; /* bytes in the main file when they started */
	size_t streams_over; /* threads whose tasks have all ended; atomic */
	char *out_name;
	bool tail_synthesis;
	struct host_synth synth; /* what of the running system is recorded */
	int switch_fd;
	struct capture_triggers triggers;
	struct capture_control control;
	uint64_t clock_wall_ns, clock_ns;
	bool kernel_excluded; /* fell back to user space */
};

/*
 * The kernel refused event e with this errno: leaves out what it does not know; true: try again.
 * All events keep the same shape.
 */
bool capture_use_older(struct sonde_record *r, size_t e, int why);
bool capture_only_counts(
        const struct sonde_record *r, size_t e); /* opens when it need not sample */
void capture_attr_sizes(struct sonde_record *r,
        bool in_file); /* in files all are of one size, without addresses of ours */

int capture_find_targets(struct sonde_record *r); /* options to cpus and threads */
size_t capture_ring_of(const struct sonde_record *r, size_t at); /* at: index of a descriptor */
int capture_set_filters(struct sonde_record *r); /* to the kernel */
int capture_open(struct sonde_record *r); /* opens events, maps rings */
int capture_next_poll(const struct sonde_record *r, size_t ring, int from);
int capture_cgroups_open(struct sonde_record *r);
void capture_cgroups_close(struct sonde_record *r);
void capture_close(struct sonde_record *r);
int capture_synth_plan(struct sonde_record *r); /* options to r->synth */
int capture_synth(struct sonde_record *r); /* start state into the file */
int capture_lost(struct sonde_record *r);
/* options.triggers to events; opens them; whether one happened. */
int capture_triggers_plan(struct sonde_record *r);
int capture_triggers_open(struct sonde_record *r);
bool capture_triggers_look(struct sonde_record *r);
void capture_triggers_close(struct sonde_record *r);
/* Rings to the output, those that have enough, or all. */
int capture_pass(struct sonde_record *r, bool all);
/* What rings that are written backward hold, as it is now. */
int capture_dump_backward(struct sonde_record *r);
/* Takes a snapshot of every AUX area, behind the records that the rings have. */
int capture_snapshot(struct sonde_record *r);
int capture_loop(struct sonde_record *r);
/* Starts or stops one event, SIZE_MAX: all that are not for side-band. */
int capture_enable(struct sonde_record *r, size_t event, bool on);

/* Reads the file back: counts samples, their times, and build ids of what was hit. */
struct capture_scan {
	uint64_t first, last; /* ns */
	uint64_t samples, lost;
	uint64_t aux_records, aux_truncated, aux_gaps;
	struct text build_ids;
};

int capture_scan_file(struct sonde_record *r, struct capture_scan *out);
/* The header features; the caller frees their texts. Returns how many. */
#define CAPTURE_FEATURES_MAX 32
size_t capture_features(struct sonde_record *r, const struct capture_scan *scan,
        struct file_writer_feature out[CAPTURE_FEATURES_MAX]);

#endif
