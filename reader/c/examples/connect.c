/* What an engine needs, whole: docs/engines.md explains it. connect FOLDER answers a few positions.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "fen.h"
#include <stdio.h>

#define MATE 32000

/* Once at the start, and again whenever the user sets the path. */
static int set_path(const char *folders) { return hoffman_init(folders) == HOFFMAN_OK; }

/* In the search, behind the tests of repetition and of fifty moves and before moves are generated. 1: *score is that of
 * this node, for the side to move, and the search goes no deeper. */
static int probe(const hoffman_position *p, unsigned men, int ply, int depth, int *score) {
    hoffman_result r;
    int status;
    if (men > hoffman_largest()) return 0;
    /* The disk near the root only; deeper what is in memory. */
    status = depth > 4 ? hoffman_probe(p, &r) : hoffman_probe_soft(p, &r);
    if (status != HOFFMAN_OK) return 0;
    *score = hoffman_score(&r, ply, MATE);
    return 1;
}

/* At the root: the moves that hold the result, best first. The search looks at these only. */
static unsigned root_moves(const hoffman_position *p, hoffman_move moves[HOFFMAN_MAX_MOVES]) {
    unsigned n, kept = 0, i;
    if (hoffman_probe_root(p, moves, &n) != HOFFMAN_OK) return 0;
    for (i = 0; i < n; i++)
        if (moves[i].keep & HOFFMAN_KEEP_50) moves[kept++] = moves[i];
    return kept;
}

int main(int argc, char **argv) {
    static const char *const fens[] = {"8/8/8/3k4/8/8/1Q6/K6r w - - 0 1", "8/8/8/3k4/8/8/1Q6/K6r b - - 0 1",
        "8/8/8/8/8/2k5/8/K6q w - - 0 1"};
    hoffman_move moves[HOFFMAN_MAX_MOVES];
    unsigned i;
    if (argc != 2 || !set_path(argv[1])) return 2;
    for (i = 0; i < sizeof fens / sizeof *fens; i++) {
        hoffman_position p;
        char text[6] = "none";
        int score;
        from_fen(fens[i], &p);
        if (!probe(&p, 4 - (i == 2), 0, 10, &score)) {
            hoffman_result r;
            printf("%s: %s\n", fens[i], status_text(hoffman_probe(&p, &r)));
        } else {
            if (root_moves(&p, moves)) move_text(&moves[0], text);
            printf("%s: score %d, best %s\n", fens[i], score, text);
        }
    }
    hoffman_free();
    return 0;
}
