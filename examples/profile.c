/* SPDX-License-Identifier: MIT */
/* Prints functions of one recording or several, and the callers of the first: profile FILE... */
#include <sonde/preview/profile.h>

#include <stdio.h>

static int add_file(struct sonde_profile *p, const char *path)
{
	struct sonde_session *s = sonde_session_new(NULL);
	int rc = s != NULL ? sonde_session_open(s, path) : SONDE_ENOMEM;

	rc = rc >= 0 ? sonde_profile_add(p, s) : rc;
	if (rc < 0) {
		(void)fprintf(stderr, "cannot count %s: %s\n", path, sonde_status_text(rc));
	}
	sonde_session_free(s); /* the profile has all it needs */
	return rc;
}

static void print_rows(const struct sonde_profile *p)
{
	for (size_t i = 0; i < sonde_profile_rows(p); i++) {
		const struct sonde_profile_row *row = sonde_profile_row(p, i);

		(void)printf("%8llu %14llu  %-20s %s\n", (unsigned long long)row->samples,
		        (unsigned long long)row->period, row->texts[0], row->texts[1]);
	}
}

static void print_callers(struct sonde_profile *p)
{
	struct sonde_profile_tree_options o = {
	        .size = sizeof(o), .row = sonde_profile_row(p, 0), .order = SONDE_PROFILE_CALLEE};
	struct sonde_profile_tree *tree = sonde_profile_tree_new(p, &o);
	const struct sonde_profile_node *n = tree != NULL ? sonde_profile_tree_root(tree) : NULL;

	while (n != NULL && sonde_profile_tree_open(tree, n) > 0) {
		n = n->children; /* the one with most */
		(void)printf(
		        "%8llu called by %s\n", (unsigned long long)n->samples, n->frame->name);
	}
	sonde_profile_tree_free(tree);
}

int main(int argc, char **argv)
{
	struct sonde_profile_options o = {.size = sizeof(o), .sort = "dso,sym"};
	struct sonde_profile *p = sonde_profile_new(&o);
	int rc = p != NULL ? 0 : SONDE_ENOMEM;

	for (int i = 1; rc >= 0 && i < argc; i++) {
		rc = add_file(p, argv[i]);
	}
	if (rc >= 0) {
		print_rows(p);
		print_callers(p);
	}
	sonde_profile_free(p);
	return rc < 0;
}
