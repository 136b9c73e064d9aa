/* SPDX-License-Identifier: MIT */
#include "export/schema.h"

#include <string.h>

#define COLUMNS(...)                                                                               \
	(const struct sonde_export_column[])                                                       \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#define BIG(n)                                                                                     \
	{                                                                                          \
		n, SONDE_EXPORT_BIGINT                                                             \
	}
#define SMALL(n)                                                                                   \
	{                                                                                          \
		n, SONDE_EXPORT_INTEGER                                                            \
	}
#define BOOL(n)                                                                                    \
	{                                                                                          \
		n, SONDE_EXPORT_BOOLEAN                                                            \
	}
#define STRING(n)                                                                                  \
	{                                                                                          \
		n, SONDE_EXPORT_TEXT                                                               \
	}
#define LIST(a) .columns = (a), .ncolumns = sizeof(a) / sizeof((a)[0])

static const struct sonde_export_column events[] = {BIG("id"), STRING("name")};
static const struct sonde_export_column machines[] = {BIG("id"), SMALL("pid"), STRING("root_dir")};
static const struct sonde_export_column threads[] = {
        BIG("id"), BIG("machine_id"), BIG("process_id"), SMALL("pid"), SMALL("tid")};
static const struct sonde_export_column comms[] = {
        BIG("id"), STRING("comm"), BIG("c_thread_id"), BIG("c_time"), BOOL("exec_flag")};
static const struct sonde_export_column comm_threads[] = {
        BIG("id"), BIG("comm_id"), BIG("thread_id")};
static const struct sonde_export_column dsos[] = {BIG("id"), BIG("machine_id"),
        STRING("short_name"), STRING("long_name"), STRING("build_id")};
static const struct sonde_export_column symbols[] = {BIG("id"), BIG("dso_id"), BIG("sym_start"),
        BIG("sym_end"), SMALL("binding"), STRING("name")};
static const struct sonde_export_column branch_types[] = {SMALL("id"), STRING("name")};
#define SAMPLE_START                                                                               \
	BIG("id"), BIG("evsel_id"), BIG("machine_id"), BIG("thread_id"), BIG("comm_id"),           \
	        BIG("dso_id"), BIG("symbol_id"), BIG("sym_offset"), BIG("ip"), BIG("time"),        \
	        SMALL("cpu"), BIG("to_dso_id"), BIG("to_symbol_id"), BIG("to_sym_offset"),         \
	        BIG("to_ip")
#define SAMPLE_END                                                                                 \
	SMALL("branch_type"), BOOL("in_tx"), BIG("call_path_id"), BIG("insn_count"),               \
	        BIG("cyc_count"), SMALL("flags")
#define SAMPLE_START_COLUMNS 15u
#define SAMPLE_COUNTS        4u /* columns that branches do not have */
static const struct sonde_export_column samples[] = {SAMPLE_START, BIG("period"), BIG("weight"),
        BIG("transaction_"), BIG("data_src"), SAMPLE_END};
static const struct sonde_export_column branches[] = {SAMPLE_START, SAMPLE_END};
static const struct sonde_export_column paths[] = {
        BIG("id"), BIG("parent_id"), BIG("symbol_id"), BIG("ip")};
static const struct sonde_export_column calls[] = {BIG("id"), BIG("thread_id"), BIG("comm_id"),
        BIG("call_path_id"), BIG("call_time"), BIG("return_time"), BIG("branch_count"),
        BIG("call_id"), BIG("return_id"), BIG("parent_call_path_id"), SMALL("flags"),
        BIG("parent_id"), BIG("insn_count"), BIG("cyc_count")};
static const struct sonde_export_column hosts[] = {BIG("id"), STRING("hostname"),
        STRING("os_release"), STRING("arch"), STRING("cpu_desc"), SMALL("nr_cpus")};
static const struct sonde_export_column recordings[] = {BIG("id"), BIG("host_id"), STRING("path"),
        STRING("cmdline"), BIG("first_time"), BIG("last_time"), BIG("first_machine_id"),
        BIG("last_machine_id"), BIG("first_sample_id"), BIG("last_sample_id")};
static const struct sonde_export_column ptwrite[] = {BIG("id"), BIG("payload"), BOOL("exact_ip")};
static const struct sonde_export_column cbr[] = {
        BIG("id"), SMALL("cbr"), SMALL("mhz"), SMALL("percent")};
static const struct sonde_export_column mwait[] = {BIG("id"), SMALL("hints"), SMALL("extensions")};
static const struct sonde_export_column pwre[] = {
        BIG("id"), SMALL("cstate"), SMALL("subcstate"), BOOL("hw")};
static const struct sonde_export_column exstop[] = {BIG("id"), BOOL("exact_ip")};
static const struct sonde_export_column pwrx[] = {
        BIG("id"), SMALL("deepest_cstate"), SMALL("last_cstate"), SMALL("wake_reason")};
static const struct sonde_export_column switches[] = {BIG("id"), BIG("machine_id"), BIG("time"),
        SMALL("cpu"), BIG("thread_out_id"), BIG("comm_out_id"), BIG("thread_in_id"),
        BIG("comm_in_id"), SMALL("flags")};

static const struct sonde_export_table all[EXPORT_TABLES] = {
        [EXPORT_EVENTS] = {.name = "selected_events", LIST(events)},
        [EXPORT_MACHINES] = {.name = "machines", LIST(machines)},
        [EXPORT_THREADS] = {.name = "threads", LIST(threads)},
        [EXPORT_COMMS] = {.name = "comms", LIST(comms)},
        [EXPORT_COMM_THREADS] = {.name = "comm_threads", LIST(comm_threads)},
        [EXPORT_DSOS] = {.name = "dsos", LIST(dsos)},
        [EXPORT_SYMBOLS] = {.name = "symbols", LIST(symbols)},
        [EXPORT_BRANCH_TYPES] = {.name = "branch_types", LIST(branch_types)},
        [EXPORT_SAMPLES] = {.name = "samples", LIST(samples)},
        [EXPORT_PATHS] = {.name = "call_paths", LIST(paths)},
        [EXPORT_CALLS] = {.name = "calls", LIST(calls)},
        [EXPORT_HOSTS] = {.name = "hosts", LIST(hosts)},
        [EXPORT_RECORDINGS] = {.name = "recordings", LIST(recordings)},
        [EXPORT_PTWRITE] = {.name = "ptwrite", LIST(ptwrite)},
        [EXPORT_CBR] = {.name = "cbr", LIST(cbr)},
        [EXPORT_MWAIT] = {.name = "mwait", LIST(mwait)},
        [EXPORT_PWRE] = {.name = "pwre", LIST(pwre)},
        [EXPORT_EXSTOP] = {.name = "exstop", LIST(exstop)},
        [EXPORT_PWRX] = {.name = "pwrx", LIST(pwrx)},
        [EXPORT_SWITCHES] = {.name = "context_switches", LIST(switches)},
};

void export_schema_tables(
        const struct sonde_export_options *options, struct sonde_export_table *tables)
{
	memcpy(tables, all, sizeof(all));
	for (size_t i = 0; i < EXPORT_TABLES; i++) {
		tables[i].number = i;
	}
	if (options->branches) {
		tables[EXPORT_SAMPLES].columns = branches;
		tables[EXPORT_SAMPLES].ncolumns = sizeof(branches) / sizeof(branches[0]);
	}
	if (!options->calls) {
		tables[EXPORT_CALLS].ncolumns = 0;
	}
	if (!options->calls && !options->callchains) {
		tables[EXPORT_PATHS].ncolumns = 0;
	}
}

static const char *type_name(const struct sonde_export_column *c)
{
	switch (c->type) {
	case SONDE_EXPORT_INTEGER: return "integer";
	case SONDE_EXPORT_BOOLEAN: return "boolean";
	case SONDE_EXPORT_TEXT: return "varchar";
	case SONDE_EXPORT_BIGINT:
	default: return "bigint";
	}
}

static const char *column_name(const struct sonde_export_column *c, enum export_engine engine)
{
	return engine == EXPORT_POSTGRESQL && strcmp(c->name, "transaction_") == 0 ? "transaction"
	                                                                           : c->name;
}

/* In SQLite only an "integer" key is the number of the row itself, without an index of its own. */
void export_schema_create(
        struct text *out, enum export_engine engine, const struct sonde_export_table *table)
{
	text_printf(out, "CREATE TABLE %s (", table->name);
	for (size_t i = 0; i < table->ncolumns; i++) {
		const struct sonde_export_column *c = &table->columns[i];

		if (i == 0 && engine == EXPORT_SQLITE) {
			text_printf(out, "%s integer NOT NULL PRIMARY KEY", c->name);
			continue;
		}
		text_printf(out, "%s%s %s%s", i != 0 ? ", " : "", column_name(c, engine),
		        type_name(c), i == 0 ? " PRIMARY KEY" : "");
	}
	text_str(out, ")");
	if (engine == EXPORT_POSTGRESQL && export_schema_grows(table->number)) {
		text_str(out, " PARTITION BY RANGE (id)");
	}
	text_str(out, ";\n");
}

void export_schema_columns(struct text *out, const struct sonde_export_table *table)
{
	for (size_t i = 0; i < table->ncolumns; i++) {
		text_printf(out, "%s%s", i == 0 ? " (" : ", ", table->columns[i].name);
	}
	text_str(out, ")");
}

bool export_schema_grows(size_t table)
{
	return (table >= EXPORT_SAMPLES && table <= EXPORT_CALLS) || table >= EXPORT_PTWRITE;
}

/* Names of keys are those that perf's script chooses. */
static const struct key {
	enum export_table table;
	const char *name, *column;
	enum export_table target;
} keys[] = {
        {EXPORT_THREADS, "machinefk", "machine_id", EXPORT_MACHINES},
        {EXPORT_THREADS, "processfk", "process_id", EXPORT_THREADS},
        {EXPORT_COMMS, "threadfk", "c_thread_id", EXPORT_THREADS},
        {EXPORT_COMM_THREADS, "commfk", "comm_id", EXPORT_COMMS},
        {EXPORT_COMM_THREADS, "threadfk", "thread_id", EXPORT_THREADS},
        {EXPORT_DSOS, "machinefk", "machine_id", EXPORT_MACHINES},
        {EXPORT_SYMBOLS, "dsofk", "dso_id", EXPORT_DSOS},
        {EXPORT_SAMPLES, "evselfk", "evsel_id", EXPORT_EVENTS},
        {EXPORT_SAMPLES, "machinefk", "machine_id", EXPORT_MACHINES},
        {EXPORT_SAMPLES, "threadfk", "thread_id", EXPORT_THREADS},
        {EXPORT_SAMPLES, "commfk", "comm_id", EXPORT_COMMS},
        {EXPORT_SAMPLES, "dsofk", "dso_id", EXPORT_DSOS},
        {EXPORT_SAMPLES, "symbolfk", "symbol_id", EXPORT_SYMBOLS},
        {EXPORT_SAMPLES, "todsofk", "to_dso_id", EXPORT_DSOS},
        {EXPORT_SAMPLES, "tosymbolfk", "to_symbol_id", EXPORT_SYMBOLS},
        {EXPORT_PATHS, "parentfk", "parent_id", EXPORT_PATHS},
        {EXPORT_PATHS, "symbolfk", "symbol_id", EXPORT_SYMBOLS},
        {EXPORT_CALLS, "threadfk", "thread_id", EXPORT_THREADS},
        {EXPORT_CALLS, "commfk", "comm_id", EXPORT_COMMS},
        {EXPORT_CALLS, "call_pathfk", "call_path_id", EXPORT_PATHS},
        {EXPORT_CALLS, "callfk", "call_id", EXPORT_SAMPLES},
        {EXPORT_CALLS, "returnfk", "return_id", EXPORT_SAMPLES},
        {EXPORT_CALLS, "parent_call_pathfk", "parent_call_path_id", EXPORT_PATHS},
        {EXPORT_RECORDINGS, "hostfk", "host_id", EXPORT_HOSTS},
        {EXPORT_PTWRITE, "idfk", "id", EXPORT_SAMPLES},
        {EXPORT_CBR, "idfk", "id", EXPORT_SAMPLES},
        {EXPORT_MWAIT, "idfk", "id", EXPORT_SAMPLES},
        {EXPORT_PWRE, "idfk", "id", EXPORT_SAMPLES},
        {EXPORT_EXSTOP, "idfk", "id", EXPORT_SAMPLES},
        {EXPORT_PWRX, "idfk", "id", EXPORT_SAMPLES},
        {EXPORT_SWITCHES, "machinefk", "machine_id", EXPORT_MACHINES},
        {EXPORT_SWITCHES, "toutfk", "thread_out_id", EXPORT_THREADS},
        {EXPORT_SWITCHES, "tinfk", "thread_in_id", EXPORT_THREADS},
        {EXPORT_SWITCHES, "coutfk", "comm_out_id", EXPORT_COMMS},
        {EXPORT_SWITCHES, "cinfk", "comm_in_id", EXPORT_COMMS},
};

void export_schema_references(struct text *out, size_t table, const char *name)
{
	bool any = false;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (keys[i].table != table) {
			continue;
		}
		if (!any) {
			text_printf(out, "ALTER TABLE %s", name);
		}
		text_printf(out, "%s ADD CONSTRAINT %s FOREIGN KEY (%s) REFERENCES %s (id)",
		        any ? "," : "", keys[i].name, keys[i].column, all[keys[i].target].name);
		any = true;
	}
	if (any) {
		text_str(out, ";\n");
	}
}

/*
 * Views. In their text {x:E} is E in hexadecimal, {yes:E} 'True' or 'False', {ipc} instructions per
 * cycle, {text:E} E as text that is empty for NULL.
 */
struct view {
	const char *name, *columns, *from;
};

#define NUMBERED(t)            " FROM " t " JOIN samples ON samples.id = " t ".id"
#define OUTER(t, as, a, b)     " LEFT JOIN " t " " as " ON " a " = " b
#define SWITCH_SIDE(t, as, id) " JOIN " t " " as " ON " as ".id = context_switches." id

static const struct view views[EXPORT_TABLES] = {
        [EXPORT_MACHINES] = {"machines_view",
                "id, pid, root_dir, CASE WHEN id = 0 THEN 'unknown' WHEN pid = -1 THEN 'host' "
                "ELSE 'guest' END AS host_or_guest",
                " FROM machines"},
        [EXPORT_DSOS] = {"dsos_view",
                "d.id, d.machine_id, m.host_or_guest, d.short_name, d.long_name, d.build_id",
                " FROM dsos d" OUTER("machines_view", "m", "m.id", "d.machine_id")},
        [EXPORT_SYMBOLS] = {"symbols_view",
                "s.id, s.name, d.short_name AS dso, s.dso_id, s.sym_start, s.sym_end, "
                "CASE s.binding WHEN 0 THEN 'local' WHEN 1 THEN 'global' ELSE 'weak' END "
                "AS binding",
                " FROM symbols s" OUTER("dsos", "d", "d.id", "s.dso_id")},
        [EXPORT_THREADS] = {"threads_view",
                "t.id, t.machine_id, m.host_or_guest, t.process_id, t.pid, t.tid",
                " FROM threads t" OUTER("machines_view", "m", "m.id", "t.machine_id")},
        [EXPORT_COMM_THREADS] = {"comm_threads_view",
                "ct.comm_id, c.comm AS command, ct.thread_id, t.pid, t.tid",
                " FROM comm_threads ct" OUTER("comms", "c", "c.id", "ct.comm_id")
                        OUTER("threads", "t", "t.id", "ct.thread_id")},
        [EXPORT_PATHS] = {"call_paths_view",
                "c.id, {x:c.ip} AS ip, c.symbol_id, s.name AS symbol, s.dso_id, "
                "d.short_name AS dso_short_name, c.parent_id, {x:p.ip} AS parent_ip, "
                "p.symbol_id AS parent_symbol_id, ps.name AS parent_symbol, "
                "ps.dso_id AS parent_dso_id, pd.short_name AS parent_dso_short_name",
                " FROM call_paths c JOIN call_paths p ON p.id = c.parent_id" OUTER("symbols", "s",
                        "s.id", "c.symbol_id") OUTER("dsos", "d", "d.id", "s.dso_id")
                        OUTER("symbols", "ps", "ps.id", "p.symbol_id")
                                OUTER("dsos", "pd", "pd.id", "ps.dso_id")},
        [EXPORT_CALLS] = {"calls_view",
                "c.id, c.thread_id, t.pid, t.tid, n.comm AS command, c.call_path_id, "
                "{x:p.ip} AS ip, p.symbol_id, s.name AS symbol, c.call_time, c.return_time, "
                "c.return_time - c.call_time AS elapsed_time, c.branch_count, c.insn_count, "
                "c.cyc_count, {ipc} AS IPC, c.call_id, c.return_id, "
                "CASE c.flags WHEN 0 THEN '' WHEN 1 THEN 'no call' WHEN 2 THEN 'no return' "
                "WHEN 3 THEN 'no call/return' WHEN 6 THEN 'jump' "
                "ELSE CAST(c.flags AS varchar(6)) END AS flags, "
                "c.parent_call_path_id, c.parent_id",
                " FROM calls c JOIN call_paths p ON p.id = c.call_path_id" OUTER("threads", "t",
                        "t.id", "c.thread_id") OUTER("comms", "n", "n.id", "c.comm_id")
                        OUTER("symbols", "s", "s.id", "p.symbol_id")},
        [EXPORT_SAMPLES] = {"samples_view",
                "c.id, c.time, c.cpu, t.pid, t.tid, n.comm AS command, e.name AS event, "
                "{x:c.ip} AS ip_hex, s.name AS symbol, c.sym_offset, "
                "d.short_name AS dso_short_name, {x:c.to_ip} AS to_ip_hex, "
                "ts.name AS to_symbol, c.to_sym_offset, td.short_name AS to_dso_short_name, "
                "b.name AS branch_type_name, c.in_tx, c.insn_count, c.cyc_count, {ipc} AS IPC, "
                "c.flags",
                " FROM samples c" OUTER("threads", "t", "t.id", "c.thread_id") OUTER("comms", "n",
                        "n.id", "c.comm_id") OUTER("selected_events", "e", "e.id", "c.evsel_id")
                        OUTER("symbols", "s", "s.id", "c.symbol_id") OUTER("dsos", "d", "d.id",
                                "c.dso_id") OUTER("symbols", "ts", "ts.id", "c.to_symbol_id")
                                OUTER("dsos", "td", "td.id", "c.to_dso_id")
                                        OUTER("branch_types", "b", "b.id", "c.branch_type")},
        [EXPORT_PTWRITE] = {"ptwrite_view",
                "ptwrite.id, time, cpu, {x:payload} AS payload_hex, {yes:exact_ip} AS exact_ip",
                NUMBERED("ptwrite")},
        [EXPORT_CBR] = {"cbr_view", "cbr.id, time, cpu, cbr, mhz, percent", NUMBERED("cbr")},
        [EXPORT_MWAIT] = {"mwait_view",
                "mwait.id, time, cpu, {x:hints} AS hints_hex, {x:extensions} AS extensions_hex",
                NUMBERED("mwait")},
        [EXPORT_PWRE] = {"pwre_view", "pwre.id, time, cpu, cstate, subcstate, {yes:hw} AS hw",
                NUMBERED("pwre")},
        [EXPORT_EXSTOP] = {"exstop_view", "exstop.id, time, cpu, {yes:exact_ip} AS exact_ip",
                NUMBERED("exstop")},
        [EXPORT_PWRX] = {"pwrx_view",
                "pwrx.id, time, cpu, deepest_cstate, last_cstate, {wake} AS wake_reason",
                NUMBERED("pwrx")},
        [EXPORT_SWITCHES] = {"context_switches_view",
                "context_switches.id, context_switches.machine_id, context_switches.time, "
                "context_switches.cpu, th_out.pid AS pid_out, th_out.tid AS tid_out, "
                "comm_out.comm AS comm_out, th_in.pid AS pid_in, th_in.tid AS tid_in, "
                "comm_in.comm AS comm_in, CASE context_switches.flags WHEN 0 THEN 'in' "
                "WHEN 1 THEN 'out' WHEN 3 THEN 'out preempt' "
                "ELSE CAST(context_switches.flags AS varchar(11)) END AS flags",
                " FROM context_switches" SWITCH_SIDE("threads", "th_out", "thread_out_id")
                        SWITCH_SIDE("threads", "th_in", "thread_in_id")
                                SWITCH_SIDE("comms", "comm_out", "comm_out_id")
                                        SWITCH_SIDE("comms", "comm_in", "comm_in_id")},
};

/* Appends what a name in braces means; e: its argument of n bytes. */
static void put_form(struct text *out, enum export_engine engine, const char *name, size_t size,
        const char *e, size_t n)
{
	int len = (int)n;

	if (size == 1) {
		text_printf(out, engine == EXPORT_SQLITE ? "printf('%%x', %.*s)" : "to_hex(%.*s)",
		        len, e);
	} else if (strncmp(name, "yes", size) == 0) {
		text_printf(out, "CASE WHEN %.*s = %s THEN 'False' ELSE 'True' END", len, e,
		        engine == EXPORT_SQLITE ? "0" : "false");
	} else if (strncmp(name, "wake", size) == 0) {
		text_str(out,
		        "CASE wake_reason WHEN 1 THEN 'Interrupt' WHEN 2 THEN 'Timer Deadline' "
		        "WHEN 4 THEN 'Monitored Address' WHEN 8 THEN 'HW' "
		        "ELSE CAST(wake_reason AS varchar(10)) END");
	} else if (strncmp(name, "text", size) == 0) {
		text_printf(out, "COALESCE(CAST(%.*s AS varchar), '')", len, e);
	} else { /* ipc */
		text_str(out,
		        engine == EXPORT_SQLITE
		                ? "CASE c.cyc_count WHEN 0 THEN 0.0 ELSE "
		                  "ROUND(CAST(c.insn_count AS FLOAT) / c.cyc_count, 2) END"
		                : "CASE c.cyc_count WHEN 0 THEN CAST(0 AS numeric(20, 2)) ELSE "
		                  "CAST(CAST(c.insn_count AS float8) / c.cyc_count "
		                  "AS numeric(20, 2)) END");
	}
}

static void put_forms(struct text *out, enum export_engine engine, const char *sql)
{
	for (const char *open; (open = strchr(sql, '{')) != NULL;) {
		const char *close = strchr(open, '}');
		size_t size = strcspn(open + 1, ":}");
		const char *e = open + 1 + size + (open[1 + size] == ':');

		text_bytes(out, sql, (size_t)(open - sql));
		put_form(out, engine, open + 1, size, e, (size_t)(close - e));
		sql = close + 1;
	}
	text_str(out, sql);
}

const char *export_table_name(size_t table)
{
	return all[table].name;
}

void export_schema_view(struct text *out, enum export_engine engine, size_t table)
{
	const struct view *v = &views[table];

	if (v->name == NULL) {
		return;
	}
	text_printf(out, "CREATE VIEW %s AS SELECT ", v->name);
	put_forms(out, engine, v->columns);
	put_forms(out, engine, v->from);
	text_str(out, ";\n");
}

#define YES_NO(e) "CASE WHEN " e " = false THEN 'False' WHEN " e " = true THEN 'True' END"

/* Texts of PostgreSQL have a width, as perf's do. */
void export_schema_power_view(struct text *out, enum export_engine engine)
{
	static const struct {
		const char *column, *sql[2]; /* by engine */
	} columns[] = {
	        {"cbr", {"{text:cbr.cbr}", "format('%6s', cbr.cbr)"}},
	        {"mhz", {"{text:cbr.mhz}", "format('%6s', cbr.mhz)"}},
	        {"percent", {"{text:cbr.percent}", "format('%5s', cbr.percent)"}},
	        {"hints_hex", {"COALESCE({x:mwait.hints}, '')", "{x:mwait.hints}"}},
	        {"extensions_hex", {"COALESCE({x:mwait.extensions}, '')", "{x:mwait.extensions}"}},
	        {"cstate", {"{text:pwre.cstate}", "format('%3s', pwre.cstate)"}},
	        {"subcstate", {"{text:pwre.subcstate}", "format('%3s', pwre.subcstate)"}},
	        {"hw", {"{text:pwre.hw}", YES_NO("pwre.hw")}},
	        {"exact_ip", {"{text:exstop.exact_ip}", YES_NO("exstop.exact_ip")}},
	        {"deepest_cstate",
	                {"{text:pwrx.deepest_cstate}", "format('%3s', pwrx.deepest_cstate)"}},
	        {"last_cstate", {"{text:pwrx.last_cstate}", "format('%3s', pwrx.last_cstate)"}},
	        {"wake_reason",
	                {"COALESCE({wake}, '')",
	                        "CASE WHEN wake_reason IN (1, 2, 4, 8) THEN CAST({wake} AS text) "
	                        "ELSE format('%2s', wake_reason) END"}},
	};

	text_str(out,
	        "CREATE VIEW power_events_view AS SELECT samples.id, time, cpu, e.name AS event");
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		text_str(out, ", ");
		put_forms(out, engine, columns[i].sql[engine]);
		text_printf(out, " AS %s", columns[i].column);
	}
	text_str(out, " FROM samples JOIN selected_events e ON e.id = evsel_id");
	for (size_t t = EXPORT_CBR; t <= EXPORT_PWRX; t++) {
		text_printf(out, " LEFT JOIN %s ON %s.id = samples.id", all[t].name, all[t].name);
	}
	text_str(out, engine == EXPORT_SQLITE
	                      ? " WHERE e.name IN ('cbr', 'mwait', 'exstop', 'pwre', 'pwrx');\n"
	                      : " WHERE COALESCE(cbr.id, mwait.id, pwre.id, exstop.id, pwrx.id) "
	                        "IS NOT NULL ORDER BY samples.id;\n");
}

bool export_schema_kept(const bool *has_rows, bool *kept)
{
	bool power = false;

	for (size_t t = EXPORT_MWAIT; t <= EXPORT_PWRX; t++) {
		power = power || has_rows[t];
	}
	for (size_t t = 0; t < EXPORT_TABLES; t++) {
		kept[t] = t < EXPORT_PTWRITE || has_rows[t] ||
		          (power && t >= EXPORT_CBR && t <= EXPORT_PWRX);
	}
	return power;
}

/* Bits of samples.flags, as in perf. */
enum { BEGIN = 1 << 8, END = 1 << 9 };

bool export_branch_type(size_t i, struct text *name, int64_t *id)
{
	static const struct {
		int64_t bits;
		const char *name;
	} kinds[] = {{0, "no branch"}, {1, "unconditional jump"}, {3, "call"}, {5, "return"},
	        {9, "conditional jump"}, {19, "system call"}, {21, "return from system call"},
	        {33, "asynchronous branch"}, {67, "software interrupt"},
	        {69, "return from interrupt"}, {99, "hardware interrupt"},
	        {129, "transaction abort"}, {2051, "vm entry"}, {4099, "vm exit"}};
	const size_t n = sizeof(kinds) / sizeof(kinds[0]);
	size_t form = i / n, kind = i % n;

	if (form > 2) {
		return false;
	}
	*id = kinds[kind].bits | (form == 1 ? BEGIN : form == 2 ? END : 0);
	name->n = 0;
	if (kind == 1 && form != 0) {
		text_str(name, form == 1 ? "trace begin" : "trace end");
	} else {
		text_printf(name, "%s%s%s", form == 1 ? "trace begin / " : "", kinds[kind].name,
		        form == 2 ? " / trace end" : "");
	}
	text_char(name, '\0');
	return true;
}

void export_schema_call_indexes(struct text *out)
{
	text_str(out, "CREATE INDEX pcpid_idx ON calls (parent_call_path_id);\n"
	              "CREATE INDEX pid_idx ON calls (parent_id);\n");
}

void export_schema_has_calls(struct text *out, int64_t after)
{
	text_printf(out,
	        "UPDATE comms SET has_calls = true WHERE id > %lld AND "
	        "id IN (SELECT comm_id FROM calls);\n",
	        (long long)after);
}
