/* SPDX-License-Identifier: MIT */
/* When and where something was counted: the beginning of lines and objects. */
#include "stat/stat.h"

bool stat_counts_cpus(enum sonde_stat_by by)
{
	return by == SONDE_STAT_BY_SOCKET || by == SONDE_STAT_BY_DIE || by == SONDE_STAT_BY_CORE ||
	       by == SONDE_STAT_BY_NODE;
}

const char *stat_part_name(enum sonde_stat_by by)
{
	static const char *const names[] = {
	        [SONDE_STAT_BY_CPU] = "cpu",
	        [SONDE_STAT_BY_SOCKET] = "socket",
	        [SONDE_STAT_BY_DIE] = "die",
	        [SONDE_STAT_BY_CORE] = "core",
	        [SONDE_STAT_BY_THREAD] = "thread",
	        [SONDE_STAT_BY_NODE] = "node",
	};

	return names[by];
}

void stat_print_stamp(const struct stat_printer *p, struct text *out)
{
	if (p->intervals) {
		text_printf(out, "%6llu.%09llu%s", (unsigned long long)(p->stamp_ns / 1000000000),
		        (unsigned long long)(p->stamp_ns % 1000000000),
		        p->format == SONDE_STAT_CSV ? p->separator : " ");
	}
}

void stat_json_front(const struct stat_printer *p, const struct stat_set *s,
        const struct stat_row *row, struct json *j)
{
	const char *part = stat_part_name(s->by);

	json_object(j, NULL);
	if (p->intervals) {
		json_printf(j, "interval", "%llu.%09llu",
		        (unsigned long long)(p->stamp_ns / 1000000000),
		        (unsigned long long)(p->stamp_ns % 1000000000));
	}
	if (part != NULL) {
		json_text(j, part, s->by == SONDE_STAT_BY_CPU ? row->label + 3 : row->label);
	}
	if (stat_counts_cpus(s->by)) {
		json_u64(j, "aggregate-number", row->ncells);
	}
}
