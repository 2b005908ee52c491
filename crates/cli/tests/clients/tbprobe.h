/* What examples/wdl.c needs of Fathom's header, for tests of it without Fathom.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>

#define TB_RESULT_FAILED 0xFFFFFFFFu
#define BITBOARDS uint64_t white, uint64_t black, uint64_t kings, uint64_t queens, uint64_t rooks, uint64_t bishops, \
    uint64_t knights, uint64_t pawns

bool tb_init(const char *);
void tb_free(void);
unsigned tb_probe_wdl_impl(BITBOARDS, unsigned, bool);

static inline unsigned tb_probe_wdl(BITBOARDS, unsigned clock, unsigned castling, unsigned ep, bool turn) {
    if (clock || castling) return TB_RESULT_FAILED;
    return tb_probe_wdl_impl(white, black, kings, queens, rooks, bishops, knights, pawns, ep, turn);
}
