/* A small engine that uses the tables, to be read and taken from. It knows no castling.
 *
 *     engine FOLDER value FEN             what the tables say
 *     engine FOLDER mate FEN              plays both sides to the mate, and checks that it comes in time
 *     engine FOLDER compare ENDING N      what a search of three plies proves with the tables of fewer men is what
 *                                         the table of the ending says, in N random positions
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "fen.h"

#include <stdio.h>
#include <stdlib.h>

#define MATE 32000
#define WON 20000 /* scores beyond are mates */

/* ---- board and moves; men as hoffman_from_board has them, 8 more for Black's ---- */

enum { PAWN = 1, KNIGHT, BISHOP, ROOK, QUEEN, KING };

typedef struct {
    uint8_t man[64];
    int black; /* to move */
    int ep;    /* the square that a pawn has just jumped over, or -1 */
    unsigned rule50;
} Board;

typedef struct { uint8_t from, to, promotion, takes_ep; } Move;

static const int lines[8][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
static const int jumps[8][2] = {{1, 2}, {2, 1}, {-1, 2}, {-2, 1}, {1, -2}, {2, -1}, {-1, -2}, {-2, -1}};

static int at(int s, int df, int dr) {
    int f = (s & 7) + df, r = (s >> 3) + dr;
    return f < 0 || f > 7 || r < 0 || r > 7 ? -1 : r * 8 + f;
}

static int is_of(const Board *b, int s, int kind, int black) { return s >= 0 && b->man[s] == kind + 8 * black; }

static int is_attacked(const Board *b, int s, int by_black) {
    int i, t, back = by_black ? 1 : -1;
    if (is_of(b, at(s, 1, back), PAWN, by_black) || is_of(b, at(s, -1, back), PAWN, by_black)) return 1;
    for (i = 0; i < 8; i++) {
        if (is_of(b, at(s, jumps[i][0], jumps[i][1]), KNIGHT, by_black)) return 1;
        t = at(s, lines[i][0], lines[i][1]);
        if (is_of(b, t, KING, by_black)) return 1;
        while (t >= 0 && !b->man[t]) t = at(t, lines[i][0], lines[i][1]);
        if (is_of(b, t, QUEEN, by_black) || is_of(b, t, i < 4 ? ROOK : BISHOP, by_black)) return 1;
    }
    return 0;
}

static int in_check(const Board *b, int black) {
    int s;
    for (s = 0; s < 64 && !is_of(b, s, KING, black); s++) {}
    return s < 64 && is_attacked(b, s, !black);
}

static int play(const Board *b, const Move *m, Board *after) {
    int man = b->man[m->from], zeroing = (man & 7) == PAWN || b->man[m->to];
    *after = *b;
    after->man[m->from] = 0;
    after->man[m->to] = (uint8_t)(m->promotion ? m->promotion + 8 * b->black : man);
    if (m->takes_ep) after->man[m->to + (b->black ? 8 : -8)] = 0;
    after->ep = (man & 7) == PAWN && abs(m->to - m->from) == 16 ? (m->to + m->from) / 2 : -1;
    after->rule50 = zeroing ? 0 : b->rule50 + 1;
    after->black = !b->black;
    return !in_check(after, b->black);
}

static int add(const Board *b, Move *moves, int n, int from, int to, int promotion) {
    Move m;
    Board after;
    m.from = (uint8_t)from, m.to = (uint8_t)to, m.promotion = (uint8_t)promotion;
    m.takes_ep = (b->man[from] & 7) == PAWN && to == b->ep;
    moves[n] = m;
    return n + play(b, &m, &after);
}

static int pawn_moves(const Board *b, Move *moves, int n, int s) {
    int up = b->black ? -1 : 1, i, k, to[4], count = 0;
    to[0] = at(s, 0, up);
    if (to[0] >= 0 && !b->man[to[0]]) {
        count = 1;
        to[1] = at(s, 0, 2 * up);
        if ((s >> 3) == (b->black ? 6 : 1) && !b->man[to[1]]) count = 2;
    }
    for (i = -1; i < 2; i += 2) {
        int t = at(s, i, up);
        if (t >= 0 && (t == b->ep || (b->man[t] && (b->man[t] >> 3) != b->black))) to[count++] = t;
    }
    for (i = 0; i < count; i++)
        if (to[i] < 8 || to[i] > 55)
            for (k = QUEEN; k >= KNIGHT; k--) n = add(b, moves, n, s, to[i], k);
        else n = add(b, moves, n, s, to[i], 0);
    return n;
}

/* All legal moves; returns how many. */
static int generate(const Board *b, Move *moves) {
    int s, i, n = 0;
    for (s = 0; s < 64; s++) {
        int kind = b->man[s] & 7, first = kind == BISHOP ? 4 : 0, last = kind == ROOK ? 4 : 8;
        if (!b->man[s] || (b->man[s] >> 3) != b->black) continue;
        if (kind == PAWN) n = pawn_moves(b, moves, n, s);
        else
            for (i = first; i < last; i++) {
                const int *d = kind == KNIGHT ? jumps[i] : lines[i];
                int t = at(s, d[0], d[1]);
                for (; t >= 0; t = at(t, d[0], d[1])) {
                    if (!b->man[t] || (b->man[t] >> 3) != b->black) n = add(b, moves, n, s, t, 0);
                    if (b->man[t] || kind == KNIGHT || kind == KING) break;
                }
            }
    }
    return n;
}

/* ---- the search ---- */

typedef struct {
    unsigned men;     /* tables of so many men are asked */
    unsigned leaf_men; /* and, where the search ends, of so many */
    int unknown;      /* what is said of a leaf without a table, for White */
    unsigned long nodes, hits;
} Search;

/* Scores of mates count from the root. In the hash table they count from the node, since a position can be met at
 * several plies: what is stored at ply 1 as "mate 5 plies from here" is a mate 5 plies later at ply 3, too. */
typedef struct { uint64_t key; int score, depth, bound; } Entry;
static Entry table[1 << 14];

static int to_table(int score, int ply) { return score > WON ? score + ply : score < -WON ? score - ply : score; }
static int from_table(int score, int ply) { return score > WON ? score - ply : score < -WON ? score + ply : score; }

static uint64_t key_of(const Board *b) {
    uint64_t key = (uint64_t)(b->black * 65 + b->ep + 2);
    int s;
    for (s = 0; s < 64; s++)
        if (b->man[s]) key ^= ((uint64_t)(s * 16 + b->man[s]) + 1) * 0x9E3779B97F4A7C15u, key = key << 7 | key >> 57;
    return key * 0xD6E8FEB86659FD93u;
}

static unsigned men_of(const Board *b) {
    unsigned n = 0;
    int s;
    for (s = 0; s < 64; s++) n += b->man[s] != 0;
    return n;
}

static void to_position(const Board *b, hoffman_position *p) {
    memset(p, 0, sizeof *p);
    hoffman_from_board(b->man, p);
    p->white_to_move = !b->black;
    p->ep = b->ep < 0 ? 0 : (unsigned)b->ep;
    p->rule50 = b->rule50;
}

static int search(Search *s, const Board *b, int alpha, int beta, int depth, int ply) {
    Move moves[HOFFMAN_MAX_MOVES];
    Board after;
    Entry *entry = &table[key_of(b) >> 50];
    int i, n, score, best = -MATE, start = alpha;
    s->nodes++;
    /* Draws by the rules come first; then the tables, before moves are generated. */
    if (ply && b->rule50 >= 100) return 0;
    if (ply && men_of(b) <= (depth ? s->men : s->leaf_men)) {
        hoffman_position p;
        hoffman_result r;
        to_position(b, &p);
        if (hoffman_probe(&p, &r) == HOFFMAN_OK) {
            s->hits++;
            return hoffman_score(&r, ply, MATE);
        }
    }
    if (ply && entry->key == key_of(b) && entry->depth == depth) {
        score = from_table(entry->score, ply);
        if (!entry->bound || (entry->bound > 0 ? score >= beta : score <= alpha)) return score;
    }
    n = generate(b, moves);
    if (!n) return in_check(b, b->black) ? ply - MATE : 0;
    if (!depth) return b->black ? -s->unknown : s->unknown;
    for (i = 0; i < n && alpha < beta; i++) {
        play(b, &moves[i], &after);
        score = -search(s, &after, -beta, -alpha, depth - 1, ply + 1);
        if (score > best) best = score;
        if (best > alpha) alpha = best;
    }
    entry->key = key_of(b), entry->depth = depth, entry->score = to_table(best, ply);
    entry->bound = best >= beta ? 1 : best <= start ? -1 : 0;
    return best;
}

/* What a search of some plies finds. */
static int score_of(const Board *b, unsigned men, unsigned leaf_men, int unknown, int depth) {
    Search s;
    memset(&s, 0, sizeof s);
    memset(table, 0, sizeof table);
    s.men = men, s.leaf_men = leaf_men, s.unknown = unknown;
    return search(&s, b, -MATE, MATE, depth, 0);
}

/* ---- what it can do ---- */

static int value(const char *fen) {
    hoffman_position p;
    hoffman_result r;
    int status = from_fen(fen, &p);
    if (status == HOFFMAN_OK) status = hoffman_probe(&p, &r);
    if (status != HOFFMAN_OK) return fprintf(stderr, "%s\n", status_text(status)), 1;
    printf("%s %u\n", r.wdl > 0 ? "won" : r.wdl < 0 ? "lost" : "drawn", r.plies);
    return 0;
}

static int mate(const char *fen) {
    Board b;
    hoffman_position p;
    hoffman_move moves[HOFFMAN_MAX_MOVES], played;
    unsigned n, plies, i;
    int status;
    if (from_fen(fen, &p) != HOFFMAN_OK) return fprintf(stderr, "'%s' is no FEN\n", fen), 2;
    memset(&b, 0, sizeof b);
    for (i = 0; i < 64; i++) {
        const uint64_t kinds[6] = {p.pawns, p.knights, p.bishops, p.rooks, p.queens, p.kings};
        int k;
        for (k = 0; k < 6; k++)
            if (kinds[k] >> i & 1) b.man[i] = (uint8_t)(k + 1 + (p.black >> i & 1 ? 8 : 0));
    }
    b.black = !p.white_to_move, b.ep = p.ep ? (int)p.ep : -1, b.rule50 = p.rule50;
    for (plies = 0;; plies++) {
        Move own[HOFFMAN_MAX_MOVES];
        char text[6];
        int best = 0, score = -MATE, count = generate(&b, own), k;
        Search s;
        memset(&s, 0, sizeof s);
        s.men = s.leaf_men = hoffman_largest();
        to_position(&b, &p);
        status = hoffman_probe_root(&p, moves, &n);
        if (status == HOFFMAN_MATE) break;
        if (status != HOFFMAN_OK || !moves[0].result.wdl || n != (unsigned)count)
            return fprintf(stderr, "no mate: %s\n", status_text(status)), 1;
        if (!plies) printf("mate in %u plies:", moves[0].result.plies);
        memset(table, 0, sizeof table);
        for (k = 0; k < count; k++) {
            Board after;
            int value;
            play(&b, &own[k], &after);
            value = -search(&s, &after, -MATE, -score, 1, 1);
            if (value > score) score = value, best = k;
        }
        /* the search finds what the table of the root says: a ply less with each move */
        if (score != hoffman_score(&moves[0].result, 0, MATE))
            return fprintf(stderr, "\nthe search says %d\n", score), 1;
        played.from = own[best].from, played.to = own[best].to;
        played.promotion = own[best].promotion ? own[best].promotion - 1u : 0;
        move_text(&played, text);
        printf(" %s", text);
        play(&b, &own[best], &b);
    }
    printf("\n%u plies\n", plies);
    return 0;
}

static unsigned chance(unsigned below) {
    static uint64_t state = 88172645463325252u;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (unsigned)((state >> 33) % below);
}

static void random_board(const char *ending, Board *b) {
    static const char letters[] = " PNBRQK";
    const char *c;
    do {
        int black = 0, s;
        memset(b, 0, sizeof *b);
        b->ep = -1, b->black = (int)chance(2);
        for (c = ending; *c; c++) {
            if (*c == 'v') black = 1;
            else {
                do s = (int)chance(64);
                while (b->man[s] || (*c == 'P' && (s < 8 || s > 55)));
                b->man[s] = (uint8_t)(strchr(letters, *c) - letters + 8 * black);
            }
        }
    } while (in_check(b, !b->black));
}

static int compare(const char *ending, unsigned n) {
    unsigned i, exact = 0, proved = 0, won = 0;
    if (!hoffman_has(ending)) return fprintf(stderr, "there is no table of %s\n", ending), 2;
    for (i = 0; i < n; i++) {
        Board b;
        hoffman_position p;
        hoffman_result r;
        int truth, least, most, deep, sign;
        unsigned men;
        random_board(ending, &b);
        to_position(&b, &p);
        men = men_of(&b);
        if (hoffman_probe(&p, &r) != HOFFMAN_OK) return fprintf(stderr, "position %u has no answer\n", i), 1;
        truth = hoffman_score(&r, 0, MATE), sign = b.black ? -1 : 1;
        won += truth != 0;
        /* Only smaller tables: what is not known is the worst, then the best, for the side to move. */
        least = score_of(&b, men - 1, men - 1, -sign * (MATE - 4), 3);
        most = score_of(&b, men - 1, men - 1, sign * (MATE - 4), 3);
        /* The table of the ending itself, but not before the last ply. */
        deep = score_of(&b, men - 1, men, 0, 3);
        proved += least == most, exact += deep == truth;
        if (truth < least || truth > most || deep != truth)
            return fprintf(stderr, "position %u: %d is not from %d to %d, or not %d\n", i, truth, least, most, deep), 1;
    }
    printf("%s: %u positions, %u won or lost, %u settled by smaller tables, %u exact\n", ending, n, won, proved, exact);
    return 0;
}

int main(int argc, char **argv) {
    int result = 2;
    if (argc < 4 || hoffman_init(argv[1]) != HOFFMAN_OK) return fprintf(stderr, "engine FOLDER value|mate|compare ...\n"), 2;
    if (!strcmp(argv[2], "value")) result = value(argv[3]);
    if (!strcmp(argv[2], "mate")) result = mate(argv[3]);
    else if (!strcmp(argv[2], "compare") && argc > 4) result = compare(argv[3], (unsigned)strtoul(argv[4], 0, 10));
    hoffman_free();
    return result;
}
