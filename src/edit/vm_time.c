/* SPDX-License-Identifier: MIT */
/*
 * Changes the times of virtual machines in Intel PT traces to the host's: a processor that runs a guest
 * writes the guest's time-stamp counter, host's TSC + offset, to TSC packets. What they become:
 *
 *	TSC - offset	while PIP packets say that a guest runs (NR), also in a PSB+ whose PIP follows
 *	TSC - offset	while tracing is off, if TSC cannot be the host's: before the last time, or after
 *			that of the AUXTRACE record
 *	TSC		otherwise
 *
 * Offsets are known by VMCS, from the user or from the crystal clock (CTC), which guests do not change:
 * the host's TSC is that of the last TMA plus the ticks of the crystal since.
 */
#include "core/array.h"
#include "core/options.h"
#include "core/status.h"
#include "edit/inside.h"
#include "file/reader.h"
#include "record/typed.h"

#include <sonde/pt_packet.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define INTEL_PT  1u
#define TSC_SIZE  8u /* bytes of the packet: 0x19, then 7 of the counter */
#define TSC_MASK  ((UINT64_C(1) << 56) - 1)
#define TSC_SIGN  (UINT64_C(1) << 55)
#define CTC_MASK  0xffffu
#define VMCS_BITS 12 /* VMCS are named by number of their page */
#define NO_VMCS   UINT64_MAX
#define VMCS_MOST 16384u /* virtual processors */

struct piece { /* of a trace: an AUXTRACE record */
	struct span bytes;
	const char *file;
	uint64_t at; /* of the bytes in the file */
	uint64_t offset; /* in the trace */
	uint64_t reference; /* TSC when the record was written */
	uint32_t idx; /* of the trace */
	uint32_t number; /* in the recording */
};

struct change { /* of bytes of a file */
	const char *file;
	uint64_t at;
	uint8_t n, before[TSC_SIZE], after[TSC_SIZE];
};

struct offset {
	uint64_t vmcs, value;
	bool known; /* else only reported */
};

struct clock { /* of the host */
	uint64_t n, d; /* TSC ticks per crystal tick */
	unsigned shift; /* of MTC: a packet every 2^shift crystal ticks */
};

/* What is known while a trace is read. */
struct reading {
	bool nonroot, on, in_psb, has_ctc, psb_pip;
	bool lost; /* packets, and no address came since: a FUP says that tracing is on */
	bool psb_nonroot;
	uint64_t vmcs, psb_vmcs, now;
	uint64_t base, ticks; /* TSC at a tick of the crystal; ticks since, up to the last MTC */
	uint32_t ctc; /* of that tick */
	uint8_t mtc;
};

struct sonde_vm_time {
	struct sonde_vm_time_options o;
	struct error error;
	int failure;
	struct diag_sink diags;
	struct clock clock;
	bool has_info, has_default;
	uint64_t standard; /* offset of VMCS without one of their own */
	struct offset *offsets; /* sorted by VMCS */
	size_t noffsets, offsets_cap;
	struct piece *pieces;
	size_t npieces, pieces_cap;
	struct change *changes;
	size_t nchanges, changes_cap;
	uint64_t alone; /* TSC without TMA */
	char *main; /* path of the main file in a directory; NULL: it is the path itself */
};

/* ---- options: [dry-run] [OFFSET[:VMCS[,VMCS]...]]... ---- */

static int bad_option(struct sonde_vm_time *v, const char *what)
{
	return error_set(&v->error, SONDE_EARG, NO_OFFSET,
	        "--vm-time-correlation=%s: %s; it is [dry-run] [OFFSET[:VMCS[,VMCS]...]]...",
	        v->o.offsets, what);
}

/* The place of a VMCS in the sorted offsets, or where it would be. */
static size_t offset_place(const struct sonde_vm_time *v, uint64_t vmcs)
{
	size_t low = 0, high = v->noffsets;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (v->offsets[middle].vmcs < vmcs) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

static struct offset *offset_find(const struct sonde_vm_time *v, uint64_t vmcs)
{
	size_t at = offset_place(v, vmcs);

	return at < v->noffsets && v->offsets[at].vmcs == vmcs ? &v->offsets[at] : NULL;
}

/* Adds the offset of a VMCS that has none yet. */
static int offset_add(struct sonde_vm_time *v, uint64_t vmcs, uint64_t value, bool known)
{
	size_t at = offset_place(v, vmcs);

	if (v->noffsets == VMCS_MOST) {
		return error_set(&v->error, SONDE_ELIMIT, NO_OFFSET,
		        "more than %u virtual processors are named; the traces are damaged",
		        VMCS_MOST);
	}
	if (!array_reserve(&v->offsets, &v->offsets_cap, v->noffsets + 1, sizeof(*v->offsets))) {
		return error_nomem(&v->error);
	}
	memmove(v->offsets + at + 1, v->offsets + at, (v->noffsets - at) * sizeof(*v->offsets));
	v->offsets[at] = (struct offset){vmcs, value, known};
	v->noffsets++;
	return 0;
}

/* Reads a number that ends at one of the characters, or at the end of the text. */
static bool number_read(const char **s, const char *ends, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(*s, &end, 0); /* a negative number wraps, as the TSC does */
	if (errno != 0 || end == *s || (*end != '\0' && strchr(ends, *end) == NULL)) {
		return false;
	}
	*s = end;
	return true;
}

static int one_read(struct sonde_vm_time *v, const char **s)
{
	uint64_t value, vmcs;

	if (!number_read(s, " :", &value)) {
		return bad_option(v, "an offset is no number");
	}
	if (**s != ':') {
		if (v->has_default) {
			return bad_option(v, "two offsets are for every VMCS");
		}
		v->has_default = true;
		v->standard = value;
		return 0;
	}
	do {
		(*s)++;
		if (!number_read(s, " ,", &vmcs)) {
			return bad_option(v, "a VMCS is no number");
		}
		if (offset_find(v, vmcs) != NULL) {
			return bad_option(v, "a VMCS has two offsets");
		}
		TRY(offset_add(v, vmcs, value, true));
	} while (**s == ',');
	return 0;
}

static int options_read(struct sonde_vm_time *v)
{
	const char *s = v->o.offsets != NULL ? v->o.offsets : "";

	for (s += strspn(s, " "); *s != '\0'; s += strspn(s, " ")) {
		TRY(one_read(v, &s));
	}
	return 0;
}

/* ---- the recording ---- */

static int info_read(struct sonde_vm_time *v, const struct file *f, const struct record *r)
{
	struct sonde_typed_record typed = {.auxtrace_info = {.type = 0}};
	const struct sonde_record_intel_pt *pt = &typed.auxtrace_info.intel_pt;
	bool mtc = false;

	(void)typed_decode(r, f->swap, NULL, &typed);
	if (typed.auxtrace_info.type != INTEL_PT) {
		return error_set(&v->error, SONDE_EFORMAT, r->offset,
		        "%s: its traces are not of Intel PT", f->path);
	}
	for (size_t i = 0; i < f->nevents; i++) {
		const struct sonde_attr *attr = &f->events[i].attr;

		if (attr->type == pt->pmu_type && (attr->config & pt->mtc_bit) != 0) {
			mtc = true;
			v->clock.shift = pt->mtc_freq_bits == 0
			                         ? 0
			                         : (unsigned)((attr->config & pt->mtc_freq_bits) >>
			                                      __builtin_ctzll(pt->mtc_freq_bits)) &
			                                   15u;
		}
	}
	v->clock.n = pt->tsc_ctc_ratio_n;
	v->clock.d = pt->tsc_ctc_ratio_d;
	if (!mtc || v->clock.n == 0 || v->clock.d == 0 || v->clock.n > UINT32_MAX ||
	        v->clock.d > UINT32_MAX) {
		return error_set(&v->error, SONDE_EFORMAT, r->offset,
		        "%s: its traces have no packets of the crystal clock (MTC), which times of "
		        "the host come from; record with intel_pt/mtc=1/",
		        f->path);
	}
	v->has_info = true;
	return 0;
}

static int piece_add(
        struct sonde_vm_time *v, const struct file *f, const struct sonde_raw_record *raw)
{
	struct cursor c = cursor_make(edit_view(raw).body, f->swap);
	struct piece p = {.bytes = {raw->payload, (size_t)raw->payload_size},
	        .file = raw->stream == 0 && v->main != NULL ? v->main : raw->file,
	        .at = raw->offset + raw->size,
	        .number = (uint32_t)v->npieces};

	(void)cursor_u64(&c); /* size */
	p.offset = cursor_u64(&c);
	p.reference = cursor_u64(&c);
	p.idx = cursor_u32(&c);
	if (c.bad || raw->payload_size == 0) {
		return 0;
	}
	if (raw->inflated) {
		return error_set(&v->error, SONDE_EUNSUPPORTED, raw->offset,
		        "%s: its traces are packed and cannot be changed in place", f->path);
	}
	if (v->npieces == UINT32_MAX ||
	        !array_reserve(&v->pieces, &v->pieces_cap, v->npieces + 1, sizeof(p))) {
		return error_nomem(&v->error);
	}
	v->pieces[v->npieces++] = p;
	return 0;
}

/* A directory's main file has the directory's name in records. */
static int main_name(struct sonde_vm_time *v, const struct file *f)
{
	static const char name[] = "/data";
	size_t n = strlen(f->path);

	if (!f->directory || f->bundle != NULL) {
		return 0;
	}
	v->main = malloc(n + sizeof(name));
	if (v->main == NULL) {
		return error_nomem(&v->error);
	}
	memcpy(v->main, f->path, n);
	memcpy(v->main + n, name, sizeof(name));
	return 0;
}

static int pieces_read(struct sonde_vm_time *v, struct sonde_file *handle)
{
	const struct file *f = reader_file(handle);
	const struct sonde_raw_record *raw;
	int rc;

	TRY(main_name(v, f));
	while ((rc = sonde_file_next(handle, &raw)) > 0) {
		const struct record r = edit_view(raw);

		if (r.type == RECORD_AUXTRACE_INFO) {
			TRY(info_read(v, f, &r));
		} else if (r.type == RECORD_AUXTRACE) {
			TRY(piece_add(v, f, raw));
		}
	}
	if (rc < 0) {
		return error_take(&v->error, sonde_file_error(handle));
	}
	if (!v->has_info || v->npieces == 0) {
		return error_set(
		        &v->error, SONDE_EFORMAT, NO_OFFSET, "%s has no Intel PT traces", f->path);
	}
	return 0;
}

static int compare_pieces(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return x->idx != y->idx ? (x->idx > y->idx) - (x->idx < y->idx)
	                        : (x->number > y->number) - (x->number < y->number);
}

/* Whether b continues a, which may be padded to a multiple of 8 bytes; then cuts the padding off. */
static bool continues(struct piece *a, const struct piece *b)
{
	uint64_t size = b->offset - a->offset;

	if (a->idx != b->idx || size == 0 || size > a->bytes.n || a->bytes.n - size >= 8) {
		return false;
	}
	a->bytes.n = (size_t)size;
	return true;
}

/* ---- times ---- */

static uint64_t ticks_of(const struct sonde_vm_time *v, uint64_t ctc)
{
	return ctc / v->clock.d * v->clock.n + ctc % v->clock.d * v->clock.n / v->clock.d;
}

/* The host's TSC at a TMA. */
static uint64_t expected(
        const struct sonde_vm_time *v, const struct reading *s, const struct sonde_pt_packet *tma)
{
	uint64_t more = (tma->value - (s->ctc + s->ticks)) & CTC_MASK;

	return s->base + ticks_of(v, s->ticks + more) + tma->extra;
}

static void on_tma(
        struct sonde_vm_time *v, struct reading *s, uint64_t tsc, const struct sonde_pt_packet *tma)
{
	uint64_t rest = tma->value & ((1u << v->clock.shift) - 1);

	s->base = tsc - tma->extra - ticks_of(v, rest);
	s->ctc = (uint32_t)(tma->value - rest);
	s->mtc = (uint8_t)(tma->value >> v->clock.shift);
	s->ticks = 0;
	s->has_ctc = true;
}

static void on_mtc(struct sonde_vm_time *v, struct reading *s, uint8_t mtc)
{
	uint64_t now;

	if (!s->has_ctc) {
		return;
	}
	s->ticks += (uint64_t)(uint8_t)(mtc - s->mtc) << v->clock.shift;
	s->mtc = mtc;
	now = s->base + ticks_of(v, s->ticks);
	s->now = now > s->now ? now : s->now;
}

static void say(const struct sonde_vm_time *v, uint64_t vmcs, bool known, uint64_t value)
{
	const struct sonde_vm_time_offset found = {
	        .vmcs = vmcs, .has_vmcs = vmcs != NO_VMCS, .known = known, .offset = value};

	if (v->o.on_offset != NULL) {
		v->o.on_offset(v->o.offset_arg, &found);
	}
}

/* Tells the user, once for each VMCS, that its offset is not known. */
static int unknown_say(struct sonde_vm_time *v, uint64_t vmcs)
{
	if (offset_find(v, vmcs) == NULL) {
		TRY(offset_add(v, vmcs, 0, false));
		say(v, vmcs, false, 0);
	}
	return 0;
}

/* An offset that is negative has its 8th byte, which packets lack. */
static uint64_t widen(uint64_t offset)
{
	offset &= TSC_MASK;
	return (offset & TSC_SIGN) != 0 ? offset | ~TSC_MASK : offset;
}

/* Makes the offset of a VMCS known: only in a PSB+, which says what VMCS its TSC is of. */
static int offset_learn(struct sonde_vm_time *v, uint64_t vmcs, uint64_t value)
{
	struct offset *found = offset_find(v, vmcs);

	if (found != NULL) {
		found->known = true;
		found->value = value;
	} else {
		TRY(offset_add(v, vmcs, value, true));
	}
	say(v, vmcs, true, value);
	return 0;
}

/* Sets *value to the offset of the guest at a TSC: 1; 0: it is not known. */
static int offset_of(struct sonde_vm_time *v, const struct reading *s, uint64_t tsc,
        const struct sonde_pt_packet *tma, uint64_t *value)
{
	bool learn = s->in_psb && s->psb_pip;
	uint64_t vmcs = learn && s->psb_vmcs != NO_VMCS ? s->psb_vmcs : s->vmcs;
	const struct offset *found = offset_find(v, vmcs);

	if (found != NULL && found->known) {
		*value = found->value;
		return 1;
	}
	if (v->has_default) {
		*value = v->standard;
		return 1;
	}
	if (s->has_ctc) {
		*value = widen(tsc - expected(v, s, tma));
	}
	if (s->has_ctc && learn && vmcs != NO_VMCS) {
		TRY(offset_learn(v, vmcs, *value));
		return 1;
	}
	TRY(unknown_say(v, vmcs));
	return s->has_ctc;
}

/* Whether the TSC is a guest's. */
static bool is_guest(const struct reading *s, uint64_t tsc, uint64_t reference)
{
	if (s->in_psb && s->psb_pip) {
		return s->psb_nonroot;
	}
	return s->nonroot || (!s->on && (tsc < s->now || tsc > reference));
}

/* ---- traces ---- */

struct run { /* pieces that follow each other */
	const struct piece *pieces;
	size_t n;
	const uint8_t *bytes;
	size_t size;
	size_t piece, before; /* where the last time was; bytes before that piece */
};

/* Finds the piece at an offset, which never falls. */
static const struct piece *piece_at(struct run *r, uint64_t at)
{
	while (r->piece + 1 < r->n && at - r->before >= r->pieces[r->piece].bytes.n) {
		r->before += r->pieces[r->piece++].bytes.n;
	}
	return &r->pieces[r->piece];
}

/* Notes the change of a packet: more than one if the packet is in several pieces. */
static int change_add(struct sonde_vm_time *v, struct run *r, uint64_t at, uint64_t tsc)
{
	uint8_t after[TSC_SIZE] = {r->bytes[at]};
	size_t done = 0;

	for (unsigned i = 1; i < TSC_SIZE; i++) {
		after[i] = (uint8_t)(tsc >> 8 * (i - 1));
	}
	while (done < TSC_SIZE) {
		const struct piece *p = piece_at(r, at + done);
		uint64_t from = at + done - r->before;
		size_t n = p->bytes.n - from < TSC_SIZE - done ? (size_t)(p->bytes.n - from)
		                                               : TSC_SIZE - done;
		struct change *c;

		if (!array_reserve(&v->changes, &v->changes_cap, v->nchanges + 1, sizeof(*c))) {
			return error_nomem(&v->error);
		}
		c = &v->changes[v->nchanges++];
		*c = (struct change){.file = p->file, .at = p->at + from, .n = (uint8_t)n};
		memcpy(c->before, r->bytes + at + done, n);
		memcpy(c->after, after + done, n);
		done += n;
	}
	return 0;
}

/* Looks what a PSB+ says of the guest: its TSC comes before. */
static void psb_look(struct reading *s, struct sonde_pt_packets *packets)
{
	static const bool status[SONDE_PT_KINDS] = {[SONDE_PT_PAD] = true,
	        [SONDE_PT_TSC] = true,
	        [SONDE_PT_TMA] = true,
	        [SONDE_PT_CBR] = true,
	        [SONDE_PT_PIP] = true,
	        [SONDE_PT_VMCS] = true,
	        [SONDE_PT_MODE_EXEC] = true,
	        [SONDE_PT_MODE_TSX] = true,
	        [SONDE_PT_FUP] = true,
	        [SONDE_PT_MTC] = true,
	        [SONDE_PT_CYC] = true};
	uint64_t back = sonde_pt_packets_offset(packets);
	struct sonde_pt_packet p;

	s->in_psb = true;
	s->psb_pip = false;
	s->psb_vmcs = NO_VMCS;
	while (sonde_pt_packets_next(packets, &p) > 0 && status[p.kind]) {
		if (p.kind == SONDE_PT_PIP) {
			s->psb_pip = true;
			s->psb_nonroot = (p.flags & SONDE_PT_F_NR) != 0;
		} else if (p.kind == SONDE_PT_VMCS && p.value != 0) {
			s->psb_vmcs = p.value >> VMCS_BITS;
		}
	}
	sonde_pt_packets_seek(packets, back);
}

static int on_tsc(struct sonde_vm_time *v, struct reading *s, struct run *r,
        struct sonde_pt_packets *packets, const struct sonde_pt_packet *p)
{
	uint64_t back = sonde_pt_packets_offset(packets);
	uint64_t tsc = p->value, offset;
	struct sonde_pt_packet tma;
	bool guest;
	int rc;

	if (sonde_pt_packets_next(packets, &tma) <= 0 || tma.kind != SONDE_PT_TMA) {
		sonde_pt_packets_seek(packets, back);
		v->alone++;
		return 0;
	}
	guest = is_guest(s, tsc, piece_at(r, p->offset)->reference);
	if (guest) {
		rc = offset_of(v, s, tsc, &tma, &offset);
		if (rc <= 0) {
			return rc;
		}
		tsc = (tsc - offset) & TSC_MASK;
	}
	if (tsc != p->value) {
		TRY(change_add(v, r, p->offset, tsc));
	}
	on_tma(v, s, tsc, &tma);
	s->now = tsc > s->now ? tsc : s->now;
	return 0;
}

static int on_packet(struct sonde_vm_time *v, struct reading *s, struct run *r,
        struct sonde_pt_packets *packets, const struct sonde_pt_packet *p)
{
	switch (p->kind) {
	case SONDE_PT_PSB: psb_look(s, packets); break;
	case SONDE_PT_PSBEND: s->in_psb = false; break;
	case SONDE_PT_OVF:
		s->in_psb = s->on = false;
		s->lost = true;
		break;
	case SONDE_PT_TSC: return on_tsc(v, s, r, packets, p);
	case SONDE_PT_MTC: on_mtc(v, s, (uint8_t)p->value); break;
	case SONDE_PT_PIP: s->nonroot = (p->flags & SONDE_PT_F_NR) != 0; break;
	case SONDE_PT_VMCS: s->vmcs = p->value != 0 ? p->value >> VMCS_BITS : NO_VMCS; break;
	case SONDE_PT_TIP_PGE:
	case SONDE_PT_TIP_PGD:
		s->on = p->kind == SONDE_PT_TIP_PGE;
		s->lost = false;
		break;
	case SONDE_PT_FUP:
		s->on = s->on || s->in_psb || s->lost;
		s->lost = false;
		break;
	default: break;
	}
	return 0;
}

static int run_read(struct sonde_vm_time *v, struct reading *s, struct run *r)
{
	struct sonde_pt_packets *packets = sonde_pt_packets_new(r->bytes, r->size, NULL);
	struct sonde_pt_packet p;
	int rc = 0;

	if (packets == NULL) {
		return error_nomem(&v->error);
	}
	while (rc >= 0 && sonde_pt_packets_sync(packets) > 0) {
		while (rc >= 0 && sonde_pt_packets_next(packets, &p) > 0) {
			rc = on_packet(v, s, r, packets, &p);
		}
		s->in_psb = false;
	}
	sonde_pt_packets_free(packets);
	return rc;
}

/* Joins the pieces of a run: packets may begin in one and end in the next. */
static uint8_t *run_join(const struct run *r)
{
	uint8_t *bytes = malloc(r->size);
	size_t at = 0;

	for (size_t i = 0; bytes != NULL && i < r->n; i++) {
		memcpy(bytes + at, r->pieces[i].bytes.p, r->pieces[i].bytes.n);
		at += r->pieces[i].bytes.n;
	}
	return bytes;
}

static int pieces_follow(struct sonde_vm_time *v)
{
	struct reading s = {.vmcs = NO_VMCS};
	int rc = 0;

	qsort(v->pieces, v->npieces, sizeof(*v->pieces), compare_pieces);
	for (size_t i = 0, end; rc >= 0 && i < v->npieces; i = end) {
		struct run r = {.pieces = &v->pieces[i]};
		uint8_t *joined = NULL;

		for (end = i + 1;
		        end < v->npieces && continues(&v->pieces[end - 1], &v->pieces[end]);
		        end++) {
		}
		if (i == 0 || v->pieces[i].idx != v->pieces[i - 1].idx) {
			s = (struct reading){.vmcs = NO_VMCS};
		}
		r.n = end - i;
		for (size_t k = i; k < end; k++) {
			r.size += v->pieces[k].bytes.n;
		}
		r.bytes = v->pieces[i].bytes.p;
		if (r.n > 1) {
			r.bytes = joined = run_join(&r);
		}
		rc = r.bytes != NULL ? run_read(v, &s, &r) : error_nomem(&v->error);
		free(joined);
	}
	return rc;
}

/* ---- writing ---- */

static int output_failed(struct sonde_vm_time *v, const char *path, const char *what)
{
	return error_errno(&v->error, SONDE_EOUTPUT, errno, "cannot %s %s", what, path);
}

/* check: only compares the bytes, which differ if the file is packed. */
static int changes_do(struct sonde_vm_time *v, bool check)
{
	const char *path = NULL;
	int fd = -1, rc = 0;

	for (size_t i = 0; rc >= 0 && i < v->nchanges; i++) {
		const struct change *c = &v->changes[i];
		uint8_t bytes[TSC_SIZE];

		if (path == NULL || strcmp(path, c->file) != 0) {
			if (fd >= 0) {
				(void)close(fd);
			}
			path = c->file;
			fd = open(path, (v->o.dry_run ? O_RDONLY : O_RDWR) | O_CLOEXEC);
			if (fd < 0) {
				return output_failed(v, path, "change");
			}
		}
		if (!check && pwrite(fd, c->after, c->n, (off_t)c->at) != c->n) {
			rc = output_failed(v, path, "write to");
		} else if (check && (pread(fd, bytes, c->n, (off_t)c->at) != c->n ||
		                            memcmp(bytes, c->before, c->n) != 0)) {
			rc = error_set(&v->error, SONDE_EUNSUPPORTED, c->at,
			        "%s is packed and cannot be changed in place; unpack it first",
			        path);
		}
	}
	if (fd >= 0 && close(fd) != 0 && rc >= 0) {
		rc = output_failed(v, path, "write to");
	}
	return rc;
}

static int change(struct sonde_vm_time *v, struct sonde_file *handle, const char *path)
{
	TRY(v->failure);
	TRY(options_read(v));
	reader_file(handle)->check_owner = !v->o.any_owner;
	if (sonde_file_open(handle, path) < 0) {
		return error_take(&v->error, sonde_file_error(handle));
	}
	TRY(pieces_read(v, handle));
	TRY(pieces_follow(v));
	if (v->alone != 0) {
		diag_report(&v->diags, SONDE_DIAG_LOST, NO_OFFSET,
		        "%s: %llu times have no crystal clock (TMA) after them and stay as they "
		        "are",
		        path, (unsigned long long)v->alone);
	}
	TRY(changes_do(v, true));
	TRY(v->o.dry_run ? 0 : changes_do(v, false));
	return v->alone != 0;
}

int sonde_vm_time_change(struct sonde_vm_time *v, const char *path)
{
	const struct sonde_file_options o = {
	        .size = sizeof(o), .on_diag = v->o.on_diag, .diag_arg = v->o.diag_arg};
	struct sonde_file *handle = sonde_file_new(&o);
	int rc = handle != NULL ? change(v, handle, path) : error_nomem(&v->error);

	sonde_file_free(handle);
	return rc;
}

struct sonde_vm_time *sonde_vm_time_new(const struct sonde_vm_time_options *options)
{
	struct sonde_vm_time *v = calloc(1, sizeof(*v));

	if (v != NULL) {
		v->failure = options_copy(&v->o, sizeof(v->o), options, &v->error);
		v->diags.fn = v->o.on_diag;
		v->diags.arg = v->o.diag_arg;
	}
	return v;
}

void sonde_vm_time_free(struct sonde_vm_time *v)
{
	if (v != NULL) {
		free(v->offsets);
		free(v->pieces);
		free(v->changes);
		free(v->main);
		free(v);
	}
}

const struct sonde_error *sonde_vm_time_error(const struct sonde_vm_time *v)
{
	return error_show(&v->error);
}
