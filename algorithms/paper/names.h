/* SPDX-License-Identifier: Apache-2.0
 * names.h: `segments_paper` is the text of `segments` compiled a second time with the paper's own predicates (Appendix B) and sums
 * in place of the canonical ones: IH_PAPER chooses the headers of this folder. What both would define gets another name. */
#ifndef IH_PAPER_NAMES_H
#define IH_PAPER_NAMES_H

#define IH_PAPER 1

#define chunk_kernel  chunk_paper_kernel
#define rows_kernel   rows_paper_kernel
#define totals_kernel totals_paper_kernel
#define starts_kernel starts_paper_kernel
#define merge_kernel  merge_paper_kernel
#define tail_kernel   tail_paper_kernel
#define edge_kernel   edge_paper_kernel
#define write_kernel  write_paper_kernel

#define ih_cuda_launch_chunk      ih_paper_launch_chunk
#define ih_cuda_launch_rows       ih_paper_launch_rows
#define ih_cuda_launch_scan       ih_paper_launch_scan
#define ih_cuda_launch_merge      ih_paper_launch_merge
#define ih_cuda_launch_tail       ih_paper_launch_tail
#define ih_cuda_launch_write      ih_paper_launch_write
#define ih_cuda_launch_exact_rows ih_paper_launch_faults /* no row is solved again: only those with a fault are left */
#define ih_cuda_exact_words       ih_paper_exact_words

#endif
