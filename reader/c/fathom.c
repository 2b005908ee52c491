/* The functions of Fathom, the prober for Syzygy tables that engines carry, over the tables of hoffprobe.h: an engine that
 * was written for Fathom is linked with this library in its place. SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The program keeps Fathom's header. What differs from Fathom is in docs/engines.md, 6: distances are plies to MATE where
 * it has plies to a capture or pawn move (DTZ), and nothing is known of the fifty-move rule but the clock. */
#include "hoffprobe.h"

#include <stdbool.h>

/* ---- what Fathom's header says, as far as it is needed ---- */

enum { MAX_MOVES = 193, MAX_LINE = 256 };
enum { RESULT_TO = 4, RESULT_FROM = 10, RESULT_PROMOTES = 16, RESULT_EP = 19, RESULT_DTZ = 20 }; /* shifts */
#define RESULT_CHECKMATE 4u
#define RESULT_STALEMATE 2u
#define RESULT_FAILED 0xFFFFFFFFu
#define LONGEST 4095u /* what a result has room for */

enum { SCORE_WON = 32000 - MAX_LINE - 1, SCORE_PAWN = 100 };

typedef uint16_t TbMove;

struct TbRootMove {
    TbMove move;
    TbMove pv[MAX_LINE];
    unsigned pvSize;
    int32_t tbScore, tbRank;
};

struct TbRootMoves {
    unsigned size;
    struct TbRootMove moves[MAX_MOVES];
};

#define BOARD \
    uint64_t white, uint64_t black, uint64_t kings, uint64_t queens, uint64_t rooks, uint64_t bishops, uint64_t knights, \
        uint64_t pawns
#define POSITION(clock, rights, ep, turn) \
    {white, black, kings, queens, rooks, bishops, knights, pawns, clock, rights, ep, turn}

unsigned TB_LARGEST = 0;

bool tb_init(const char *path);
void tb_free(void);
unsigned tb_probe_wdl_impl(BOARD, unsigned ep, bool turn);
unsigned tb_probe_root_impl(BOARD, unsigned rule50, unsigned ep, bool turn, unsigned *results);
int tb_probe_root_dtz(BOARD, unsigned rule50, unsigned castling, unsigned ep, bool turn, bool repeated, bool use_rule50,
    struct TbRootMoves *results);
int tb_probe_root_wdl(BOARD, unsigned rule50, unsigned castling, unsigned ep, bool turn, bool use_rule50,
    struct TbRootMoves *results);
unsigned tb_pop_count(uint64_t set);
unsigned tb_lsb(uint64_t set);
uint64_t tb_pop_lsb(uint64_t set);
uint64_t tb_king_attacks(unsigned square);
uint64_t tb_queen_attacks(unsigned square, uint64_t occupied);
uint64_t tb_rook_attacks(unsigned square, uint64_t occupied);
uint64_t tb_bishop_attacks(unsigned square, uint64_t occupied);
uint64_t tb_knight_attacks(unsigned square);
uint64_t tb_pawn_attacks(unsigned square, bool white);

/* ---- tables ---- */

bool tb_init(const char *path) {
    bool good = hoffman_init(path) == HOFFMAN_OK;
    TB_LARGEST = hoffman_largest() > 2 ? hoffman_largest() : 0;
    return good;
}

void tb_free(void) {
    hoffman_free();
    TB_LARGEST = 0;
}

unsigned tb_probe_wdl_impl(BOARD, unsigned ep, bool turn) {
    hoffman_position position = POSITION(0, 0, ep, turn);
    hoffman_result result;
    return hoffman_ask(0, &position, HOFFMAN_WDL, &result) == HOFFMAN_OK ? HOFFMAN_FATHOM_WDL(&result) : RESULT_FAILED;
}

/* All legal moves, best first; HOFFMAN_OK only if every result is known. */
static int all_moves(const hoffman_position *position, hoffman_move moves[HOFFMAN_MAX_MOVES], unsigned *count) {
    int status = hoffman_probe_root(position, moves, count);
    unsigned i;
    for (i = 0; status == HOFFMAN_OK && i < *count; i++) status = moves[i].status;
    return status;
}

/* The plies that a result takes: to mate; of a win without a distance the plies that it makes progress in. */
static unsigned plies_of(const hoffman_move *move) {
    unsigned plies = move->progress ? move->progress : move->result.plies;
    return plies < LONGEST ? plies : LONGEST;
}

/* Fathom counts promotions from the queen on. */
static unsigned promotes(const hoffman_move *move) { return move->promotion ? 5 - move->promotion : 0; }

static unsigned result_of(const hoffman_move *move) {
    return HOFFMAN_FATHOM_WDL(&move->result) | move->to << RESULT_TO | move->from << RESULT_FROM |
        promotes(move) << RESULT_PROMOTES | (move->en_passant ? 1u : 0u) << RESULT_EP | plies_of(move) << RESULT_DTZ;
}

unsigned tb_probe_root_impl(BOARD, unsigned rule50, unsigned ep, bool turn, unsigned *results) {
    hoffman_position position = POSITION(rule50, 0, ep, turn);
    hoffman_move moves[HOFFMAN_MAX_MOVES];
    unsigned count, i;
    int status = all_moves(&position, moves, &count);
    if (status == HOFFMAN_MATE) return RESULT_CHECKMATE;
    if (status == HOFFMAN_STALEMATE) return RESULT_STALEMATE;
    if (status != HOFFMAN_OK || count >= MAX_MOVES) return RESULT_FAILED;
    if (results) {
        for (i = 0; i < count; i++) results[i] = result_of(&moves[i]);
        results[count] = RESULT_FAILED;
    }
    return result_of(&moves[0]);
}

/* The more the better; 1000 and -1000 where the clock does not matter. After a repetition the shortest way is best. */
static int rank_of(const hoffman_move *move, unsigned rule50, bool repeated) {
    int plies = (int)plies_of(move), clock = (int)rule50, left = 1000 - plies - clock;
    if (left < 1) left = 1;
    if (move->result.wdl > 0) return plies + clock <= 99 && !repeated ? 1000 : left;
    if (move->result.wdl < 0) return 2 * plies + clock < 100 ? -1000 : -left;
    return 0;
}

static int score_of(int rank, int bound) {
    if (rank >= bound) return SCORE_WON;
    if (rank <= -bound) return -SCORE_WON;
    if (rank > 0) return (rank - 800 > 3 ? rank - 800 : 3) * SCORE_PAWN / 200;
    return rank < 0 ? (rank + 800 < -3 ? rank + 800 : -3) * SCORE_PAWN / 200 : 0;
}

static TbMove move_of(const hoffman_move *move) {
    return (TbMove)(promotes(move) << 12 | move->from << 6 | move->to);
}

int tb_probe_root_dtz(BOARD, unsigned rule50, unsigned castling, unsigned ep, bool turn, bool repeated, bool use_rule50,
    struct TbRootMoves *results) {
    hoffman_position position = POSITION(rule50, castling, ep, turn);
    hoffman_move moves[HOFFMAN_MAX_MOVES];
    unsigned count, i;
    results->size = 0;
    if (all_moves(&position, moves, &count) != HOFFMAN_OK || count > MAX_MOVES) return 0;
    for (i = 0; i < count; i++) {
        struct TbRootMove *told = &results->moves[results->size++];
        told->move = move_of(&moves[i]);
        told->pvSize = 0;
        told->tbRank = rank_of(&moves[i], rule50, repeated);
        told->tbScore = score_of(told->tbRank, use_rule50 ? 900 : 1);
    }
    return 1;
}

int tb_probe_root_wdl(BOARD, unsigned rule50, unsigned castling, unsigned ep, bool turn, bool use_rule50,
    struct TbRootMoves *results) {
    /* What a mate is away is known wherever the outcome is, so that nothing has to be left out. */
    return tb_probe_root_dtz(white, black, kings, queens, rooks, bishops, knights, pawns, rule50, castling, ep, turn, false,
        use_rule50, results);
}

/* ---- squares ---- */

unsigned tb_pop_count(uint64_t set) {
    unsigned count = 0;
    for (; set; set &= set - 1) count++;
    return count;
}

unsigned tb_lsb(uint64_t set) {
    unsigned square = 0;
    while (square < 63 && !(set >> square & 1)) square++;
    return square;
}

uint64_t tb_pop_lsb(uint64_t set) { return set & (set - 1); }

/* The squares that are reached by steps, once or until a man is met. */
static uint64_t attacks(unsigned square, const int steps[][2], unsigned n, bool once, uint64_t occupied) {
    uint64_t reached = 0;
    unsigned i;
    for (i = 0; i < n; i++) {
        int file = (int)(square & 7) + steps[i][0], rank = (int)(square >> 3) + steps[i][1];
        for (; file >= 0 && file < 8 && rank >= 0 && rank < 8; file += steps[i][0], rank += steps[i][1]) {
            uint64_t at = (uint64_t)1 << (8 * rank + file);
            reached |= at;
            if (once || (occupied & at)) break;
        }
    }
    return reached;
}

static const int LINES[8][2] = {{0, 1}, {0, -1}, {1, 0}, {-1, 0}, {1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
static const int JUMPS[8][2] = {{1, 2}, {1, -2}, {-1, 2}, {-1, -2}, {2, 1}, {2, -1}, {-2, 1}, {-2, -1}};
static const int WHITE_PAWNS[2][2] = {{-1, 1}, {1, 1}};
static const int BLACK_PAWNS[2][2] = {{-1, -1}, {1, -1}};

uint64_t tb_king_attacks(unsigned square) { return attacks(square, LINES, 8, true, 0); }
uint64_t tb_queen_attacks(unsigned square, uint64_t occupied) { return attacks(square, LINES, 8, false, occupied); }
uint64_t tb_rook_attacks(unsigned square, uint64_t occupied) { return attacks(square, LINES, 4, false, occupied); }
uint64_t tb_bishop_attacks(unsigned square, uint64_t occupied) { return attacks(square, LINES + 4, 4, false, occupied); }
uint64_t tb_knight_attacks(unsigned square) { return attacks(square, JUMPS, 8, true, 0); }
uint64_t tb_pawn_attacks(unsigned square, bool white) {
    return attacks(square, white ? WHITE_PAWNS : BLACK_PAWNS, 2, true, 0);
}
