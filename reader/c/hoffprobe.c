/* hoffprobe: see hoffprobe.h. Written from docs/hbf.md, whose sections are named in brackets.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#if !defined(_WIN32) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif
#include "hoffprobe.h"

#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

typedef uint64_t u64;
typedef uint32_t u32;
typedef uint16_t u16;
typedef uint8_t u8;

#if HOFFMAN_MEN < 3 || HOFFMAN_MEN > 8
#error "HOFFMAN_MEN is from 3 to 8"
#endif

/* ---- what threads share ---- */

/* A load sees all that was stored before the store that it reads; stores come after what was stored before them. */
#if defined(__GNUC__) || defined(__clang__)
#define LOAD(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define LOAD_POINTER(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define STORE(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define COUNT(p, n) ((void)__atomic_fetch_add((p), (n), __ATOMIC_RELAXED))
#define SET_BITS(p, n) ((void)__atomic_fetch_or((p), (n), __ATOMIC_RELEASE))
#define NOINLINE __attribute__((noinline))
static int swap_32(u32 *p, u32 old, u32 next) {
    return __atomic_compare_exchange_n(p, &old, next, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}
static int put_pointer(void **p, void *next) {
    void *none = 0;
    return __atomic_compare_exchange_n(p, &none, next, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}
#elif defined(_MSC_VER)
#define NOINLINE __declspec(noinline)
#define LOAD(p) ((u32)ReadAcquire((volatile LONG *)(p)))
#define LOAD_POINTER(p) ReadPointerAcquire(p)
#define STORE(p, v) WriteRelease((volatile LONG *)(p), (LONG)(v))
#define COUNT(p, n) ((void)InterlockedExchangeAddSizeT((p), (n)))
#define SET_BITS(p, n) ((void)InterlockedOr((volatile LONG *)(p), (LONG)(n)))
static int swap_32(u32 *p, u32 old, u32 next) {
    return InterlockedCompareExchange((volatile LONG *)p, (LONG)next, (LONG)old) == (LONG)old;
}
static int put_pointer(void **p, void *next) { return !InterlockedCompareExchangePointer(p, next, 0); }
#else
#error "gcc, clang or MSVC is needed for what threads share"
#endif

/* ---- men and boards ---- */

enum { PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING };
enum { WHITE, BLACK };

#define BIT(s) ((u64)1 << (s))
enum { DRAW = 0x8000, BEST = 0xffff }; /* BEST: mate with the next move, or won, where only that is asked */
#define LONGEST 32766

/* ep: -1 none. men of a colour and kind: c[colour] & k[kind] */
typedef struct {
    u64 c[2], k[6];
    int turn, ep;
} Pos;

typedef struct {
    u64 ray[8][64], knight[64], king[64], pawn[2][64];
    u8 pair[2][1806][2];      /* [pawns] */
    u16 pair_number[2][4096]; /* 65535: none */
    u32 pairs[2];
    u32 crc[8][256];
} Tab;

#if defined(__GNUC__) || defined(__clang__)
static int lsb(u64 b) { return __builtin_ctzll(b); }
static int msb(u64 b) { return 63 - __builtin_clzll(b); }
static int bits_of(u64 b) { return __builtin_popcountll(b); }
#else
static int msb(u64 b) { return b > 1 ? 1 + msb(b >> 1) : 0; }
static int lsb(u64 b) { return msb(b & (~b + 1)); }
static int bits_of(u64 b) { return b ? 1 + bits_of(b & (b - 1)) : 0; }
#endif

static u64 number(const u8 *p, int bytes) {
    u64 n = 0;
    while (bytes--) n = n << 8 | p[bytes];
    return n;
}

static const int line_df[8] = {1, 0, 1, -1, -1, 0, -1, 1};
static const int line_dr[8] = {0, 1, 1, 1, 0, -1, -1, -1};

static u64 step(int s, int df, int dr) {
    int f = (s & 7) + df, r = (s >> 3) + dr;
    return f < 0 || f > 7 || r < 0 || r > 7 ? 0 : BIT(r * 8 + f);
}

#define ABOVE 0x7F3F1F0F07030100ull /* the squares above the diagonal a1-h8 */
static int above(int s) { return ABOVE >> s & 1; }
static int diagonal(int s) { return (s >> 3) == (s & 7); }
static int flip(int s) { return (s >> 3) | (s & 7) << 3; }

static void tab_pairs(Tab *t, int pawns) {
    u32 n = 0;
    for (int w = 0; w < 64; w++)
        for (int b = 0; b < 64; b++) {
            int df = (w & 7) - (b & 7), dr = (w >> 3) - (b >> 3);
            int ok = df > 1 || df < -1 || dr > 1 || dr < -1;
            if ((w & 7) > 3) ok = 0;
            if (!pawns && (above(w) || (diagonal(w) && above(b)))) ok = 0;
            t->pair_number[pawns][w * 64 + b] = 65535;
            if (!ok) continue;
            t->pair[pawns][n][0] = (u8)w;
            t->pair[pawns][n][1] = (u8)b;
            t->pair_number[pawns][w * 64 + b] = (u16)n++;
        }
    t->pairs[pawns] = n;
}

/* In memory that is zero. */
static void tab_init(Tab *t) {
    for (int s = 0; s < 64; s++) {
        for (int d = 0; d < 8; d++) {
            int df = line_df[d], dr = line_dr[d];
            t->king[s] |= step(s, df, dr);
            for (int n = 1; n < 8; n++) t->ray[d][s] |= step(s, n * df, n * dr);
            /* a knight goes on from a slanting step by a straight one to either side */
            if (df && dr) t->knight[s] |= step(s, 2 * df, dr) | step(s, df, 2 * dr);
        }
        t->pawn[WHITE][s] = step(s, 1, 1) | step(s, -1, 1);
        t->pawn[BLACK][s] = step(s, 1, -1) | step(s, -1, -1);
    }
    tab_pairs(t, 0);
    tab_pairs(t, 1);
    for (int s = 0; s < 256; s++) {
        u32 c = (u32)s;
        for (int i = 0; i < 8; i++) c = c & 1 ? c >> 1 ^ 0xEDB88320u : c >> 1;
        t->crc[0][s] = c;
    }
    for (int i = 1; i < 8; i++)
        for (int s = 0; s < 256; s++) t->crc[i][s] = t->crc[i - 1][s] >> 8 ^ t->crc[0][t->crc[i - 1][s] & 255];
}

/* Goes on from a sum that begins and ends as 0; eight bytes at a time. */
static u32 crc32_of(const Tab *t, u32 c, const u8 *p, size_t n) {
    c ^= 0xFFFFFFFFu;
    for (; n >= 8; n -= 8, p += 8) {
        c ^= (u32)number(p, 4);
        c = t->crc[7][c & 255] ^ t->crc[6][c >> 8 & 255] ^ t->crc[5][c >> 16 & 255] ^ t->crc[4][c >> 24]
            ^ t->crc[3][p[4]] ^ t->crc[2][p[5]] ^ t->crc[1][p[6]] ^ t->crc[0][p[7]];
    }
    while (n--) c = c >> 8 ^ t->crc[0][(c ^ *p++) & 255];
    return c ^ 0xFFFFFFFFu;
}

static u64 slide(const Tab *t, int s, int from, u64 occ) {
    /* directions 0, 1, 4, 5 are those of a rook; 2, 3, 6, 7 those of a bishop */
    u64 set = 0;
    for (int k = 0; k < 4; k++) {
        int d = from + (k & 1) + (k & 2) * 2;
        u64 ray = t->ray[d][s], hit = ray & occ;
        if (hit) ray ^= t->ray[d][d < 4 ? lsb(hit) : msb(hit)];
        set |= ray;
    }
    return set;
}

static u64 attacks(const Tab *t, int color, int kind, int s, u64 occ) {
    switch (kind) {
    case PAWN: return t->pawn[color][s];
    case KNIGHT: return t->knight[s];
    case BISHOP: return slide(t, s, 2, occ);
    case ROOK: return slide(t, s, 0, occ);
    case QUEEN: return slide(t, s, 0, occ) | slide(t, s, 2, occ);
    default: return t->king[s];
    }
}

static u64 between(const Tab *t, int a, int b) {
    for (int d = 0; d < 8; d++)
        if (t->ray[d][a] & BIT(b)) return t->ray[d][a] & ~t->ray[d][b] & ~BIT(b);
    return 0;
}

static u64 occupied(const Pos *p) { return p->c[0] | p->c[1]; }
static unsigned men_of(const Pos *p) { return (unsigned)bits_of(occupied(p)); }

static int is_attacked(const Tab *t, const Pos *p, int s, int by) {
    u64 occ = occupied(p), men = p->c[by];
    for (int kind = PAWN; kind <= KING; kind++)
        if (men & p->k[kind] && men & p->k[kind] & attacks(t, by ^ 1, kind, s, occ)) return 1;
    return 0;
}

static int in_check(const Tab *t, const Pos *p, int color) {
    u64 king = p->c[color] & p->k[KING];
    return king && is_attacked(t, p, lsb(king), color ^ 1);
}

static void lift(Pos *p, int s) {
    for (int k = 0; k < 6; k++) p->k[k] &= ~BIT(s);
    p->c[0] &= ~BIT(s);
    p->c[1] &= ~BIT(s);
}

static void drop(Pos *p, int s, int color, int kind) {
    lift(p, s);
    p->c[color] |= BIT(s);
    p->k[kind] |= BIT(s);
}

static u64 upside_down(u64 b) {
    u64 r = 0;
    for (int i = 0; i < 8; i++) r |= (b >> (8 * i) & 255) << (56 - 8 * i);
    return r;
}

static void swap_colors(Pos *p) {
    u64 white = p->c[0];
    p->c[0] = upside_down(p->c[1]), p->c[1] = upside_down(white);
    for (int k = 0; k < 6; k++) p->k[k] = upside_down(p->k[k]);
    p->turn ^= 1;
    if (p->ep >= 0) p->ep ^= 56;
}

/* ---- moves ---- */

typedef struct { u8 from, to, kind, promotion, ep, exit; } Move;

enum { ALL, EXITS, EN_PASSANT };

/* Moves that may leave the king in check; there is room for HOFFMAN_MAX_MOVES. */
typedef struct {
    const Tab *t;
    const Pos *p;
    Move *moves;
    int n;
} Gen;

static void add_move(Gen *g, int kind, int from, int to, int promotion, int ep) {
    Move *m = &g->moves[g->n];
    if (g->n >= HOFFMAN_MAX_MOVES) return;
    m->from = (u8)from, m->to = (u8)to, m->kind = (u8)kind, m->promotion = (u8)promotion, m->ep = (u8)ep;
    m->exit = (u8)(promotion || ep || occupied(g->p) & BIT(to));
    g->n++;
}

static void add_pawn_move(Gen *g, int from, int to) {
    if (to >= 8 && to < 56) add_move(g, PAWN, from, to, 0, 0);
    else
        for (int k = QUEEN; k >= KNIGHT; k--) add_move(g, PAWN, from, to, k, 0);
}

static void pawn_moves(Gen *g, int from, int asked) {
    const Pos *p = g->p;
    int us = p->turn, d = us == WHITE ? 8 : -8, to = from + d;
    u64 occ = occupied(p), takes = g->t->pawn[us][from] & p->c[us ^ 1];
    for (; takes; takes &= takes - 1) add_pawn_move(g, from, lsb(takes));
    if (occ & BIT(to)) return;
    if (asked == ALL || to < 8 || to >= 56) add_pawn_move(g, from, to);
    if (asked == ALL && (from >> 3) == (us == WHITE ? 1 : 6) && !(occ & BIT(to + d)))
        add_move(g, PAWN, from, to + d, 0, 0);
}

static void en_passant(Gen *g) {
    const Pos *p = g->p;
    int us = p->turn, victim;
    if (p->ep < 0) return;
    victim = us == WHITE ? p->ep - 8 : p->ep + 8;
    if (victim < 0 || victim > 63 || occupied(p) & BIT(p->ep)) return;
    if (!(p->c[us ^ 1] & p->k[PAWN] & BIT(victim))) return;
    u64 from = g->t->pawn[us ^ 1][p->ep] & p->c[us] & p->k[PAWN];
    for (; from; from &= from - 1) add_move(g, PAWN, lsb(from), p->ep, 0, 1);
}

static int generate(const Tab *t, const Pos *p, int asked, Move *moves) {
    Gen g = {t, p, moves, 0};
    int us = p->turn;
    u64 occ = occupied(p), from, to;
    if (asked != EN_PASSANT) {
        for (int kind = KNIGHT; kind <= KING; kind++)
            for (from = p->c[us] & p->k[kind]; from; from &= from - 1) {
                to = attacks(t, us, kind, lsb(from), occ);
                to &= asked == ALL ? ~p->c[us] : p->c[us ^ 1];
                for (; to; to &= to - 1) add_move(&g, kind, lsb(from), lsb(to), 0, 0);
            }
        for (from = p->c[us] & p->k[PAWN]; from; from &= from - 1) pawn_moves(&g, lsb(from), asked);
    }
    if (asked != EXITS) en_passant(&g);
    return g.n;
}

/* The position behind a move; 0 if it leaves the king in check. */
static int play(const Tab *t, const Pos *p, const Move *m, Pos *after) {
    int us = p->turn, d = us == WHITE ? 8 : -8;
    *after = *p;
    lift(after, m->from);
    if (m->ep) lift(after, m->to - d);
    drop(after, m->to, us, m->promotion ? m->promotion : m->kind);
    after->ep = m->kind == PAWN && m->to == m->from + 2 * d ? m->from + d : -1;
    after->turn ^= 1;
    return !in_check(t, after, us);
}

static int has_move(const Tab *t, const Pos *p) {
    Move moves[HOFFMAN_MAX_MOVES];
    Pos after;
    for (int i = 0, n = generate(t, p, ALL, moves); i < n; i++)
        if (play(t, p, &moves[i], &after)) return 1;
    return 0;
}

static int is_legal(const Tab *t, const Pos *p) {
    u64 seen = 0;
    for (int c = 0; c < 2; c++) {
        u64 king = p->c[c] & p->k[KING];
        if (!king || king & (king - 1)) return 0;
    }
    if (p->c[0] & p->c[1] || p->k[PAWN] & 0xFF000000000000FFull) return 0;
    for (int k = 0; k < 6; k++) {
        if (seen & p->k[k]) return 0;
        seen |= p->k[k];
    }
    return seen == occupied(p) && !in_check(t, p, p->turn ^ 1);
}

/* ---- the bytes of files ---- */

#ifdef _WIN32
#define BETWEEN_FOLDERS ";"
typedef HANDLE File;
#define NO_FILE INVALID_HANDLE_VALUE
static File open_file(const char *path) {
    return CreateFileA(path, GENERIC_READ, FILE_SHARE_READ, 0, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, 0);
}
static void close_file(File f) { CloseHandle(f); }
static size_t read_some(File f, u64 at, void *to, size_t n) {
    OVERLAPPED place;
    DWORD got = 0;
    memset(&place, 0, sizeof place);
    place.Offset = (DWORD)at;
    place.OffsetHigh = (DWORD)(at >> 32);
    return ReadFile(f, to, (DWORD)(n > 0x40000000 ? 0x40000000 : n), &got, &place) ? got : 0;
}
#else
#define BETWEEN_FOLDERS ";:"
typedef int File;
#define NO_FILE (-1)
/* Nobody is waited for, as who opens a pipe would be. */
static File open_file(const char *path) {
    struct stat is;
    File f;
    do f = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); while (f < 0 && errno == EINTR);
    if (f < 0 || (!fstat(f, &is) && S_ISREG(is.st_mode))) return f;
    close(f);
    return NO_FILE;
}
static void close_file(File f) { close(f); }
static size_t read_some(File f, u64 at, void *to, size_t n) {
    ssize_t got;
    do got = pread(f, to, n, (off_t)at); while (got < 0 && errno == EINTR);
    return got < 0 ? 0 : (size_t)got;
}
#endif

static int read_at(File f, u64 at, void *to, size_t n) {
    u8 *p = (u8 *)to;
    for (size_t got; n; at += got, p += got, n -= got)
        if (!(got = read_some(f, at, p, n))) return 0;
    return 1;
}

/* ---- tables [2, 3, 4] ---- */

typedef struct { u64 offset, length; u32 crc; } Section;

#define MAX_STREAMS 16

typedef struct Index Index;

/* A test in a tree [9]. bit 64: that of the lane square */
typedef struct { u16 word, bit, child[2]; } Node;
#define LEAF 0x8000u
#define MEMO 4096

typedef struct {
    Node *node;
    u16 *leaf; /* `symbols` frequencies each */
    u16 root;
    int plain; /* it asks of cells 16 tests and of rows threats and legal cells only, or of misses only [13] */
    size_t bytes;
} Tree;

typedef struct {
    u8 order[4];
    u16 fallback, threshold[9], last[2], classes[16][3];
    Tree cells, misses;
    u16 offset[4], offsets; /* of entries */
    void *pawns;            /* of entries: pawn structures */
    u8 *directory;
    u32 *checked; /* a bit for each block: its checksum is right */
    u32 *memo;    /* of a plain model: leaves by what is known of a cell, whose upper bits stand before them */
} Model;

static void free_model(Model *m) {
    if (!m) return;
    free(m->cells.node), free(m->cells.leaf), free(m->misses.node), free(m->misses.leaf);
    free(m->pawns), free(m->directory), free(m->checked), free(m->memo), free(m);
}

/* A stream of cells and how they are numbered [6]; or of entries by index [11], of which rows is the logarithm of a
 * tile and most of the rest 0. */
typedef struct {
    int outcomes, turn, exits, rows;
    int n; /* men, kings included */
    u8 color[8], kind[8];
    int like[8];      /* the man before of the same colour and kind, or -1 */
    int middle, lane; /* middle: -1 none */
    int pawns, symmetric;
    u64 tiles;
    Index *index; /* of entries, else null */
    Section model, directory, data;
    void *loaded; /* its model, when it was asked for */
    u32 bad;      /* which is damaged */
} Stream;

/* Claims of what is chess: all four, and nothing is pruned. */
#define CHESS 31u

typedef struct {
    char *path;
    u64 key; /* its men */
    unsigned men, claims, longest;
    unsigned kinds; /* of streams: bit 0 distances, bit 1 outcomes */
    int rank, streams;
    Stream *stream;
    void *file; /* where a File is, when it was asked for */
} Table;

/* Decoded cells, sixteen rows of a tile at a time, in one of four places. `turn` is odd while a thread writes, and
 * another after that: who finds it changed has read nothing. */
#define WAYS 4
typedef struct {
    u32 turn[WAYS], who[WAYS], low[WAYS], high[WAYS], cells[WAYS]; /* cells: 0 is empty */
    u32 pair[WAYS][512];                                           /* two codes each */
} Slot;

/* Counters of some threads, which mostly are not those of others: a line of the processor's cache each. */
enum { HITS, MISSES, DECODED, BLOCKS, FAILURES, OPENED, MEMORY };
typedef struct { size_t n[8]; } Counter;
#define COUNTERS 32

/* A question, and what its answer rests on. */
typedef struct {
    hoffman_base *base;
    const Tab *t;
    unsigned flags, claims;
    u16 enough; /* of this code and larger ones any will do that is not larger than the true one */
} Ask;

/* The numbers of tables from 1, 0 none: one with distances, one with outcomes apart; and the first of those by index,
 * behind which are the others of the same men. chess: some prove something without being asked for assumptions. key 0:
 * empty. */
typedef struct { u64 key; int table[2], by_index, chess; } Entry;

struct hoffman_base {
    Tab tab;
    hoffman_caller caller;
    Table *table;
    int tables, room;
    Entry *by_key; /* both colours */
    u32 entries;   /* a power of two */
    unsigned largest, longest;
    Slot *slot;
    u32 slots;
    Counter counter[COUNTERS];
};

/* Tables by index are read by hoffindex.c. */
#ifdef HOFFMAN_INDEX
static int parse_index(const Tab *t, File f, const u8 *rows, u32 n, const u8 *tabl, Table *table);
static int load_entries(const Tab *t, File f, const Stream *s, const u8 *modl, Model *m);
static int place_of_table(const hoffman_base *base, const Table *table, size_t folder);
static int index_code(Ask *ask, const Pos *pos, u16 *code);
#else
#define parse_index(t, f, rows, n, tabl, table) 0
#define load_entries(t, f, s, modl, m) 0
#define place_of_table(base, table, folder) (base)->tables
#define index_code(ask, pos, code) HOFFMAN_NO_TABLE
#endif

static hoffman_base *the_base; /* of hoffman_init */
static size_t the_cache = (size_t)32 << 20;
static void (*the_log)(void *, const char *);
static void *the_log_with;

static void count(hoffman_base *base, int what, size_t n) {
    /* stacks of threads are apart */
    u32 here = (u32)((size_t)&n >> 16) * 0x9E3779B1u >> 27;
    COUNT(&base->counter[here % COUNTERS].n[what], n);
}

static void tell(const char *path, const char *problem) {
    char text[400];
    size_t n = strlen(path);
    if (!the_log) return;
    strcat(strcat(strcpy(text, path + (n > 300 ? n - 300 : 0)), ": "), problem);
    the_log(the_log_with, text);
}

/* Men as a number: four bits for how many of a colour and kind, kings left out. */
static u64 one_man(int color, int kind) { return (u64)1 << (4 * kind + 20 * color); }
static u64 other_colors(u64 key) { return key >> 20 | (key & 0xFFFFF) << 20; }

static u32 entry_of(const hoffman_base *base, u64 key) {
    u32 at = (u32)(key * 0x9E3779B97F4A7C15ull >> 40);
    while (base->by_key[at & (base->entries - 1)].key && base->by_key[at & (base->entries - 1)].key != key) at++;
    return at & (base->entries - 1);
}

/* The number of the table for some men, of outcomes rather than of distances if these are enough; -1: none. */
static int table_of(const hoffman_base *base, u64 key, int outcomes) {
    const Entry *entry = &base->by_key[entry_of(base, key)];
    const int *table = entry->table;
    return key && entry->key ? (table[outcomes] ? table[outcomes] : table[!outcomes]) - 1 : -1;
}

static u64 key_of_position(const Pos *p) {
    u64 key = 0;
    for (int c = 0; c < 2; c++)
        for (int k = PAWN; k <= QUEEN; k++)
            key += one_man(c, k) * (u64)bits_of(p->c[c] & p->k[k]);
    return key;
}

/* Memory with the content of a section that is compared with its checksum; null if it is damaged. */
static u8 *load(const Tab *t, File f, const Section *s, u64 longest) {
    u8 *p;
    if (s->length > longest || s->length > SIZE_MAX / 4 || !(p = (u8 *)malloc((size_t)s->length + 1))) return 0;
    if (read_at(f, s->offset, p, (size_t)s->length) && crc32_of(t, 0, p, (size_t)s->length) == s->crc) return p;
    free(p);
    return 0;
}

static int find_section(const u8 *rows, u32 n, const char *name, u32 stream, Section *s) {
    for (u32 i = 0; i < n; i++, rows += 32)
        if (!memcmp(rows, name, 4) && number(rows + 4, 4) == stream) {
            s->offset = number(rows + 8, 8), s->length = number(rows + 16, 8), s->crc = (u32)number(rows + 24, 4);
            return 1;
        }
    return 0;
}

static u64 tiles_of(const Tab *t, const Stream *s) {
    u64 n = t->pairs[s->pawns];
    int outer = s->middle > 0 ? s->middle - 2 : 0;
    while (outer-- > 0) n *= 64;
    return s->middle > 0 ? n * (u64)(64 / s->rows) : n;
}

static int parse_stream(const Tab *t, const u8 *p, const u8 *table, Stream *s) {
    int i, j, k = table[5], seen = 0, balance[6] = {0, 0, 0, 0, 0, 0};
    if (p[0] > 1 || p[1] > 1 || p[2] > 1 || (table[2] == 2 && p[0] == 0)) return 0;
    s->outcomes = p[0], s->turn = p[1], s->exits = p[2], s->rows = p[3];
    s->n = k + 2, s->lane = k + 1, s->middle = k > 1 ? k : -1;
    if (s->rows < 1 || s->rows > 64 || (s->rows & (s->rows - 1)) || (k == 1 && s->rows != 1)) return 0;
    s->color[0] = WHITE, s->color[1] = BLACK, s->kind[0] = s->kind[1] = KING;
    for (i = 0; i < k; i++) {
        int m = p[16 + i];
        if (m >= k || seen & 1 << m) return 0;
        seen |= 1 << m;
        s->color[i + 2] = table[16 + m] >> 3, s->kind[i + 2] = table[16 + m] & 7;
        balance[s->kind[i + 2]] += s->color[i + 2] ? -1 : 1;
        s->pawns |= s->kind[i + 2] == PAWN;
    }
    s->symmetric = 1;
    for (i = 0; i < 6; i++) s->symmetric &= balance[i] == 0;
    if (s->symmetric && s->turn == BLACK) return 0;
    for (i = 0; i < s->n; i++) {
        s->like[i] = -1;
        for (j = 0; j < i; j++)
            if (s->color[j] == s->color[i] && s->kind[j] == s->kind[i]) s->like[i] = j;
    }
    s->tiles = number(p + 8, 8);
    return s->tiles == tiles_of(t, s);
}

/* Whether the section table is that of a file of this version. */
static int check_sections(File f, const u8 *rows, u32 n, u64 length) {
    static const char *const known[] = {"TABL", "INFO", "CTRL", "PAWN", "STRM", "MODL", "DIRY", "DATA"};
    u32 j, seen = 0;
    u8 last;
    for (u32 i = 0; i < n; i++, rows += 32) {
        u64 offset = number(rows + 8, 8), size = number(rows + 16, 8);
        if (offset < 32 + 32 * (u64)n || size > length - 8 || offset > length - 8 - size) return 0;
        for (j = 0; j < 8 && memcmp(rows, known[j], 4); j++) {}
        if (j == 8 && rows[28] & 1) return 0;
        /* streams have numbers of their own below 16 */
        if (!memcmp(rows, "STRM", 4)) {
            u32 own = (u32)number(rows + 4, 4);
            if (own >= MAX_STREAMS || seen & 1u << own) return 0;
            seen |= 1u << own;
        }
    }
    /* the last byte must be there, and none behind it */
    return read_at(f, length - 1, &last, 1) && !read_some(f, length, &last, 1);
}

/* The longest distance in plies [3]; tables of outcomes do not know it. */
static unsigned longest_of(const u8 *tabl) {
    unsigned longest = 0;
    if (tabl[2] == 2) return HOFFMAN_MAX_PLIES;
    for (unsigned i = 0; i < 4; i++) {
        unsigned moves = (unsigned)number(tabl + 32 + 2 * i, 2), plies = 2 * moves - (i < 2 && moves);
        if (moves < 32767 && plies > longest) longest = plies;
    }
    return longest;
}

/* What TABL says of a table of cells. */
static int parse_table(const u8 *tabl, Table *table) {
    if (tabl[1] != 0 || (tabl[2] != 0 && tabl[2] != 2) || tabl[5] < 1 || tabl[5] > 6) return 0;
    for (int i = 0; i < tabl[5]; i++) {
        if (tabl[16 + i] > 15 || (tabl[16 + i] & 7) > QUEEN) return 0;
        table->key += one_man(tabl[16 + i] >> 3, tabl[16 + i] & 7);
    }
    table->men = tabl[5] + 2u, table->claims = (tabl[4] & 15u) | 16u, table->longest = longest_of(tabl);
    return 1;
}

/* Where the parts of a stream are. */
static int find_parts(const u8 *rows, u32 n, u32 number_, Stream *s) {
    return find_section(rows, n, "MODL", number_, &s->model) && find_section(rows, n, "DIRY", number_, &s->directory)
        && find_section(rows, n, "DATA", number_, &s->data);
}

/* 1 read, 0 refused, -1 no memory. */
static int read_table(const Tab *t, File f, Table *table) {
    static const u8 magic[8] = {0x89, 'H', 'B', 'F', 0x0D, 0x0A, 0x1A, 0x0A};
    u8 head[32], *rows, *tabl = 0, *strm;
    int ok = 0;
    if (!read_at(f, 0, head, 32) || memcmp(head, magic, 8)) return 0;
    u32 n = (u32)number(head + 12, 4);
    u64 length = number(head + 16, 8);
    if (number(head + 8, 2) != 1 || n > 256 || crc32_of(t, 0, head, 28) != number(head + 28, 4)) return 0;
    Section s = {32, 32 * (u64)n, (u32)number(head + 24, 4)};
    if (length < 40 + s.length || length >> 62 || !(rows = load(t, f, &s, 8192))) return 0;
    if (check_sections(f, rows, n, length) && find_section(rows, n, "TABL", 0, &s) && s.length >= 64
        && (tabl = load(t, f, &s, 65536)) != 0)
        ok = tabl[0] == 0 ? 1 : tabl[0] == 1 ? parse_table(tabl, table) : 0;
    if (ok && !(table->stream = (Stream *)calloc(MAX_STREAMS, sizeof(Stream)))) ok = -1;
    if (ok > 0 && tabl[0] == 0) ok = parse_index(t, f, rows, n, tabl, table);
    for (u32 i = 0; ok > 0 && tabl[0] == 1 && i < MAX_STREAMS; i++) {
        Stream *st = &table->stream[table->streams];
        if (!find_section(rows, n, "STRM", i, &s)) continue;
        if (s.length < 32 || !(strm = load(t, f, &s, 65536))) ok = 0;
        else {
            ok = parse_stream(t, strm, tabl, st) && find_parts(rows, n, i, st);
            free(strm);
            table->kinds |= st->outcomes ? 2u : 1u;
            table->streams++;
        }
    }
    free(tabl), free(rows);
    return ok;
}

/* ---- folders ---- */

/* The men of the name of an ending, "KRPvKR" or "krpkr"; 0 if it is none. */
static u64 key_of_name(const char *name, size_t n) {
    static const char letters[] = "PNBRQpnbrq";
    u64 key = 0;
    int c = -1;
    for (size_t i = 0; i < n && n < 12; i++) {
        const char *at = strchr(letters, name[i]);
        if (name[i] == 'K' || name[i] == 'k') c++;
        else if (at && c >= 0) key += one_man(c, (int)(at - letters) % 5);
        else if (name[i] != 'v' || c) return 0;
        if (c > 1) return 0;
    }
    return c == 1 ? key : 0;
}

static void free_table(Table *t) {
    for (int j = 0; j < t->streams; j++) free_model((Model *)t->stream[j].loaded);
    if (t->file) close_file(*(File *)t->file);
    if (t->stream) free(t->stream->index);
    free(t->file), free(t->stream), free(t->path);
}

/* Adds the table in a file, if its name ends in .hbf; one of cells if it has a kind of values that there were none of
 * for its men. 0: no memory. */
static int add_file(hoffman_base *base, const char *folder, const char *name) {
    size_t m = strlen(folder), n = strlen(name);
    u64 key = n > 4 ? key_of_name(name, n - 4) : 0;
    int ok = 0, at, room = base->room ? 2 * base->room : 64;
    unsigned there = 0;
    Table table, *more;
    File f;
    /* bare kings are a draw without a table */
    if (n < 5 || *name == '.' || strcmp(name + n - 4, ".hbf") || !strcmp(name, "kk.hbf")) return 1;
    memset(&table, 0, sizeof table);
    if (!(table.path = (char *)malloc(m + n + 1))) return 0;
    strcat(strcpy(table.path, folder), name);
    if ((f = open_file(table.path)) != NO_FILE) {
        ok = read_table(&base->tab, f, &table);
        close_file(f);
    }
    if (ok > 0 && !table.stream->index && table.key != key) ok = 0;
    if (ok == 0) tell(table.path, "no intact table of what it is named after, or none that can be read here");
    for (int i = 0; i < base->tables; i++)
        if (base->table[i].key == table.key) there |= base->table[i].kinds;
    if (ok > 0 && !table.stream->index && (!(table.kinds & ~there) || table.men > HOFFMAN_MEN)) ok = 0;
    if (!table.key && ok > 0) ok = 0;
    if (ok > 0 && base->tables == base->room) {
        if (!(more = (Table *)realloc(base->table, (size_t)room * sizeof(Table)))) ok = -1;
        else base->table = more, base->room = room;
    }
    if (ok > 0) {
        at = place_of_table(base, &table, m);
        memmove(base->table + at + 1, base->table + at, (size_t)(base->tables++ - at) * sizeof(Table));
        base->table[at] = table;
    } else free_table(&table);
    return ok >= 0;
}

/* Adds the tables of a folder whose name ends in a slash. 0: no memory. */
static int add_folder(hoffman_base *base, char *folder) {
    int ok = 1;
#ifdef _WIN32
    WIN32_FIND_DATAA found;
    size_t n = strlen(folder);
    HANDLE list = FindFirstFileA(strcat(folder, "*.hbf"), &found);
    folder[n] = 0;
    if (list == INVALID_HANDLE_VALUE) return 1;
    do ok = add_file(base, folder, found.cFileName);
    while (ok && FindNextFileA(list, &found));
    FindClose(list);
#else
    struct dirent *found;
    DIR *list = opendir(folder);
    while (list && ok && (found = readdir(list)) != 0) ok = add_file(base, folder, found->d_name);
    if (list) closedir(list);
#endif
    return ok;
}

/* Tables by their men. Those that were made under assumptions say nothing with colours exchanged. */
static int make_keys(hoffman_base *base) {
    base->entries = 16;
    while (base->entries < 4 * (u32)base->tables) base->entries *= 2;
    if (!(base->by_key = (Entry *)calloc(base->entries, sizeof(Entry)))) return 0;
    base->largest = 2;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < base->tables; i++) {
            const Table *t = &base->table[i];
            u64 key = pass ? other_colors(t->key) : t->key;
            Entry *entry = &base->by_key[entry_of(base, key)];
            if (t->men > base->largest) base->largest = t->men;
            if (t->stream->index && t->longest > base->longest) base->longest = t->longest;
            if (pass && t->claims != CHESS) continue;
            entry->key = key, entry->chess |= t->claims == CHESS;
            if (!pass && t->stream->index && !entry->by_index) entry->by_index = i + 1;
            for (int kind = 0; kind < 2; kind++)
                if (t->kinds >> kind & 1 && !entry->table[kind]) entry->table[kind] = i + 1;
        }
    for (u32 at = 0; at < base->entries; at++) {
        int table = table_of(base, base->by_key[at].key, 0);
        if (table >= 0 && base->table[table].longest > base->longest) base->longest = base->table[table].longest;
    }
    /* One side to move may be stored only, and a capture en passant be the best there is: a ply more each. */
    base->longest = base->longest + 2 < HOFFMAN_MAX_PLIES ? base->longest + 2 : HOFFMAN_MAX_PLIES;
    return 1;
}

static int make_slots(hoffman_base *base, size_t bytes) {
    size_t n = bytes / sizeof(Slot);
    Slot *slot;
    n = n < 1 ? 1 : n > 0x7FFFFFFF ? 0x7FFFFFFF : n;
    if (!(slot = (Slot *)calloc(n, sizeof(Slot)))) return 0;
    free(base->slot);
    base->slot = slot, base->slots = (u32)n;
    return 1;
}

unsigned hoffman_version(void) { return HOFFMAN_API_VERSION; }

hoffman_base *hoffman_open_for(const char *path, size_t cache_bytes, const hoffman_caller *caller) {
    hoffman_base *base;
    size_t n = path ? strlen(path) : 0;
    if (caller->version > HOFFMAN_API_VERSION || caller->position > sizeof(hoffman_position)
        || caller->result > sizeof(hoffman_result) || caller->move > sizeof(hoffman_move))
        return 0;
    if (!(base = (hoffman_base *)calloc(1, sizeof *base))) return 0;
    base->caller = *caller;
    char *name = (char *)malloc(n + 32);
    int ok = name && make_slots(base, cache_bytes);
    if (ok) tab_init(&base->tab);
    while (ok && path && *path) {
        size_t m = strcspn(path, BETWEEN_FOLDERS);
        memcpy(name, path, m);
        path += m + (path[m] != 0);
        if (!m) continue;
        if (name[m - 1] != '/') name[m++] = '/';
        name[m] = 0;
        ok = add_folder(base, name);
    }
    free(name);
    if (ok && make_keys(base)) return base;
    hoffman_close(base);
    return 0;
}

int hoffman_init_for(const char *path, const hoffman_caller *caller) {
    hoffman_base *base;
    if (caller->version > HOFFMAN_API_VERSION) return HOFFMAN_VERSION;
    if (!(base = hoffman_open_for(path, the_cache, caller))) return HOFFMAN_MEMORY;
    hoffman_close(the_base);
    the_base = base;
    return HOFFMAN_OK;
}

void hoffman_free(void) { hoffman_close(the_base), the_base = 0; }

int hoffman_set_cache(size_t bytes) {
    if (the_base && !make_slots(the_base, bytes)) return HOFFMAN_MEMORY;
    the_cache = bytes;
    return HOFFMAN_OK;
}

void hoffman_set_log(void (*log)(void *, const char *), void *with) { the_log = log, the_log_with = with; }

static const hoffman_base *this_base(const hoffman_base *base) { return base ? base : the_base; }
unsigned hoffman_largest_of(const hoffman_base *base) { return this_base(base) ? this_base(base)->largest : 2; }
unsigned hoffman_largest(void) { return hoffman_largest_of(0); }
unsigned hoffman_longest(void) { return the_base ? the_base->longest : 0; }

static int has_key(u64 key) { return key && the_base && the_base->by_key[entry_of(the_base, key)].chess; }

int hoffman_has(const char *material) { return has_key(key_of_name(material, strlen(material))); }

/* ---- cells [6] ---- */

typedef struct { u64 tile; int row, lane; } Place;

static int gather(const Stream *s, const Pos *p, u8 *sq) {
    if (bits_of(occupied(p)) != s->n) return 0;
    for (int i = 0; i < s->n; i++) {
        u64 set = p->c[s->color[i]] & p->k[s->kind[i]];
        if (s->like[i] >= 0) set &= ~(u64)0 << sq[s->like[i]] << 1;
        if (!set) return 0;
        sq[i] = (u8)lsb(set);
    }
    return 1;
}

static void put_in_order(const Stream *s, u8 *sq) {
    int b;
    for (int i = 2; i < s->n; i++)
        for (int m = i; (b = s->like[m]) >= 0 && sq[b] > sq[m]; m = b) {
            u8 x = sq[b];
            sq[b] = sq[m];
            sq[m] = x;
        }
}

/* Mirrors squares, or exchanges rank and file if `line` is 0, and puts like men in order. */
static void mirror(const Stream *s, u8 *sq, int line) {
    for (int i = 0; i < s->n; i++) sq[i] = (u8)(line ? sq[i] ^ line : flip(sq[i]));
    put_in_order(s, sq);
}

/* 0: other men. Else *side is the side to move of the cell. */
static int locate(const Tab *t, const Stream *s, const Pos *position, Place *place, int *side) {
    Pos p = *position;
    u8 sq[8];
    int i;
    if (!gather(s, &p, sq) || (s->symmetric && p.turn == BLACK)) {
        swap_colors(&p);
        if (!gather(s, &p, sq)) return 0;
    }
    *side = p.turn;
    if ((sq[0] & 7) > 3) mirror(s, sq, 7);
    if (!s->pawns) {
        if (sq[0] >> 3 > 3) mirror(s, sq, 56);
        if (above(sq[0]) || (diagonal(sq[0]) && above(sq[1]))) mirror(s, sq, 0);
        for (i = 0; i < s->n && diagonal(sq[i]); i++) {}
        if (i >= 2 && i < s->n && above(sq[i])) mirror(s, sq, 0);
    }
    u16 pair = t->pair_number[s->pawns][sq[0] * 64 + sq[1]];
    if (pair == 65535) return 0;
    place->tile = pair, place->row = 0, place->lane = sq[s->lane];
    if (s->middle < 0) return 1;
    for (i = 2; i < s->middle; i++) place->tile = place->tile * 64 + sq[i];
    place->tile = place->tile * (u64)(64 / s->rows) + (u64)(sq[s->middle] / s->rows);
    place->row = sq[s->middle] % s->rows;
    return 1;
}

/* ---- models [9] ---- */

static int distribution(const u8 *q, int n, u16 *f) {
    u32 left = 32768, w;
    for (int i = 1; i < n; i++) {
        w = ((16u + (q[i - 1] & 15)) << (q[i - 1] >> 4)) >> 4;
        if (w >= left) return 0;
        left -= w;
        f[i] = (u16)w;
    }
    f[0] = (u16)left;
    return 1;
}

/* How tests are numbered [7]: P relations, cell tests from C on. */
static int relations_of(const Stream *s) { return s->n * (s->n - 1) - 2; }
static int cell_test(const Stream *s) { return 5 * relations_of(s) + 11 + 6 * s->n; }

/* Where the cell tests have their bits in a word: those of plain models first. */
static const u8 cell_bit[48] = {0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23, 8, 24, 9, 25, 10, 11, 26, 27,
    28, 29, 30, 31, 32, 33, 14, 15, 12, 13, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47};

static int parse_tree(Tree *t, const u8 *p, u32 length, u32 symbols, u32 threats, u32 first_cell, u32 tests) {
    /* A leaf takes symbols + 1 bytes, an inner node 2; n leaves have n - 1 inner nodes. */
    u32 nodes = 0, leaves = 0, most = (length + 2) / (symbols + 3) + 1, at = 0, open = 1, test;
    u16 *stack[66]; /* where the numbers of subtrees go that are still to come, and how deep they are */
    u8 depth[66] = {0}, d;
    t->node = (Node *)malloc(most * sizeof(Node));
    t->leaf = (u16 *)malloc(most * symbols * sizeof(u16));
    t->bytes = most * (sizeof(Node) + symbols * sizeof(u16));
    if (!t->node || !t->leaf) return 0;
    t->plain = 1;
    for (stack[0] = &t->root; open;) {
        u16 *to = stack[--open];
        d = depth[open];
        if (length - at < 2) return 0;
        test = (u32)number(p + at, 2);
        at += 2;
        if (test == 0xFFFF) {
            if (length - at < symbols - 1 || leaves >= 32767 || leaves >= most) return 0;
            if (!distribution(p + at, (int)symbols, t->leaf + leaves * symbols)) return 0;
            at += symbols - 1;
            *to = (u16)(leaves++ | LEAF);
        } else {
            Node *node = &t->node[nodes];
            if (test >= tests || d >= 64 || nodes >= 32767 || nodes >= most) return 0;
            node->bit = (u16)(test < first_cell ? 64 : test - first_cell - 48);
            if (test >= first_cell && test < first_cell + 48) node->bit = cell_bit[test - first_cell];
            node->word = (u16)(test < first_cell ? test : first_cell + (test >= first_cell + 48));
            for (int child = 1; child >= 0; child--) stack[open] = &node->child[child], depth[open++] = (u8)(d + 1);
            *to = (u16)nodes++;
            if (symbols > 5 ? test < first_cell + 48
                : test < first_cell ? test < threats || test > threats + 4 : node->bit > 15) t->plain = 0;
        }
    }
    return at == length;
}

static int parse_model(Model *m, const u8 *p, u64 length, const Stream *s) {
    int i, seen = 0;
    u32 c = (u32)cell_test(s), threats = c - 7 - 6 * (u32)s->n;
    u64 first, second;
    if (length < 66 || p[0] != 1) return 0;
    for (i = 0; i < 4; i++) {
        m->order[i] = p[1] >> (2 * i) & 3;
        seen |= 1 << m->order[i];
    }
    m->fallback = (u16)number(p + 2, 2);
    if (seen != 15 || !m->fallback) return 0;
    for (i = 0; i < 9; i++) m->threshold[i] = (u16)number(p + 4 + 2 * i, 2);
    for (i = 0; i < 2; i++) m->last[i] = (u16)number(p + 22 + 2 * i, 2);
    for (i = 0; i < 16; i++)
        if (!distribution(p + 26 + 2 * i, 3, m->classes[i])) return 0;
    first = number(p + 58, 4), second = number(p + 62, 4);
    if (first + second != length - 66) return 0;
    if (!parse_tree(&m->cells, p + 66, (u32)first, 5, threats, c, c + 48)) return 0;
    if (!parse_tree(&m->misses, p + 66 + first, (u32)second, 25, threats, c, c + 66)) return 0;
    m->cells.plain &= m->misses.plain;
    m->memo = (u32 *)calloc(MEMO, sizeof(u32));
    return m->memo != 0;
}

static Model *load_model(const Tab *t, File f, const Stream *s) {
    Model *m = (Model *)calloc(1, sizeof *m);
    u64 blocks = (s->tiles + 63) / 64;
    u8 *p = m ? load(t, f, &s->model, (u64)16 << 20) : 0;
    int ok = p && (s->index ? load_entries(t, f, s, p, m) : parse_model(m, p, s->model.length, s));
    free(p);
    if (ok && s->directory.length == 12 * (blocks + 1)) {
        m->directory = load(t, f, &s->directory, 12 * (blocks + 1));
        m->checked = (u32 *)calloc((size_t)(blocks / 32 + 1), sizeof(u32));
    }
    if (m && m->directory && m->checked && number(m->directory + 12 * blocks, 8) == s->data.length) return m;
    free_model(m);
    return 0;
}

/* ---- range coder [5] ---- */

typedef struct { u32 range, code; const u8 *at, *end; } Coder;

static u32 next_byte(Coder *c) { return c->at < c->end ? *c->at++ : 0; }

static void start_coder(Coder *c, const u8 *p, size_t n) {
    c->range = 0xFFFFFFFFu, c->code = 0, c->at = p, c->end = p + n;
    for (int i = 0; i < 4; i++) c->code = c->code << 8 | next_byte(c);
}

static void normalise(Coder *c) { for (; c->range < 0x1000000u; c->range <<= 8) c->code = c->code << 8 | next_byte(c); }

static int symbol(Coder *c, const u16 *f, int n) {
    u32 unit, below = 0;
    int i = 0;
    normalise(c);
    unit = c->range >> 15;
    for (; i < n - 1 && c->code >= below + unit * f[i]; i++) below += unit * f[i];
    c->code -= below;
    c->range = unit * f[i];
    return i;
}

static u32 raw_bits(Coder *c, int n) {
    u32 value;
    normalise(c);
    c->range >>= n;
    value = c->code / c->range;
    if (value > (1u << n) - 1) value = (1u << n) - 1;
    c->code -= c->range * value;
    return value;
}

/* ---- tiles [7, 8] ---- */

#define STRIDE 96
#define LEFT 16
#define NO_ROW 64

typedef struct {
    u16 value[65 * STRIDE];
    u64 legal[65], relation[65][54], word[352];
    u8 sq[8];
    u64 check; /* the mover's king is attacked, by lane square */
    int row, n, u, nn, uu;
} Rows;

static void constant(Rows *r, int first, int square) {
    for (int b = 0; b < 6; b++) r->word[first + b] = square >> b & 1 ? ~(u64)0 : 0;
}

static void relate(const Tab *t, const Stream *s, Rows *r) {
    int p = 0, lane = s->lane;
    u64 occ = 0, *rel = r->relation[r->row];
    for (int i = 0; i < lane; i++) occ |= BIT(r->sq[i]);
    for (int i = 0; i < s->n; i++) {
        u64 reach = i < lane ? attacks(t, s->color[i], s->kind[i], r->sq[i], occ) : 0;
        int slides = s->kind[i] == BISHOP || s->kind[i] == ROOK || s->kind[i] == QUEEN;
        for (int j = 0; j < s->n; j++) {
            if (i == j || (i < 2 && j < 2)) continue;
            if (i == lane) /* a pawn attacks from where one of the other side would attack back */
                rel[p] = attacks(t, s->kind[i] == PAWN ? s->color[i] ^ 1 : s->color[i], s->kind[i], r->sq[j], occ);
            else if (j == lane) rel[p] = reach;
            else if (!(reach & BIT(r->sq[j]))) rel[p] = 0;
            else rel[p] = slides ? ~between(t, r->sq[i], r->sq[j]) : ~(u64)0;
            p++;
        }
    }
}

static u64 legal_lanes(const Stream *s, const Rows *r) {
    const u64 pawn_squares = 0x00FFFFFFFFFFFF00ull;
    u64 taken = 0, lanes = ~(u64)0;
    int i;
    for (i = 0; i < s->lane; i++) {
        if (taken & BIT(r->sq[i])) return 0;
        if (s->like[i] >= 0 && r->sq[s->like[i]] >= r->sq[i]) return 0;
        if (s->kind[i] == PAWN && !(pawn_squares & BIT(r->sq[i]))) return 0;
        taken |= BIT(r->sq[i]);
    }
    if (s->kind[s->lane] == PAWN) lanes &= pawn_squares;
    if (s->like[s->lane] >= 0) lanes &= ~(u64)0 << r->sq[s->like[s->lane]] << 1;
    if (!s->pawns && diagonal(r->sq[0]) && diagonal(r->sq[1])) {
        for (i = 2; i < s->lane && diagonal(r->sq[i]); i++) {}
        if (i < s->lane) {
            if (above(r->sq[i])) return 0;
        } else lanes &= ~ABOVE;
    }
    return lanes & ~taken;
}

static void begin_row(const Tab *t, const Stream *s, const Model *m, Rows *r, int row, int first) {
    int i, j, k, p, count = relations_of(s), middle = first + row;
    int n = row >= 1 && (middle & 7) ? row - 1 : -1, u = row >= 8 ? row - 8 : -1;
    u64 threat[4] = {0, 0, 0, 0}, any[4] = {0, 0, 0, 0}, change[4], rel;
    r->row = row;
    r->n = n >= 0 ? n : u >= 0 ? u : NO_ROW, r->u = u >= 0 ? u : r->n;
    r->nn = row >= 2 ? row - 2 : r->n, r->uu = row >= 16 ? row - 16 : r->u;
    if (s->middle >= 0) {
        r->sq[s->middle] = (u8)middle;
        constant(r, 5 * count + 11 + 6 * s->middle, middle);
    }
    relate(t, s, r);
    for (p = 0; p < count && !m->cells.plain; p++) {
        rel = r->relation[row][p];
        change[0] = rel ^ rel << 1;
        change[1] = rel ^ rel << 8;
        change[2] = r->n == NO_ROW ? 0 : rel ^ r->relation[r->n][p];
        change[3] = r->n == NO_ROW ? 0 : rel ^ r->relation[r->u][p];
        r->word[p] = rel;
        for (k = 0; k < 4; k++) {
            r->word[(k + 1) * count + p] = change[k];
            any[k] |= change[k];
        }
    }
    for (i = 0, p = 0; i < s->n; i++)
        for (j = 0; j < s->n; j++) {
            int own = s->color[i] == s->turn, king = s->kind[j] == KING;
            if (i == j || (i < 2 && j < 2)) continue;
            rel = r->relation[row][p++];
            if (s->color[i] != s->color[j]) threat[own ? (king ? 3 : 1) : (king ? 0 : 2)] |= rel;
        }
    r->legal[row] = legal_lanes(s, r) & ~threat[3];
    r->check = threat[0];
    for (k = 0; k < 4; k++) r->word[5 * count + k] = any[k];
    for (k = 0; k < 3; k++) r->word[5 * count + 4 + k] = threat[k];
    r->word[5 * count + 7] = r->legal[row] << 1, r->word[5 * count + 8] = r->legal[row] << 8;
    r->word[5 * count + 9] = r->legal[r->n], r->word[5 * count + 10] = r->legal[r->u];
}

static int class_of(u16 v) { return v == DRAW ? 0 : v < DRAW ? 1 : 2; }
static int distance_of(u16 v) { return v == DRAW || v == 0 ? 0 : v < DRAW ? v - 1 : 65536 - v; }

static u32 walk(const Tree *t, const u64 *word, int lane) {
    u32 at = t->root;
    const Node *node = t->node;
    while (!(at & LEAF)) {
        const Node *n = node + at;
        if (word[n->word] >> (n->bit == 64 ? lane : n->bit) & 1) at = n->child[1];
        else at = n->child[0];
    }
    return at & ~LEAF;
}

/* The leaf of the first tree. Where little is asked of a cell it mostly was asked before. */
static u32 leaf_of(Rows *r, const Model *m, int c, int threats, int lane) {
    u32 known = (u32)r->word[c], *memo, found, leaf;
    if (!m->cells.plain) return walk(&m->cells, r->word, lane);
    for (int k = 0; k < 5; k++) known |= (u32)(r->word[threats + k] >> lane & 1) << (16 + k);
    memo = &m->memo[(known ^ known >> 9) % MEMO];
    found = LOAD(memo);
    if (found >> 16 == (known >> 12 | 512)) return found & 65535;
    leaf = walk(&m->cells, r->word, lane);
    STORE(memo, (known >> 12 | 512) << 16 | leaf);
    return leaf;
}

static int candidates(const Model *m, const u16 *near_, u16 *cand) {
    int count = 0, j;
    for (int i = 0; i < 4; i++) {
        u16 v = near_[m->order[i]];
        for (j = 0; j < count && cand[j] != v; j++) {}
        if (j == count) cand[count++] = v;
    }
    return count;
}

/* W, S, N and U, and the word of cell tests; of a plain model only those that it asks for. */
static void look(Rows *r, const Model *m, int c, int lane, u16 *near_) {
    const u16 *t = r->value + r->row * STRIDE + LEFT + lane, *n = r->value + r->n * STRIDE + LEFT + lane;
    const u16 *u = r->value + r->u * STRIDE + LEFT + lane;
    int has_w = lane & 7, has_s = lane >= 8, bit = 0;
    u16 cand[4], W = has_w ? t[-1] : t[-8], S = has_s ? t[-8] : t[-1], N = *n, U = *u;
    u64 word = 0;
    if (!has_w && !has_s) W = S = N;
    else if (r->n == NO_ROW) N = U = W;
    near_[0] = W, near_[1] = S, near_[2] = N, near_[3] = U;
#define TEST(x) word |= (u64)(x) << bit++
    TEST(W == S), TEST(W == N), TEST(W == U), TEST(S == N), TEST(S == U), TEST(N == U);
    TEST(W == n[-1]), TEST(S == n[-8]), TEST(W == u[-1]), TEST(S == u[-8]), TEST(W == t[-9]), TEST(S == t[-9]);
    TEST(W == t[-2]), TEST(S == t[-16]);
    TEST(N == r->value[r->nn * STRIDE + LEFT + lane]), TEST(U == r->value[r->uu * STRIDE + LEFT + lane]);
    if (!m->cells.plain) {
        int count = candidates(m, near_, cand), moves = distance_of(cand[0]);
        TEST(W < S), TEST(W < N), TEST(W < U), TEST(S < N), TEST(S < U), TEST(N < U);
        TEST(W < n[-1]), TEST(S < n[-8]), TEST(W < u[-1]), TEST(S < u[-8]);
        TEST(N == n[1]), TEST(N == n[-1]), TEST(N == n[8]), TEST(N == n[-8]);
        TEST(U == u[1]), TEST(U == u[-1]), TEST(U == u[8]), TEST(U == u[-8]);
        TEST(cand[0] == DRAW), TEST(cand[0] > DRAW), TEST(count >= 2), TEST(count >= 3), TEST(count >= 4);
        for (int i = 0; i < 9; i++) TEST(moves >= m->threshold[i]);
    }
#undef TEST
    r->word[c] = word;
}

/* The distance of a miss [8, 3 to 5]. */
static int missed(
    Coder *coder, Rows *r, const Model *m, int c, int lane, const u16 *cand, int count, int class_, int last) {
    static const signed char delta[16] = {-1, -8, -2, -16, -9, -7, 0, 1, -1, 8, -8, 0, 1, -1, 8, -8};
    static const u8 weight[16] = {2, 2, 1, 1, 1, 1, 2, 1, 1, 1, 1, 2, 1, 1, 1, 1};
    static const u8 start[13] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 13, 21, 37, 101};
    static const u8 bits[13] = {0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 6, 15};
    int i, j, sum = 0, weights = 0, least = 65535, most = 0, base = last, spread = 0;
    int out[4], outs = 0, y, g, v;
    u64 word = 0;
    for (i = 0; i < 16; i++) {
        int row = i < 6 ? r->row : i < 11 ? r->n : r->u, at = lane + delta[i], d;
        u16 x;
        if (at < 0 || at > 63 || !(r->legal[row] & BIT(at))) continue;
        x = r->value[row * STRIDE + LEFT + at];
        if (class_of(x) != class_) continue;
        d = distance_of(x);
        sum += weight[i] * d, weights += weight[i];
        if (d < least) least = d;
        if (d > most) most = d;
    }
    if (weights) base = (2 * sum + weights) / (2 * weights), spread = most - least;
    word |= (u64)(class_ == 2);
    word |= (u64)(weights >= 1) << 1 | (u64)(weights >= 3) << 2 | (u64)(weights >= 6) << 3;
    word |= (u64)(spread >= 1) << 4 | (u64)(spread >= 2) << 5 | (u64)(spread >= 4) << 6 | (u64)(spread >= 8) << 7;
    for (i = 0; i < 9; i++) word |= (u64)(base >= m->threshold[i]) << (8 + i);
    word |= (u64)(class_of(cand[0]) == class_) << 17;
    r->word[c + 1] = word;
    for (i = 0; i < count; i++)
        if (class_of(cand[i]) == class_) {
            int d = distance_of(cand[i]);
            for (j = outs++; j > 0 && out[j - 1] > d; j--) out[j] = out[j - 1];
            out[j] = d;
        }
    y = symbol(coder, m->misses.leaf + walk(&m->misses, r->word, lane) * 25, 25);
    g = (y + 1) / 2;
    v = start[g] + (bits[g] ? (int)raw_bits(coder, bits[g]) : 0);
    if (y % 2 == 0) v = -v;
    v += base;
    for (i = 0; i < outs; i++) v -= out[i] < base;
    if (v < 0) v = 0;
    for (i = 0; i < outs; i++) v += out[i] <= v;
    return v > LONGEST ? LONGEST : v;
}

static u16 decode_cell(Coder *coder, const Stream *s, Rows *r, const Model *m, int c, int lane, u16 *last) {
    u16 near_[4], cand[4];
    int count, i, context, class_, moves;
    look(r, m, c, lane, near_);
    i = symbol(coder, m->cells.leaf + leaf_of(r, m, c, c - 7 - 6 * s->n, lane) * 5, 5);
    if (i == 0) return near_[m->order[0]];
    count = candidates(m, near_, cand);
    if (i < 4) return cand[i < count ? i : count - 1];
    context = r->check & BIT(lane) ? 8 : 0;
    for (i = 0; i < count; i++) context |= class_of(cand[i]) == 1 ? 1 : class_of(cand[i]) == 0 ? 2 : 4;
    class_ = symbol(coder, m->classes[context], 3);
    if (class_ == 0) return DRAW;
    if (s->outcomes) return class_ == 1 ? 1 : BEST;
    moves = missed(coder, r, m, c, lane, cand, count, class_, last[class_ - 1]);
    if (class_ == 2 && moves == 0) moves = 1;
    last[class_ - 1] = (u16)moves;
    return (u16)(class_ == 1 ? 1 + moves : 65536 - moves);
}

/* Decodes a tile up to and including a row. */
static void decode_tile(
    const Tab *t, const Stream *s, const Model *m, u64 tile, int last_row, const u8 *p, size_t n, Rows *r) {
    static const u64 lanes[6] = {0xAAAAAAAAAAAAAAAAull, 0xCCCCCCCCCCCCCCCCull, 0xF0F0F0F0F0F0F0F0ull,
        0xFF00FF00FF00FF00ull, 0xFFFF0000FFFF0000ull, 0xFFFFFFFF00000000ull};
    Coder coder;
    u16 last[2];
    int i, row, lane, first = 0, c = cell_test(s), base = 5 * relations_of(s) + 11;
    u64 rest = tile;
    memset(r->sq, 0, sizeof r->sq);
    if (s->middle >= 0) {
        first = (int)(rest % (u64)(64 / s->rows)) * s->rows;
        rest /= (u64)(64 / s->rows);
        for (i = s->middle - 1; i >= 2; i--) r->sq[i] = (u8)(rest % 64), rest /= 64;
    }
    r->sq[0] = t->pair[s->pawns][rest][0], r->sq[1] = t->pair[s->pawns][rest][1];
    for (i = 0; i < 65 * STRIDE; i++) r->value[i] = m->fallback;
    r->legal[NO_ROW] = 0;
    for (i = 0; i < s->n; i++) constant(r, base + 6 * i, r->sq[i]);
    memcpy(r->word + base + 6 * s->lane, lanes, sizeof lanes);
    last[0] = m->last[0], last[1] = m->last[1];
    start_coder(&coder, p, n);
    for (row = 0; row <= last_row; row++) {
        begin_row(t, s, m, r, row, first);
        for (lane = 0; lane < 64; lane++) {
            u16 *v = r->value + row * STRIDE + LEFT + lane;
            if (r->legal[row] & BIT(lane)) *v = decode_cell(&coder, s, r, m, c, lane, last);
            else *v = lane & 7 ? v[-1] : lane ? v[-8] : r->value[r->n * STRIDE + LEFT];
        }
    }
}

/* ---- probing [10] ---- */

void hoffman_close(hoffman_base *base) {
    if (!base) return;
    for (int i = 0; i < base->tables; i++) free_table(&base->table[i]);
    free(base->table), free(base->by_key), free(base->slot), free(base);
}

#define STORED 0x80000000u /* a flag: nothing but what the cell holds */

/* The file of a table, opened by the first who needs it; null if it cannot be opened. */
static const File *file_of(hoffman_base *base, Table *table) {
    File *f = (File *)LOAD_POINTER(&table->file);
    if (f || !(f = (File *)malloc(sizeof *f))) return f;
    *f = open_file(table->path);
    if (*f == NO_FILE) {
        free(f);
        return 0;
    }
    if (put_pointer(&table->file, f)) count(base, OPENED, 1);
    else close_file(*f), free(f);
    return (const File *)LOAD_POINTER(&table->file);
}

static const Model *model_of(hoffman_base *base, File f, Stream *s) {
    Model *m = (Model *)LOAD_POINTER(&s->loaded);
    if (m || LOAD(&s->bad)) return m;
    if (!(m = load_model(&base->tab, f, s))) {
        STORE(&s->bad, 1);
        return 0;
    }
    if (put_pointer(&s->loaded, m))
        count(base, MEMORY, sizeof *m + m->cells.bytes + m->misses.bytes + MEMO * sizeof(u32)
            + (size_t)s->directory.length);
    else free_model(m);
    return (const Model *)LOAD_POINTER(&s->loaded);
}

/* Compares the checksum of a block. */
static NOINLINE int check_block(const Tab *t, File f, u64 at, u64 length, u32 sum) {
    u8 piece[4096];
    u32 crc = 0;
    while (length) {
        size_t n = length < sizeof piece ? (size_t)length : sizeof piece;
        if (!read_at(f, at, piece, n)) return 0;
        crc = crc32_of(t, crc, piece, n);
        at += n, length -= n;
    }
    return crc == sum;
}

/* Where the bytes of a tile are in the file; 0 if it is damaged. */
static int find_tile(hoffman_base *base, File f, const Stream *s, const Model *m, u64 tile, u64 *at, size_t *length) {
    u64 block = tile / 64, count_ = s->tiles - block * 64, sizes, i, bit;
    u64 begin = number(m->directory + 12 * block, 8), end = number(m->directory + 12 * block + 12, 8);
    u32 crc = (u32)number(m->directory + 12 * block + 8, 4), mark = 1u << (block % 32);
    u8 head[1 + 64 * 24 / 8 + 8];
    *length = 0;
    *at = s->data.offset + begin;
    if (count_ > 64) count_ = 64;
    if (begin > end || end > s->data.length || end - begin > (u64)64 << 20) return 0;
    if (!(LOAD(&m->checked[block / 32]) & mark)) {
        if (!check_block(&base->tab, f, *at, end - begin, crc)) return 0;
        SET_BITS(&m->checked[block / 32], mark);
        count(base, BLOCKS, 1);
    }
    if (begin == end) return 1;
    memset(head, 0, sizeof head);
    if (!read_at(f, *at, head, end - begin < sizeof head - 8 ? (size_t)(end - begin) : sizeof head - 8)) return 0;
    sizes = ((u64)head[0] * count_ + 7) / 8;
    if (head[0] > 24 || 1 + sizes > end - begin) return 0;
    *at += 1 + sizes;
    for (i = 0; i <= tile % 64; i++) {
        bit = i * head[0];
        *at += *length;
        *length = (size_t)(number(head + 1 + bit / 8, 4) >> (bit % 8) & (BIT(head[0]) - 1));
    }
    return *at + *length <= s->data.offset + end;
}

static Slot *slot_of(const hoffman_base *base, u32 who, u64 unit) {
    u64 hash = (unit ^ (u64)who << 44) * 0x9E3779B97F4A7C15ull;
    return &base->slot[(hash >> 32) * base->slots >> 32];
}

static int is_place_of(const Slot *slot, int way, u32 who, u64 unit) {
    return LOAD(&slot->who[way]) == who && LOAD(&slot->low[way]) == (u32)unit
        && LOAD(&slot->high[way]) == (u32)(unit >> 32);
}

/* Keeps decoded cells, where they were or in place of the oldest; not if another thread is just writing there. Rows of
 * 64 are `stride` apart. */
static void keep_cells(const hoffman_base *base, u32 who, u64 unit, const u16 *value, int stride, int cells) {
    Slot *slot = slot_of(base, who, unit);
    u32 turn, sum = 0;
    int way;
    for (way = 0; way < WAYS && !is_place_of(slot, way, who, unit); way++) sum += LOAD(&slot->turn[way]) / 2;
    if (way == WAYS) way = (int)(sum % WAYS);
    turn = LOAD(&slot->turn[way]);
    if (turn & 1 || !swap_32(&slot->turn[way], turn, turn + 1)) return;
    STORE(&slot->who[way], who), STORE(&slot->low[way], (u32)unit), STORE(&slot->high[way], (u32)(unit >> 32));
    STORE(&slot->cells[way], (u32)cells);
    for (int i = 0; i < (cells + 1) / 2; i++) {
        const u16 *two = value + i / 32 * stride + i % 32 * 2;
        STORE(&slot->pair[way][i], two[0] | (u32)two[1] << 16);
    }
    STORE(&slot->turn[way], turn + 2);
}

/* A cell from the cache; 0 if it is not there. */
static int held_cell(const hoffman_base *base, u32 who, u64 unit, u32 at, u16 *code) {
    Slot *slot = slot_of(base, who, unit);
    for (int way = 0; way < WAYS; way++) {
        u32 turn = LOAD(&slot->turn[way]), two;
        if (turn & 1 || LOAD(&slot->cells[way]) <= at || !is_place_of(slot, way, who, unit)) continue;
        two = LOAD(&slot->pair[way][at / 2]);
        *code = (u16)(at & 1 ? two >> 16 : two);
        if (LOAD(&slot->turn[way]) == turn) return 1;
    }
    return 0;
}

static void unreadable(hoffman_base *base, const Table *table) {
    count(base, FAILURES, 1);
    tell(table->path, "damaged, or it cannot be read");
}

/* A cell from the file, and into the cache all that is decoded on the way. */
static NOINLINE int fetch_cell(hoffman_base *base, Table *table, Stream *s, u32 who, const Place *place, u16 *code) {
    const File *f = file_of(base, table);
    const Model *m = f ? model_of(base, *f, s) : 0;
    u8 few[4096], *bytes = few;
    u64 at = 0;
    size_t length = 0;
    Rows rows;
    int ok = m && find_tile(base, *f, s, m, place->tile, &at, &length);
    if (ok && length > sizeof few && !(bytes = (u8 *)malloc(length))) return HOFFMAN_MEMORY;
    ok = ok && read_at(*f, at, bytes, length);
    if (ok) {
        decode_tile(&base->tab, s, m, place->tile, place->row, bytes, length, &rows);
        count(base, DECODED, 1);
        for (int row = 0; row <= place->row; row += 16)
            keep_cells(base, who, place->tile * 4 + (u64)row / 16, rows.value + row * STRIDE + LEFT, STRIDE,
                place->row - row < 16 ? (place->row - row + 1) * 64 : 1024);
        *code = rows.value[place->row * STRIDE + LEFT + place->lane];
    } else unreadable(base, table);
    if (bytes != few) free(bytes);
    return ok ? HOFFMAN_OK : HOFFMAN_DAMAGED;
}

static int cell(const Ask *ask, int table, int which, const Place *place, u16 *code) {
    Table *t = &ask->base->table[table];
    u32 who = (u32)(table * MAX_STREAMS + which);
    u64 unit = place->tile * 4 + (u64)place->row / 16;
    if (held_cell(ask->base, who, unit, (u32)(place->row % 16 * 64 + place->lane), code)) {
        count(ask->base, HITS, 1);
        return HOFFMAN_OK;
    }
    count(ask->base, MISSES, 1);
    if (ask->flags & HOFFMAN_SOFT) return HOFFMAN_BUSY;
    return fetch_cell(ask->base, t, &t->stream[which], who, place, code);
}

static u16 before(u16 c, int outcomes) {
    if (c == DRAW) return DRAW;
    if (outcomes) return c < DRAW ? BEST : 1;
    return (u16)(c < DRAW ? 65536 - c : 65537 - c);
}

static int any_code(Ask *ask, const Pos *pos, u16 *code);

/* The best of some moves and of what is known; none is asked behind one that is enough. */
static int best_of(Ask *ask, const Pos *pos, int asked, u16 *best) {
    Move moves[HOFFMAN_MAX_MOVES];
    Pos after;
    int i, n = generate(ask->t, pos, asked, moves), status;
    u16 code, b, enough = ask->enough;
    for (i = 0; i < n && (b = *best) < enough; i++) {
        if (!play(ask->t, pos, &moves[i], &after)) continue;
        ask->enough = BEST;
        if (b > 1) ask->enough = (u16)(b < DRAW ? 65537 - b : b > DRAW ? 65536 - b : b); /* no better than b */
        status = any_code(ask, &after, &code), ask->enough = enough;
        if (status != HOFFMAN_OK) return status;
        code = before(code, ask->flags & HOFFMAN_WDL);
        if (code > *best) *best = code;
    }
    return HOFFMAN_OK;
}

/* Of a legal position without rights. */
static int plain_code(Ask *ask, const Pos *pos, u16 *code) {
    int side, status, other_side = 0, table, last = -1, outcomes = ask->flags & HOFFMAN_WDL;
    u64 key = key_of_position(pos);
    Place place;
    u16 best = 0;
    *code = DRAW;
    if (!key) return HOFFMAN_OK;
    /* outcomes are in either kind of stream, and maybe in two tables */
    for (int pass = outcomes ? 0 : 1; pass < 2; pass++, last = table) {
        const Table *t;
        if ((table = table_of(ask->base, key, pass == 0)) < 0) return HOFFMAN_NO_TABLE;
        t = &ask->base->table[table];
        if (t->claims != CHESS && !(ask->flags & HOFFMAN_ALLOW_ASSUMED)) continue;
        if (table != last) ask->claims &= t->claims;
        for (int i = 0; i < t->streams; i++) {
            const Stream *s = &t->stream[i];
            if (s->outcomes != (pass == 0) || !locate(ask->t, s, pos, &place, &side)) continue;
            if (side != s->turn) {
                other_side = 1;
                continue;
            }
            if ((status = cell(ask, table, i, &place, code)) != HOFFMAN_OK) return status;
            if (outcomes && *code != DRAW) *code = *code < DRAW ? 1 : BEST;
            return !s->exits || ask->flags & STORED ? HOFFMAN_OK : best_of(ask, pos, EXITS, code);
        }
    }
    if (!other_side || ask->flags & STORED) return HOFFMAN_NO_TABLE;
    if ((status = best_of(ask, pos, ALL, &best)) != HOFFMAN_OK) return status;
    *code = best ? best : in_check(ask->t, pos, pos->turn) ? 1 : DRAW;
    return HOFFMAN_OK;
}

#ifdef HOFFMAN_INDEX
#include "hoffindex.c"
#endif

static int code_of_cells(Ask *ask, const Pos *pos, u16 *code) {
    Pos plain = *pos;
    u16 best = 0;
    int status;
    plain.ep = -1;
    if (pos->ep >= 0 && (status = best_of(ask, pos, EN_PASSANT, &best)) != HOFFMAN_OK) return status;
    if (best) {
        *code = best;
        if (best == BEST || !has_move(ask->t, &plain)) return HOFFMAN_OK;
    }
    status = plain_code(ask, &plain, code);
    if (status == HOFFMAN_OK && best > *code) *code = best;
    return status;
}

static int any_code(Ask *ask, const Pos *pos, u16 *code) {
    unsigned claims = ask->claims;
    int status = code_of_cells(ask, pos, code);
    if (status != HOFFMAN_NO_TABLE) return status;
    ask->claims = claims;
    return index_code(ask, pos, code);
}

/* Whether a right to castle can still be used. */
static int may_castle(const hoffman_position *h) {
    for (int right = 0; right < 4; right++) {
        u64 own = right < 2 ? h->white : h->black, rank = right < 2 ? 255 : (u64)255 << 56;
        u64 king = own & h->kings & rank, rooks = own & h->rooks & rank;
        if (!(h->castling >> right & 1) || !king || king & (king - 1)) continue;
        if (!(h->castling & HOFFMAN_CHESS960)) {
            king &= (u64)0x1000000000000010;
            rooks &= right & 1 ? (u64)0x0100000000000001 : (u64)0x8000000000000080u;
        }
        if (king && rooks & (right & 1 ? king - 1 : ~(king - 1))) return 1;
    }
    return 0;
}

static int take(
    Ask *ask, const hoffman_base *base, unsigned flags, const hoffman_position *given, hoffman_position *h, Pos *p) {
    ask->base = (hoffman_base *)this_base(base);
    ask->flags = flags, ask->claims = CHESS, ask->enough = BEST;
    memset(h, 0, sizeof *h);
    if (!ask->base) return HOFFMAN_NO_TABLE;
    ask->t = &ask->base->tab;
    memcpy(h, given, ask->base->caller.position);
    p->c[WHITE] = h->white, p->c[BLACK] = h->black;
    p->k[PAWN] = h->pawns, p->k[KNIGHT] = h->knights, p->k[BISHOP] = h->bishops;
    p->k[ROOK] = h->rooks, p->k[QUEEN] = h->queens, p->k[KING] = h->kings;
    p->turn = h->white_to_move ? WHITE : BLACK;
    p->ep = h->ep >> 3 == (h->white_to_move ? 5u : 2u) ? (int)h->ep : -1; /* no pawn can take elsewhere */
    return may_castle(h) ? HOFFMAN_CASTLING : HOFFMAN_OK;
}

static void give(const Ask *ask, u16 code, unsigned rule50, hoffman_result *r) {
    memset(r, 0, sizeof *r);
    r->claims = ask->claims & 15u;
    if (code == DRAW) return;
    r->wdl = code < DRAW ? -2 : 2;
    r->plies = (unsigned)(2 * distance_of(code) - (code > DRAW));
    if (ask->flags & HOFFMAN_WDL) {
        r->plies = ask->base->longest;
        r->bound = code < DRAW ? HOFFMAN_UPPER : HOFFMAN_LOWER;
    }
    if (rule50 + r->plies <= 100) return;
    r->flags = HOFFMAN_MAYBE_50;
    if (ask->flags & HOFFMAN_CURSED) r->wdl /= 2;
}

int hoffman_ask(hoffman_base *base, const hoffman_position *given, unsigned flags, hoffman_result *result) {
    Ask ask;
    Pos pos;
    hoffman_position h;
    hoffman_result r;
    u16 code;
    int status = take(&ask, base, flags, given, &h, &pos);
    if (status != HOFFMAN_OK) return status;
    /* a capture en passant may be the only move */
    if (men_of(&pos) > ask.base->largest + (pos.ep >= 0)) return HOFFMAN_NO_TABLE;
    if (!is_legal(ask.t, &pos)) return HOFFMAN_ILLEGAL;
    if ((status = any_code(&ask, &pos, &code)) != HOFFMAN_OK) return status;
    give(&ask, code, h.rule50, &r);
    memcpy(result, &r, ask.base->caller.result);
    return ask.claims == CHESS ? HOFFMAN_OK : HOFFMAN_ASSUMED;
}

int hoffman_probe(const hoffman_position *h, hoffman_result *r) { return hoffman_ask(0, h, 0, r); }
int hoffman_probe_soft(const hoffman_position *h, hoffman_result *r) { return hoffman_ask(0, h, HOFFMAN_SOFT, r); }
int hoffman_probe_wdl(const hoffman_position *h, hoffman_result *r) { return hoffman_ask(0, h, HOFFMAN_WDL, r); }

int hoffman_has_position(const hoffman_position *given) {
    Ask ask;
    Pos pos;
    hoffman_position h;
    int status = take(&ask, 0, 0, given, &h, &pos);
    return status != HOFFMAN_NO_TABLE && has_key(key_of_position(&pos));
}

/* ---- the moves of a position ---- */

/* exact: all moves have exact results. Else own has that of the position itself. */
typedef struct {
    int n, exact;
    hoffman_move own, out[HOFFMAN_MAX_MOVES];
    Pos after[HOFFMAN_MAX_MOVES];
} Root;

static int is_known(const hoffman_move *m) { return m->status == HOFFMAN_OK || m->status == HOFFMAN_ASSUMED; }
static int sign_of(const hoffman_result *r) { return (r->wdl > 0) - (r->wdl < 0); }

/* Whether the position itself has a result, of the sign of another. */
static int is_own(const Root *root, const hoffman_result *r) {
    return is_known(&root->own) && sign_of(&root->own.result) == sign_of(r);
}

/* Whether a move keeps the distance of the position: -1 if it does not, 0 if that is not known. */
static int keeps(const Root *root, const hoffman_result *r) {
    const hoffman_result *own = &root->own.result;
    if (r->bound != HOFFMAN_EXACT || !is_own(root, r) || own->bound != HOFFMAN_EXACT) return 0;
    return (r->wdl > 0 ? r->plies <= own->plies : r->plies >= own->plies) ? 1 : -1;
}

/* Moves without a distance are 1. If none with one keeps that of the position, one of these does; if
 * it is not known, whoever wins goes for what is counted, and whoever loses for what is not. */
static int rank_of(const Root *root, const hoffman_result *r) {
    int kept = keeps(root, r);
    if (r->bound != HOFFMAN_EXACT) return 1;
    return kept > 0 || (!kept && r->wdl > 0) ? 0 : 2;
}

/* Better moves first; unknown ones last. */
static int is_better(const Root *root, const hoffman_move *a, const hoffman_move *b) {
    int wins = a->result.wdl > 0, rank = rank_of(root, &a->result) - rank_of(root, &b->result);
    if (is_known(a) != is_known(b)) return is_known(a);
    if (!is_known(a)) return 0;
    if (sign_of(&a->result) != sign_of(&b->result)) return a->result.wdl > b->result.wdl;
    if (rank) return rank < 0;
    /* captures and pawn moves of the winner, others of the loser */
    if (a->result.bound != HOFFMAN_EXACT) return wins ? a->zeroing > b->zeroing : a->zeroing < b->zeroing;
    return wins ? a->result.plies < b->result.plies : a->result.plies > b->result.plies;
}

static int is_zeroing(const Pos *p, const Move *m) { return m->kind == PAWN || (occupied(p) & BIT(m->to)) != 0; }

/* The result of a position, or of the move to it; who wins where the distance is not known. */
static int answer(const Ask *ask, const Pos *pos, int moved, unsigned rule50, hoffman_result *r) {
    u16 code = 0;
    Ask own = *ask;
    int status = any_code(&own, pos, &code);
    if (status == HOFFMAN_NO_TABLE && !(own.flags & HOFFMAN_WDL)) {
        own.flags |= HOFFMAN_WDL, own.claims = ask->claims;
        status = any_code(&own, pos, &code);
    }
    if (status != HOFFMAN_OK) return status;
    give(&own, moved ? before(code, own.flags & HOFFMAN_WDL) : code, rule50, r);
    return own.claims == CHESS ? HOFFMAN_OK : HOFFMAN_ASSUMED;
}

static void judge(const Ask *ask, const Pos *pos, const Pos *after, const Move *m, unsigned rule50,
    hoffman_move *out) {
    memset(out, 0, sizeof *out);
    out->from = m->from, out->to = m->to, out->promotion = m->promotion, out->en_passant = m->ep;
    out->zeroing = (unsigned)is_zeroing(pos, m);
    /* plies count this move, the clock begins behind it */
    out->status = answer(ask, after, 1, out->zeroing ? ~0u : rule50, &out->result);
}

/* ---- progress in a won position without distances ---- */

/* A capture, a pawn move or mate cannot be taken back, so a win that finds one after another comes to its end. */
#define WAY_PLIES 8     /* how far such an end is looked for behind the move that is judged */
#define WAY_PROBES 4000 /* positions that are asked for, for all moves together */
#define WAY_KNOWN 1024

typedef struct { u64 key; int plies, found; } Way;

/* Of positions with the winner to move: whether there is a way within so many plies. */
typedef struct {
    Ask ask;
    int left;
    Way known[WAY_KNOWN];
} Ways;

static u64 hash_of(const Pos *p) {
    u64 key = p->c[0] ^ (u64)(p->ep + 2) << 1 ^ (u64)p->turn;
    for (int i = 0; i < 6; i++) key = (key ^ p->k[i]) * 0x9E3779B97F4A7C15ull, key ^= key >> 29;
    return key;
}

static int is_mated(const Tab *t, const Pos *p) { return in_check(t, p, p->turn) && !has_move(t, p); }

static int is_lost(Ways *ways, const Pos *p) {
    u16 code;
    ways->left--;
    return any_code(&ways->ask, p, &code) == HOFFMAN_OK && code < DRAW;
}

static int reaches(Ways *ways, const Pos *p, int plies);

/* Whether all moves of the loser let the winner come to an end. Its own captures are such ends, too. */
static int is_driven(Ways *ways, const Pos *p, int plies) {
    const Tab *t = ways->ask.t;
    Move moves[HOFFMAN_MAX_MOVES];
    Pos after;
    int any = 0, n = generate(t, p, ALL, moves);
    for (int i = 0; i < n; i++) {
        if (!play(t, p, &moves[i], &after)) continue;
        if (plies == 0) return 0;
        if (!is_zeroing(p, &moves[i]) && !reaches(ways, &after, plies - 1)) return 0;
        any = 1;
    }
    return any || in_check(t, p, p->turn);
}

static int reaches_anew(Ways *ways, const Pos *p, int plies) {
    const Tab *t = ways->ask.t;
    Move moves[HOFFMAN_MAX_MOVES];
    Pos after;
    int quiet = 0, n = generate(t, p, ALL, moves);
    for (int i = 0; i < n; i++) {
        if (!play(t, p, &moves[i], &after)) continue;
        if (is_mated(t, &after)) return 1;
        if (ways->left <= 0 || !is_lost(ways, &after)) continue;
        if (is_zeroing(p, &moves[i])) return 1;
        moves[quiet++] = moves[i];
    }
    for (int i = 0; plies > 1 && i < quiet; i++) {
        play(t, p, &moves[i], &after);
        if (is_driven(ways, &after, plies - 1)) return 1;
    }
    return 0;
}

static int reaches(Ways *ways, const Pos *p, int plies) {
    u64 key = hash_of(p);
    Way *way = &ways->known[key % WAY_KNOWN];
    int found;
    if (way->key == key && (way->found ? way->plies <= plies : way->plies >= plies)) return way->found;
    found = reaches_anew(ways, p, plies);
    if (ways->left > 0) way->key = key, way->plies = plies, way->found = found;
    return found;
}

static int steps(int a, int b) {
    int files = abs((a & 7) - (b & 7)), ranks = abs((a >> 3) - (b >> 3));
    return files > ranks ? files : ranks;
}

/* How far a lost side to move is from a corner in which it can be mated; smaller is nearer. */
static int freedom(const Tab *t, const Pos *p) {
    static const int corners[4] = {0, 7, 56, 63}; /* the first and the last are dark */
    const u64 dark = 0xAA55AA55AA55AA55ull;
    u64 men = p->c[p->turn ^ 1], bishops = men & p->k[BISHOP];
    int own = lsb(p->c[p->turn] & p->k[KING]), other = lsb(men & p->k[KING]), nearest = 7, edge = 7, moves = 0, n;
    int strong = (men & (p->k[QUEEN] | p->k[ROOK] | p->k[PAWN])) != 0;
    int any = strong || (!(bishops & dark) == !(bishops & ~dark));
    Move move[HOFFMAN_MAX_MOVES];
    Pos after;
    for (int i = 0; i < 4; i++)
        if ((any || !(BIT(corners[i]) & dark) == !(bishops & dark)) && steps(own, corners[i]) < nearest)
            nearest = steps(own, corners[i]);
    for (int i = 0; i < 2; i++) {
        int line = i ? own >> 3 : own & 7;
        if (line > 3) line = 7 - line;
        if (line < edge) edge = line;
    }
    n = generate(t, p, ALL, move);
    for (int i = 0; i < n; i++) moves += play(t, p, &move[i], &after);
    return 8 * edge + 4 * nearest + 4 * steps(own, other) + moves;
}

static int is_uncounted(const hoffman_move *m) {
    return is_known(m) && m->result.wdl > 0 && m->result.bound != HOFFMAN_EXACT;
}

/* The moves that win without a distance, those that come to an end first in front. */
static NOINLINE void order_by_progress(const Ask *ask, Root *root) {
    Ways ways;
    int weight[HOFFMAN_MAX_MOVES], i, j, n = 0, found = 0;
    memset(&ways, 0, sizeof ways);
    ways.ask = *ask, ways.ask.flags |= HOFFMAN_WDL, ways.left = WAY_PROBES;
    while (n < root->n && is_uncounted(&root->out[n])) {
        hoffman_move *m = &root->out[n];
        m->progress = m->zeroing || is_mated(ask->t, &root->after[n]) ? 1 : 0;
        found |= m->progress != 0;
        weight[n] = freedom(ask->t, &root->after[n]);
        n++;
    }
    for (int plies = 2; !found && plies <= WAY_PLIES; plies += 2)
        for (i = 0; i < n && ways.left > 0; i++)
            if (is_driven(&ways, &root->after[i], plies) && ways.left > 0)
                root->out[i].progress = (unsigned)plies + 1, found = 1;
    for (i = 1; i < n; i++) {
        hoffman_move m = root->out[i];
        Pos after = root->after[i];
        int w = weight[i];
        for (j = i; j > 0; j--) {
            unsigned before = root->out[j - 1].progress;
            if (before == m.progress ? weight[j - 1] <= w : !m.progress || (before && before < m.progress)) break;
            root->out[j] = root->out[j - 1], root->after[j] = root->after[j - 1], weight[j] = weight[j - 1];
        }
        root->out[j] = m, root->after[j] = after, weight[j] = w;
    }
}

/* Whether the first move holds the result: what is not known may be better than what is. */
static int is_certain(const Root *root) {
    const hoffman_result *best = &root->out[0].result;
    return best->wdl > 0 || is_known(&root->out[root->n - 1]) || is_own(root, best);
}

/* Which moves hold what, if that is certain; the best ones come first. */
static void mark(Root *root) {
    const hoffman_result *best = &root->out[0].result, *own = &root->own.result, *r;
    int i, sure = 0, sign = sign_of(best), shortest = keeps(root, best) >= 0;
    /* if the distance of the position is behind moves without one, these have its clock, too */
    int by_own = best->bound != HOFFMAN_EXACT && is_own(root, best) && own->bound == HOFFMAN_EXACT;
    for (i = 0; i < root->n && is_certain(root); i++) {
        hoffman_move *m = &root->out[i];
        unsigned flags;
        r = &m->result;
        if (!is_known(m) || sign_of(r) != sign) break;
        flags = by_own && r->bound != HOFFMAN_EXACT ? own->flags : r->flags;
        m->keep = HOFFMAN_KEEP;
        if (shortest && r->bound == best->bound && r->plies == best->plies
            && m->progress == root->out[0].progress) m->keep |= HOFFMAN_KEEP_SHORTEST;
        if (sign && !(flags & HOFFMAN_MAYBE_50) != (sign > 0)) continue;
        m->keep |= HOFFMAN_KEEP_50, sure = 1;
    }
    for (i = 0; !sure && i < root->n; i++)
        if (root->out[i].keep) root->out[i].keep |= HOFFMAN_KEEP_50;
}

/* All legal moves, in no order; and the position itself where it may say more than they do. */
static void find_moves(const Ask *ask, const Pos *pos, unsigned rule50, Root *root) {
    Move moves[HOFFMAN_MAX_MOVES];
    int n = generate(ask->t, pos, ALL, moves);
    root->n = 0, root->exact = 1, root->own.status = HOFFMAN_NO_TABLE;
    for (int i = 0; i < n; i++) {
        hoffman_move *m = &root->out[root->n];
        if (!play(ask->t, pos, &moves[i], &root->after[root->n])) continue;
        judge(ask, pos, &root->after[root->n++], &moves[i], rule50, m);
        root->exact &= is_known(m) && m->result.bound == HOFFMAN_EXACT;
    }
    if (!root->exact) root->own.status = answer(ask, pos, 0, rule50, &root->own.result);
}

static NOINLINE int find_root(const Ask *ask, const Pos *pos, unsigned rule50, Root *root) {
    find_moves(ask, pos, rule50, root);
    for (int i = 1, j; i < root->n; i++) {
        hoffman_move m = root->out[i];
        Pos after = root->after[i];
        for (j = i; j > 0 && is_better(root, &m, &root->out[j - 1]); j--)
            root->out[j] = root->out[j - 1], root->after[j] = root->after[j - 1];
        root->out[j] = m, root->after[j] = after;
    }
    if (!root->n) return in_check(ask->t, pos, pos->turn) ? HOFFMAN_MATE : HOFFMAN_STALEMATE;
    if (!is_known(&root->out[0])) return root->out[0].status;
    if (is_uncounted(&root->out[0])) order_by_progress(ask, root);
    mark(root);
    return HOFFMAN_OK;
}

/* A copy of a move in the size that the program knows. */
static void give_move(const Ask *ask, hoffman_move *moves, unsigned i, const hoffman_move *m) {
    size_t size = ask->base->caller.move;
    memcpy((u8 *)moves + i * size, m, size);
}

static int take_root(
    Ask *ask, const hoffman_base *base, unsigned flags, const hoffman_position *given, hoffman_position *h, Pos *pos) {
    int status = take(ask, base, flags, given, h, pos);
    if (status != HOFFMAN_OK) return status;
    /* a capture may lead into a table */
    if (men_of(pos) > ask->base->largest + 1) return HOFFMAN_NO_TABLE;
    return is_legal(ask->t, pos) ? HOFFMAN_OK : HOFFMAN_ILLEGAL;
}

int hoffman_ask_root(hoffman_base *base, const hoffman_position *given, unsigned flags,
    hoffman_move moves[HOFFMAN_MAX_MOVES], unsigned *n) {
    hoffman_move none;
    Ask ask;
    Pos pos;
    Root root;
    hoffman_position h;
    int i, status = take_root(&ask, base, flags, given, &h, &pos);
    memset(&none, 0, sizeof none);
    root.n = 0;
    if (status == HOFFMAN_OK) status = find_root(&ask, &pos, h.rule50, &root);
    for (i = 0; i < root.n; i++) give_move(&ask, moves, (unsigned)i, &root.out[i]);
    if (ask.base && root.n < HOFFMAN_MAX_MOVES) give_move(&ask, moves, (unsigned)root.n, &none);
    *n = (unsigned)root.n;
    return status;
}

int hoffman_probe_root(const hoffman_position *h, hoffman_move moves[HOFFMAN_MAX_MOVES], unsigned *n) {
    return hoffman_ask_root(0, h, 0, moves, n);
}

/* HOFFMAN_OK: the first move is best play; or why that is not known. left: plies to mate, or -1 */
static int is_line(const Root *root, int left) {
    const hoffman_move *best = &root->out[0], *last = &root->out[root->n - 1];
    int sure = best->result.wdl ? root->exact || keeps(root, &best->result) > 0 : is_certain(root);
    if (sure && (left < 0 || (int)best->result.plies == left)) return HOFFMAN_OK;
    return is_known(last) ? HOFFMAN_NO_TABLE : last->status;
}

int hoffman_ask_line(hoffman_base *base, const hoffman_position *given, unsigned flags, hoffman_move *line, unsigned n,
    unsigned *length) {
    Ask ask;
    Pos pos;
    Root root;
    hoffman_position h;
    int left = -1, status = take_root(&ask, base, flags, given, &h, &pos);
    *length = 0;
    while (status == HOFFMAN_OK && *length < n) {
        status = find_root(&ask, &pos, h.rule50, &root);
        if (status == HOFFMAN_MATE || status == HOFFMAN_STALEMATE) return HOFFMAN_OK;
        if (status == HOFFMAN_OK) status = is_line(&root, left);
        /* draws have no line */
        if (status != HOFFMAN_OK || !root.out[0].result.wdl) break;
        give_move(&ask, line, (*length)++, &root.out[0]);
        left = (int)root.out[0].result.plies - 1;
        h.rule50 = root.out[0].zeroing ? 0 : h.rule50 + 1;
        pos = root.after[0];
    }
    return status;
}

int hoffman_line(const hoffman_position *h, hoffman_move *line, unsigned n, unsigned *length) {
    return hoffman_ask_line(0, h, 0, line, n, length);
}

void hoffman_stats_of(const hoffman_base *base, hoffman_statistics *statistics, size_t size) {
    hoffman_statistics s;
    const hoffman_base *b = this_base(base);
    u64 sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    memset(&s, 0, sizeof s);
    for (int i = 0; b && i < COUNTERS; i++)
        for (int k = 0; k < 8; k++) sum[k] += LOAD_POINTER(&b->counter[i].n[k]);
    s.tables = b ? (u64)b->tables : 0;
    s.opened = sum[OPENED], s.hits = sum[HITS], s.misses = sum[MISSES], s.decoded = sum[DECODED];
    s.blocks = sum[BLOCKS], s.failures = sum[FAILURES], s.memory = sum[MEMORY];
    memcpy(statistics, &s, size < sizeof s ? size : sizeof s);
}

uint16_t hoffman_stored_code(hoffman_base *base, const hoffman_position *given) {
    Ask ask;
    Pos pos;
    hoffman_position h;
    u16 code;
    int status = take(&ask, base, STORED, given, &h, &pos);
    return status == HOFFMAN_OK && is_legal(ask.t, &pos) && plain_code(&ask, &pos, &code) == HOFFMAN_OK ? code : 0;
}

/* ---- positions ---- */

int hoffman_from_board(const uint8_t board[64], hoffman_position *h) {
    u64 *kind[7] = {0, &h->pawns, &h->knights, &h->bishops, &h->rooks, &h->queens, &h->kings};
    h->white = h->black = 0;
    for (int s = 1; s < 7; s++) *kind[s] = 0;
    for (int s = 0; s < 64; s++) {
        if (!board[s]) continue;
        if (board[s] > 14 || (board[s] & 7) < 1 || (board[s] & 7) > 6) return HOFFMAN_ILLEGAL;
        *kind[board[s] & 7] |= BIT(s);
        *(board[s] & 8 ? &h->black : &h->white) |= BIT(s);
    }
    return HOFFMAN_OK;
}
