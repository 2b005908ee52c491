/* hoffprobe: see hoffprobe.h. Written from docs/hbf.md, whose sections are named in brackets.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "hoffprobe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t u64;
typedef uint32_t u32;
typedef uint16_t u16;
typedef uint8_t u8;

#if HOFFMAN_MEN < 3 || HOFFMAN_MEN > 8
#error "HOFFMAN_MEN is from 3 to 8"
#endif

/* ---- men and boards ---- */

enum { PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING };
enum { WHITE, BLACK };

#define BIT(s) ((u64)1 << (s))
#define DRAW 0x8000u
#define LONGEST 32766

/* ep: -1 none. men of a colour and kind: c[colour] & k[kind] */
typedef struct {
    u64 c[2], k[6];
    int turn, ep;
} Pos;

typedef struct {
    u64 ray[8][64], knight[64], king[64], pawn[2][64];
    u8 pair[2][1806][2];    /* [pawns] */
    u16 pair_number[2][4096]; /* 65535: none */
    u32 pairs[2];
    u32 crc[256];
} Tab;

static int lsb(u64 b)
{
#if defined(__GNUC__)
    return __builtin_ctzll(b);
#else
    int n = 0;
    while (!(b & 255)) b >>= 8, n += 8;
    while (!(b & 1)) b >>= 1, n++;
    return n;
#endif
}

static int msb(u64 b)
{
#if defined(__GNUC__)
    return 63 - __builtin_clzll(b);
#else
    int n = 0;
    while (b >>= 1) n++;
    return n;
#endif
}

static const int line_df[8] = {1, 0, 1, -1, -1, 0, -1, 1};
static const int line_dr[8] = {0, 1, 1, 1, 0, -1, -1, -1};

static u64 step(int s, int df, int dr)
{
    int f = (s & 7) + df, r = (s >> 3) + dr;
    return f < 0 || f > 7 || r < 0 || r > 7 ? 0 : BIT(r * 8 + f);
}

static int above(int s) { return (s >> 3) > (s & 7); }
static int diagonal(int s) { return (s >> 3) == (s & 7); }
static int flip(int s) { return (s >> 3) | (s & 7) << 3; }

static void tab_pairs(Tab *t, int pawns)
{
    int w, b;
    u32 n = 0;
    for (w = 0; w < 64; w++)
        for (b = 0; b < 64; b++) {
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

static void tab_init(Tab *t)
{
    int s, d, i;
    for (s = 0; s < 64; s++) {
        t->king[s] = t->knight[s] = 0;
        for (d = 0; d < 8; d++) {
            int n, df = line_df[d], dr = line_dr[d];
            t->king[s] |= step(s, df, dr);
            t->ray[d][s] = 0;
            for (n = 1; n < 8; n++) t->ray[d][s] |= step(s, n * df, n * dr);
        }
        for (d = 0; d < 8; d++)
            t->knight[s] |= step(s, d & 4 ? (d & 1 ? 1 : -1) : (d & 1 ? 2 : -2),
                                 d & 4 ? (d & 2 ? 2 : -2) : (d & 2 ? 1 : -1));
        t->pawn[WHITE][s] = step(s, 1, 1) | step(s, -1, 1);
        t->pawn[BLACK][s] = step(s, 1, -1) | step(s, -1, -1);
    }
    tab_pairs(t, 0);
    tab_pairs(t, 1);
    for (s = 0; s < 256; s++) {
        u32 c = (u32)s;
        for (i = 0; i < 8; i++) c = c & 1 ? c >> 1 ^ 0xEDB88320u : c >> 1;
        t->crc[s] = c;
    }
}

static u32 crc32_of(const Tab *t, const u8 *p, size_t n)
{
    u32 c = 0xFFFFFFFFu;
    while (n--) c = c >> 8 ^ t->crc[(c ^ *p++) & 255];
    return c ^ 0xFFFFFFFFu;
}

static u64 slide(const Tab *t, int s, int from, u64 occ)
{
    /* directions 0, 1, 4, 5 are those of a rook; 2, 3, 6, 7 those of a bishop */
    u64 set = 0;
    int k;
    for (k = 0; k < 4; k++) {
        int d = from + (k & 1) + (k & 2) * 2;
        u64 ray = t->ray[d][s], hit = ray & occ;
        if (hit) ray ^= t->ray[d][d < 4 ? lsb(hit) : msb(hit)];
        set |= ray;
    }
    return set;
}

static u64 attacks(const Tab *t, int color, int kind, int s, u64 occ)
{
    switch (kind) {
    case PAWN: return t->pawn[color][s];
    case KNIGHT: return t->knight[s];
    case BISHOP: return slide(t, s, 2, occ);
    case ROOK: return slide(t, s, 0, occ);
    case QUEEN: return slide(t, s, 0, occ) | slide(t, s, 2, occ);
    default: return t->king[s];
    }
}

static u64 between(const Tab *t, int a, int b)
{
    int d;
    for (d = 0; d < 8; d++)
        if (t->ray[d][a] & BIT(b)) return t->ray[d][a] & ~t->ray[d][b] & ~BIT(b);
    return 0;
}

static u64 occupied(const Pos *p) { return p->c[0] | p->c[1]; }

static int is_attacked(const Tab *t, const Pos *p, int s, int by)
{
    u64 occ = occupied(p), men = p->c[by];
    int kind;
    for (kind = PAWN; kind <= KING; kind++)
        if (men & p->k[kind] & attacks(t, by ^ 1, kind, s, occ)) return 1;
    return 0;
}

static int in_check(const Tab *t, const Pos *p, int color)
{
    u64 king = p->c[color] & p->k[KING];
    return king && is_attacked(t, p, lsb(king), color ^ 1);
}

static void lift(Pos *p, int s)
{
    int k;
    for (k = 0; k < 6; k++) p->k[k] &= ~BIT(s);
    p->c[0] &= ~BIT(s);
    p->c[1] &= ~BIT(s);
}

static void drop(Pos *p, int s, int color, int kind)
{
    lift(p, s);
    p->c[color] |= BIT(s);
    p->k[kind] |= BIT(s);
}

static u64 upside_down(u64 b)
{
    u64 r = 0;
    int i;
    for (i = 0; i < 8; i++) r |= (b >> (8 * i) & 255) << (56 - 8 * i);
    return r;
}

static void swap_colors(Pos *p)
{
    int k;
    u64 white = p->c[0];
    p->c[0] = upside_down(p->c[1]);
    p->c[1] = upside_down(white);
    for (k = 0; k < 6; k++) p->k[k] = upside_down(p->k[k]);
    p->turn ^= 1;
    if (p->ep >= 0) p->ep ^= 56;
}

/* ---- moves ---- */

typedef struct {
    u8 from, to, promotion, ep, exit, zeroing;
    Pos after;
} Move;

enum { ALL, EXITS, EN_PASSANT };

typedef struct {
    const Tab *t;
    Move *moves; /* room for HOFFMAN_MAX_MOVES */
    int n;
} Gen;

static void play(Gen *g, const Pos *p, int kind, int from, int to, int promotion)
{
    Move *m = &g->moves[g->n];
    if (g->n >= HOFFMAN_MAX_MOVES) return;
    m->exit = (u8)(promotion || (occupied(p) & BIT(to)));
    m->zeroing = (u8)(m->exit || kind == PAWN);
    m->from = (u8)from;
    m->to = (u8)to;
    m->promotion = (u8)promotion;
    m->ep = 0;
    m->after = *p;
    lift(&m->after, from);
    drop(&m->after, to, p->turn, promotion ? promotion : kind);
    m->after.ep = -1;
    m->after.turn ^= 1;
    if (!in_check(g->t, &m->after, p->turn)) g->n++;
}

static void play_pawn(Gen *g, const Pos *p, int from, int to)
{
    int k;
    if (to >= 8 && to < 56) {
        play(g, p, PAWN, from, to, 0);
        return;
    }
    for (k = QUEEN; k >= KNIGHT; k--) play(g, p, PAWN, from, to, k);
}

static void pawn_moves(Gen *g, const Pos *p, int from, int asked)
{
    int us = p->turn, d = us == WHITE ? 8 : -8, to = from + d;
    u64 occ = occupied(p), takes = g->t->pawn[us][from] & p->c[us ^ 1];
    for (; takes; takes &= takes - 1) play_pawn(g, p, from, lsb(takes));
    if (to < 0 || to > 63 || occ & BIT(to)) return;
    if (asked == ALL || to < 8 || to >= 56) play_pawn(g, p, from, to);
    if (asked == ALL && (from >> 3) == (us == WHITE ? 1 : 6) && !(occ & BIT(to + d))) {
        int n = g->n;
        play(g, p, PAWN, from, to + d, 0);
        if (g->n > n) g->moves[n].after.ep = to;
    }
}

static void en_passant(Gen *g, const Pos *p)
{
    int us = p->turn, victim;
    u64 from;
    Pos without;
    if (p->ep < 0) return;
    victim = us == WHITE ? p->ep - 8 : p->ep + 8;
    if (victim < 0 || victim > 63 || occupied(p) & BIT(p->ep)) return;
    if (!(p->c[us ^ 1] & p->k[PAWN] & BIT(victim))) return;
    without = *p;
    lift(&without, victim);
    from = g->t->pawn[us ^ 1][p->ep] & p->c[us] & p->k[PAWN];
    for (; from; from &= from - 1) {
        int n = g->n;
        play(g, &without, PAWN, lsb(from), p->ep, 0);
        if (g->n > n) g->moves[n].ep = g->moves[n].exit = 1;
    }
}

static int generate(const Tab *t, const Pos *p, int asked, Move *moves)
{
    Gen g;
    int kind, us = p->turn;
    u64 occ = occupied(p), from, to;
    g.t = t;
    g.moves = moves;
    g.n = 0;
    if (asked != EN_PASSANT) {
        for (kind = KNIGHT; kind <= KING; kind++)
            for (from = p->c[us] & p->k[kind]; from; from &= from - 1) {
                to = attacks(t, us, kind, lsb(from), occ);
                to &= asked == ALL ? ~p->c[us] : p->c[us ^ 1];
                for (; to; to &= to - 1) play(&g, p, kind, lsb(from), lsb(to), 0);
            }
        for (from = p->c[us] & p->k[PAWN]; from; from &= from - 1) pawn_moves(&g, p, lsb(from), asked);
    }
    if (asked != EXITS) en_passant(&g, p);
    return g.n;
}

static int is_legal(const Tab *t, const Pos *p)
{
    int c, k;
    u64 seen = 0;
    for (c = 0; c < 2; c++) {
        u64 king = p->c[c] & p->k[KING];
        if (!king || king & (king - 1)) return 0;
    }
    if (p->c[0] & p->c[1] || p->k[PAWN] & 0xFF000000000000FFull) return 0;
    for (k = 0; k < 6; k++) {
        if (seen & p->k[k]) return 0;
        seen |= p->k[k];
    }
    return seen == occupied(p) && !in_check(t, p, p->turn ^ 1);
}

/* ---- files [2, 3, 4] ---- */

static u64 number(const u8 *p, int bytes)
{
    u64 n = 0;
    while (bytes--) n = n << 8 | p[bytes];
    return n;
}

typedef struct {
    u64 offset, length;
    u32 crc;
} Section;

#define MAX_STREAMS 16

/* A stream of cells and how they are numbered [6]. */
typedef struct {
    u32 number;
    int outcomes, turn, exits, rows;
    int n;           /* men, kings included */
    u8 color[8], kind[8];
    int like[8];     /* the man before of the same colour and kind, or -1 */
    int middle, lane; /* middle: -1 none */
    int pawns, symmetric;
    u64 tiles;
    Section model, directory, data;
} Stream;

typedef struct {
    char *path;
    u8 men[2][6]; /* how many of a colour and kind */
    int streams;
    Stream *stream;
} Table;

struct hoffman_base {
    Tab tab;
    Table *table;
    int tables, room;
    unsigned largest;
};

static int seek_to(FILE *f, u64 at)
{
    const u64 step_size = 0x40000000;
    if (fseek(f, (long)(at < step_size ? at : step_size), SEEK_SET)) return 0;
    for (at -= at < step_size ? at : step_size; at > 0;) {
        u64 part = at < step_size ? at : step_size;
        if (fseek(f, (long)part, SEEK_CUR)) return 0;
        at -= part;
    }
    return 1;
}

static int read_at(FILE *f, u64 at, void *to, size_t n)
{
    return !n || (seek_to(f, at) && fread(to, 1, n, f) == n);
}

/* Memory with the content of a section that is compared with its checksum; null if it is damaged. */
static u8 *load(const Tab *t, FILE *f, const Section *s, u64 longest)
{
    u8 *p;
    if (s->length > longest || !(p = (u8 *)malloc((size_t)s->length + 1))) return 0;
    if (read_at(f, s->offset, p, (size_t)s->length) && crc32_of(t, p, (size_t)s->length) == s->crc)
        return p;
    free(p);
    return 0;
}

static int find_section(const u8 *rows, u32 n, const char *name, u32 stream, Section *s)
{
    u32 i;
    for (i = 0; i < n; i++, rows += 32)
        if (!memcmp(rows, name, 4) && number(rows + 4, 4) == stream) {
            s->offset = number(rows + 8, 8);
            s->length = number(rows + 16, 8);
            s->crc = (u32)number(rows + 24, 4);
            return 1;
        }
    return 0;
}

static u64 tiles_of(const Tab *t, const Stream *s)
{
    u64 n = t->pairs[s->pawns];
    int outer = s->middle > 0 ? s->middle - 2 : 0;
    while (outer-- > 0) n *= 64;
    return s->middle > 0 ? n * (u64)(64 / s->rows) : n;
}

static int parse_stream(const Tab *t, const u8 *p, const u8 *table, Stream *s)
{
    int i, j, k = table[5], seen = 0, balance[6] = {0, 0, 0, 0, 0, 0};
    if (p[0] > 1 || p[1] > 1 || p[2] > 1 || (table[2] == 2 && p[0] == 0)) return 0;
    s->outcomes = p[0];
    s->turn = p[1];
    s->exits = p[2];
    s->rows = p[3];
    s->n = k + 2;
    s->lane = k + 1;
    s->middle = k > 1 ? k : -1;
    if (s->rows < 1 || s->rows > 64 || (s->rows & (s->rows - 1)) || (k == 1 && s->rows != 1)) return 0;
    s->color[0] = WHITE;
    s->color[1] = BLACK;
    s->kind[0] = s->kind[1] = KING;
    s->pawns = 0;
    for (i = 0; i < k; i++) {
        int m = p[16 + i];
        if (m >= k || seen & 1 << m) return 0;
        seen |= 1 << m;
        s->color[i + 2] = table[16 + m] >> 3;
        s->kind[i + 2] = table[16 + m] & 7;
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

/* 1 read, 0 refused, -1 no memory. A table of entries by index is refused. */
static int read_table(const Tab *t, FILE *f, Table *table)
{
    static const u8 magic[8] = {0x89, 'H', 'B', 'F', 0x0D, 0x0A, 0x1A, 0x0A};
    u8 head[32], *rows, *tabl, *strm;
    u32 n, i, j, seen = 0;
    u64 length;
    Section s;
    int ok = 0;
    if (fseek(f, 0, SEEK_SET) || fread(head, 1, 32, f) != 32 || memcmp(head, magic, 8)) return 0;
    n = (u32)number(head + 12, 4);
    length = number(head + 16, 8);
    if (number(head + 8, 2) != 1 || n > 256 || crc32_of(t, head, 28) != number(head + 28, 4)) return 0;
    s.offset = 32;
    s.length = 32 * (u64)n;
    s.crc = (u32)number(head + 24, 4);
    if (length < 40 + s.length || !(rows = load(t, f, &s, 8192))) return 0;
    for (i = 0; i < n; i++) {
        const u8 *row = rows + 32 * i;
        u64 offset = number(row + 8, 8), size = number(row + 16, 8);
        static const char *const known[] = {"TABL", "INFO", "CTRL", "PAWN", "STRM", "MODL", "DIRY", "DATA"};
        if (offset < 32 + s.length || size > length - 8 || offset > length - 8 - size) goto done;
        for (j = 0; j < 8 && memcmp(row, known[j], 4); j++) {}
        if (j == 8 && row[28] & 1) goto done;
        /* streams have numbers of their own below 16 */
        if (!memcmp(row, "STRM", 4)) {
            u32 own = (u32)number(row + 4, 4);
            if (own >= MAX_STREAMS || seen & 1u << own) goto done;
            seen |= 1u << own;
        }
    }
    /* the last byte must be there */
    {
        u8 last;
        if (!read_at(f, length - 1, &last, 1) || fread(&last, 1, 1, f)) goto done;
    }
    if (!find_section(rows, n, "TABL", 0, &s) || s.length < 64 || !(tabl = load(t, f, &s, 65536)))
        goto done;
    ok = tabl[0] == 1 && tabl[1] == 0 && (tabl[2] == 0 || tabl[2] == 2) && (tabl[4] & 15) == 15
        && tabl[5] >= 1 && tabl[5] <= 6;
    for (i = 0; ok && i < tabl[5]; i++) {
        if (tabl[16 + i] > 15 || (tabl[16 + i] & 7) > QUEEN) ok = 0;
        else table->men[tabl[16 + i] >> 3][tabl[16 + i] & 7]++;
    }
    if (ok) table->stream = (Stream *)calloc(MAX_STREAMS, sizeof(Stream));
    if (ok && !table->stream) ok = -1;
    for (i = 0; ok > 0 && i < MAX_STREAMS; i++) {
        Stream *st = &table->stream[table->streams];
        if (!find_section(rows, n, "STRM", i, &s)) continue;
        st->number = i;
        if (s.length < 32 || !(strm = load(t, f, &s, 65536))) ok = 0;
        else {
            ok = parse_stream(t, strm, tabl, st) && find_section(rows, n, "MODL", i, &st->model)
                && find_section(rows, n, "DIRY", i, &st->directory)
                && find_section(rows, n, "DATA", i, &st->data);
            free(strm);
            table->streams++;
        }
    }
    free(tabl);
done:
    free(rows);
    return ok;
}

/* Adds the table at a path, if there is one for men that there was none for. 0: no memory. */
static int add_table(hoffman_base *base, const char *path, const u8 men[2][6])
{
    Table table, *more;
    FILE *f;
    int i, ok;
    for (i = 0; i < base->tables; i++)
        if (!memcmp(base->table[i].men, men, 12)) return 1;
    if (!(f = fopen(path, "rb"))) return 1;
    memset(&table, 0, sizeof table);
    ok = read_table(&base->tab, f, &table);
    fclose(f);
    if (ok > 0 && memcmp(table.men, men, 12)) ok = 0;
    if (ok > 0 && base->tables == base->room) {
        int room = base->room ? 2 * base->room : 64;
        more = (Table *)realloc(base->table, (size_t)room * sizeof(Table));
        if (more) base->table = more, base->room = room;
        else ok = -1;
    }
    if (ok > 0 && !(table.path = (char *)malloc(strlen(path) + 1))) ok = -1;
    if (ok <= 0) {
        free(table.stream);
        return ok == 0;
    }
    strcpy(table.path, path);
    base->table[base->tables++] = table;
    for (ok = 2, i = 0; i < 6; i++) ok += men[0][i] + men[1][i];
    if ((unsigned)ok > base->largest) base->largest = (unsigned)ok;
    return 1;
}

/* Goes through all men: `left` more may come, of kind `kind` of `color` or later ones. */
static int look_for(hoffman_base *base, char *path, size_t name, u8 men[2][6], int left, int color, int kind)
{
    static const char letters[] = "PNBRQK";
    char *p = path + name;
    int c, k, i, ok = 1, count = 0;
    for (c = 0; c < 2; c++) {
        if (c) *p++ = 'v';
        *p++ = 'K';
        for (k = QUEEN; k >= PAWN; k--)
            for (i = 0; i < men[c][k]; i++, count++) *p++ = letters[k];
    }
    strcpy(p, ".hbf");
    if (count) ok = add_table(base, path, (const u8(*)[6])men);
    if (count && ok) {
        /* The other spelling, krpkr.hbf. */
        char *to = path + name, *from = to;
        for (; *from; from++)
            if (*from != 'v') *to++ = (char)(*from >= 'A' && *from <= 'Z' ? *from + 32 : *from);
        *to = 0;
        ok = add_table(base, path, (const u8(*)[6])men);
    }
    for (c = color; ok && left && c < 2; c++)
        for (k = c == color ? kind : QUEEN; ok && k >= PAWN; k--) {
            men[c][k]++;
            ok = look_for(base, path, name, men, left - 1, c, k);
            men[c][k]--;
        }
    return ok;
}

unsigned hoffman_version(void) { return HOFFMAN_API_VERSION; }

hoffman_base *hoffman_open(const char *path)
{
    hoffman_base *base = (hoffman_base *)calloc(1, sizeof *base);
    size_t n = path ? strlen(path) : 0;
    char *name = base ? (char *)malloc(n + 32) : 0;
    int ok = name != 0;
    if (ok) tab_init(&base->tab), base->largest = 2;
    while (ok && path && *path) {
#ifdef _WIN32
        size_t m = strcspn(path, ";");
#else
        size_t m = strcspn(path, ";:");
#endif
        u8 men[2][6];
        memset(men, 0, sizeof men);
        memcpy(name, path, m);
        path += m + (path[m] != 0);
        if (!m) continue;
        if (name[m - 1] != '/') name[m++] = '/';
        ok = look_for(base, name, m, men, HOFFMAN_MEN - 2, WHITE, QUEEN);
    }
    free(name);
    if (!ok) {
        hoffman_close(base);
        base = 0;
    }
    return base;
}

void hoffman_close(hoffman_base *base)
{
    int i;
    if (!base) return;
    for (i = 0; i < base->tables; i++) {
        free(base->table[i].path);
        free(base->table[i].stream);
    }
    free(base->table);
    free(base);
}

unsigned hoffman_largest(const hoffman_base *base) { return base->largest; }
unsigned hoffman_tables(const hoffman_base *base) { return (unsigned)base->tables; }

/* The number of the table for the men of a position; -1: none. */
static int table_of(const hoffman_base *base, const Pos *p)
{
    u8 men[2][6], swapped[2][6];
    int c, k, i;
    for (c = 0; c < 2; c++)
        for (k = 0; k < 6; k++) {
            u64 set = k == KING ? 0 : p->c[c] & p->k[k];
            for (i = 0; set; set &= set - 1) i++;
            men[c][k] = swapped[c ^ 1][k] = (u8)i;
        }
    for (i = 0; i < base->tables; i++)
        if (!memcmp(base->table[i].men, men, 12) || !memcmp(base->table[i].men, swapped, 12)) return i;
    return -1;
}

/* ---- cells [6] ---- */

typedef struct {
    u64 tile;
    int row, lane;
} Place;

static int gather(const Stream *s, const Pos *p, u8 *sq)
{
    int i, count = 0;
    u64 set;
    for (set = occupied(p); set; set &= set - 1) count++;
    if (count != s->n) return 0;
    for (i = 0; i < s->n; i++) {
        set = p->c[s->color[i]] & p->k[s->kind[i]];
        if (s->like[i] >= 0) set &= ~(u64)0 << sq[s->like[i]] << 1;
        if (!set) return 0;
        sq[i] = (u8)lsb(set);
    }
    return 1;
}

static void put_in_order(const Stream *s, u8 *sq)
{
    int i, m, b;
    for (i = 2; i < s->n; i++)
        for (m = i; (b = s->like[m]) >= 0 && sq[b] > sq[m]; m = b) {
            u8 x = sq[b];
            sq[b] = sq[m];
            sq[m] = x;
        }
}

/* 0: other men. Else *side is the side to move of the cell. */
static int locate(const Tab *t, const Stream *s, const Pos *position, Place *place, int *side)
{
    Pos p = *position;
    u8 sq[8];
    int i;
    u16 pair;
    if (!gather(s, &p, sq)) {
        swap_colors(&p);
        if (!gather(s, &p, sq)) return 0;
    }
    if (s->symmetric && p.turn == BLACK) {
        swap_colors(&p);
        if (!gather(s, &p, sq)) return 0;
    }
    *side = p.turn;
    if ((sq[0] & 7) > 3)
        for (i = 0; i < s->n; i++) sq[i] ^= 7;
    if (!s->pawns) {
        if (sq[0] >> 3 > 3)
            for (i = 0; i < s->n; i++) sq[i] ^= 56;
        if (above(sq[0]) || (diagonal(sq[0]) && above(sq[1])))
            for (i = 0; i < s->n; i++) sq[i] = (u8)flip(sq[i]);
    }
    put_in_order(s, sq);
    if (!s->pawns && diagonal(sq[0]) && diagonal(sq[1])) {
        for (i = 2; i < s->n && diagonal(sq[i]); i++) {}
        if (i < s->n && above(sq[i])) {
            for (i = 0; i < s->n; i++) sq[i] = (u8)flip(sq[i]);
            put_in_order(s, sq);
        }
    }
    pair = t->pair_number[s->pawns][sq[0] * 64 + sq[1]];
    if (pair == 65535) return 0;
    place->tile = pair;
    place->row = 0;
    place->lane = sq[s->lane];
    if (s->middle < 0) return 1;
    for (i = 2; i < s->middle; i++) place->tile = place->tile * 64 + sq[i];
    place->tile = place->tile * (u64)(64 / s->rows) + sq[s->middle] / s->rows;
    place->row = sq[s->middle] % s->rows;
    return 1;
}

/* ---- models [9] ---- */

typedef struct {
    u16 word;
    u8 bit; /* 64: the lane square */
    u32 child[2]; /* bit 31: a leaf */
} Node;

#define LEAF 0x80000000u

typedef struct {
    Node *node;
    u16 *leaf; /* `symbols` frequencies each */
    u32 root;
    int symbols;
} Tree;

typedef struct {
    u8 order[4];
    u16 fallback, threshold[9], last[2], classes[16][3];
    Tree cells, misses;
    u8 *directory;
} Model;

static int distribution(const u8 *q, int n, u16 *f)
{
    u32 left = 32768, w;
    int i;
    for (i = 1; i < n; i++) {
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

static int parse_tree(Tree *t, const u8 *p, u32 length, int symbols, int first_cell, int tests)
{
    /* a leaf takes symbols + 1 bytes, an inner node 2 */
    u32 nodes = 0, leaves = 0, at = 0, open = 0, this_one;
    struct {
        u32 node;
        int child;
    } stack[66];
    t->symbols = symbols;
    t->node = (Node *)malloc((length / 2 + 1) * sizeof(Node));
    t->leaf = (u16 *)malloc((length / (u32)(symbols + 1) + 1) * (u32)symbols * sizeof(u16));
    if (!t->node || !t->leaf) return 0;
    stack[open].node = 0;
    stack[open++].child = -1;
    while (open) {
        u32 parent = stack[--open].node;
        int child = stack[open].child;
        u32 test;
        if (length - at < 2) return 0;
        test = (u32)number(p + at, 2);
        at += 2;
        if (test == 0xFFFF) {
            if (length - at < (u32)symbols - 1 || leaves >= 32767) return 0;
            if (!distribution(p + at, symbols, t->leaf + leaves * (u32)symbols)) return 0;
            at += (u32)symbols - 1;
            this_one = leaves++ | LEAF;
        } else {
            Node *node = &t->node[nodes];
            if (test >= (u32)tests || open >= 64 || nodes >= 32767) return 0;
            if (test < (u32)first_cell) node->word = (u16)test, node->bit = 64;
            else if (test < (u32)first_cell + 48) node->word = (u16)first_cell, node->bit = (u8)(test - (u32)first_cell);
            else node->word = (u16)(first_cell + 1), node->bit = (u8)(test - (u32)first_cell - 48);
            stack[open].node = nodes;
            stack[open++].child = 1;
            stack[open].node = nodes;
            stack[open++].child = 0;
            this_one = nodes++;
        }
        if (child < 0) t->root = this_one;
        else t->node[parent].child[child] = this_one;
    }
    return at == length;
}

static void free_model(Model *m)
{
    if (!m) return;
    free(m->cells.node);
    free(m->cells.leaf);
    free(m->misses.node);
    free(m->misses.leaf);
    free(m->directory);
    free(m);
}

static int parse_model(Model *m, const u8 *p, u64 length, const Stream *s)
{
    int i, seen = 0, c = cell_test(s);
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
    first = number(p + 58, 4);
    second = number(p + 62, 4);
    if (first + second != length - 66) return 0;
    return parse_tree(&m->cells, p + 66, (u32)first, 5, c, c + 48)
        && parse_tree(&m->misses, p + 66 + first, (u32)second, 25, c, c + 66);
}

static Model *load_model(const Tab *t, FILE *f, const Stream *s)
{
    Model *m = (Model *)calloc(1, sizeof *m);
    u64 blocks = (s->tiles + 63) / 64;
    u8 *p = m ? load(t, f, &s->model, (u64)16 << 20) : 0;
    int ok = p && parse_model(m, p, s->model.length, s);
    free(p);
    if (ok && s->directory.length == 12 * (blocks + 1))
        m->directory = load(t, f, &s->directory, 12 * (blocks + 1));
    if (m && m->directory) return m;
    free_model(m);
    return 0;
}

/* ---- range coder [5] ---- */

typedef struct {
    u32 range, code;
    const u8 *at, *end;
} Coder;

static u32 next_byte(Coder *c) { return c->at < c->end ? *c->at++ : 0; }

static void start_coder(Coder *c, const u8 *p, size_t n)
{
    int i;
    c->range = 0xFFFFFFFFu;
    c->code = 0;
    c->at = p;
    c->end = p + n;
    for (i = 0; i < 4; i++) c->code = c->code << 8 | next_byte(c);
}

static void normalise(Coder *c)
{
    while (c->range < 0x1000000u) {
        c->code = c->code << 8 | next_byte(c);
        c->range <<= 8;
    }
}

static int symbol(Coder *c, const u16 *f, int n)
{
    u32 unit, below = 0, width;
    int i = 0;
    normalise(c);
    unit = c->range >> 15;
    for (;;) {
        width = unit * f[i];
        if (i == n - 1 || c->code < below + width) break;
        below += width;
        i++;
    }
    c->code -= below;
    c->range = width;
    return i;
}

static u32 raw_bits(Coder *c, int n)
{
    u32 unit, value;
    normalise(c);
    unit = c->range >> n;
    value = c->code / unit;
    if (value > (1u << n) - 1) value = (1u << n) - 1;
    c->code -= unit * value;
    c->range = unit;
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

static void constant(Rows *r, int first, int square)
{
    int b;
    for (b = 0; b < 6; b++) r->word[first + b] = square >> b & 1 ? ~(u64)0 : 0;
}

static void relate(const Tab *t, const Stream *s, Rows *r)
{
    int i, j, p = 0, lane = s->lane;
    u64 occ = 0, *rel = r->relation[r->row];
    for (i = 0; i < lane; i++) occ |= BIT(r->sq[i]);
    for (i = 0; i < s->n; i++) {
        u64 reach = i < lane ? attacks(t, s->color[i], s->kind[i], r->sq[i], occ) : 0;
        int slides = s->kind[i] == BISHOP || s->kind[i] == ROOK || s->kind[i] == QUEEN;
        for (j = 0; j < s->n; j++) {
            if (i == j || (i < 2 && j < 2)) continue;
            if (i == lane)
                /* a pawn attacks from where one of the other side would attack back */
                rel[p] = attacks(t, s->kind[i] == PAWN ? s->color[i] ^ 1 : s->color[i], s->kind[i], r->sq[j], occ);
            else if (j == lane) rel[p] = reach;
            else if (!(reach & BIT(r->sq[j]))) rel[p] = 0;
            else rel[p] = slides ? ~between(t, r->sq[i], r->sq[j]) : ~(u64)0;
            p++;
        }
    }
}

static u64 legal_lanes(const Stream *s, const Rows *r)
{
    const u64 pawn_squares = 0x00FFFFFFFFFFFF00ull;
    u64 taken = 0, lanes = ~(u64)0;
    int i, q;
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
        } else
            for (q = 0; q < 64; q++)
                if (above(q)) lanes &= ~BIT(q);
    }
    return lanes & ~taken;
}

static void begin_row(const Tab *t, const Stream *s, Rows *r, int row, int first)
{
    int i, j, k, p, count = relations_of(s), middle = first + row;
    int n = row >= 1 && (middle & 7) ? row - 1 : -1, u = row >= 8 ? row - 8 : -1;
    u64 threat[4] = {0, 0, 0, 0}, any[4] = {0, 0, 0, 0}, change[4], rel;
    r->row = row;
    r->n = n >= 0 ? n : u >= 0 ? u : NO_ROW;
    r->u = u >= 0 ? u : n >= 0 ? n : NO_ROW;
    r->nn = row >= 2 ? row - 2 : r->n;
    r->uu = row >= 16 ? row - 16 : r->u;
    if (s->middle >= 0) {
        r->sq[s->middle] = (u8)middle;
        constant(r, 5 * count + 11 + 6 * s->middle, middle);
    }
    relate(t, s, r);
    for (p = 0; p < count; p++) {
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
    r->word[5 * count + 7] = r->legal[row] << 1;
    r->word[5 * count + 8] = r->legal[row] << 8;
    r->word[5 * count + 9] = r->legal[r->n];
    r->word[5 * count + 10] = r->legal[r->u];
}

static int class_of(u16 v) { return v == DRAW ? 0 : v < DRAW ? 1 : 2; }

static int distance_of(u16 v) { return v == DRAW || v == 0 ? 0 : v < DRAW ? v - 1 : 65536 - v; }

static u32 walk(const Tree *t, const u64 *word, int lane)
{
    u32 at = t->root;
    while (!(at & LEAF)) {
        const Node *n = &t->node[at];
        at = n->child[word[n->word] >> (n->bit == 64 ? lane : n->bit) & 1];
    }
    return at & ~LEAF;
}

/* The word of cell tests, and the candidates; returns how many there are. */
static int look(Rows *r, const Model *m, int c, int lane, u16 *cand)
{
    const u16 *t = r->value + r->row * STRIDE + LEFT + lane, *n = r->value + r->n * STRIDE + LEFT + lane;
    const u16 *u = r->value + r->u * STRIDE + LEFT + lane;
    int has_w = lane & 7, has_s = lane >= 8, count = 0, i, j, b = 0, moves;
    u16 near[4], W, S, N = *n, U = *u;
    u64 word = 0;
    W = has_w ? t[-1] : t[-8];
    S = has_s ? t[-8] : t[-1];
    if (!has_w && !has_s) W = S = N;
    else if (r->n == NO_ROW) N = U = W;
    near[0] = W;
    near[1] = S;
    near[2] = N;
    near[3] = U;
    for (i = 0; i < 4; i++) {
        u16 v = near[m->order[i]];
        for (j = 0; j < count && cand[j] != v; j++) {}
        if (j == count) cand[count++] = v;
    }
#define TEST(x) word |= (u64)((x) != 0) << b++
    TEST(W == S); TEST(W < S);
    TEST(W == N); TEST(W < N); TEST(W == U); TEST(W < U);
    TEST(S == N); TEST(S < N); TEST(S == U); TEST(S < U);
    TEST(N == U); TEST(N < U);
    TEST(W == n[-1]); TEST(W < n[-1]); TEST(S == n[-8]); TEST(S < n[-8]);
    TEST(W == u[-1]); TEST(W < u[-1]); TEST(S == u[-8]); TEST(S < u[-8]);
    TEST(W == t[-9]); TEST(S == t[-9]);
    TEST(N == n[1]); TEST(N == n[-1]); TEST(N == n[8]); TEST(N == n[-8]);
    TEST(U == u[1]); TEST(U == u[-1]); TEST(U == u[8]); TEST(U == u[-8]);
    TEST(N == r->value[r->nn * STRIDE + LEFT + lane]);
    TEST(U == r->value[r->uu * STRIDE + LEFT + lane]);
    TEST(W == t[-2]); TEST(S == t[-16]);
    TEST(cand[0] == DRAW); TEST(cand[0] > DRAW);
    TEST(count >= 2); TEST(count >= 3); TEST(count >= 4);
    moves = distance_of(cand[0]);
    for (i = 0; i < 9; i++) TEST(moves >= m->threshold[i]);
#undef TEST
    r->word[c] = word;
    return count;
}

/* The distance of a miss [8, 3 to 5]. */
static int missed(Coder *coder, Rows *r, const Model *m, int c, int lane, const u16 *cand, int count, int class_, int last)
{
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
        sum += weight[i] * d;
        weights += weight[i];
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

static u16 decode_cell(Coder *coder, const Stream *s, Rows *r, const Model *m, int c, int lane, u16 *last)
{
    u16 cand[4];
    int count = look(r, m, c, lane, cand), i, context, class_, moves;
    i = symbol(coder, m->cells.leaf + walk(&m->cells, r->word, lane) * 5, 5);
    if (i < 4) return cand[i < count ? i : count - 1];
    context = r->check & BIT(lane) ? 8 : 0;
    for (i = 0; i < count; i++) context |= class_of(cand[i]) == 1 ? 1 : class_of(cand[i]) == 0 ? 2 : 4;
    class_ = symbol(coder, m->classes[context], 3);
    if (class_ == 0) return DRAW;
    if (s->outcomes) return class_ == 1 ? 1 : 65535;
    moves = missed(coder, r, m, c, lane, cand, count, class_, last[class_ - 1]);
    if (class_ == 2 && moves == 0) moves = 1;
    last[class_ - 1] = (u16)moves;
    return (u16)(class_ == 1 ? 1 + moves : 65536 - moves);
}

/* Decodes a tile up to and including a row. */
static void decode_tile(const Tab *t, const Stream *s, const Model *m, u64 tile, int last_row, const u8 *p, size_t n, Rows *r)
{
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
    r->sq[0] = t->pair[s->pawns][rest][0];
    r->sq[1] = t->pair[s->pawns][rest][1];
    for (i = 0; i < 65 * STRIDE; i++) r->value[i] = m->fallback;
    r->legal[NO_ROW] = 0;
    for (i = 0; i < s->n; i++) constant(r, base + 6 * i, r->sq[i]);
    for (i = 0; i < 6; i++) {
        u64 set = 0;
        for (lane = 0; lane < 64; lane++)
            if (lane >> i & 1) set |= BIT(lane);
        r->word[base + 6 * s->lane + i] = set;
    }
    last[0] = m->last[0];
    last[1] = m->last[1];
    start_coder(&coder, p, n);
    for (row = 0; row <= last_row; row++) {
        begin_row(t, s, r, row, first);
        for (lane = 0; lane < 64; lane++) {
            u16 *v = r->value + row * STRIDE + LEFT + lane;
            if (r->legal[row] & BIT(lane)) *v = decode_cell(&coder, s, r, m, c, lane, last);
            else *v = lane & 7 ? v[-1] : lane ? v[-8] : r->value[r->n * STRIDE + LEFT];
        }
    }
}

/* ---- probing [10] ---- */

typedef struct {
    u64 key; /* 0: empty */
    int rows;
    u16 value[4096];
} Slot;

struct hoffman_prober {
    const hoffman_base *base;
    FILE **file;    /* by table */
    Model **model;  /* by table and stream */
    Slot *slot;
    size_t slots;
    u8 *block;
    size_t room;
    Rows rows;
    hoffman_statistics statistics;
    int soft;
};

hoffman_prober *hoffman_prober_new(const hoffman_base *base, size_t cache_bytes)
{
    hoffman_prober *p = (hoffman_prober *)calloc(1, sizeof *p);
    size_t tables = base ? (size_t)base->tables : 0;
    if (!p || !base) {
        free(p);
        return 0;
    }
    p->base = base;
    p->slots = cache_bytes / sizeof(Slot) ? cache_bytes / sizeof(Slot) : 1;
    p->file = (FILE **)calloc(tables + 1, sizeof *p->file);
    p->model = (Model **)calloc(tables * MAX_STREAMS + 1, sizeof *p->model);
    p->slot = (Slot *)calloc(p->slots, sizeof *p->slot);
    if (p->file && p->model && p->slot) return p;
    hoffman_prober_free(p);
    return 0;
}

void hoffman_prober_free(hoffman_prober *p)
{
    int i;
    if (!p) return;
    for (i = 0; p->file && i < p->base->tables; i++)
        if (p->file[i]) fclose(p->file[i]);
    for (i = 0; p->model && i < p->base->tables * MAX_STREAMS; i++) free_model(p->model[i]);
    free(p->file);
    free(p->model);
    free(p->slot);
    free(p->block);
    free(p);
}

void hoffman_statistics_of(const hoffman_prober *p, hoffman_statistics *s) { *s = p->statistics; }

/* The bytes of a tile, in the prober's buffer; 0 if the file is damaged. */
static int read_tile(hoffman_prober *p, FILE *f, const Stream *s, const Model *m, u64 tile, const u8 **at, size_t *length)
{
    u64 block = tile / 64, begin = number(m->directory + 12 * block, 8);
    u64 end = number(m->directory + 12 * block + 12, 8), count = s->tiles - block * 64, sizes, i, skip = 0;
    u32 crc = (u32)number(m->directory + 12 * block + 8, 4);
    int w;
    size_t n = (size_t)(end - begin);
    *length = 0;
    if (count > 64) count = 64;
    if (begin > end || end > s->data.length || end - begin > (u64)64 << 20) return 0;
    if (n + 8 > p->room) {
        u8 *more = (u8 *)realloc(p->block, n + 8);
        if (!more) return 0;
        p->block = more;
        p->room = n + 8;
    }
    *at = p->block;
    if (!read_at(f, s->data.offset + begin, p->block, n) || crc32_of(&p->base->tab, p->block, n) != crc) return 0;
    if (!n) return 1;
    memset(p->block + n, 0, 8);
    w = p->block[0];
    sizes = ((u64)w * count + 7) / 8;
    if (w > 24 || 1 + sizes > n) return 0;
    for (i = 0;; i++) {
        u64 bit = i * (u64)w;
        u64 size = number(p->block + 1 + bit / 8, 4) >> (bit % 8) & (BIT(w) - 1);
        if (i == tile % 64) {
            *length = (size_t)size;
            break;
        }
        skip += size;
    }
    *at = p->block + 1 + sizes + skip;
    return 1 + sizes + skip + *length <= n;
}

static int cell(hoffman_prober *p, int table, int which, const Place *place, u16 *code)
{
    const Table *tb = &p->base->table[table];
    const Stream *s = &tb->stream[which];
    u64 key = ((u64)(table * MAX_STREAMS + which) << 44 ^ place->tile) + 1;
    Slot *slot = &p->slot[(key * 0x9E3779B97F4A7C15ull >> 20) % p->slots];
    Model **m = &p->model[table * MAX_STREAMS + which];
    const u8 *at;
    size_t length;
    int row;
    if (slot->key == key && place->row < slot->rows) {
        p->statistics.hits++;
        *code = slot->value[place->row * 64 + place->lane];
        return HOFFMAN_OK;
    }
    if (p->soft) return HOFFMAN_BUSY;
    if (!p->file[table] && !(p->file[table] = fopen(tb->path, "rb"))) return HOFFMAN_DAMAGED;
    if (!*m && !(*m = load_model(&p->base->tab, p->file[table], s))) goto damaged;
    if (!read_tile(p, p->file[table], s, *m, place->tile, &at, &length)) goto damaged;
    decode_tile(&p->base->tab, s, *m, place->tile, place->row, at, length, &p->rows);
    p->statistics.decoded++;
    slot->key = key;
    slot->rows = place->row + 1;
    for (row = 0; row <= place->row; row++)
        memcpy(slot->value + 64 * row, p->rows.value + row * STRIDE + LEFT, 128);
    *code = slot->value[place->row * 64 + place->lane];
    return HOFFMAN_OK;
damaged:
    p->statistics.damaged++;
    return HOFFMAN_DAMAGED;
}

static u16 before(u16 c, int outcomes)
{
    if (c == DRAW) return DRAW;
    if (outcomes) return c < DRAW ? 65535 : 1;
    return (u16)(c < DRAW ? 65536 - c : 65537 - c);
}

static int any_code(hoffman_prober *p, const Pos *pos, int outcomes, u16 *code);

/* The best of some moves; 0 if there is none. */
static int best_of(hoffman_prober *p, const Pos *pos, int asked, int outcomes, u16 *best)
{
    Move moves[HOFFMAN_MAX_MOVES];
    int i, n = generate(&p->base->tab, pos, asked, moves), status;
    u16 code;
    *best = 0;
    for (i = 0; i < n; i++) {
        if ((status = any_code(p, &moves[i].after, outcomes, &code)) != HOFFMAN_OK) return status;
        code = before(code, outcomes);
        if (code > *best) *best = code;
    }
    return HOFFMAN_OK;
}

/* Of a legal position without rights. */
static int plain_code(hoffman_prober *p, const Pos *pos, int outcomes, u16 *code)
{
    int pass, i, side, status, other_side = 0, table;
    u64 occ = occupied(pos);
    Place place;
    u16 best;
    if (occ == (pos->k[KING] & occ)) {
        *code = DRAW;
        return HOFFMAN_OK;
    }
    if ((table = table_of(p->base, pos)) < 0) return HOFFMAN_NO_TABLE;
    /* outcomes are in either kind of stream */
    for (pass = outcomes ? 0 : 1; pass < 2; pass++)
        for (i = 0; i < p->base->table[table].streams; i++) {
            const Stream *s = &p->base->table[table].stream[i];
            if (s->outcomes != (pass == 0) || !locate(&p->base->tab, s, pos, &place, &side)) continue;
            if (side != s->turn) {
                other_side = 1;
                continue;
            }
            if ((status = cell(p, table, i, &place, code)) != HOFFMAN_OK) return status;
            if (outcomes && *code != DRAW) *code = *code < DRAW ? 1 : 65535;
            if (!s->exits) return HOFFMAN_OK;
            if ((status = best_of(p, pos, EXITS, outcomes, &best)) != HOFFMAN_OK) return status;
            if (best > *code) *code = best;
            return HOFFMAN_OK;
        }
    if (!other_side) return HOFFMAN_NO_TABLE;
    if ((status = best_of(p, pos, ALL, outcomes, &best)) != HOFFMAN_OK) return status;
    *code = best ? best : in_check(&p->base->tab, pos, pos->turn) ? 1 : DRAW;
    return HOFFMAN_OK;
}

static int any_code(hoffman_prober *p, const Pos *pos, int outcomes, u16 *code)
{
    Pos plain = *pos;
    u16 best = 0;
    int status;
    plain.ep = -1;
    if (pos->ep >= 0 && (status = best_of(p, pos, EN_PASSANT, outcomes, &best)) != HOFFMAN_OK) return status;
    if (best) {
        Move moves[HOFFMAN_MAX_MOVES];
        *code = best;
        if (!generate(&p->base->tab, &plain, ALL, moves)) return HOFFMAN_OK;
    }
    status = plain_code(p, &plain, outcomes, code);
    if (status == HOFFMAN_OK && best > *code) *code = best;
    return status;
}

static int take(const hoffman_base *base, const hoffman_position *h, Pos *p)
{
    p->c[WHITE] = h->white;
    p->c[BLACK] = h->black;
    p->k[PAWN] = h->pawns;
    p->k[KNIGHT] = h->knights;
    p->k[BISHOP] = h->bishops;
    p->k[ROOK] = h->rooks;
    p->k[QUEEN] = h->queens;
    p->k[KING] = h->kings;
    p->turn = h->white_to_move ? WHITE : BLACK;
    p->ep = h->ep > 0 && h->ep < 64 ? (int)h->ep : -1;
    if (h->castling) return HOFFMAN_CASTLING;
    return is_legal(&base->tab, p) ? HOFFMAN_OK : HOFFMAN_ILLEGAL;
}

static void give(u16 code, unsigned rule50, hoffman_result *r)
{
    r->wdl = code == DRAW ? 0 : code < DRAW ? -1 : 1;
    r->plies = (unsigned)(code == DRAW ? 0 : 2 * distance_of(code) - (code > DRAW));
    r->flags = r->wdl && rule50 + r->plies > 100 ? HOFFMAN_MAYBE_50 : 0;
}

static int probe(hoffman_prober *p, const hoffman_position *h, hoffman_result *r, int outcomes)
{
    Pos pos;
    u16 code;
    int status = take(p->base, h, &pos);
    if (status == HOFFMAN_OK) status = any_code(p, &pos, outcomes, &code);
    if (status == HOFFMAN_OK) give(code, h->rule50, r);
    if (status == HOFFMAN_OK && outcomes) r->plies = 0, r->flags = 0;
    return status;
}

int hoffman_probe(hoffman_prober *p, const hoffman_position *h, hoffman_result *r)
{
    return probe(p, h, r, 0);
}

int hoffman_probe_soft(hoffman_prober *p, const hoffman_position *h, hoffman_result *r)
{
    int status;
    p->soft = 1;
    status = probe(p, h, r, 0);
    p->soft = 0;
    return status;
}

int hoffman_probe_wdl(hoffman_prober *p, const hoffman_position *h, hoffman_result *r)
{
    return probe(p, h, r, 1);
}

int hoffman_has(const hoffman_base *base, const hoffman_position *h)
{
    Pos p;
    take(base, h, &p);
    return table_of(base, &p) >= 0;
}

/* Better moves first; unknown ones last. */
static int is_better(const hoffman_move *a, const hoffman_move *b)
{
    if ((a->status == HOFFMAN_OK) != (b->status == HOFFMAN_OK)) return a->status == HOFFMAN_OK;
    if (a->status != HOFFMAN_OK || a->result.wdl != b->result.wdl) return a->status == HOFFMAN_OK && a->result.wdl > b->result.wdl;
    return a->result.wdl > 0 ? a->result.plies < b->result.plies : a->result.plies > b->result.plies;
}

static int root(hoffman_prober *p, const Pos *pos, unsigned rule50, hoffman_move *out, Move *moves, int *count)
{
    int i, j, n = generate(&p->base->tab, pos, ALL, moves);
    for (i = 0; i < n; i++) {
        Move m = moves[i];
        hoffman_move h;
        u16 code = 0;
        memset(&h, 0, sizeof h);
        h.from = m.from;
        h.to = m.to;
        h.promotion = m.promotion;
        h.en_passant = m.ep;
        h.zeroing = m.zeroing;
        h.status = any_code(p, &m.after, 0, &code);
        if (h.status == HOFFMAN_OK) give(before(code, 0), m.zeroing ? 0 : rule50, &h.result);
        for (j = i; j > 0 && is_better(&h, &out[j - 1]); j--) {
            out[j] = out[j - 1];
            moves[j] = moves[j - 1];
        }
        out[j] = h;
        moves[j] = m;
    }
    *count = n;
    return n && out[0].status != HOFFMAN_OK ? out[0].status : HOFFMAN_OK;
}

int hoffman_probe_root(hoffman_prober *p, const hoffman_position *h, hoffman_move out[HOFFMAN_MAX_MOVES], unsigned *count)
{
    Pos pos;
    Move moves[HOFFMAN_MAX_MOVES];
    int n = 0, status = take(p->base, h, &pos);
    if (status == HOFFMAN_OK) status = root(p, &pos, h->rule50, out, moves, &n);
    *count = (unsigned)n;
    return status;
}

int hoffman_line(hoffman_prober *p, const hoffman_position *h, hoffman_move *line, unsigned n, unsigned *count)
{
    Pos pos;
    Move moves[HOFFMAN_MAX_MOVES];
    hoffman_move out[HOFFMAN_MAX_MOVES];
    int found = 0, status = take(p->base, h, &pos);
    unsigned rule50 = h->rule50;
    *count = 0;
    while (status == HOFFMAN_OK && *count < n) {
        status = root(p, &pos, rule50, out, moves, &found);
        /* at an end, and in a draw, which has no line */
        if (status != HOFFMAN_OK || !found || out[0].result.wdl == 0) break;
        line[(*count)++] = out[0];
        rule50 = out[0].zeroing ? 0 : rule50 + 1;
        pos = moves[0].after;
    }
    return status;
}

uint16_t hoffman_stored_code(hoffman_prober *p, const hoffman_position *h)
{
    Pos pos;
    Place place;
    int i, table, side;
    u16 code;
    if (take(p->base, h, &pos) != HOFFMAN_OK || (table = table_of(p->base, &pos)) < 0) return 0;
    for (i = 0; i < p->base->table[table].streams; i++) {
        const Stream *s = &p->base->table[table].stream[i];
        if (s->outcomes || !locate(&p->base->tab, s, &pos, &place, &side) || side != s->turn) continue;
        return cell(p, table, i, &place, &code) == HOFFMAN_OK ? code : 0;
    }
    return 0;
}
