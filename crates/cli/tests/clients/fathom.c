/* A program that knows Fathom's interface: fathom FOLDER FEN... plays every position to its end by the best moves.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../../../../reader/c/examples/fen.h"
#include <stdbool.h>
#include <stdio.h>

/* As Fathom's header has them. */
#define BITBOARDS uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t
#define FIELDS(p) p.white, p.black, p.kings, p.queens, p.rooks, p.bishops, p.knights, p.pawns
typedef uint16_t TbMove;
struct TbRootMove { TbMove move; TbMove pv[256]; unsigned pvSize; int32_t tbScore, tbRank; };
struct TbRootMoves { unsigned size; struct TbRootMove moves[193]; };
extern unsigned TB_LARGEST;
extern bool tb_init(const char *);
extern void tb_free(void);
extern unsigned tb_probe_wdl_impl(BITBOARDS, unsigned, bool);
extern unsigned tb_probe_root_impl(BITBOARDS, unsigned, unsigned, bool, unsigned *);
extern int tb_probe_root_dtz(BITBOARDS, unsigned, unsigned, unsigned, bool, bool, bool, struct TbRootMoves *);
extern unsigned tb_pop_count(uint64_t), tb_lsb(uint64_t);
extern uint64_t tb_pawn_attacks(unsigned, bool), tb_queen_attacks(unsigned, uint64_t), tb_king_attacks(unsigned);

static void put(uint64_t *set, unsigned from, unsigned to, bool mine) {
    uint64_t a = (uint64_t)1 << from, b = (uint64_t)1 << to;
    bool moves = mine && (*set & a);
    *set &= ~(a | b);
    if (moves) *set |= b;
}

/* Makes a move of a result. */
static void play(hoffman_position *p, unsigned result) {
    unsigned to = result >> 4 & 63, from = result >> 10 & 63, promotes = result >> 16 & 7;
    uint64_t *const sets[] = {&p->white, &p->black, &p->kings, &p->queens, &p->rooks, &p->bishops, &p->knights, &p->pawns};
    uint64_t *const pieces[] = {0, &p->queens, &p->rooks, &p->bishops, &p->knights};
    unsigned i;
    for (i = 0; i < 8; i++) put(sets[i], from, to, true);
    if (promotes) {
        p->pawns &= ~((uint64_t)1 << to);
        *pieces[promotes] |= (uint64_t)1 << to;
    }
    p->white_to_move = !p->white_to_move;
    p->ep = 0;
}

int main(int argc, char **argv) {
    int i;
    if (argc < 3 || !tb_init(argv[1])) return 2;
    printf("largest %u\n", TB_LARGEST);
    for (i = 2; i < argc; i++) {
        static struct TbRootMoves ranked;
        hoffman_position p;
        unsigned results[193], n, plies = 0, first, wdl, move;
        if (from_fen(argv[i], &p) != HOFFMAN_OK) return 3;
        wdl = tb_probe_wdl_impl(FIELDS(p), p.ep, p.white_to_move);
        first = move = tb_probe_root_impl(FIELDS(p), 0, p.ep, p.white_to_move, results);
        if (move == 0xFFFFFFFFu) {
            printf("failed, wdl %d\n", (int)wdl);
            continue;
        }
        if (move > 4 && !tb_probe_root_dtz(FIELDS(p), 0, 0, p.ep, p.white_to_move, false, true, &ranked)) return 4;
        for (n = 0; move > 4 && results[n] != 0xFFFFFFFFu; n++) {
            /* What is ranked is what was listed, and no move is better than the position. */
            if ((ranked.moves[n].move & 0xFFF) != (results[n] >> 4 & 0xFFF)) return 5;
            if ((results[n] & 15) > wdl || (ranked.moves[n].tbRank > 0) != ((results[n] & 15) > 2)) return 6;
        }
        while (move > 4 && (first & 15) != 2) {
            play(&p, move);
            plies++;
            move = tb_probe_root_impl(FIELDS(p), 0, p.ep, p.white_to_move, 0);
        }
        printf("wdl %u, dtz %u, %s in %u plies\n", wdl, first > 4 ? first >> 20 : 0,
            move == 4 ? "mate" : move == 2 ? "stalemate" : "draw", plies);
    }
    if (tb_pop_count(tb_pawn_attacks(8, true)) != 1 || tb_lsb(tb_king_attacks(63)) != 54) return 7;
    if (tb_pop_count(tb_queen_attacks(0, (uint64_t)1 << 9)) != 15) return 8;
    tb_free();
    return TB_LARGEST ? 9 : 0;
}
