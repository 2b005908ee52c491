/* How many outcomes a second come through Fathom's functions: wdl FOLDER POSITIONS ENDING...
 *
 * Linked with Fathom it reads Syzygy tables, with libhoffathom (make fathom) tables of the block format: the same random
 * legal positions, processor time of one thread.
 *
 *   cc -O2 -I FATHOM reader/c/examples/wdl.c FATHOM/libfathom.a -o theirs      where FATHOM has its header and library
 *   cc -O2 -I FATHOM reader/c/examples/wdl.c libhoffathom.a -o ours
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tbprobe.h"

#include "random.h"
#include "timed.h"

typedef struct { uint64_t white, black, kind[7]; int white_to_move; } Position;

static Position *positions;

static void random_position(const char *ending, Position *p) {
    uint8_t board[64];
    int square;
    memset(p, 0, sizeof *p);
    random_board(ending, board, &p->white_to_move);
    for (square = 0; square < 64; square++)
        if (board[square]) {
            *(board[square] & BLACK ? &p->black : &p->white) |= (uint64_t)1 << square;
            p->kind[board[square] & 7] |= (uint64_t)1 << square;
        }
}

static int outcome(unsigned number, int *answer) {
    const Position *p = &positions[number];
    unsigned value = tb_probe_wdl(p->white, p->black, p->kind[KING], p->kind[QUEEN], p->kind[ROOK], p->kind[BISHOP],
        p->kind[KNIGHT], p->kind[PAWN], 0, 0, 0, p->white_to_move);
    *answer = (int)value;
    return value != TB_RESULT_FAILED;
}

int main(int argc, char **argv) {
    unsigned n = argc > 3 ? (unsigned)strtoul(argv[2], 0, 10) : 0, i;
    positions = (Position *)malloc((n + 1) * sizeof *positions);
    if (!n || !positions || !tb_init(argv[1])) {
        fprintf(stderr, "usage: wdl FOLDER POSITIONS ENDING...\n");
        return 2;
    }
    for (i = 0; i < n; i++) random_position(argv[3 + chance((unsigned)argc - 3)], &positions[i]);
    measure_all(outcome, n);
    free(positions);
    tb_free();
    return 0;
}
