/* How many outcomes a second come through Fathom's functions: wdl FOLDER POSITIONS ENDING...
 *
 * Linked with Fathom it reads Syzygy tables, with libhoffathom (make fathom) tables of the block format: the same random
 * legal positions, processor time of one thread.
 *
 *   cc -O2 -I FATHOM reader/c/examples/wdl.c FATHOM/libfathom.a -o theirs      where FATHOM has its header and library
 *   cc -O2 -I FATHOM reader/c/examples/wdl.c libhoffathom.a -o ours
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tbprobe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PAWN = 1, KNIGHT, BISHOP, ROOK, QUEEN, KING, BLACK = 8 };

typedef struct { uint64_t white, black, kind[7]; int white_to_move; } Position;

static uint64_t state = 88172645463325252u;

static unsigned chance(unsigned below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)((state >> 33) % below);
}

/* Whether a man on a square attacks another one. */
static int attacks(const unsigned char *board, int from, int to) {
    int files = to % 8 - from % 8, ranks = to / 8 - from / 8, kind = board[from] & 7, step, at;
    int straight = !files || !ranks, slanted = abs(files) == abs(ranks);
    if (kind == PAWN) return abs(files) == 1 && ranks == (board[from] & BLACK ? -1 : 1);
    if (kind == KNIGHT) return abs(files * ranks) == 2;
    if (kind == KING) return abs(files) <= 1 && abs(ranks) <= 1;
    if (!(kind != BISHOP && straight) && !(kind != ROOK && slanted)) return 0;
    step = (ranks > 0 ? 8 : ranks < 0 ? -8 : 0) + (files > 0) - (files < 0);
    for (at = from + step; at != to; at += step)
        if (board[at]) return 0;
    return 1;
}

/* A position of an ending, colours exchanged in one of two. 0: it is not legal. */
static int random_position(const char *ending, Position *p) {
    static const char letters[] = " PNBRQK";
    unsigned char board[64] = {0};
    unsigned color = chance(2) * BLACK;
    int square, king = -1;
    memset(p, 0, sizeof *p);
    p->white_to_move = (int)chance(2);
    for (; *ending; ending++) {
        if (*ending == 'v') color ^= BLACK;
        else {
            int kind = (int)(strchr(letters, *ending) - letters);
            do square = (int)chance(64);
            while (board[square]);
            if (kind == PAWN && (square < 8 || square > 55)) return 0;
            board[square] = (unsigned char)(kind | (int)color);
            if (kind == KING && (color == 0) != p->white_to_move) king = square;
            p->kind[kind] |= (uint64_t)1 << square;
            *(color ? &p->black : &p->white) |= (uint64_t)1 << square;
        }
    }
    for (square = 0; square < 64; square++)
        if (board[square] && (board[square] < BLACK) == p->white_to_move && attacks(board, square, king)) return 0;
    return 1;
}

static void measure(const char *what, const Position *positions, unsigned n, unsigned of) {
    unsigned i, known = 0, sum = 0;
    clock_t begin = clock();
    double took;
    for (i = 0; i < n; i++) {
        const Position *p = &positions[i % of];
        unsigned value = tb_probe_wdl(p->white, p->black, p->kind[KING], p->kind[QUEEN], p->kind[ROOK], p->kind[BISHOP],
            p->kind[KNIGHT], p->kind[PAWN], 0, 0, 0, p->white_to_move);
        if (value != TB_RESULT_FAILED) known++, sum += value;
    }
    took = (double)(clock() - begin) / CLOCKS_PER_SEC;
    printf("%-22s %8u known, sum %8u, %7.3f s, %9.0f a second\n", what, known, sum, took, n / took);
}

int main(int argc, char **argv) {
    unsigned n = argc > 3 ? (unsigned)strtoul(argv[2], 0, 10) : 0, i;
    Position *positions = (Position *)malloc((n + 1) * sizeof *positions);
    if (!n || !positions || !tb_init(argv[1])) {
        fprintf(stderr, "usage: wdl FOLDER POSITIONS ENDING...\n");
        return 2;
    }
    for (i = 0; i < n;) i += (unsigned)random_position(argv[3 + chance((unsigned)argc - 3)], &positions[i]);
    measure("each once", positions, n, n);
    measure("each once more", positions, n, n);
    measure("a thousand, in turns", positions, n, n < 1000 ? n : 1000);
    free(positions);
    tb_free();
    return 0;
}
