/* SPDX-License-Identifier: MIT */
#include "stat/stat.h"

#include <math.h>

void stat_mean_add(struct stat_mean *m, double v)
{
	double delta = v - m->mean;

	m->n++;
	m->mean += delta / (double)m->n;
	m->m2 += delta * (v - m->mean);
}

double stat_mean_error(const struct stat_mean *m)
{
	return m->n < 2 ? 0 : sqrt(m->m2 / (double)(m->n - 1) / (double)m->n);
}

double stat_mean_error_percent(const struct stat_mean *m)
{
	return m->mean != 0 ? 100 * stat_mean_error(m) / m->mean : 0;
}
