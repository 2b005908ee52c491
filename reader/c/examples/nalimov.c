/* For engines that have glue for Nalimov's tables, as Charles Roberson described it in "How To Interface with Nalimov
 * Endgame Tablebases" (Computer Chess Club, 2004): the same function over these tables. Four slips of that text are
 * mended:
 *
 *  - `ply` was subtracted twice, in EGTBProbe and again in the search, and losses were a ply off besides. The score is
 *    MATESCORE - ply - plies to mate, and that is all: see hoffman_score.
 *  - a draw went through the formula of losses and came out as a mate. It is 0.
 *  - values are those of the side to move, not White's.
 *  - the square of en passant is the one that the pawn has jumped over, not that of the pawn.
 *
 *     nalimov FOLDER     tries it with random positions of the endings that are there
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "hoffprobe.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* ---- what such an engine has ---- */

enum { WHITE, BLACK };
enum { NONE, WPT, WKnT, WBT, WRT, WQT, WKT, BPT = 9, BKnT, BBT, BRT, BQT, BKT };

#define MAXPIECES 15
#define XX 127 /* no square of en passant */
#define MATESCORE 32000
#define NOTFOUND INT_MIN

static int pos[64];                                       /* the man of each square */
static int WPieceList[MAXPIECES], BPieceList[MAXPIECES];  /* the squares of all men but the kings */
static int whitepieces, blackpieces;                      /* how many of them */
static int whitekingsquare, blackkingsquare, EnPassantSquare = XX;

/* ---- the glue ---- */

/* The score of the position for the side to move, or NOTFOUND. Called in the search as
 *
 *     if (TotalWhitePieces + TotalBlackPieces <= hoffman_largest()) {
 *         v = EGTBProbe(ColorToMove, ply);
 *         if (v != NOTFOUND) return v;
 *     }
 *
 * behind the tests of repetition and of the fifty moves, and not in the evaluation. */
static int EGTBProbe(int ColorToMove, int Ply) {
    uint8_t board[64];
    hoffman_position position;
    hoffman_result result;
    int j;
    memset(board, 0, sizeof board);
    memset(&position, 0, sizeof position);
    board[whitekingsquare] = 6;
    board[blackkingsquare] = 6 + 8;
    for (j = 0; j < whitepieces; j++) board[WPieceList[j]] = (uint8_t)pos[WPieceList[j]];
    for (j = 0; j < blackpieces; j++) board[BPieceList[j]] = (uint8_t)pos[BPieceList[j]];
    if (hoffman_from_board(board, &position) != HOFFMAN_OK) return NOTFOUND;
    position.white_to_move = ColorToMove == WHITE;
    position.ep = (unsigned)EnPassantSquare;
    if (hoffman_probe(&position, &result) != HOFFMAN_OK) return NOTFOUND;
    return hoffman_score(&result, Ply, MATESCORE);
}

/* What L_TbtProbeTable would have said, for engines that turn it into a score themselves: 32766 for mate in one move,
 * one less for each move more; -32766 if mated, one more for each move; 0 for a draw. */
static int NalimovValue(const hoffman_result *result) {
    int moves = (int)(result->plies + 1) / 2;
    if (!result->wdl) return 0;
    return result->wdl > 0 ? 32766 - (moves - 1) : -32766 + moves;
}

/* ---- a try ---- */

/* The score that the text comes to as it is printed, from a value of Nalimov's. */
static int as_printed(int value, int ply) {
    const int inf = 32767;
    int v = value > 0 ? (value - 32766 - 1) * 2 + inf - ply : (value + 32766) * 2 - inf + ply;
    return v > 0 ? MATESCORE - (inf - v) - ply + 1 : v < 0 ? -(MATESCORE - (inf + v) - ply + 1) : v;
}

static unsigned chance(unsigned below) {
    static uint64_t state = 88172645463325252u;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (unsigned)((state >> 33) % below);
}

static int free_square(void) {
    int s;
    do s = (int)chance(64);
    while (pos[s]);
    return s;
}

static void set_up(const int *white, const int *black) {
    memset(pos, 0, sizeof pos);
    pos[whitekingsquare = free_square()] = WKT;
    pos[blackkingsquare = free_square()] = BKT;
    for (whitepieces = 0; *white; whitepieces++) pos[WPieceList[whitepieces] = free_square()] = *white++;
    for (blackpieces = 0; *black; blackpieces++) pos[BPieceList[blackpieces] = free_square()] = *black++;
}

static int try_out(const char *ending, const int *white, const int *black) {
    unsigned decided = 0, drawn = 0, printed = 0, i;
    if (!hoffman_has(ending)) return 1;
    for (i = 0; i < 4000; i++) {
        int color = (int)chance(2), ply = (int)chance(20), score;
        hoffman_position p;
        hoffman_result r;
        uint8_t board[64];
        int s;
        set_up(white, black);
        score = EGTBProbe(color, ply);
        for (s = 0; s < 64; s++) board[s] = (uint8_t)pos[s];
        memset(&p, 0, sizeof p);
        hoffman_from_board(board, &p);
        p.white_to_move = color == WHITE;
        if (hoffman_probe(&p, &r) != HOFFMAN_OK) {
            if (score != NOTFOUND) return 0;
            continue;
        }
        if (r.wdl ? score != (r.wdl > 0 ? 1 : -1) * (MATESCORE - ply - (int)r.plies) : score != 0) return 0;
        if (!r.wdl) drawn++;
        else decided++, printed += as_printed(NalimovValue(&r), ply) == score;
    }
    printf("%s: %u decided, %u drawn, all right; the formulas as printed: %u\n", ending, decided, drawn, printed);
    return decided > 0;
}

int main(int argc, char **argv) {
    static const int queen[] = {WQT, 0}, rook[] = {BRT, 0}, pawn[] = {BPT, 0}, white_rook[] = {WRT, 0}, nothing[] = {0};
    int ok;
    if (argc != 2 || hoffman_init(argv[1]) != HOFFMAN_OK) return fprintf(stderr, "nalimov FOLDER\n"), 2;
    ok = try_out("KQvK", queen, nothing) && try_out("KQvKR", queen, rook) && try_out("KRvKP", white_rook, pawn);
    if (!ok) fprintf(stderr, "the glue is wrong\n");
    hoffman_free();
    return !ok;
}
