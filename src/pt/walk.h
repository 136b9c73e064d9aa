/* SPDX-License-Identifier: MIT */
/* Follows code instruction by instruction. */
#ifndef SONDE_PT_WALK_H
#define SONDE_PT_WALK_H

#include "pt/state.h"

/* Where a walk ends. */
enum pt_goal {
	PT_GOAL_DECISION, /* at an instruction that a packet decides */
	PT_GOAL_IP, /* before the instruction at an address */
	PT_GOAL_TARGET, /* at a branch to an address, or one that a TIP would decide */
	PT_GOAL_COUNT, /* after a number of instructions */
	PT_GOAL_SPECIAL, /* after an instruction to which packets are bound, or a far branch */
	/* After a MOV CR3, at a branch that a TIP would decide, or one that leaves the filters. */
	PT_GOAL_LEAVE
};

/*
 * Walks from f->now.ip to the goal, with argument `arg`; passed instructions are emitted and counted.
 * Returns true with *insn, the last instruction if the goal is one (a branch's effect on ip is
 * still to come). Returns false after an error, which was reported.
 */
bool pt_walk(struct sonde_pt_flow *f, enum pt_goal goal, uint64_t arg, struct pt_insn *insn);

/* Where code from f->now.ip leads without a decision. */
enum pt_lead {
	PT_LEAD_SPECIAL, /* to an instruction of the wanted kind */
	PT_LEAD_BRANCH, /* to a branch that a packet decides, or in a circle */
	PT_LEAD_NOWHERE /* to code that is missing or no code */
};

enum pt_lead pt_lead_of(const struct sonde_pt_flow *f, enum pt_special special);

/* Moves the flow from the branch at f->now.ip to `to`; pushes and pops according to its class. */
void pt_walk_go(struct sonde_pt_flow *f, const struct pt_insn *insn, uint64_t to, bool taken);

/* Emits a TICK if they are wanted and the time has changed. */
void pt_walk_tick(struct sonde_pt_flow *f);

/* Decides one branch, by a TNT bit or a TIP, by walking. */
void pt_walk_branch(struct sonde_pt_flow *f);

/*
 * Brings the flow to ip. false: an error was reported and the packet must be ignored; if the
 * position is kept after errors, the flow is at ip then too.
 */
bool pt_walk_to(struct sonde_pt_flow *f, uint64_t ip);

#endif
