/* SPDX-License-Identifier: MIT */
/* Prints the differences of two recordings, in percent of all periods: compare BEFORE AFTER */
#include <sonde/preview/profile.h>

#include <stdio.h>

static struct sonde_profile *profile_of(const char *path)
{
	struct sonde_profile_options o = {.size = sizeof(o), .sort = "dso,sym"};
	struct sonde_profile *p = sonde_profile_new(&o);
	struct sonde_session *s = sonde_session_new(NULL);

	if (p == NULL || s == NULL || sonde_session_open(s, path) < 0 ||
	        sonde_profile_add(p, s) < 0) {
		(void)fprintf(stderr, "cannot read %s\n", path);
		sonde_profile_free(p);
		p = NULL;
	}
	sonde_session_free(s);
	return p;
}

static void print_pair(const struct sonde_profile_pair *pair)
{
	const struct sonde_profile_row *row = pair->after != NULL ? pair->after : pair->before;

	(void)printf("%6.2f%% %+6.2f%%  %-20s %s\n", pair->share_before,
	        pair->share_after - pair->share_before, row->texts[0], row->texts[1]);
}

int main(int argc, char **argv)
{
	struct sonde_profile *before = argc == 3 ? profile_of(argv[1]) : NULL;
	struct sonde_profile *after = before != NULL ? profile_of(argv[2]) : NULL;
	struct sonde_profile_diff *diff =
	        after != NULL ? sonde_profile_diff_new(before, after) : NULL;

	for (size_t i = 0; diff != NULL && i < sonde_profile_diff_pairs(diff); i++) {
		print_pair(sonde_profile_diff_pair(diff, i));
	}
	sonde_profile_diff_free(diff);
	sonde_profile_free(before);
	sonde_profile_free(after);
	return diff == NULL;
}
