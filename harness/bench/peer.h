/* SPDX-License-Identifier: Apache-2.0
 * peer.h: another library's solver in a child process, asked through its standard streams, one JSON object a line.
 * docs/peers.md has the requests and answers; scripts/peers is the program that answers for those we know. */
#ifndef IH_BENCH_PEER_H
#define IH_BENCH_PEER_H

#include <jansson.h>

#include "io/fault.h"

typedef struct peer peer;

enum { PEER_WHY = 512, PEER_HASH = 32 };

/* The program: what ISOHULL_PEERS names, or scripts/peers below the current folder. Never NULL. */
const char *peer_program(void);

/* Start "PROGRAM serve NAME" and read its greeting.
 *
 *   code_hash  of name and versions, or of the reason why it cannot run
 *   why        "" or the reason why it cannot run here (not installed); *out is NULL then, and that is no fault
 *
 * FAULT_USAGE: there is no such program, or the program knows no such peer. */
fault_kind peer_start(peer **out, const char *name, char code_hash[PEER_HASH], char why[PEER_WHY], fault *f);

/* Ask and wait for the answer, an object; request is taken over, *answer is the caller's. FAULT_LIBRARY: it refused
 * ("error" in the answer), ended, or did not answer within five minutes (then it is killed). Afterwards every ask fails. */
fault_kind peer_ask(peer *p, json_t *request, json_t **answer, fault *f);

const json_t *peer_versions(const peer *p); /* of its greeting: an object of texts */

int  peer_alive(const peer *p); /* 0 once an ask has failed because its process ended, and for NULL */
void peer_stop(peer *p); /* ends the process; takes NULL */

#endif
