/* SPDX-License-Identifier: MIT */
/* Prints records with all fields by name, of one type or of all: fields FILE [TYPE] */
#include <sonde/record.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void print_fields(struct sonde_fields *fields)
{
	const struct sonde_field *v;

	while (sonde_fields_next(fields, &v) > 0) {
		if (v->what == SONDE_FIELD_STRUCT) {
			(void)printf(" %s {", v->name != NULL ? v->name : "");
		} else if (v->what == SONDE_FIELD_STRUCT_END) {
			(void)printf(" }");
		} else if (v->what != SONDE_FIELD_VALUE || v->empty) {
			continue;
		} else if (v->kind == SONDE_KIND_TEXT) {
			(void)printf(" %s=%.*s", v->name, (int)v->text_size, v->text);
		} else if (v->kind == SONDE_KIND_SIGNED) {
			(void)printf(" %s=%" PRId64, v->name, (int64_t)v->number);
		} else if (v->kind == SONDE_KIND_BYTES) {
			(void)printf(" %s=<%zu bytes>", v->name, v->size);
		} else {
			(void)printf(v->show == SONDE_SHOW_HEX ? " %s=%#" PRIx64 : " %s=%" PRIu64,
			        v->name, v->number);
		}
	}
	(void)printf("\n");
}

int main(int argc, char **argv)
{
	struct sonde_file *f = sonde_file_new(NULL);
	struct sonde_fields *fields = sonde_fields_new();
	const struct sonde_raw_record *r;
	int rc = f != NULL && fields != NULL ? sonde_file_open(f, argc > 1 ? argv[1] : "perf.data")
	                                     : SONDE_ENOMEM;

	while (rc >= 0 && (rc = sonde_file_next(f, &r)) > 0) {
		const char *type = sonde_record_type_name(r->type);

		if (argc < 3 || (type != NULL && strcmp(type, argv[2]) == 0)) {
			(void)printf("%#" PRIx64 " %s", r->offset, type != NULL ? type : "?");
			(void)sonde_file_record_fields(f, r, fields);
			print_fields(fields);
		}
	}
	if (rc < 0) {
		(void)fprintf(stderr, "%s\n",
		        f != NULL ? sonde_file_error(f)->text : sonde_status_text(rc));
	}
	sonde_fields_free(fields);
	sonde_file_free(f);
	return rc < 0;
}
