/* SPDX-License-Identifier: Apache-2.0
 * target_peers.h: another target and peers beside it, so that a peer is a cell like an implementation: in the same interleaved
 * order, under the same protocol, beside the same ceilings. */
#ifndef IH_BENCH_TARGET_PEERS_H
#define IH_BENCH_TARGET_PEERS_H

#include "target.h"

/* Cells whose impl is one of names [count] go to that peer, all others to inner, which is taken over (freed after a fault
 * too). Peers are started when their first cell is prepared, by the process that does so. A peer takes times itself, inside its
 * process: the call alone, from arrays that it holds already. It has no digest: verify answers whether its z is within its
 * tolerance of the canonical fit, and each sample's z the same as that of its first call; c->max_deviation is set by prepare. */
target *target_peers(target *inner, const char *const *names, int count, fault *f);

#endif
