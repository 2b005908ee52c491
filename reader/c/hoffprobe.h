/* hoffprobe: reads chess endgame tables of complete endings in the block format (.hbf).
 *
 * Plain C99, no dependencies; also compiles as C++. SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Threads: a hoffman_base is never changed after it was opened and may be shared. Each thread has a
 * hoffman_prober of its own, with its own cache; there are no locks. Nothing is printed, nothing ends the program.
 *
 * Values are those of the SIDE TO MOVE, not White's. Castling rights have no answers. The fifty-move rule is not
 * in the tables; see HOFFMAN_MAYBE_50. Values depend on the position alone, so keep distances from the node in
 * a hash table, not distances from the root.
 */
#ifndef HOFFPROBE_H
#define HOFFPROBE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HOFFMAN_API_VERSION 1

/* The most men of a table that is looked for, kings included; each more costs time when a folder is opened. */
#ifndef HOFFMAN_MEN
#define HOFFMAN_MEN 6
#endif

/* No distance is longer, in plies. */
#define HOFFMAN_MAX_PLIES 65534

#define HOFFMAN_MAX_MOVES 256

/* What a function says. */
enum {
    HOFFMAN_OK = 0,
    HOFFMAN_NO_TABLE = 1, /* no table, or one that is needed behind a move is missing */
    HOFFMAN_CASTLING = 2, /* a position with castling rights */
    HOFFMAN_ILLEGAL = 3,  /* no legal position */
    HOFFMAN_BUSY = 4,     /* soft: not in the cache */
    HOFFMAN_DAMAGED = 5,  /* a file cannot be read, or a checksum is wrong */
    HOFFMAN_MEMORY = 6,   /* out of memory */
    HOFFMAN_ASSUMED = 7   /* kept for values that do not prove anything; not returned by this version */
};

/* a1 = 0, h1 = 7, a2 = 8, h8 = 63. */
typedef struct {
    uint64_t white, black;
    uint64_t kings, queens, rooks, bishops, knights, pawns;
    unsigned rule50;   /* plies since the last capture or pawn move */
    unsigned castling; /* any right: nonzero */
    unsigned ep;       /* the square that a pawn has just jumped over; 0 or above 63: none */
    int white_to_move;
} hoffman_position;

#define HOFFMAN_MAYBE_50 1u /* the clock passes 100 before mate: the rule may make it a draw */

typedef struct {
    int wdl;        /* 1 won, 0 drawn, -1 lost */
    unsigned plies; /* to mate, 0 for draws and if mated; unknown after hoffman_probe_wdl */
    unsigned flags;
} hoffman_result;

typedef struct {
    unsigned from, to;
    unsigned promotion; /* 0 none, 1 knight, 2 bishop, 3 rook, 4 queen */
    int en_passant;
    int zeroing;           /* a capture or a pawn move */
    int status;            /* HOFFMAN_OK: value is known */
    hoffman_result result; /* for the side that makes the move, plies counted from before it */
} hoffman_move;

typedef struct {
    uint64_t hits, decoded, damaged;
} hoffman_statistics;

typedef struct hoffman_base hoffman_base;
typedef struct hoffman_prober hoffman_prober;

unsigned hoffman_version(void);

/* Looks for tables in some folders, separated by ';' or, but on Windows, ':'. Folders and tables that are missing
 * are no error. Null if there is no memory. */
hoffman_base *hoffman_open(const char *path);
void hoffman_close(hoffman_base *base);

/* The most men of any table, kings included; 2 if there is none. */
unsigned hoffman_largest(const hoffman_base *base);
/* How many tables there are. */
unsigned hoffman_tables(const hoffman_base *base);
/* Whether there is a table for the men of a position. */
int hoffman_has(const hoffman_base *base, const hoffman_position *position);

/* A prober with a cache of about so many bytes. Null if there is no memory. */
hoffman_prober *hoffman_prober_new(const hoffman_base *base, size_t cache_bytes);
void hoffman_prober_free(hoffman_prober *prober);

/* The value and the distance to mate. */
int hoffman_probe(hoffman_prober *prober, const hoffman_position *position, hoffman_result *result);
/* The same from the cache only: HOFFMAN_BUSY if a file would have to be read. */
int hoffman_probe_soft(hoffman_prober *prober, const hoffman_position *position,
                       hoffman_result *result);
/* Who wins, from the smaller streams where there are some. */
int hoffman_probe_wdl(hoffman_prober *prober, const hoffman_position *position,
                      hoffman_result *result);
/* All legal moves, the best first: shortest wins, draws, longest losses, then those without an answer. Returns a
 * status; HOFFMAN_OK with 0 moves is mate or stalemate. */
int hoffman_probe_root(hoffman_prober *prober, const hoffman_position *position,
                       hoffman_move moves[HOFFMAN_MAX_MOVES], unsigned *count);
/* A line of best play to mate of at most n moves; *count is its length. */
int hoffman_line(hoffman_prober *prober, const hoffman_position *position, hoffman_move *moves,
                 unsigned n, unsigned *count);

void hoffman_statistics_of(const hoffman_prober *prober, hoffman_statistics *statistics);

/* What a cell of the distances holds without its exits, for tests: 0 if it is not stored for this side. */
uint16_t hoffman_stored_code(hoffman_prober *prober, const hoffman_position *position);

/* A score from a result that was found `ply` plies below the root. */
static inline int hoffman_score(const hoffman_result *result, int ply, int mate)
{
    if (result->wdl == 0) return 0;
    return result->wdl * (mate - ply - (int)result->plies);
}

#ifdef __cplusplus
}
#endif

#endif
