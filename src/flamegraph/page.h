/* SPDX-License-Identifier: MIT */
/*
 * The page that shows a flame graph, embedded at build time from page.html. It contains two marks
 * to be replaced, in this order: FLAMEGRAPH_TITLE_MARK by text in HTML, FLAMEGRAPH_DATA_MARK by
 * JSON inside a script element.
 */
#ifndef SONDE_FLAMEGRAPH_PAGE_H
#define SONDE_FLAMEGRAPH_PAGE_H

#include <stddef.h>

#define FLAMEGRAPH_TITLE_MARK "{{title}}"
#define FLAMEGRAPH_DATA_MARK  "{{data}}"

extern const unsigned char flamegraph_page[];
extern const size_t flamegraph_page_size; /* bytes, without the NUL at the end */

#endif
