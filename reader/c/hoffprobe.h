/* hoffprobe: reads chess endgame tables in the block format (.hbf): of complete endings, and, with hoffindex.c, of parts
 * of endings and what control files describe.
 *
 * Plain C99, no dependencies; also compiles as C++. SPDX-License-Identifier: MIT OR Apache-2.0
 *
 *     hoffman_init("tables;more/tables");
 *     if (men <= hoffman_largest() && hoffman_probe(&position, &result) == HOFFMAN_OK)
 *         return hoffman_score(&result, ply, MATE);
 *
 * Values are those of the SIDE TO MOVE, not White's. Squares: a1 = 0, h1 = 7, a2 = 8, h8 = 63. Distances are plies to
 * mate, odd for wins, even for losses. Values depend on the position alone: keep the distance from the node in a hash
 * table, never the one from the root.
 *
 * Threads: any number of them may ask at once. A hit takes no lock and no memory. What opens, closes or sets something
 * must be alone. Nothing is printed, nothing ends the program. A miss takes some 100 KB of the stack, the moves of a
 * position some 200 KB. */
#ifndef HOFFPROBE_H
#define HOFFPROBE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows with each addition. A program keeps the sizes of structs that it was compiled with, and they only grow at their
 * ends; so a newer library serves it as before. */
#define HOFFMAN_API_VERSION 2
#ifndef HOFFMAN_MEN
#define HOFFMAN_MEN 6 /* the most men of a complete ending that is looked for, kings included; 3 to 8 */
#endif
#define HOFFMAN_MAX_PLIES 65534 /* no distance is longer */
#define HOFFMAN_MAX_MOVES 256

/* What a function says. */
enum {
    HOFFMAN_OK = 0,
    HOFFMAN_NO_TABLE = 1,  /* no table, or one that is needed behind a move is missing; or too many men */
    HOFFMAN_CASTLING = 2,  /* somebody may still castle */
    HOFFMAN_ILLEGAL = 3,   /* no position of chess, or the side that is not to move is in check */
    HOFFMAN_BUSY = 4,      /* soft: not in the cache */
    HOFFMAN_DAMAGED = 5,   /* a file cannot be read, or a checksum is wrong */
    HOFFMAN_MEMORY = 6,    /* out of memory */
    HOFFMAN_ASSUMED = 7,   /* there is a result, but the table was made under assumptions: see claims */
    HOFFMAN_MATE = 8,      /* hoffman_probe_root: the side to move is mated; */
    HOFFMAN_STALEMATE = 9, /* it has no move, and is not in check */
    HOFFMAN_VERSION = 10   /* the program was compiled for a newer library */
};

/* castling: as in Fathom. A right is passed over where it is void: the king is not on its square or has no such rook.
 * With HOFFMAN_CHESS960 the king may stand anywhere on its rank, and any rook on that side of it will do. */
enum { HOFFMAN_CASTLE_K = 1, HOFFMAN_CASTLE_Q = 2, HOFFMAN_CASTLE_k = 4, HOFFMAN_CASTLE_q = 8, HOFFMAN_CHESS960 = 16 };

typedef struct {
    uint64_t white, black;
    uint64_t kings, queens, rooks, bishops, knights, pawns;
    unsigned rule50;   /* plies since the last capture or pawn move */
    unsigned castling; /* HOFFMAN_CASTLE_*; 0 none */
    unsigned ep;       /* square a pawn has just jumped over, of no matter if none can take there; 0, above 63: none */
    int white_to_move;
} hoffman_position;

/* bound: what the score of a result is of the true one */
enum { HOFFMAN_EXACT = 0, HOFFMAN_LOWER = 1, HOFFMAN_UPPER = 2 };

#define HOFFMAN_MAYBE_50 1u /* a flag: the clock passes 100 before mate, the fifty-move rule may make it a draw */

/* claims: what is certain, all four with HOFFMAN_OK: a win of a side, at most as long; that it does not lose where the
 * result does not say so */
enum { HOFFMAN_WHITE_WINS = 1, HOFFMAN_BLACK_WINS = 2, HOFFMAN_WHITE_HOLDS = 4, HOFFMAN_BLACK_HOLDS = 8 };

typedef struct {
    int wdl;         /* 2 won, 0 drawn, -2 lost; with HOFFMAN_CURSED 1 and -1 where the clock may take the win away */
    unsigned plies;  /* to mate; 0 for draws and if mated. At most so many where the bound is not exact */
    unsigned bound;  /* HOFFMAN_EXACT, HOFFMAN_LOWER, HOFFMAN_UPPER */
    unsigned flags;  /* HOFFMAN_MAYBE_50 */
    unsigned claims; /* HOFFMAN_WHITE_WINS ... */
} hoffman_result;

#define HOFFMAN_FATHOM_WDL(result) ((unsigned)((result)->wdl + 2)) /* 0 loss ... 4 win */

/* keep: why a move may stay in the search. It holds the result; and under the fifty-move rule,
 * as far as that is known (see hoffman_probe_root); and makes most progress, for games in which
 * a position has occurred again. Nothing is marked unless the result is certain: a move is
 * known to win, or all moves are known, or a table has the position itself. */
enum { HOFFMAN_KEEP = 1, HOFFMAN_KEEP_50 = 2, HOFFMAN_KEEP_SHORTEST = 4 };

typedef struct {
    unsigned from, to;
    unsigned promotion; /* 0 none, 1 knight, 2 bishop, 3 rook, 4 queen */
    unsigned en_passant;
    unsigned zeroing;      /* a capture or a pawn move */
    int status;            /* HOFFMAN_OK (or HOFFMAN_ASSUMED): the result is known */
    hoffman_result result; /* for the side that makes the move, plies counted from before it */
    unsigned keep;
    /* Of a win without a distance: plies in which a capture, a pawn move or mate is forced by which it stays won, this move
     * included; 0 if a short search found no such way. Version 2. */
    unsigned progress;
} hoffman_move;

typedef struct {
    uint64_t tables;   /* tables that there are */
    uint64_t opened;   /* that were asked for */
    uint64_t hits;     /* values that were in the cache */
    uint64_t misses;   /* values that were not, of which soft ones end as HOFFMAN_BUSY */
    uint64_t decoded;  /* tiles that were decoded */
    uint64_t blocks;   /* blocks whose checksum was compared */
    uint64_t failures; /* damage that was met */
    uint64_t memory;   /* bytes of models and directories, beside the cache */
} hoffman_statistics;

/* ---- the tables of the program ---- */

unsigned hoffman_version(void); /* of the library */
/* Looks for tables in some folders, separated by ';' or, but on Windows, ':', in place of those of an earlier
 * call. Folders and tables that are missing are no error. HOFFMAN_OK, HOFFMAN_MEMORY (those of before stay) or
 * HOFFMAN_VERSION. */
static inline int hoffman_init(const char *path);
void hoffman_free(void);

/* Bytes of decoded values that are held at most, for all threads together: 32 MB unless it is called, 1 MB is enough.
 * What was held is forgotten. HOFFMAN_OK or HOFFMAN_MEMORY (then nothing has changed). */
int hoffman_set_cache(size_t bytes);

/* Who is told of files that are refused or damaged: one line without its end, by the thread that met it. */
void hoffman_set_log(void (*log)(void *, const char *), void *with);

unsigned hoffman_largest(void); /* the most men of any table, kings included; 2 if there is none */
unsigned hoffman_longest(void); /* no answer has more plies; HOFFMAN_MAX_PLIES if that is not known */
/* Whether there is a table for an ending or for a part of it, "KRPvKR", White's men first or Black's; or for the men of a
 * position. */
int hoffman_has(const char *material);
int hoffman_has_position(const hoffman_position *position);

/* The value and the distance to mate. */
int hoffman_probe(const hoffman_position *position, hoffman_result *result);
/* The same from the cache only: HOFFMAN_BUSY if a file would have to be read. */
int hoffman_probe_soft(const hoffman_position *position, hoffman_result *result);
/* Who wins, from the smaller streams where there are some. Won: the score is at least what hoffman_score
 * gives, lost: at most. */
int hoffman_probe_wdl(const hoffman_position *position, hoffman_result *result);
/* All legal moves, the best first: shortest wins, draws, longest losses, then those without an
 * answer, which may be better: see keep. Wins without a distance come behind those with one,
 * losses before; but if the distance of the position is known, what keeps it comes first, then
 * what has none, then what gives some away. Wins without a distance are ordered by their
 * progress, which is looked for if the best move is one of them, with 4000 probes at most, then
 * by how near the other king is to a corner. A move with from = to = 0 ends them, if there is
 * room. HOFFMAN_OK: at least one move is known; HOFFMAN_MATE, HOFFMAN_STALEMATE; else why the
 * first is unknown.
 * keep: of won positions KEEP_50 has the moves that mate before the clock runs out or, if there
 * are none, all that win; of lost ones those whose mate the clock may forestall or, if there
 * are none, all. A first move without a distance has the clock of the position, if that is
 * known. KEEP_SHORTEST is of the moves that are known, and of none that gives away some of the
 * distance of the position. */
int hoffman_probe_root(const hoffman_position *position, hoffman_move moves[HOFFMAN_MAX_MOVES], unsigned *count);
/* A line of best play to mate of at most n moves; *count is its length. Each move takes one ply
 * off the distance, so that no position occurs twice. HOFFMAN_OK: it ends with mate, or has n
 * moves, or none as the position is a draw. Else it ends where no move is sure to keep the
 * distance, and may be empty: HOFFMAN_NO_TABLE where tables are missing or have outcomes only,
 * or why else a move is unknown. */
int hoffman_line(const hoffman_position *position, hoffman_move *moves, unsigned n, unsigned *count);
static inline void hoffman_stats(hoffman_statistics *statistics);

/* ---- other tables beside them, and other ways to ask ---- */

typedef struct hoffman_base hoffman_base;

/* Null if there is no memory or the program was compiled for a newer library. */
static inline hoffman_base *hoffman_open(const char *path, size_t cache_bytes);
void hoffman_close(hoffman_base *base);

/* Flags: from the cache only; who wins is enough; also from tables made under assumptions, which else are no tables;
 * what HOFFMAN_MAYBE_50 is said of has wdl 1 or -1, and the score of a draw. */
enum { HOFFMAN_SOFT = 1, HOFFMAN_WDL = 2, HOFFMAN_ALLOW_ASSUMED = 4, HOFFMAN_CURSED = 8 };

/* As the functions above; base 0 has the tables of hoffman_init. */
int hoffman_ask(hoffman_base *base, const hoffman_position *position, unsigned flags, hoffman_result *result);
int hoffman_ask_root(hoffman_base *base, const hoffman_position *position, unsigned flags,
    hoffman_move moves[HOFFMAN_MAX_MOVES], unsigned *count);
int hoffman_ask_line(hoffman_base *base, const hoffman_position *position, unsigned flags, hoffman_move *moves,
    unsigned n, unsigned *count);
unsigned hoffman_largest_of(const hoffman_base *base);
void hoffman_stats_of(const hoffman_base *base, hoffman_statistics *statistics, size_t size);

/* What a cell of the distances holds without its exits, for tests: 0 if it is not stored for this side. */
uint16_t hoffman_stored_code(hoffman_base *base, const hoffman_position *position);

/* ---- positions ---- */

/* From an array of 64 squares: 0 empty, 1 pawn, 2 knight, 3 bishop, 4 rook, 5 queen, 6 king, 8 more for Black's. The
 * rest of the position is not touched. HOFFMAN_OK, or HOFFMAN_ILLEGAL for other numbers. */
int hoffman_from_board(const uint8_t board[64], hoffman_position *position);
/* A score from a result that was found `ply` plies below the root. A won position has at least 1, a lost one at most
 * -1, a draw and what the clock may take away (HOFFMAN_CURSED) 0. */
static inline int hoffman_score(const hoffman_result *result, int ply, int mate) {
    int score = mate - ply - (int)result->plies;
    if (result->wdl > -2 && result->wdl < 2) return 0;
    if (score < 1) score = 1;
    return result->wdl > 0 ? score : -score;
}

/* ---- how a program says what it was compiled for ---- */

typedef struct { unsigned version, position, result, move; /* sizes */ } hoffman_caller;

int hoffman_init_for(const char *path, const hoffman_caller *caller);
hoffman_base *hoffman_open_for(const char *path, size_t cache_bytes, const hoffman_caller *caller);

static inline hoffman_caller hoffman_this_caller(void) {
    hoffman_caller caller = {HOFFMAN_API_VERSION, (unsigned)sizeof(hoffman_position), (unsigned)sizeof(hoffman_result),
        (unsigned)sizeof(hoffman_move)};
    return caller;
}

static inline int hoffman_init(const char *path) {
    hoffman_caller caller = hoffman_this_caller();
    return hoffman_init_for(path, &caller);
}

static inline hoffman_base *hoffman_open(const char *path, size_t cache_bytes) {
    hoffman_caller caller = hoffman_this_caller();
    return hoffman_open_for(path, cache_bytes, &caller);
}

static inline void hoffman_stats(hoffman_statistics *statistics) {
    hoffman_stats_of(0, statistics, sizeof *statistics);
}

#ifdef __cplusplus
}
#endif

#endif
