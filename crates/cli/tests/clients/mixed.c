/* What the reader in C says where some moves have no distance, and some no result at all. Arguments: a
 * folder with tables of three men and their distances, and one with outcomes of these but for KPvK.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "examples/fen.h"

#include <stdio.h>
#include <stdlib.h>

#define CHECK(x) do { if (!(x)) fail(__LINE__, #x); } while (0)

static const char *now = "";
static hoffman_move moves[HOFFMAN_MAX_MOVES];
static unsigned count, cut, uncounted;

static void fail(int line, const char *what) {
    fprintf(stderr, "%s, line %d: %s\n", now, line, what);
    exit(1);
}

static unsigned chance(unsigned below) {
    static uint64_t state = 88172645463325252u;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (unsigned)((state >> 33) % below);
}

static hoffman_position pawn_and_kings(void) {
    hoffman_position p;
    uint64_t own = (uint64_t)1 << chance(64), other = (uint64_t)1 << chance(64);
    memset(&p, 0, sizeof p);
    p.pawns = (uint64_t)1 << (8 + chance(48));
    p.kings = own | other, p.white = own | p.pawns, p.black = other;
    p.white_to_move = (int)chance(2);
    return p;
}

/* A line goes down to mate, a ply with every move, or says that it does not get there. */
static void line_of(hoffman_base *mixed, const hoffman_position *p, const hoffman_result *truth) {
    unsigned i;
    int status = hoffman_ask_line(mixed, p, 0, moves, HOFFMAN_MAX_MOVES, &count);
    CHECK(status == (count == truth->plies ? HOFFMAN_OK : HOFFMAN_NO_TABLE));
    for (i = 0; i < count; i++)
        CHECK(moves[i].result.bound == HOFFMAN_EXACT && moves[i].result.plies == truth->plies - i);
    cut += status == HOFFMAN_NO_TABLE;
}

/* The first move has the distance of the position; or has none and promotes, so that games end. */
static void first_of(hoffman_base *mixed, const hoffman_position *p, const hoffman_result *truth) {
    unsigned i;
    CHECK(hoffman_ask_root(mixed, p, 0, moves, &count) == HOFFMAN_OK && count > 0);
    CHECK(moves[0].result.wdl == truth->wdl && moves[0].keep & HOFFMAN_KEEP_SHORTEST);
    CHECK(truth->wdl < 0 || moves[0].keep & HOFFMAN_KEEP_50);
    for (i = 0; i < count; i++) {
        const hoffman_result *r = &moves[i].result;
        int exact = r->bound == HOFFMAN_EXACT;
        CHECK(!(moves[i].keep & HOFFMAN_KEEP) == (r->wdl != truth->wdl));
        CHECK(i || exact || moves[i].promotion);
        uncounted += !i && !exact;
        if (exact && (!i || moves[i].keep & HOFFMAN_KEEP_SHORTEST)) CHECK(r->plies == truth->plies);
    }
}

static void some_without_distance(hoffman_base *all, hoffman_base *mixed, unsigned rounds) {
    unsigned i, n = 0;
    for (i = 0; i < rounds; i++) {
        hoffman_position p = pawn_and_kings();
        hoffman_result truth, own;
        if (hoffman_ask(all, &p, 0, &truth) != HOFFMAN_OK) continue;
        CHECK(hoffman_ask(mixed, &p, 0, &own) == HOFFMAN_OK && own.plies == truth.plies);
        hoffman_ask_root(all, &p, 0, moves, &count);
        if (!count) continue;
        first_of(mixed, &p, &truth);
        if (truth.wdl) line_of(mixed, &p, &truth);
        n++;
    }
    CHECK(n > rounds / 4 && cut > rounds / 20 && uncounted > rounds / 100);
}

/* How many moves are kept, and whether there is a line. */
static unsigned kept(hoffman_base *base, const char *fen, int line) {
    hoffman_position p;
    unsigned i, n = 0, length;
    now = fen;
    CHECK(from_fen(fen, &p) == HOFFMAN_OK);
    CHECK(hoffman_ask_line(base, &p, 0, moves, HOFFMAN_MAX_MOVES, &length) == line && !length);
    CHECK(hoffman_ask_root(base, &p, 0, moves, &count) == HOFFMAN_OK && count);
    for (i = 0; i < count; i++) n += moves[i].keep != 0;
    return n;
}

/* Four men, and tables of three: captures are known. */
static void some_without_result(hoffman_base *all) {
    const int none = HOFFMAN_NO_TABLE;
    /* The capture draws where another move wins, and loses where another one draws. */
    CHECK(kept(all, "8/6qk/8/8/8/K7/1B6/8 b - - 0 1", none) == 0 && moves[0].result.wdl == 0);
    CHECK(kept(all, "8/1P6/3k4/4N3/8/8/7K/8 b - - 0 1", none) == 0 && moves[0].result.wdl == -2);
    /* A win is one, though it may not be the shortest. */
    CHECK(kept(all, "8/8/8/8/8/7k/2K5/r1Q5 w - - 0 1", none) == 1 && moves[0].result.wdl == 2);
    /* All is known: the king can only take. */
    CHECK(kept(all, "8/8/8/8/8/8/q1k5/KN6 w - - 0 1", HOFFMAN_OK) == 1 && !moves[0].result.wdl);
}

int main(int argc, char **argv) {
    hoffman_base *all, *mixed;
    CHECK(argc == 3);
    all = hoffman_open(argv[1], 1 << 20), mixed = hoffman_open(argv[2], 1 << 20);
    CHECK(all && mixed && hoffman_largest_of(all) == 3 && hoffman_largest_of(mixed) == 3);
    some_without_distance(all, mixed, 3000);
    some_without_result(all);
    hoffman_close(all);
    hoffman_close(mixed);
    printf("good\n");
    return 0;
}
