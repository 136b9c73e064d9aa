/* SPDX-License-Identifier: MIT */
/* Counts of branches by kind and distance. */
#include "profile/profile.h"

#define PAGE_BITS  12
#define LARGE_BITS 21 /* of a page of 2 MiB */

void profile_branch_count(struct profile_branches *to, const struct branch_entry *b)
{
	if (b->kind == 0) {
		return;
	}
	to->kinds[b->kind]++;
	if (b->kind == BRANCH_CONDITIONAL) {
		to->forward += b->to > b->from;
		to->backward += b->to <= b->from;
	}
	if (b->from >> LARGE_BITS != b->to >> LARGE_BITS) {
		to->cross_2m++;
	} else {
		to->cross_4k += b->from >> PAGE_BITS != b->to >> PAGE_BITS;
	}
}

void profile_branches_add(struct profile_branches *to, const struct profile_branches *more)
{
	for (unsigned i = 0; i < BRANCH_KINDS; i++) {
		to->kinds[i] += more->kinds[i];
	}
	to->forward += more->forward;
	to->backward += more->backward;
	to->cross_4k += more->cross_4k;
	to->cross_2m += more->cross_2m;
}
