/* SPDX-License-Identifier: MIT */
/* Pages of tables that SQLite did not write, read by SQLite. */
#include "export/pages.h"
#include "tap.h"

#include "core/status.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COLUMNS 5u

static const struct sonde_export_column columns[COLUMNS] = {{"id", SONDE_EXPORT_BIGINT},
        {"a", SONDE_EXPORT_BIGINT}, {"b", SONDE_EXPORT_INTEGER}, {"c", SONDE_EXPORT_BIGINT},
        {"k", SONDE_EXPORT_BIGINT}};
static const struct sonde_export_table table = {
        .name = "t", .columns = columns, .ncolumns = COLUMNS, .number = EXPORT_SAMPLES};

static char path[64];

/* The i-th of numbers around all sizes of the file format. */
static int64_t odd_number(uint64_t i)
{
	static const int64_t edges[] = {0, 1, 2, -1, 127, 128, -128, -129, 32767, 32768, -32768,
	        -32769, 8388607, 8388608, -8388608, -8388609, INT32_MAX, INT64_C(2147483648),
	        INT32_MIN, INT64_C(-2147483649), INT64_C(140737488355327), INT64_C(140737488355328),
	        INT64_C(-140737488355328), INT64_C(-140737488355329), INT64_MAX, INT64_MIN};

	return edges[i % (sizeof(edges) / sizeof(edges[0]))];
}

static int add(struct pages *p, uint64_t id)
{
	const struct sonde_export_value row[COLUMNS] = {{.number = (int64_t)id},
	        {.number = odd_number(id)}, {.number = (int32_t)(id * 7)},
	        {.number = odd_number(id / 3) & INT64_MAX},
	        {.number = (int64_t)(id * UINT64_C(2654435761) % 1000003)}};

	return export_pages_add(p, &table, row);
}

static int64_t number(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *s = NULL;
	int64_t n = -1;

	if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK &&
	        sqlite3_step(s) == SQLITE_ROW) {
		n = sqlite3_column_int64(s, 0);
	}
	(void)sqlite3_finalize(s);
	return n;
}

static bool is_whole(sqlite3 *db)
{
	sqlite3_stmt *s = NULL;
	bool whole = sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &s, NULL) == SQLITE_OK &&
	             sqlite3_step(s) == SQLITE_ROW &&
	             strcmp((const char *)sqlite3_column_text(s, 0), "ok") == 0;

	(void)sqlite3_finalize(s);
	return whole;
}

static int new_file(void)
{
	char name[] = "/tmp/sonde-pages-XXXXXX";
	int fd = mkstemp(name);

	(void)unlink(name);
	return fd;
}

static struct pages *start(uint32_t *roots)
{
	int scratch = new_file(), runs = new_file();
	struct pages *p = export_pages_new(scratch, runs);
	sqlite3 *db;

	(void)unlink(path);
	(void)sqlite3_open(path, &db);
	(void)sqlite3_exec(db,
	        "PRAGMA page_size = 8192; CREATE TABLE s (id integer PRIMARY KEY, name varchar);"
	        "CREATE TABLE t (id integer NOT NULL PRIMARY KEY, a bigint, b integer, c bigint, k "
	        "bigint);"
	        "CREATE INDEX i ON t (c); CREATE INDEX j ON t (k); INSERT INTO s VALUES (1, 'one')",
	        NULL, NULL, NULL);
	roots[EXPORT_SAMPLES] =
	        (uint32_t)number(db, "SELECT rootpage FROM sqlite_master WHERE name = 't'");
	export_pages_index(p, EXPORT_SAMPLES, 3,
	        (uint32_t)number(db, "SELECT rootpage FROM sqlite_master WHERE name = 'i'"));
	export_pages_index(p, EXPORT_SAMPLES, 4,
	        (uint32_t)number(db, "SELECT rootpage FROM sqlite_master WHERE name = 'j'"));
	(void)sqlite3_close(db);
	return p;
}

static int append(struct pages *p, const uint32_t *roots)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	int rc = export_pages_append(p, fd, roots);

	(void)close(fd);
	export_pages_free(p);
	return rc;
}

/* Whether each row is as it was added; from 0 on, or 1, without gaps. */
static bool has_rows(sqlite3 *db, uint64_t from, uint64_t n)
{
	sqlite3_stmt *s = NULL;
	uint64_t id = from;

	(void)sqlite3_prepare_v2(db, "SELECT id, a, b, c FROM t ORDER BY id", -1, &s, NULL);
	while (sqlite3_step(s) == SQLITE_ROW && (uint64_t)sqlite3_column_int64(s, 0) == id &&
	        sqlite3_column_int64(s, 1) == odd_number(id) &&
	        sqlite3_column_int64(s, 2) == (int32_t)(id * 7) &&
	        sqlite3_column_int64(s, 3) == (odd_number(id / 3) & INT64_MAX)) {
		id++;
	}
	(void)sqlite3_finalize(s);
	return id == from + n && number(db, "SELECT count(*) FROM t") == (int64_t)n;
}

static void test_ascending(uint64_t n)
{
	uint32_t roots[EXPORT_TABLES] = {0};
	struct pages *p = start(roots);
	char what[64];
	sqlite3 *db;
	int rc = 0;

	for (uint64_t id = 0; id < n && rc == 0; id++) {
		rc = add(p, id);
	}
	rc = rc == 0 ? append(p, roots) : rc;
	(void)sqlite3_open(path, &db);
	(void)snprintf(
	        what, sizeof(what), "a database of %llu rows is whole", (unsigned long long)n);
	ok(rc == 0 && is_whole(db), what);
	ok(has_rows(db, 0, n), "and has all rows");
	ok(number(db, "SELECT count(*) FROM (SELECT id, k FROM t INDEXED BY j WHERE k >= 0) a "
	              "JOIN t USING (id) WHERE a.k = t.k") == (int64_t)n &&
	                number(db, "SELECT count(*) FROM t INDEXED BY i WHERE c >= 0") ==
	                        (int64_t)n,
	        "in the indexes, too");
	ok(number(db, "SELECT count(*) FROM s WHERE name = 'one'") == 1,
	        "and the rows that SQLite inserted");
	ok(sqlite3_exec(db,
	           "INSERT INTO t SELECT id + 1000000000, a, b, c, k FROM t; DELETE FROM t WHERE "
	           "id % "
	           "3 = 0",
	           NULL, NULL, NULL) == SQLITE_OK &&
	                is_whole(db),
	        "and can be changed");
	(void)sqlite3_close(db);
}

/* Rows in another order: reversed groups, and some whose turn is over. */
static void test_order(uint64_t group, uint64_t n)
{
	uint32_t roots[EXPORT_TABLES] = {0};
	struct pages *p = start(roots);
	uint64_t late = 0;
	char what[64];
	sqlite3 *db;
	int rc = 0;

	for (uint64_t base = 1; base <= n && rc >= 0; base += group) {
		for (uint64_t i = group; i-- > 0 && rc >= 0;) {
			rc = add(p, base + i);
			late += rc == 1;
		}
	}
	rc = rc >= 0 ? append(p, roots) : rc;
	(void)sqlite3_open(path, &db);
	(void)snprintf(
	        what, sizeof(what), "rows in groups of %llu, reversed", (unsigned long long)group);
	ok(rc == 0 && is_whole(db), what);
	if (group < 10000) {
		ok(late == 0 && has_rows(db, 1, n), "wait for their turn");
	} else {
		ok(late > 0 && number(db, "SELECT count(*) FROM t") == (int64_t)(n - late),
		        "wait, or are late");
	}
	(void)sqlite3_close(db);
}

static void test_not_a_database(void)
{
	uint32_t roots[EXPORT_TABLES] = {0};
	struct pages *p = start(roots);

	(void)add(p, 0);
	(void)truncate(path, 100);
	ok(append(p, roots) == SONDE_EOUTPUT && errno == 0, "a file that is cut is refused");
}

int main(void)
{
	int fd;

	(void)snprintf(path, sizeof(path), "/tmp/sonde-test-pages-XXXXXX");
	fd = mkstemp(path);
	if (fd < 0 || close(fd) != 0) {
		perror(path);
		return 1;
	}
	test_ascending(0);
	test_ascending(1);
	test_ascending(300);
	test_ascending(1000);
	test_ascending(300000); /* more leaves than a page has children, more keys than a run has */
	for (uint64_t n = 440; n < 600; n += 7) { /* a page of keys, and a few that are left */
		test_ascending(n);
	}
	test_order(2, 10000);
	test_order(5000, 100000);
	test_order(50000, 200000);
	test_not_a_database();
	(void)unlink(path);
	return tap_done();
}
