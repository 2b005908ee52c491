/* Positions from FENs, and moves and answers as text, for programs that have no such functions of their own.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef HOFFMAN_FEN_H
#define HOFFMAN_FEN_H

#include "hoffprobe.h"

#include <string.h>

/* The right that a letter of a FEN stands for: KQkq, or the file of a rook as in Chess960. */
static inline unsigned right_of(const hoffman_position *h, char letter) {
    int black = letter >= 'a', file = (letter | 32) - 'a', s;
    unsigned right;
    uint64_t rank = black ? (uint64_t)255 << 56 : 255, king = (black ? h->black : h->white) & h->kings & rank;
    if ((letter | 32) == 'k' || (letter | 32) == 'q') {
        right = (letter | 32) == 'k' ? HOFFMAN_CASTLE_K : HOFFMAN_CASTLE_Q;
        if (king != (uint64_t)1 << (black ? 60 : 4)) right |= HOFFMAN_CHESS960;
    } else if (file >= 0 && file < 8) {
        for (s = 0; s < 64 && !(king >> s & 1); s++) {}
        right = HOFFMAN_CHESS960 | ((s & 7) < file ? HOFFMAN_CASTLE_K : HOFFMAN_CASTLE_Q);
    } else return 0;
    return black ? (right & HOFFMAN_CHESS960) | (right & 3) << 2 : right;
}

/* HOFFMAN_OK, or HOFFMAN_ILLEGAL if it is no FEN. What is behind the side to move may be missing. */
static inline int from_fen(const char *fen, hoffman_position *h) {
    static const char letters[] = " PNBRQK  pnbrqk";
    uint8_t board[64];
    int rank = 7, file = 0;
    memset(h, 0, sizeof *h);
    memset(board, 0, sizeof board);
    for (; *fen && *fen != ' '; fen++) {
        const char *at = strchr(letters, *fen);
        if (*fen == '/') {
            if (file != 8 || rank-- == 0) return HOFFMAN_ILLEGAL;
            file = 0;
        } else if (*fen >= '1' && *fen <= '8' && file + *fen - '0' <= 8) file += *fen - '0';
        else if (at && file < 8) board[8 * rank + file++] = (uint8_t)(at - letters);
        else return HOFFMAN_ILLEGAL;
    }
    if (rank || file != 8 || fen[0] != ' ' || (fen[1] != 'w' && fen[1] != 'b')) return HOFFMAN_ILLEGAL;
    if (fen[2] && fen[2] != ' ' && fen[2] != '\n') return HOFFMAN_ILLEGAL;
    hoffman_from_board(board, h);
    h->white_to_move = fen[1] == 'w';
    if (fen[2] != ' ') return HOFFMAN_OK;
    for (fen += 3; *fen && *fen != ' '; fen++) {
        unsigned right = right_of(h, *fen);
        if (!right && *fen != '-') return HOFFMAN_ILLEGAL;
        h->castling |= right;
    }
    if (!*fen) return HOFFMAN_OK;
    if (fen[1] >= 'a' && fen[1] <= 'h' && (fen[2] == '3' || fen[2] == '6'))
        h->ep = (unsigned)(fen[1] - 'a' + 8 * (fen[2] - '1'));
    else if (fen[1] != '-') return HOFFMAN_ILLEGAL;
    for (fen++; *fen && *fen != ' '; fen++) {}
    while (*fen == ' ') fen++;
    for (; *fen >= '0' && *fen <= '9' && h->rule50 < 10000; fen++) h->rule50 = 10 * h->rule50 + (unsigned)(*fen - '0');
    return HOFFMAN_OK;
}

/* "e7e8q" */
static inline void move_text(const hoffman_move *m, char text[6]) {
    text[0] = (char)('a' + (m->from & 7));
    text[1] = (char)('1' + (m->from >> 3 & 7));
    text[2] = (char)('a' + (m->to & 7));
    text[3] = (char)('1' + (m->to >> 3 & 7));
    text[4] = "\0nbrq"[m->promotion < 5 ? m->promotion : 0];
    text[5] = 0;
}

/* What a status means, in a few words. */
static inline const char *status_text(int status) {
    static const char *const texts[] = {"ok", "no table", "somebody may still castle", "no legal position",
        "not in the cache", "a file is damaged", "out of memory", "under assumptions", "mate", "stalemate",
        "compiled for a newer library"};
    return status >= 0 && status < (int)(sizeof texts / sizeof *texts) ? texts[status] : "unknown";
}

#endif
