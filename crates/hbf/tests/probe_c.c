/* Answers positions from standard input with the reader in C, one line each.
 *
 * Arguments: the folder, the bytes of the cache, and what is asked: "dtm", "wdl", "soft", "stored", "root", "line";
 * "assumed" and "assumed-wdl" as the first two, also of tables that were made under assumptions; "clock": of each move
 * the plies, whether it is a capture or pawn move, and whether the clock may pass 100.
 * Lines are FENs; answers are "status wdl plies" or lists of moves. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "examples/fen.h"

#include <stdio.h>
#include <stdlib.h>

static int sign(int wdl) { return (wdl > 0) - (wdl < 0); }

static void print_moves(const hoffman_move *moves, unsigned count) {
    unsigned i;
    for (i = 0; i < count; i++)
        printf(" %u-%u-%u:%d:%d:%u", moves[i].from, moves[i].to, moves[i].promotion, moves[i].status,
            sign(moves[i].result.wdl), moves[i].result.plies);
}

int main(int argc, char **argv) {
    char line[256];
    if (argc != 4) return 2;
    hoffman_set_cache((size_t)strtoul(argv[2], 0, 10));
    if (hoffman_init(argv[1]) != HOFFMAN_OK) return 3;
    while (fgets(line, sizeof line, stdin)) {
        static hoffman_move moves[HOFFMAN_MAX_MOVES];
        hoffman_position p;
        hoffman_result r = {0, 0, 0, 0, 0};
        unsigned count = 0;
        if (from_fen(line, &p) != HOFFMAN_OK) return 4;
        if (!strcmp(argv[3], "dtm") || !strcmp(argv[3], "soft")) {
            int status = argv[3][0] == 'd' ? hoffman_probe(&p, &r) : hoffman_probe_soft(&p, &r);
            printf("%d %d %u", status, sign(r.wdl), r.plies);
        } else if (!strncmp(argv[3], "assumed", 7)) {
            unsigned wdl = argv[3][7] ? HOFFMAN_WDL : 0;
            int status = hoffman_ask(0, &p, HOFFMAN_ALLOW_ASSUMED | wdl, &r);
            printf("%d %d %u", status, sign(r.wdl), wdl ? 0 : r.plies);
        } else if (!strcmp(argv[3], "wdl")) {
            int status = hoffman_probe_wdl(&p, &r);
            if (r.plies && r.plies != hoffman_longest()) return 5;
            printf("%d %d 0", status, sign(r.wdl));
        } else if (!strcmp(argv[3], "stored")) {
            printf("%u", (unsigned)hoffman_stored_code(0, &p));
        } else if (!strcmp(argv[3], "root")) {
            int status = hoffman_probe_root(&p, moves, &count);
            printf("%d", status == HOFFMAN_MATE || status == HOFFMAN_STALEMATE ? HOFFMAN_OK : status);
            print_moves(moves, count);
        } else if (!strcmp(argv[3], "clock")) {
            unsigned i;
            printf("%d", hoffman_probe_root(&p, moves, &count));
            for (i = 0; i < count; i++)
                printf(" %u-%u-%u", moves[i].result.plies, moves[i].zeroing,
                    moves[i].result.flags & HOFFMAN_MAYBE_50);
        } else {
            printf("%d", hoffman_line(&p, moves, HOFFMAN_MAX_MOVES, &count));
            print_moves(moves, count);
        }
        putchar('\n');
    }
    hoffman_free();
    return 0;
}
