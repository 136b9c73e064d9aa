/* SPDX-License-Identifier: MIT */
/*
 * SQL that SQLite and PostgreSQL understand alike. In the templates {name} is a parameter, which
 * becomes $1, $2 and so on, or one of the filters below, or {sort}.
 *
 * A function is all symbols of a name in an object: addresses without a symbol are symbols "unknown".
 * calls.flags: 1 the call is not in the trace, 2 the return is not.
 */
#include "db/db.h"

#include <string.h>

/* Names of columns are those of struct db_question.columns, in this order. */

#define CHOSEN                                                                                     \
	"FROM calls c\n"                                                                           \
	"    JOIN threads t ON t.id = c.thread_id\n"                                               \
	"    JOIN comms n ON n.id = c.comm_id\n"

/* Time in callees, by caller. */
#define CALLEES                                                                                    \
	"callees AS (\n"                                                                           \
	"    SELECT parent_id, sum(return_time - call_time) AS took\n"                             \
	"    FROM calls WHERE id <> 0 GROUP BY parent_id\n"                                        \
	")"

/* `recursive`: paths inside a call of the same function. */
static const char top[] =
        "WITH RECURSIVE functions AS (\n"
        "    SELECT id AS symbol_id, min(id) OVER (PARTITION BY name, dso_id) AS function_id\n"
        "    FROM symbols\n"
        "), paths AS (\n"
        "    SELECT p.id, p.parent_id, f.function_id\n"
        "    FROM call_paths p JOIN functions f ON f.symbol_id = p.symbol_id\n"
        "), callers (path_id, function_id, caller_id) AS (\n"
        "    SELECT id, function_id, parent_id FROM paths WHERE parent_id <> 0\n"
        "    UNION ALL\n"
        "    SELECT c.path_id, c.function_id, p.parent_id\n"
        "    FROM callers c JOIN paths p ON p.id = c.caller_id\n"
        "    WHERE p.function_id <> c.function_id AND p.parent_id <> 0 AND p.parent_id < p.id\n"
        "), recursive_paths AS (\n"
        "    SELECT c.path_id FROM callers c JOIN paths p ON p.id = c.caller_id\n"
        "    WHERE p.function_id = c.function_id AND p.parent_id <> 0\n"
        "), " CALLEES ", chosen AS (\n"
        "    SELECT c.call_path_id AS path_id, c.flags, c.return_time - c.call_time AS took,\n"
        "        c.return_time - c.call_time - COALESCE(callees.took, 0) AS self\n"
        "    " CHOSEN "    LEFT JOIN callees ON callees.parent_id = c.id\n"
        "    WHERE c.id <> 0{threads}{range}{long}\n"
        ")\n"
        "SELECT count(*) AS calls,\n"
        "    CAST(sum(CASE WHEN r.path_id IS NULL THEN c.took ELSE 0 END) AS bigint) AS total,\n"
        "    CAST(sum(c.self) AS bigint) AS self,\n"
        "    min(CASE WHEN (c.flags & 3) = 0 THEN c.took END) AS min,\n"
        "    max(CASE WHEN (c.flags & 3) = 0 THEN c.took END) AS max,\n"
        "    s.name AS function, d.long_name AS dso\n"
        "FROM chosen c\n"
        "    JOIN paths p ON p.id = c.path_id\n"
        "    JOIN symbols s ON s.id = p.function_id\n"
        "    LEFT JOIN dsos d ON d.id = s.dso_id\n"
        "    LEFT JOIN recursive_paths r ON r.path_id = c.path_id\n"
        "GROUP BY p.function_id, s.name, d.long_name\n"
        "ORDER BY {sort} DESC, p.function_id{limit}";

/* key: places among the callees of a path, from the outermost on; so it sorts as the tree. */
static const char graph[] =
        "WITH RECURSIVE " CALLEES ", sums AS (\n"
        "    SELECT c.call_path_id AS path_id, count(*) AS calls,\n"
        "        CAST(sum(c.return_time - c.call_time) AS bigint) AS total,\n"
        "        CAST(sum(c.return_time - c.call_time - COALESCE(callees.took, 0)) AS bigint) AS "
        "self,\n"
        "        CAST(sum(c.branch_count) AS bigint) AS branches,\n"
        "        CAST(sum(c.insn_count) AS bigint) AS insns,\n"
        "        CAST(sum(c.cyc_count) AS bigint) AS cycles\n"
        "    " CHOSEN "    LEFT JOIN callees ON callees.parent_id = c.id\n"
        "    WHERE c.id <> 0{threads}{range}{long}\n"
        "    GROUP BY c.call_path_id\n"
        "), places AS (\n"
        "    SELECT s.*, p.parent_id, p.symbol_id,\n"
        "        row_number() OVER (PARTITION BY p.parent_id ORDER BY s.total DESC, s.path_id) AS "
        "place\n"
        "    FROM sums s JOIN call_paths p ON p.id = s.path_id\n"
        "), nodes (path_id, depth, key) AS (\n"
        "    SELECT p.path_id, 0, substr(CAST(1000000 + p.place AS varchar(20)), 2)\n"
        "    FROM places p LEFT JOIN places above ON above.path_id = p.parent_id\n"
        "    WHERE above.path_id IS NULL\n"
        "    UNION ALL\n"
        "    SELECT p.path_id, n.depth + 1, n.key || substr(CAST(1000000 + p.place AS "
        "varchar(20)), 2)\n"
        "    FROM nodes n JOIN places p ON p.parent_id = n.path_id{levels}\n"
        ")\n"
        "SELECT p.calls, p.total, p.self, p.branches, p.insns, p.cycles, n.depth,\n"
        "    s.name AS function, d.long_name AS dso\n"
        "FROM nodes n\n"
        "    JOIN places p ON p.path_id = n.path_id\n"
        "    LEFT JOIN symbols s ON s.id = p.symbol_id\n"
        "    LEFT JOIN dsos d ON d.id = s.dso_id\n"
        "ORDER BY n.key{limit}";

static const char tree[] =
        "WITH RECURSIVE nodes (id, depth) AS (\n"
        "    SELECT c.id, 0\n"
        "    " CHOSEN "    WHERE c.id <> 0 AND c.parent_id = 0{threads}{range}{long}\n"
        "    UNION ALL\n"
        "    SELECT c.id, nodes.depth + 1\n"
        "    FROM nodes JOIN calls c ON c.parent_id = nodes.id\n"
        "    WHERE c.id <> 0{range}{long}{calls_levels}\n"
        ")\n"
        "SELECT t.tid, c.call_time AS entry, c.return_time AS exit,\n"
        "    c.return_time - c.call_time AS duration,\n"
        "    c.branch_count AS branches, c.insn_count AS insns, c.cyc_count AS cycles, "
        "nodes.depth,\n"
        "    s.name AS function, d.long_name AS dso\n"
        "FROM nodes\n"
        "    JOIN calls c ON c.id = nodes.id\n"
        "    JOIN threads t ON t.id = c.thread_id\n"
        "    JOIN call_paths p ON p.id = c.call_path_id\n"
        "    LEFT JOIN symbols s ON s.id = p.symbol_id\n"
        "    LEFT JOIN dsos d ON d.id = s.dso_id\n"
        "ORDER BY c.thread_id, c.call_id, nodes.depth{limit}";

static const char slow[] =
        "SELECT c.call_time AS entry, c.return_time AS exit, c.return_time - c.call_time AS "
        "duration,\n"
        "    c.branch_count AS branches, c.insn_count AS insns, c.cyc_count AS cycles, t.tid, "
        "n.comm,\n"
        "    CASE c.flags & 3 WHEN 0 THEN 'call and return' WHEN 1 THEN 'no call'\n"
        "        WHEN 2 THEN 'no return' ELSE 'no call/return' END AS seen,\n"
        "    caller.name AS caller, d.long_name AS dso\n"
        "" CHOSEN "    JOIN call_paths p ON p.id = c.call_path_id\n"
        "    JOIN symbols s ON s.id = p.symbol_id\n"
        "    LEFT JOIN call_paths up ON up.id = c.parent_call_path_id\n"
        "    LEFT JOIN symbols caller ON caller.id = up.symbol_id\n"
        "    LEFT JOIN dsos d ON d.id = caller.dso_id\n"
        "WHERE c.id <> 0 AND s.name = {function}{threads}{range}{long}\n"
        "ORDER BY c.return_time - c.call_time DESC, c.call_id, c.id{limit}";

static const char between[] =
        "WITH entries AS (\n"
        "    SELECT c.thread_id, c.call_id, c.call_time,\n"
        "        CASE WHEN s.name = {function} THEN 1 ELSE 0 END AS begins,\n"
        "        CASE WHEN s.name = {to} THEN 1 ELSE 0 END AS ends\n"
        "    " CHOSEN "    JOIN call_paths p ON p.id = c.call_path_id\n"
        "    JOIN symbols s ON s.id = p.symbol_id\n"
        "    WHERE c.id <> 0 AND (c.flags & 1) = 0 AND s.name IN ({function}, {to}){threads}\n"
        "), steps AS (\n"
        "    SELECT thread_id, begins, call_time,\n"
        "        lead(call_time) OVER w AS return_time, lead(ends) OVER w AS ends\n"
        "    FROM entries WINDOW w AS (PARTITION BY thread_id ORDER BY call_id)\n"
        ")\n"
        "SELECT c.call_time AS start, c.return_time AS end,\n"
        "    c.return_time - c.call_time AS duration, t.tid\n"
        "FROM steps c JOIN threads t ON t.id = c.thread_id\n"
        "WHERE c.begins = 1 AND c.ends = 1{range}{long}\n"
        "ORDER BY c.call_time, c.thread_id{limit}";

/* branch_type: 2 calls, 4 returns, which may come from the function itself */
static const char branches[] =
        "SELECT count(*) AS branches, b.name AS type, c.to_sym_offset AS to_offset,\n"
        "    f.name AS function, c.sym_offset AS from_offset, d.long_name AS dso\n"
        "FROM samples c\n"
        "    JOIN threads t ON t.id = c.thread_id\n"
        "    JOIN comms n ON n.id = c.comm_id\n"
        "    JOIN symbols s ON s.id = c.to_symbol_id\n"
        "    LEFT JOIN symbols f ON f.id = c.symbol_id\n"
        "    LEFT JOIN dsos d ON d.id = f.dso_id\n"
        "    LEFT JOIN branch_types b ON b.id = c.branch_type\n"
        "WHERE c.id <> 0 AND c.branch_type <> 0 AND s.name = {function}\n"
        "    AND (c.symbol_id <> c.to_symbol_id OR (c.branch_type & 6) <> 0){threads}{moment}\n"
        "GROUP BY c.symbol_id, c.sym_offset, c.to_symbol_id, c.to_sym_offset, c.branch_type,\n"
        "    b.name, f.name, d.long_name\n"
        "ORDER BY count(*) DESC, c.to_symbol_id, c.to_sym_offset, c.symbol_id, c.sym_offset,\n"
        "    c.branch_type{limit}";

#define OF_CALLS                                                                                   \
	{                                                                                          \
		"calls", "call_paths", "symbols", "dsos", "threads", "comms"                       \
	}
#define OF_SAMPLES                                                                                 \
	{                                                                                          \
		"samples", "branch_types", "symbols", "dsos", "threads", "comms"                   \
	}
#define FUNCTION                                                                                   \
	{"function", "function", DB_FUNCTION, 0},                                                  \
	{                                                                                          \
		"dso", NULL, DB_OBJECT, 0                                                          \
	}
#define COUNTS                                                                                     \
	{"branches", "branches", DB_NUMBER, 10}, {"insns", "insns", DB_NUMBER, 12},                \
	{                                                                                          \
		"cycles", "cycles", DB_NUMBER, 12                                                  \
	}

static const struct db_question questions[SONDE_DB_QUESTIONS] = {
        [SONDE_DB_TOP] = {"top", top, OF_CALLS,
                {{"calls", "calls", DB_NUMBER, 9}, {"total", "total/ns", DB_NUMBER, 13},
                        {"self", "self/ns", DB_NUMBER, 13}, {"min", "min/ns", DB_NUMBER, 13},
                        {"max", "max/ns", DB_NUMBER, 13}, FUNCTION},
                0},
        [SONDE_DB_GRAPH] = {"graph", graph, OF_CALLS,
                {{"calls", "calls", DB_NUMBER, 9}, {"total", "total/ns", DB_NUMBER, 13},
                        {"self", "self/ns", DB_NUMBER, 13}, COUNTS, {"depth", NULL, DB_DEPTH, 0},
                        FUNCTION},
                0},
        [SONDE_DB_TREE] = {"tree", tree, OF_CALLS,
                {{"tid", "tid", DB_NUMBER, 7}, {"entry", "entry", DB_TIME, 16},
                        {"exit", "exit", DB_TIME, 16}, {"duration", "duration/ns", DB_NUMBER, 13},
                        COUNTS, {"depth", NULL, DB_DEPTH, 0}, FUNCTION},
                0},
        [SONDE_DB_SLOW] = {"slow", slow, OF_CALLS,
                {{"entry", "entry", DB_TIME, 16}, {"exit", "exit", DB_TIME, 16},
                        {"duration", "duration/ns", DB_NUMBER, 13}, COUNTS,
                        {"tid", "tid", DB_NUMBER, 7}, {"comm", "comm", DB_TEXT, -16},
                        {"seen", "seen", DB_TEXT, -15}, {"caller", "caller", DB_FUNCTION, 0},
                        {"dso", NULL, DB_OBJECT, 0}},
                1},
        [SONDE_DB_BETWEEN] = {"between", between, OF_CALLS,
                {{"start", "start", DB_TIME, 16}, {"end", "end", DB_TIME, 16},
                        {"duration", "duration/ns", DB_NUMBER, 13}, {"tid", "tid", DB_NUMBER, 7}},
                2},
        [SONDE_DB_BRANCHES] = {"branches", branches, OF_SAMPLES,
                {{"branches", "branches", DB_NUMBER, 10}, {"type", "type", DB_TEXT, -22},
                        {"to_offset", "to", DB_OFFSET, 10}, {"from", "from", DB_FUNCTION, 0},
                        {"from_offset", NULL, DB_OFFSET, 0}, {"from_dso", NULL, DB_OBJECT, 0}},
                1},
};

const struct db_question *db_question(enum sonde_db_question question)
{
	return (unsigned)question < SONDE_DB_QUESTIONS ? &questions[question] : NULL;
}

static void put_param(struct db_query *q, struct db_param param)
{
	size_t i = 0;

	while (i < q->nparams && strcmp(q->params[i].name, param.name) != 0) {
		i++;
	}
	if (i == q->nparams) {
		q->params[q->nparams++] = param;
	}
	text_printf(&q->sql, "$%zu", i + 1);
}

static void put_number(struct db_query *q, const char *sql, const char *name, uint64_t number)
{
	text_str(&q->sql, sql);
	put_param(q, (struct db_param){.name = name,
	                     .number = number < INT64_MAX ? (int64_t)number : INT64_MAX});
}

static void put_threads(struct db_query *q, const struct sonde_db_options *o)
{
	const struct db_param comm = {.name = "comm", .text = o->comm};

	if (o->has_pid) {
		put_number(q, "\n    AND t.pid = ", "pid", o->pid);
	}
	if (o->has_tid) {
		put_number(q, "\n    AND t.tid = ", "tid", o->tid);
	}
	if (o->comm != NULL) {
		text_str(&q->sql, "\n    AND (n.comm = ");
		put_param(q, comm);
		text_str(&q->sql,
		        " OR EXISTS (SELECT 1 FROM comms own WHERE own.c_thread_id = t.id AND "
		        "own.comm = ");
		put_param(q, comm);
		text_str(&q->sql, "))");
	}
}

static void put_range(
        struct db_query *q, const struct sonde_db_options *o, const char *begin, const char *end)
{
	if (o->start != 0) {
		put_number(q, end, "start", o->start);
	}
	if (o->end != 0) {
		put_number(q, begin, "end", o->end);
	}
}

static void put_named(
        struct db_query *q, const struct sonde_db_options *o, const char *name, size_t n)
{
	static const char *const orders[] = {[SONDE_DB_BY_TOTAL] = "total",
	        [SONDE_DB_BY_SELF] = "self",
	        [SONDE_DB_BY_CALLS] = "calls",
	        [SONDE_DB_BY_MAX] =
	                "COALESCE(max(CASE WHEN (c.flags & 3) = 0 THEN c.took END), 0)"};
#define IS(word) (n == sizeof(word) - 1 && memcmp(name, word, n) == 0)

	if (IS("function")) {
		put_param(q, (struct db_param){.name = "function", .text = o->function});
	} else if (IS("to")) {
		put_param(q, (struct db_param){.name = "to", .text = o->to});
	} else if (IS("sort")) {
		text_str(&q->sql, orders[o->sort]);
	} else if (IS("threads")) {
		put_threads(q, o);
	} else if (IS("range")) {
		put_range(q, o, "\n    AND c.call_time <= ", "\n    AND c.return_time >= ");
	} else if (IS("moment")) {
		put_range(q, o, "\n    AND c.time <= ", "\n    AND c.time >= ");
	} else if (IS("long") && o->min_time != 0) {
		put_number(q, "\n    AND c.return_time - c.call_time >= ", "min_time", o->min_time);
	} else if (IS("levels") && o->depth != 0) {
		put_number(q, "\n    WHERE n.depth + 1 < ", "depth", o->depth);
	} else if (IS("calls_levels") && o->depth != 0) {
		put_number(q, "\n    AND nodes.depth + 1 < ", "depth", o->depth);
	} else if (IS("limit") && o->limit != 0) {
		put_number(q, "\nLIMIT ", "limit", o->limit);
	}
#undef IS
}

int db_query_make(struct db_query *q, const struct sonde_db_options *options)
{
	const char *sql;

	*q = (struct db_query){.question = &questions[options->question]};
	sql = q->question->sql;
	for (const char *open; (open = strchr(sql, '{')) != NULL;) {
		size_t n = strcspn(open, "}");

		text_bytes(&q->sql, sql, (size_t)(open - sql));
		put_named(q, options, open + 1, n - 1);
		sql = open + n + 1;
	}
	text_str(&q->sql, sql);
	text_char(&q->sql, '\0');
	return q->sql.failed ? SONDE_ENOMEM : 0;
}

void db_query_fini(struct db_query *q)
{
	text_fini(&q->sql);
}
