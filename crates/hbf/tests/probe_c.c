/* Answers positions from standard input with the reader in C, one line each.
 *
 * Arguments: the folder, the bytes of the cache, and what is asked: "dtm", "wdl", "stored", "root", "line".
 * Lines are FENs; answers are "status wdl plies" or lists of moves. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "hoffprobe.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int parse(const char *fen, hoffman_position *p)
{
    static const char letters[] = "pnbrqk";
    int rank = 7, file = 0;
    memset(p, 0, sizeof *p);
    for (; *fen && *fen != ' '; fen++) {
        if (*fen == '/') rank--, file = 0;
        else if (isdigit((unsigned char)*fen)) file += *fen - '0';
        else {
            const char *at = strchr(letters, tolower((unsigned char)*fen));
            uint64_t bit = (uint64_t)1 << ((rank * 8 + file++) & 63);
            uint64_t *kinds[6];
            kinds[0] = &p->pawns; kinds[1] = &p->knights; kinds[2] = &p->bishops;
            kinds[3] = &p->rooks; kinds[4] = &p->queens; kinds[5] = &p->kings;
            if (!at || !*at || rank < 0 || file > 8) return 0;
            *kinds[at - letters] |= bit;
            *(isupper((unsigned char)*fen) ? &p->white : &p->black) |= bit;
        }
    }
    if (strlen(fen) < 5) return 0;
    p->white_to_move = fen[1] == 'w';
    p->castling = fen[3] != '-';
    if (fen[5] != '-') p->ep = (unsigned)(fen[5] - 'a' + 8 * (fen[6] - '1'));
    return 1;
}

static void print_moves(const hoffman_move *moves, unsigned count)
{
    unsigned i;
    for (i = 0; i < count; i++)
        printf(" %u-%u-%u:%d:%d:%u", moves[i].from, moves[i].to, moves[i].promotion, moves[i].status,
               moves[i].result.wdl, moves[i].result.plies);
}

int main(int argc, char **argv)
{
    char line[256];
    hoffman_base *base;
    hoffman_prober *prober;
    if (argc != 4) return 2;
    base = hoffman_open(argv[1]);
    if (!base) return 3;
    prober = hoffman_prober_new(base, (size_t)strtoul(argv[2], 0, 10));
    if (!prober) return 3;
    while (fgets(line, sizeof line, stdin)) {
        static hoffman_move moves[HOFFMAN_MAX_MOVES];
        hoffman_position p;
        hoffman_result r = {0, 0, 0};
        unsigned count = 0;
        if (!parse(line, &p)) return 4;
        if (!strcmp(argv[3], "dtm") || !strcmp(argv[3], "wdl")) {
            int status = argv[3][0] == 'd' ? hoffman_probe(prober, &p, &r) : hoffman_probe_wdl(prober, &p, &r);
            printf("%d %d %u", status, r.wdl, r.plies);
        } else if (!strcmp(argv[3], "soft")) {
            int status = hoffman_probe_soft(prober, &p, &r);
            printf("%d %d %u", status, r.wdl, r.plies);
        } else if (!strcmp(argv[3], "stored")) {
            printf("%u", (unsigned)hoffman_stored_code(prober, &p));
        } else if (!strcmp(argv[3], "root")) {
            printf("%d", hoffman_probe_root(prober, &p, moves, &count));
            print_moves(moves, count);
        } else {
            printf("%d", hoffman_line(prober, &p, moves, HOFFMAN_MAX_MOVES, &count));
            print_moves(moves, count);
        }
        putchar('\n');
    }
    hoffman_prober_free(prober);
    hoffman_close(base);
    return 0;
}
