/* SPDX-License-Identifier: MIT */
/* What waits for a later packet. */
#ifndef SONDE_PT_WAITING_H
#define SONDE_PT_WAITING_H

#include <sonde/pt_flow.h>

#define PT_WAITING_MAX 32 /* events between two packets that place them */

/* Events that wait for the packet or the instruction that gives them an address. */
struct pt_waiting {
	struct sonde_pt_event events[PT_WAITING_MAX];
	unsigned count;
};

struct pt_pending {
	struct pt_waiting bound; /* wait for a FUP */
	struct pt_waiting deferred; /* wait until `bound` is placed */
	struct pt_waiting attached; /* wait for the branch that the next TIP names */
	struct sonde_pt_event evd; /* EVDs for the next CFE: extra and data */
	int exec; /* value of a MODE.EXEC that waits for its packet; -1: none */
	bool in_async; /* a FUP began an asynchronous branch at async_at */
	bool fup_is_void; /* ignore the next FUP */
	bool fup_is_branch; /* the next FUP only names the branch that events are attached to */
	bool block_ends; /* the next FUP is that of a BEP */
	bool overflowed; /* waiting for the FUP of an OVF */
	bool may_enable; /* after an OVF, when a FUP or TIP alone may turn tracing on */
	uint8_t block; /* the type of the last BBP */
	uint32_t ahead; /* instructions that PTWRITEs led to since the last branch, FUP or TRIG */
	uint64_t lost_ip, lost_tsc; /* as in the event of the last OVF: extra, data[0] */
	uint64_t led_at; /* instructions executed when `ahead` was counted */
	uint64_t async_at;
};

#endif
