/* How many distances to mate a second: dtm FOLDER POSITIONS ENDING...
 *
 * It reads tables of the block format or, compiled with -DPROPHET, those of Prophet: the same random legal positions,
 * processor time of one thread. The sums tell whether the answers are the same.
 *
 *   cc -O2 -I reader/c reader/c/examples/dtm.c reader/c/hoffprobe.c -o ours
 *   cc -O2 -DPROPHET -I PROPHET/src reader/c/examples/dtm.c PROPHET/build/libprophet.so -o theirs
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "random.h"

#include <stdio.h>
#include <time.h>

/* A distance is above 0 if the position is won, in plies; 0 if it is drawn; if it is lost one less than minus the plies,
 * so -1 if it is mate; or this. */
#define UNKNOWN (-100000)

#ifdef PROPHET
#include "prophet.h"

typedef struct { int kinds[6], squares[6], black_to_move; } Position;

static prophet_tb_decompress_ctx *context;

static int open_tables(const char *folder) {
    prophet_tb_init();
    context = prophet_tb_create_decompress_ctx();
    return prophet_tb_add_path(folder) > 0;
}

static void convert(const uint8_t board[64], int white_to_move, Position *p) {
    int square, n = 0;
    for (square = 0; square < 64; square++)
        if (board[square]) {
            p->kinds[n] = board[square];
            p->squares[n++] = square;
        }
    for (; n < 6; n++) p->squares[n] = 64;
    p->black_to_move = !white_to_move;
}

static int distance(const Position *p) {
    int plies = prophet_tb_probe_dtm_dctx(p->kinds, p->squares, p->black_to_move, 64, context);
    if (plies == 1000) return 0;
    if (plies < -1000) return UNKNOWN;
    return plies > 0 ? plies : plies - 1;
}

static void close_tables(void) {
    prophet_tb_free_decompress_ctx(context);
    prophet_tb_deinit();
}
#else
#include "hoffprobe.h"

typedef hoffman_position Position;

static int open_tables(const char *folder) { return hoffman_init(folder) == HOFFMAN_OK && hoffman_largest() > 2; }

static void convert(const uint8_t board[64], int white_to_move, Position *p) {
    hoffman_from_board(board, p);
    p->white_to_move = white_to_move;
}

static int distance(const Position *p) {
    hoffman_result r;
    if (hoffman_probe(p, &r) != HOFFMAN_OK) return UNKNOWN;
    if (!r.wdl) return 0;
    return r.wdl > 0 ? (int)r.plies : -(int)r.plies - 1;
}

static void close_tables(void) { hoffman_free(); }
#endif

static void measure(const char *what, const Position *positions, unsigned n, unsigned of) {
    unsigned i, known = 0;
    long sum = 0;
    clock_t begin = clock();
    double took;
    for (i = 0; i < n; i++) {
        int plies = distance(&positions[i % of]);
        /* Each counts by its place, so that exchanged answers change the sum. */
        if (plies != UNKNOWN) known++, sum += (long)(i % 7 + 1) * plies;
    }
    took = (double)(clock() - begin) / CLOCKS_PER_SEC;
    printf("%-22s %8u known, sum %10ld, %7.3f s, %9.0f a second\n", what, known, sum, took, n / took);
}

int main(int argc, char **argv) {
    unsigned n = argc > 3 ? (unsigned)strtoul(argv[2], 0, 10) : 0, i;
    Position *positions = (Position *)calloc(n + 1, sizeof *positions);
    if (!n || !positions || !open_tables(argv[1])) {
        fprintf(stderr, "usage: dtm FOLDER POSITIONS ENDING...\n");
        return 2;
    }
    for (i = 0; i < n; i++) {
        uint8_t board[64];
        int white_to_move;
        random_board(argv[3 + chance((unsigned)argc - 3)], board, &white_to_move);
        convert(board, white_to_move, &positions[i]);
    }
    measure("each once", positions, n, n);
    measure("each once more", positions, n, n);
    measure("a thousand, in turns", positions, n, n < 1000 ? n : 1000);
    free(positions);
    close_tables();
    return 0;
}
