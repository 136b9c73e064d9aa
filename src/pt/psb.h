/* SPDX-License-Identifier: MIT */
/* The last PSB, and its PSB+. */
#ifndef SONDE_PT_PSB_H
#define SONDE_PT_PSB_H

#include <sonde/base.h>

struct pt_psb {
	bool synced; /* a PSB was found */
	bool syncing; /* reading that PSB's PSB+ */
	bool open; /* between PSB and PSBEND */
	bool closing; /* walking to the IP of the PSB */
	bool has_ip; /* the PSB+ had an IP: */
	bool has_mode; /* the PSB+ contained the mode */
	uint64_t ip;
	uint64_t last, good; /* offsets: of the last PSB, and of the last one whose PSB+ was read to
	                        its end */
};

#endif
