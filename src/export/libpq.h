/* SPDX-License-Identifier: MIT */
/*
 * Functions of libpq, which is loaded when it is needed: it brings about ten other libraries, which
 * each start of the command would load.
 */
#ifndef SONDE_EXPORT_LIBPQ_H
#define SONDE_EXPORT_LIBPQ_H

#include <libpq-fe.h>
#include <stdbool.h>

struct libpq {
	__typeof__(&PQconndefaults) defaults;
	__typeof__(&PQconninfoParse) parse;
	__typeof__(&PQconninfoFree) info_free;
	__typeof__(&PQconnectdbParams) connect;
	__typeof__(&PQfinish) finish;
	__typeof__(&PQstatus) status;
	__typeof__(&PQserverVersion) version;
	__typeof__(&PQerrorMessage) error;
	__typeof__(&PQfreemem) free;
	__typeof__(&PQexec) exec;
	__typeof__(&PQexecParams) exec_params;
	__typeof__(&PQgetResult) next_result;
	__typeof__(&PQresultStatus) result_status;
	__typeof__(&PQresultErrorMessage) result_error;
	__typeof__(&PQntuples) rows;
	__typeof__(&PQgetvalue) value;
	__typeof__(&PQgetlength) length;
	__typeof__(&PQgetisnull) is_null;
	__typeof__(&PQsendQueryParams) send_params;
	__typeof__(&PQsetSingleRowMode) single_row;
	__typeof__(&PQclear) clear;
	__typeof__(&PQputCopyData) put;
	__typeof__(&PQputCopyEnd) put_end;
	__typeof__(&PQflush) flush;
	__typeof__(&PQsocket) socket;
	__typeof__(&PQsetnonblocking) set_nonblocking;
	__typeof__(&PQescapeIdentifier) quote;
};

/* False: it is not installed. It stays loaded. */
bool libpq_load(struct libpq *out);

#endif
