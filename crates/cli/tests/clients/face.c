/* A program that uses the reader in C as its header says, and ends with the number of the line where it does not hold.
 * Arguments: a folder with KQvKR and what it needs, one with KQvKR alone, an empty one.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "examples/fen.h"

#include <stdio.h>
#include <stdlib.h>

#define CHECK(x) do { if (!(x)) { fprintf(stderr, "line %d: %s\n", __LINE__, #x); exit(1); } } while (0)

static int status, told;
static hoffman_move moves[HOFFMAN_MAX_MOVES];
static unsigned count;

static hoffman_result ask(const char *fen) {
    hoffman_position p;
    hoffman_result r;
    memset(&r, 0, sizeof r);
    CHECK(from_fen(fen, &p) == HOFFMAN_OK);
    status = hoffman_probe(&p, &r);
    return r;
}

static int root(const char *fen) {
    hoffman_position p;
    CHECK(from_fen(fen, &p) == HOFFMAN_OK);
    memset(moves, 255, sizeof moves);
    return status = hoffman_probe_root(&p, moves, &count);
}

static void log_line(void *with, const char *message) {
    CHECK(with == &told && strlen(message) > 10);
    told++;
}

static uint64_t chance(void) {
    static uint64_t state = 88172645463325252u;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}

static void folders(const char *all, const char *alone, const char *empty) {
    char path[4000];
    CHECK(hoffman_version() == HOFFMAN_API_VERSION);
    CHECK(hoffman_largest() == 2 && hoffman_longest() == 0 && !hoffman_has("KQvKR"));
    ask("8/8/8/3k4/8/8/1Q6/K6r w - - 0 1");
    CHECK(status == HOFFMAN_NO_TABLE);
    CHECK(hoffman_init(0) == HOFFMAN_OK && hoffman_largest() == 2);
    CHECK(hoffman_init(empty) == HOFFMAN_OK && hoffman_largest() == 2 && !hoffman_has("KQvKR"));
    snprintf(path, sizeof path, "%s/nowhere;;%s;%s", empty, empty, all);
    CHECK(hoffman_init(path) == HOFFMAN_OK && hoffman_largest() == 4 && hoffman_longest() == 72);
    CHECK(hoffman_has("KQvKR") && hoffman_has("KRvKQ") && hoffman_has("KQKR") && hoffman_has("KvKR"));
    CHECK(!hoffman_has("KQvKQ") && !hoffman_has("KvK") && !hoffman_has("") && !hoffman_has("vK") && !hoffman_has("KQ"));
    CHECK(!hoffman_has("KQvKRvK") && !hoffman_has("QvKR") && !hoffman_has("KQvKx") && !hoffman_has("KQQQQQQQQQQvK"));
    /* KQvKR alone: captures are not known, and may be better than all else. */
    CHECK(hoffman_init(alone) == HOFFMAN_OK && hoffman_has("KRvKQ") && !hoffman_has("KQvK"));
    CHECK(root("8/8/8/3k4/8/8/1Q6/Kr6 w - - 0 1") == HOFFMAN_OK);
    CHECK(moves[count - 1].status == HOFFMAN_NO_TABLE && !moves[count - 1].keep);
    CHECK(moves[count - 1].to == 1 && moves[0].status == HOFFMAN_OK && moves[0].result.wdl == 0 && !moves[0].keep);
    CHECK(moves[count].from == 0 && moves[count].to == 0);
    CHECK(root("8/8/8/3k4/8/8/1Q6/K6r w - - 0 1") == HOFFMAN_OK && moves[0].keep & HOFFMAN_KEEP);
    CHECK(hoffman_init(all) == HOFFMAN_OK && hoffman_has("KQvK"));
}

static void values(void) {
    hoffman_result r = ask("8/8/8/3k4/8/8/1Q6/K6r w - - 0 1");
    CHECK(status == HOFFMAN_OK && r.wdl == 2 && r.plies == 65 && r.bound == HOFFMAN_EXACT && r.claims == 15 && !r.flags);
    CHECK(hoffman_score(&r, 0, 32000) == 31935 && hoffman_score(&r, 7, 32000) == 31928);
    CHECK(HOFFMAN_FATHOM_WDL(&r) == 4);
    /* The same with colours exchanged, and as a loss. */
    r = ask("k6R/1q6/8/8/3K4/8/8/8 b - - 0 1");
    CHECK(status == HOFFMAN_OK && r.wdl == 2 && r.plies == 65);
    r = ask("8/8/8/8/8/1k6/7q/K7 w - - 0 1");
    CHECK(status == HOFFMAN_OK && r.wdl == -2 && r.plies == 2 && hoffman_score(&r, 3, 32000) == -31995);
    CHECK(HOFFMAN_FATHOM_WDL(&r) == 0);
    r = ask("8/8/8/8/8/1k6/1q6/K7 w - - 0 1");
    CHECK(r.wdl == -2 && r.plies == 0 && hoffman_score(&r, 3, 32000) == -31997);
    r = ask("8/8/8/8/8/1q6/8/K1k5 w - - 0 1");
    CHECK(status == HOFFMAN_OK && r.wdl == 0 && r.plies == 0 && hoffman_score(&r, 3, 32000) == 0);
    CHECK(HOFFMAN_FATHOM_WDL(&r) == 2);
    r = ask("8/8/8/3k4/8/8/8/K7 w - - 0 1");
    CHECK(status == HOFFMAN_OK && r.wdl == 0);
    ask("8/8/8/3k4/8/8/1Q6/K6r b - - 0 1");
    CHECK(status == HOFFMAN_ILLEGAL);
    ask("8/8/8/8/8/8/1Q6/K6r w - - 0 1");
    CHECK(status == HOFFMAN_ILLEGAL);
    ask("8/8/8/3k4/8/8/1N6/K6r w - - 0 1");
    CHECK(status == HOFFMAN_NO_TABLE);
    ask("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1");
    CHECK(status == HOFFMAN_NO_TABLE);
}

static void clock_and_rights(void) {
    hoffman_position p;
    hoffman_result r = ask("8/8/8/3k4/8/8/1Q6/K6r w - - 35 1"), o;
    unsigned ep;
    CHECK(status == HOFFMAN_OK && r.flags == 0);
    r = ask("8/8/8/3k4/8/8/1Q6/K6r w - - 36 1");
    CHECK(status == HOFFMAN_OK && r.flags == HOFFMAN_MAYBE_50 && r.wdl == 2);
    CHECK(from_fen("8/8/8/3k4/8/8/1Q6/K6r w - - 36 1", &p) == HOFFMAN_OK);
    CHECK(hoffman_ask(0, &p, HOFFMAN_CURSED, &r) == HOFFMAN_OK && r.wdl == 1 && HOFFMAN_FATHOM_WDL(&r) == 3);
    CHECK(hoffman_score(&r, 0, 32000) == 0);
    p.rule50 = 35;
    CHECK(hoffman_ask(0, &p, HOFFMAN_CURSED, &r) == HOFFMAN_OK && r.wdl == 2);
    /* An outcome is a bound. */
    CHECK(hoffman_probe_wdl(&p, &o) == HOFFMAN_OK && o.wdl == 2 && o.bound == HOFFMAN_LOWER);
    CHECK(o.plies == hoffman_longest() && hoffman_score(&o, 0, 32000) <= hoffman_score(&r, 0, 32000));
    CHECK(hoffman_score(&o, 0, 50) == 1);
    /* No pawn can take: the square changes nothing. */
    for (ep = 0; ep < 200; ep++) {
        p.ep = ep;
        CHECK(hoffman_probe(&p, &o) == HOFFMAN_OK && o.plies == r.plies);
    }
    /* Nor may one take on another rank than that of a jump. */
    CHECK(from_fen("8/pP6/8/7k/8/8/8/7K w - - 0 1", &p) == HOFFMAN_OK);
    for (ep = 0; ep < 200; ep++) {
        unsigned i;
        p.ep = ep;
        hoffman_probe_root(&p, moves, &count);
        CHECK(count > 3);
        for (i = 0; i < count; i++) CHECK(!moves[i].en_passant);
    }
    ask("8/8/8/3k4/8/8/8/1q2K2R w K - 0 1");
    CHECK(status == HOFFMAN_CASTLING && root("8/8/8/3k4/8/8/8/1q2K2R w K - 0 1") == HOFFMAN_CASTLING && !count);
    ask("8/8/8/3k4/8/8/8/1q2K2R w Q - 0 1");
    CHECK(status == HOFFMAN_OK);
    r = ask("8/8/8/3k4/8/8/8/1q2K2R w k - 0 1");
    CHECK(status == HOFFMAN_OK);
    ask("8/8/8/3k4/8/8/8/1q1K2R1 w G - 0 1");
    CHECK(status == HOFFMAN_CASTLING);
    ask("8/8/8/3k4/8/8/8/1q1K2R1 w KQ - 0 1");
    CHECK(status == HOFFMAN_CASTLING);
    ask("8/8/8/3k4/8/8/3K4/1q4R1 w GA - 0 1");
    CHECK(status == HOFFMAN_OK);
    memset(&p, 0, sizeof p);
    CHECK(from_fen("r3k3/8/8/8/8/8/8/4K3 b q - 0 1", &p) == HOFFMAN_OK && p.castling == HOFFMAN_CASTLE_q);
    CHECK(hoffman_probe(&p, &r) == HOFFMAN_CASTLING);
}

static void soft_and_cache(void) {
    hoffman_position p;
    hoffman_result r;
    hoffman_statistics before, after;
    unsigned i, known = 0, n = 0;
    CHECK(from_fen("8/8/8/3k4/8/8/1Q6/K6r w - - 0 1", &p) == HOFFMAN_OK);
    CHECK(hoffman_set_cache((size_t)1 << 20) == HOFFMAN_OK);
    CHECK(hoffman_probe_soft(&p, &r) == HOFFMAN_BUSY);
    CHECK(hoffman_probe(&p, &r) == HOFFMAN_OK && hoffman_probe_soft(&p, &r) == HOFFMAN_OK && r.plies == 65);
    CHECK(hoffman_set_cache(0) == HOFFMAN_OK && hoffman_probe_soft(&p, &r) == HOFFMAN_BUSY);
    hoffman_stats(&before);
    CHECK(hoffman_probe(&p, &r) == HOFFMAN_OK && hoffman_probe(&p, &r) == HOFFMAN_OK);
    hoffman_stats(&after);
    CHECK(after.decoded == before.decoded + 1 && after.hits == before.hits + 1 && after.misses == before.misses + 1);
    CHECK(after.tables == 3 && after.opened >= 1 && after.blocks >= 1 && !after.failures && after.memory > 1000);
    /* One place for four tiles is never more than that. */
    for (i = 0; i < 2000; i++) {
        p.queens = p.white ^ p.kings ^ (p.white & p.kings);
        p.white &= p.kings;
        p.queens = (uint64_t)1 << (chance() & 63);
        if (p.queens & (p.kings | p.rooks)) p.queens = 2;
        p.white |= p.queens;
        if (hoffman_probe(&p, &r) == HOFFMAN_OK) n++;
    }
    CHECK(n > 500);
    hoffman_stats(&before);
    for (i = 0; i < 64; i++) {
        p.white &= p.kings;
        p.queens = (uint64_t)1 << i;
        if (p.queens & (p.kings | p.rooks)) continue;
        p.white |= p.queens;
        known += hoffman_probe_soft(&p, &r) == HOFFMAN_OK;
    }
    CHECK(known <= 4 * 16);
    CHECK(hoffman_set_cache((size_t)8 << 20) == HOFFMAN_OK);
}

static void moves_and_lines(void) {
    hoffman_position p;
    unsigned i, length, keep = 0, shortest = 0;
    hoffman_move line[HOFFMAN_MAX_MOVES];
    CHECK(root("8/8/8/8/8/1k6/1q6/K7 w - - 0 1") == HOFFMAN_MATE && count == 0);
    CHECK(root("8/8/8/8/8/1q6/8/K1k5 w - - 0 1") == HOFFMAN_STALEMATE && count == 0);
    CHECK(root("8/8/8/3k4/8/8/1Q6/K6r b - - 0 1") == HOFFMAN_ILLEGAL && count == 0);
    CHECK(root("8/8/8/3k4/8/8/1Q6/K6r w - - 0 1") == HOFFMAN_OK && count == 3);
    CHECK(root("8/8/8/8/3k4/8/1Q5r/K7 w - - 0 1") == HOFFMAN_ILLEGAL);
    CHECK(root("8/8/8/2k5/8/8/1Q6/K6r w - - 90 1") == HOFFMAN_OK);
    /* No mate comes in ten plies, so all that wins may stay. */
    for (i = 0; i < count; i++)
        if (moves[i].keep & HOFFMAN_KEEP) {
            keep++;
            CHECK(moves[i].keep & HOFFMAN_KEEP_50 && moves[i].result.wdl == 2);
            shortest += (moves[i].keep & HOFFMAN_KEEP_SHORTEST) != 0;
        }
    CHECK(keep >= 1 && shortest >= 1);
    CHECK(root("8/8/8/8/8/1k6/8/K6q b - - 98 1") == HOFFMAN_ILLEGAL || count > 0);
    CHECK(root("8/8/8/8/8/1k6/7q/K7 b - - 98 1") == HOFFMAN_OK && moves[0].result.plies == 1);
    for (i = 0; i < count; i++)
        CHECK(!(moves[i].keep & HOFFMAN_KEEP_50) == (moves[i].result.wdl < 2 || 98 + moves[i].result.plies > 100));
    CHECK(from_fen("8/8/8/3k4/8/8/1Q6/K6r w - - 0 1", &p) == HOFFMAN_OK);
    CHECK(hoffman_line(&p, line, HOFFMAN_MAX_MOVES, &length) == HOFFMAN_OK && length == 65);
    for (i = 0; i < length; i++) CHECK(line[i].result.plies == 65 - i && line[i].result.wdl == (i % 2 ? -2 : 2));
    CHECK(hoffman_line(&p, line, 5, &length) == HOFFMAN_OK && length == 5);
    CHECK(from_fen("8/8/8/3k4/8/8/1R6/K6r w - - 0 1", &p) == HOFFMAN_OK);
    CHECK(hoffman_line(&p, line, 5, &length) == HOFFMAN_NO_TABLE && length == 0);
}

static void push(hoffman_position *p, const hoffman_move *m) {
    uint64_t to = (uint64_t)1 << m->to, from = (uint64_t)1 << m->from, *set = &p->white;
    int k;
    for (k = 0; k < 8; k++) set[k] &= ~to, set[k] |= set[k] & from ? to : 0, set[k] &= ~from;
    p->white_to_move = !p->white_to_move, p->ep = 0;
}

/* How many plies it takes to mate or to win the rook if nothing is asked for but who wins; the loser plays what leaves
 * the winner the farthest from an end, as far as that is seen. 0 if it takes a hundred. */
static unsigned game(const char *fen, unsigned *forced) {
    static hoffman_move own[HOFFMAN_MAX_MOVES], reply[HOFFMAN_MAX_MOVES];
    static hoffman_position seen[100];
    hoffman_position p;
    unsigned plies, n, replies, i, k, last = 0, next;
    CHECK(from_fen(fen, &p) == HOFFMAN_OK);
    for (plies = 0; plies < 100; plies += 2) {
        hoffman_position after, chosen;
        unsigned longest = 0;
        CHECK(hoffman_ask_root(0, &p, HOFFMAN_WDL, own, &n) == HOFFMAN_OK && own[0].result.wdl == 2);
        CHECK(own[0].result.bound == HOFFMAN_LOWER && own[0].keep & HOFFMAN_KEEP_SHORTEST);
        /* An end that was seen comes nearer, whatever the other side plays. */
        CHECK(!last || (own[0].progress && own[0].progress + 2 <= last));
        last = own[0].progress, *forced += last > 1;
        for (i = 0; i + 1 < n && own[i + 1].result.wdl > 0; i++) {
            after = p, push(&after, &own[i]);
            for (k = 0; k < plies / 2 && memcmp(&seen[k], &after, sizeof after); k++) {}
            if (last || k == plies / 2) break;
        }
        push(&p, &own[i]), seen[plies / 2] = p;
        if (own[i].zeroing) return plies + 1;
        status = hoffman_ask_root(0, &p, HOFFMAN_WDL, own, &n);
        if (status == HOFFMAN_MATE) return plies + 1;
        CHECK(status == HOFFMAN_OK && own[0].result.wdl == -2 && own[0].result.bound == HOFFMAN_UPPER && !own[0].progress);
        chosen = p, push(&chosen, &own[0]);
        for (i = 0; i < n; i++) {
            if (own[i].zeroing) return plies + 2;
            after = p, push(&after, &own[i]);
            CHECK(hoffman_ask_root(0, &after, HOFFMAN_WDL, reply, &replies) == HOFFMAN_OK);
            next = reply[0].progress ? reply[0].progress : 99;
            if (next > longest) longest = next, chosen = after;
        }
        p = chosen;
    }
    return 0;
}

static void progress(void) {
    hoffman_position p;
    unsigned forced = 0, i;
    CHECK(game("8/8/8/3k4/8/8/1Q6/K7 w - - 0 1", &forced) > 0);
    CHECK(game("8/8/8/3k4/8/8/8/KR6 w - - 0 1", &forced) > 0);
    CHECK(forced >= 2);
    /* A check from the square that attacks the rook, too, wins it. */
    CHECK(from_fen("8/8/4Q3/6K1/8/8/1k5r/8 w - - 0 1", &p) == HOFFMAN_OK);
    CHECK(hoffman_ask_root(0, &p, HOFFMAN_WDL, moves, &count) == HOFFMAN_OK && moves[0].progress == 3);
    CHECK(moves[0].from == 44 && moves[0].to == 36 && moves[0].keep & HOFFMAN_KEEP_SHORTEST);
    CHECK(moves[1].result.wdl == 2 && moves[1].keep & HOFFMAN_KEEP && !(moves[1].keep & HOFFMAN_KEEP_SHORTEST));
    /* Where distances are known there is nothing to look for. */
    CHECK(root("8/8/8/3k4/8/8/1Q6/K7 w - - 0 1") == HOFFMAN_OK);
    for (i = 0; i < count; i++) CHECK(!moves[i].progress);
}

/* A program that was compiled for smaller structs, and one for a library to come. */
static void other_versions(const char *all) {
    hoffman_caller caller = hoffman_this_caller();
    hoffman_position p;
    struct { hoffman_result r; unsigned char guard[64]; } room;
    hoffman_base *base;
    unsigned n;
    caller.result = 2 * sizeof(int);
    caller.move = 8 * sizeof(int);
    base = hoffman_open_for(all, 1 << 20, &caller);
    CHECK(base && hoffman_largest_of(base) == 4);
    CHECK(from_fen("8/8/8/3k4/8/8/1Q6/K6r w - - 0 1", &p) == HOFFMAN_OK);
    memset(&room, 77, sizeof room);
    CHECK(hoffman_ask(base, &p, 0, &room.r) == HOFFMAN_OK && room.r.wdl == 2 && room.r.plies == 65);
    CHECK(((unsigned char *)&room)[2 * sizeof(int)] == 77);
    /* Three moves of eight numbers each, and the end. */
    memset(moves, 77, sizeof moves);
    CHECK(hoffman_ask_root(base, &p, 0, moves, &n) == HOFFMAN_OK && n == 3);
    CHECK(((unsigned *)(void *)moves)[6] == 2 && ((unsigned *)(void *)moves)[7] == 65);
    CHECK(((unsigned *)(void *)moves)[24] == 0 && ((unsigned char *)moves)[32 * sizeof(int)] == 77);
    hoffman_close(base);
    caller = hoffman_this_caller();
    caller.version++;
    CHECK(!hoffman_open_for(all, 1 << 20, &caller) && hoffman_init_for(all, &caller) == HOFFMAN_VERSION);
    CHECK(hoffman_largest() == 4);
    caller.version--, caller.move += 4;
    CHECK(!hoffman_open_for(all, 1 << 20, &caller));
}

/* Whatever the bits: a status, and no crash. */
static void nonsense(unsigned rounds) {
    unsigned i, known = 0;
    for (i = 0; i < rounds; i++) {
        hoffman_position p;
        hoffman_result r;
        uint64_t *set = &p.white;
        int k, s;
        for (k = 0; k < 8; k++) set[k] = i % 3 ? chance() & chance() & chance() & chance() & chance() & chance() : 0;
        p.rule50 = (unsigned)chance(), p.castling = i % 5 ? 0 : (unsigned)chance(), p.ep = (unsigned)(chance() % 70);
        p.white_to_move = (int)(chance() & 1);
        if (i % 3 == 0) {
            uint8_t board[64];
            memset(board, 0, sizeof board);
            for (k = 0; k < 5 && i % 2; k++) s = (int)(chance() & 63), board[s] = (uint8_t)(chance() % 15);
            if (i % 2 == 0) {
                board[chance() & 63] = 5, board[chance() & 63] = i % 4 ? 12 : 0;
                board[chance() & 63] = 6, board[chance() & 63] = 14;
            }
            if (hoffman_from_board(board, &p) != HOFFMAN_OK) continue;
        }
        known += hoffman_probe(&p, &r) == HOFFMAN_OK;
        status = hoffman_probe_root(&p, moves, &count);
        CHECK(count <= HOFFMAN_MAX_MOVES && status >= 0 && status <= HOFFMAN_STALEMATE);
        hoffman_has_position(&p);
        hoffman_probe_wdl(&p, &r);
    }
    CHECK(known > 500);
}

static void damage(const char *all, const char *empty) {
    char from[4000], to[4000];
    static char bytes[1 << 20];
    FILE *f;
    size_t n;
    snprintf(from, sizeof from, "%s/kqk.hbf", all);
    snprintf(to, sizeof to, "%s/kqk.hbf", empty);
    f = fopen(from, "rb");
    CHECK(f && (n = fread(bytes, 1, sizeof bytes, f)) > 1000);
    fclose(f);
    bytes[20]++;
    f = fopen(to, "wb");
    CHECK(f && fwrite(bytes, 1, n, f) == n);
    fclose(f);
    hoffman_set_log(log_line, &told);
    CHECK(hoffman_init(empty) == HOFFMAN_OK && told == 1 && !hoffman_has("KQvK"));
    bytes[20]--, bytes[n - 3000] ^= 1;
    f = fopen(to, "wb");
    CHECK(f && fwrite(bytes, 1, n, f) == n);
    fclose(f);
    CHECK(hoffman_init(empty) == HOFFMAN_OK && told == 1 && hoffman_has("KQvK"));
    for (n = 0; n < 64; n++) {
        hoffman_position p;
        hoffman_result r;
        memset(&p, 0, sizeof p);
        p.kings = 5, p.white = 1 | (uint64_t)1 << n, p.black = 4, p.queens = (uint64_t)1 << n;
        p.white_to_move = (int)(n & 1);
        if (n == 0 || n == 2) continue;
        status = hoffman_probe(&p, &r);
        CHECK(status == HOFFMAN_OK || status == HOFFMAN_ILLEGAL || status == HOFFMAN_DAMAGED);
    }
    remove(to);
    hoffman_set_log(0, 0);
}

int main(int argc, char **argv) {
    CHECK(argc == 4);
    folders(argv[1], argv[2], argv[3]);
    values();
    clock_and_rights();
    soft_and_cache();
    moves_and_lines();
    progress();
    other_versions(argv[1]);
    nonsense(12000);
    damage(argv[1], argv[3]);
    hoffman_free();
    hoffman_free();
    CHECK(hoffman_largest() == 2);
    printf("good\n");
    return 0;
}
