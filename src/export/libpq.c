/* SPDX-License-Identifier: MIT */
#include "export/libpq.h"

#include <dlfcn.h>
#include <string.h>

/* ISO C has no conversion from void * to a pointer to a function; POSIX says that its bytes are one. */
static bool load_one(void *library, const char *name, void *slot)
{
	void *p = dlsym(library, name);

	memcpy(slot, &p, sizeof(p));
	return p != NULL;
}

bool libpq_load(struct libpq *out)
{
	const struct {
		const char *name;
		void *slot;
	} functions[] = {{"PQconndefaults", &out->defaults}, {"PQconninfoParse", &out->parse},
	        {"PQconninfoFree", &out->info_free}, {"PQconnectdbParams", &out->connect},
	        {"PQfinish", &out->finish}, {"PQstatus", &out->status},
	        {"PQserverVersion", &out->version}, {"PQerrorMessage", &out->error},
	        {"PQfreemem", &out->free}, {"PQexec", &out->exec},
	        {"PQexecParams", &out->exec_params}, {"PQgetResult", &out->next_result},
	        {"PQresultStatus", &out->result_status},
	        {"PQresultErrorMessage", &out->result_error}, {"PQntuples", &out->rows},
	        {"PQgetvalue", &out->value}, {"PQgetlength", &out->length},
	        {"PQgetisnull", &out->is_null}, {"PQsendQueryParams", &out->send_params},
	        {"PQsetSingleRowMode", &out->single_row}, {"PQclear", &out->clear},
	        {"PQputCopyData", &out->put}, {"PQputCopyEnd", &out->put_end},
	        {"PQflush", &out->flush}, {"PQsocket", &out->socket},
	        {"PQsetnonblocking", &out->set_nonblocking}, {"PQescapeIdentifier", &out->quote}};
	void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	bool all = library != NULL;

	for (size_t i = 0; all && i < sizeof(functions) / sizeof(functions[0]); i++) {
		all = load_one(library, functions[i].name, functions[i].slot);
	}
	return all;
}
