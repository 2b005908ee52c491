/* Random legal positions of an ending, the same ones every time, for programs that measure.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef HOFFMAN_RANDOM_H
#define HOFFMAN_RANDOM_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What stands on a square: one of these, 8 more for Black's. */
enum { PAWN = 1, KNIGHT, BISHOP, ROOK, QUEEN, KING, BLACK = 8 };

static uint64_t state = 88172645463325252u;

static inline unsigned chance(unsigned below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)((state >> 33) % below);
}

/* Whether a man on a square attacks another one. */
static inline int attacks(const uint8_t board[64], int from, int to) {
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

/* 0: the position is not legal. */
static inline int try_board(const char *ending, uint8_t board[64], int *white_to_move) {
    static const char letters[] = " PNBRQK";
    unsigned color = chance(2) * BLACK;
    int square, king = -1;
    memset(board, 0, 64);
    *white_to_move = (int)chance(2);
    for (; *ending; ending++) {
        int kind;
        if (*ending == 'v') {
            color ^= BLACK;
            continue;
        }
        kind = (int)(strchr(letters, *ending) - letters);
        do square = (int)chance(64);
        while (board[square]);
        if (kind == PAWN && (square < 8 || square > 55)) return 0;
        board[square] = (uint8_t)(kind | (int)color);
        if (kind == KING && (color == 0) != *white_to_move) king = square;
    }
    for (square = 0; square < 64; square++)
        if (board[square] && (board[square] < BLACK) == *white_to_move && attacks(board, square, king)) return 0;
    return 1;
}

/* A legal position of an ending, "KRPvKR", colours exchanged in one of two. */
static inline void random_board(const char *ending, uint8_t board[64], int *white_to_move) {
    while (!try_board(ending, board, white_to_move)) {}
}

#endif
