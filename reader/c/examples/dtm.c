/* How many distances to mate a second: dtm FOLDER POSITIONS ENDING...
 *
 * It reads tables of the block format or, compiled with -DPROPHET, those of Prophet: the same random legal positions,
 * processor time of one thread. The sums tell whether the answers are the same.
 *
 *   cc -O2 -I reader/c reader/c/examples/dtm.c reader/c/hoffprobe.c -o ours
 *   cc -O2 -DPROPHET -I PROPHET/src reader/c/examples/dtm.c PROPHET/build/libprophet.so -o theirs
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "random.h"
#include "timed.h"

/* Of either reader there are the following. A distance is above 0 if the position is won, in plies; 0 if it is drawn;
 * if it is lost one less than minus the plies, so -1 if it is mate. */
#ifdef PROPHET
#include "prophet.h"

typedef struct { int kinds[6], squares[6], black_to_move; } Position;

static Position *positions;
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

static int distance(unsigned number, int *answer) {
    const Position *p = &positions[number];
    int plies = prophet_tb_probe_dtm_dctx(p->kinds, p->squares, p->black_to_move, 64, context);
    *answer = plies == 1000 ? 0 : plies > 0 ? plies : plies - 1;
    return plies >= -1000;
}

static void close_tables(void) {
    prophet_tb_free_decompress_ctx(context);
    prophet_tb_deinit();
}
#else
#include "hoffprobe.h"

typedef hoffman_position Position;

static Position *positions;

static int open_tables(const char *folder) { return hoffman_init(folder) == HOFFMAN_OK && hoffman_largest() > 2; }

static void convert(const uint8_t board[64], int white_to_move, Position *p) {
    hoffman_from_board(board, p);
    p->white_to_move = white_to_move;
}

static int distance(unsigned number, int *answer) {
    hoffman_result r;
    if (hoffman_probe(&positions[number], &r) != HOFFMAN_OK) return 0;
    *answer = !r.wdl ? 0 : r.wdl > 0 ? (int)r.plies : -(int)r.plies - 1;
    return 1;
}

static void close_tables(void) { hoffman_free(); }
#endif

int main(int argc, char **argv) {
    unsigned n = argc > 3 ? (unsigned)strtoul(argv[2], 0, 10) : 0, i;
    positions = (Position *)calloc(n + 1, sizeof *positions);
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
    measure_all(distance, n);
    free(positions);
    close_tables();
    return 0;
}
