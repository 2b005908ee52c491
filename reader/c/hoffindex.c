/* hoffindex: tables of entries by index for hoffprobe.c, which includes this file if HOFFMAN_INDEX is defined: parts of
 * endings, and what control files describe. Written from docs/hbf.md and docs/file-formats.md, whose sections are named
 * in brackets and in braces. SPDX-License-Identifier: MIT OR Apache-2.0 */
/* ---- the header {3} ---- */

/* An element: its name, and its attributes up to the end of the tag. */
typedef struct {
    const char *name, *attributes;
    size_t length; /* of the name */
} Element;

static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/* The end of a tag that begins here, quotes passed over; null if there is none. The text ends with a zero byte. */
static const char *tag_end(const char *p) {
    for (; *p && *p != '>'; p++)
        if (*p == '"' || *p == '\'') {
            p = strchr(p + 1, *p);
            if (!p) return 0;
        }
    return *p ? p : 0;
}

/* The next start tag; comments, instructions and declarations are passed over. Where it ends, or null. */
static const char *next_element(const char *p, Element *e) {
    while ((p = strchr(p, '<')) != 0) {
        if (!strncmp(p, "<!--", 4)) p = strstr(p + 4, "-->");
        else if (!strncmp(p, "<![CDATA[", 9)) p = strstr(p + 9, "]]>");
        else if (p[1] == '?') p = strstr(p + 2, "?>");
        else if (p[1] == '!' || p[1] == '/') p = tag_end(p + 1);
        else {
            e->name = p + 1;
            e->length = strcspn(p + 1, " \t\n\r/>");
            e->attributes = p + 1 + e->length;
            return tag_end(p + 1);
        }
        if (!p) break;
    }
    return 0;
}

static int is_named(const Element *e, const char *name) {
    return e->length == strlen(name) && !memcmp(e->name, name, e->length);
}

/* The value of an attribute, up to its closing quote; null if it is missing. */
static const char *attribute(const Element *e, const char *name, size_t *length) {
    const char *p = e->attributes, *start, *end;
    for (;;) {
        size_t n;
        while (is_blank(*p)) p++;
        n = strcspn(p, " \t\n\r=/>");
        start = strpbrk(p + n, "\"'>");
        if (!n || !start || *start == '>') return 0;
        end = strchr(start + 1, *start);
        if (!end) return 0;
        if (n == strlen(name) && !memcmp(p, name, n)) {
            *length = (size_t)(end - start - 1);
            return start + 1;
        }
        p = end + 1;
    }
}

static int is_value(const Element *e, const char *name, const char *value) {
    size_t n = 0;
    const char *found = attribute(e, name, &n);
    return found && n == strlen(value) && !memcmp(found, value, n);
}

/* The number in an attribute {3.1}, 0 if it is missing. */
static u64 numeral(const Element *e, const char *name) {
    size_t n = 0;
    const char *found = attribute(e, name, &n);
    return found ? (u64)strtoull(found, 0, 0) : 0;
}

/* ---- men and how they are numbered {6, 7} ---- */

enum { NAIVE, NAIVE2, SIMPLE, COMPACT, COMBINADIC3, COMBINADIC4, COMBINADIC5 };
#define SLOTS 32
#define PAWN_SQUARES 0x00FFFFFFFFFFFF00ull

/* Other men are named by their slots; -1: none. */
typedef struct {
    u8 color, kind, structured; /* structured: a pawn of a pawn structure {8} */
    int plus, blocker;          /* of a pawn that may advance: its first square, which is not 0, and who stops it */
    int group, prev, next;      /* the first man of its group, and the ones beside it there */
    u64 legal, semi;            /* its own squares, those of its group */
    u64 set;                    /* squares of which its codes are made */
    int part;                   /* combinadic types: the first of those that are numbered together */
    u32 chain;                  /* and the men below it */
    u64 weight;                 /* what its number counts */
} Man;

struct Index {
    int type, symmetry, men, side_bit, metric, bits;
    Man man[SLOTS];
    u64 entries, size;         /* size: of a side to move and a pawn structure */
    u64 pairs, before[64];     /* of squares of the kings: all, and those with White's on a lower square */
    u64 white_king, kings[64]; /* squares of White's king, and Black's by White's */
    int structured;
    u64 start, structures; /* the part of the pawn structures that is in the table */
    Section pawns;
};

/* The squares below one; or so many low bits. */
static u64 below(int s) { return BIT(s) - 1; }

/* The squares on which a man of these may have stepped two ahead {6.4}. */
static u64 fourth_rank(const Man *m, u64 squares) {
    return m->kind != PAWN ? 0 : squares & (m->color == WHITE ? (u64)255 << 24 : (u64)255 << 32);
}

/* The squares of a man {6.2}. */
static int parse_location(const Element *e, Man *m) {
    size_t n = 0;
    const char *p = attribute(e, "location", &n), *end;
    m->legal = m->kind == PAWN ? PAWN_SQUARES : ~(u64)0;
    if (!p) return 1;
    for (m->legal = 0, end = p + n; p < end;) {
        if (is_blank(*p)) p++;
        else {
            int s = (p[0] | 32) - 'a' + 8 * (p[1] - '1');
            if ((p[0] | 32) < 'a' || (p[0] | 32) > 'h' || p[1] < '1' || p[1] > '8') return 0;
            m->legal |= BIT(s);
            p += 2;
            if (*p == '+') m->plus = s, p++;
        }
    }
    return m->legal && (m->kind != PAWN || !(m->legal & ~PAWN_SQUARES)) && (m->kind == PAWN || !m->plus);
}

static int parse_piece(const Element *e, Index *x) {
    static const char *const kinds[] = {"pawn", "knight", "bishop", "rook", "queen", "king"};
    Man *m = &x->man[x->men];
    int kind = 0;
    if (x->men++ == SLOTS) return 0;
    while (kind <= KING && !is_value(e, "type", kinds[kind])) kind++;
    m->kind = (u8)kind, m->color = (u8)is_value(e, "color", "black");
    return kind <= KING && (m->color == BLACK || is_value(e, "color", "white")) && parse_location(e, m);
}

/* Pawns whose squares are in a table of structures {8}. */
static int parse_structures(const Element *e, Index *x) {
    static const char *const required[] = {"white-pawns-required", "black-pawns-required"};
    static const char *const squares[] = {"legal-white-squares", "legal-black-squares"};
    if (x->structured) return 0;
    x->structured = 1, x->start = numeral(e, "start"), x->structures = numeral(e, "count");
    for (int c = 0; c < 2; c++)
        for (u64 n = numeral(e, required[c]); n; n--) {
            Man *m = &x->man[x->men];
            if (x->men++ == SLOTS) return 0;
            m->color = (u8)c, m->structured = 1, m->legal = numeral(e, squares[c]);
            if (!m->legal || m->legal & ~PAWN_SQUARES) return 0;
        }
    return 1;
}

/* The index type {7} and the symmetry, 0 if it is not declared. */
static int parse_type(const Element *e, const char *name, Index *x) {
    static const char *const names[] = {
        "naive", "naive2", "simple", "compact", "combinadic3", "combinadic4", "combinadic5"};
    size_t n = 0;
    x->symmetry = numeral(e, "symmetry") > 8 ? -1 : (int)numeral(e, "symmetry");
    if (!attribute(e, name, &n)) return 1;
    for (x->type = NAIVE; x->type <= COMBINADIC5; x->type++)
        if (is_value(e, name, names[x->type])) return 1;
    x->type = COMBINADIC4;
    return is_value(e, name, "pawngen");
}

/* All that an index depends on. *pruned: whether something may be pruned. */
static int parse_header(const char *text, Index *x, int *pruned) {
    Element e;
    int ok = 1;
    x->type = COMBINADIC5;
    while (ok && (text = next_element(text, &e)) != 0) {
        size_t n = 0;
        if (is_named(&e, "piece")) ok = parse_piece(&e, x);
        else if (is_named(&e, "pawngen")) ok = parse_structures(&e, x);
        else if (is_named(&e, "index")) ok = parse_type(&e, "type", x);
        else if (is_named(&e, "tablebase") && attribute(&e, "index", &n)) ok = parse_type(&e, "index", x);
        else if (is_named(&e, "prune-enable") || is_named(&e, "move-restriction")) *pruned = 1;
    }
    return ok;
}

/* Finds the blockers of pawns that may advance, and lets these advance {6.2}. */
static void advance(Index *x) {
    for (int i = 0; i < x->men; i++) {
        Man *m = &x->man[i];
        int d = m->color == WHITE ? 8 : -8;
        u64 passed = m->legal;
        m->blocker = -1;
        for (int s = m->plus + d; m->plus && m->blocker < 0 && BIT(s) & PAWN_SQUARES; s += d) {
            for (int j = 0; j < x->men; j++)
                if ((x->man[j].legal & ~passed) == BIT(s)) m->blocker = j;
            passed |= BIT(s);
        }
    }
    for (int n = 0; n < x->men * x->men; n++) {
        Man *m = &x->man[n % x->men];
        int d = m->color == WHITE ? 8 : -8;
        u64 other = m->plus && m->blocker >= 0 ? x->man[m->blocker].legal : 0;
        for (int s = m->plus + d; m->plus && BIT(s) & PAWN_SQUARES; s += d) {
            if (other & BIT(s) && !(other & BIT(s + d))) break;
            m->legal |= BIT(s);
        }
    }
}

/* Groups of like men {6.3}, and men that cannot move {6.2}. */
static void make_groups(Index *x) {
    u64 frozen = 0;
    for (int i = 0; i < x->men; i++) {
        Man *m = &x->man[i];
        m->semi = m->legal, m->prev = m->next = -1, m->group = i;
        for (int j = 0; j < i; j++) {
            Man *q = &x->man[j];
            if (q->color != m->color || q->kind != m->kind || !(q->semi & m->semi)) continue;
            m->prev = j, m->group = q->group;
            m->semi = q->semi |= m->semi;
        }
        if (m->prev >= 0) x->man[m->prev].next = i;
    }
    for (int i = 0; i < x->men; i++)
        if (bits_of(x->man[i].semi) == 1) frozen |= x->man[i].semi;
    for (int i = 0; i < x->men; i++) {
        Man *m = &x->man[i];
        if (bits_of(m->semi) > 1) m->semi &= ~frozen, m->legal &= ~frozen;
    }
}

/* The squares of which codes are made {7.3 to 7.5}; and for combinadic types the men that are numbered together, and
 * those below them. */
static void make_parts(Index *x) {
    for (int i = 0; i < x->men; i++) {
        Man *m = &x->man[i];
        m->set = x->type != SIMPLE ? m->semi : m->kind == KING && m->color == WHITE ? x->white_king : m->legal;
        m->part = m->group;
    }
    for (int i = 0; i < x->men; i++) {
        Man *m = &x->man[i];
        int b = m->blocker, from, to;
        if (b < 0 || x->man[b].blocker != i || x->man[b].color == m->color || x->type < COMBINADIC3) continue;
        /* opposed pawns that stop each other */
        from = m->part > x->man[b].part ? m->part : x->man[b].part, to = m->part + x->man[b].part - from;
        m->set |= x->man[b].set;
        for (int j = 0; j < x->men; j++) {
            if (x->man[j].part == from) x->man[j].part = to;
            if (x->man[j].part == to) x->man[j].set = m->set;
        }
    }
    for (int i = 0; i < x->men; i++) {
        int under = i;
        for (int j = i - 1; j >= 0; j--)
            if (!(x->man[j].set & ~x->man[under].set)) x->man[i].chain |= 1u << j, under = j;
    }
}

/* The pairs of squares of the kings {6.10}. */
static void make_pairs(const Tab *t, Index *x, u64 white, u64 black) {
    for (int w = 0; w < 64; w++) {
        x->before[w] = x->pairs;
        if (!(white >> w & 1) || (x->symmetry >= 2 && (w & 7) > 3) || (x->symmetry >= 4 && w > 31)
            || (x->symmetry == 8 && above(w)))
            continue;
        x->white_king |= BIT(w);
        x->kings[w] = black & ~t->king[w] & ~BIT(w);
        if (x->symmetry == 8 && diagonal(w)) x->kings[w] &= ~ABOVE;
        x->pairs += (u64)bits_of(x->kings[w]);
    }
}

/* Whether each man has a partner, so that only White is to move {6.6}. */
static int is_paired(const Index *x) {
    int partner[SLOTS];
    for (int i = 0; i < x->men; i++) partner[i] = -1;
    for (int i = 0; i < x->men; i++) {
        const Man *m = &x->man[i];
        if (m->legal != ~(u64)0 && m->legal != PAWN_SQUARES) return 0;
        for (int j = i + 1; partner[i] < 0 && j < x->men; j++) {
            const Man *q = &x->man[j];
            if (partner[j] < 0 && q->color != m->color && q->kind == m->kind && q->legal == m->legal)
                partner[i] = j, partner[j] = i;
        }
        if (partner[i] < 0) return 0;
    }
    return 1;
}

static u64 choose(u64 n, u64 k) {
    u64 c = 1;
    if (k > n) return 0;
    for (u64 i = 0; i < k; i++) c = c * (n - i) / (i + 1);
    return c;
}

static u64 codes_of(const Man *m) { return (u64)(bits_of(m->set) + bits_of(fourth_rank(m, m->set))); }

/* How many numbers there are for a man, and for those that are numbered with it {7}. */
static u64 numbers_of(const Index *x, int i) {
    const Man *m = &x->man[i];
    int is_pair = x->type == NAIVE2 || x->type == COMPACT;
    u64 n = 0;
    if (m->structured) return 1;
    if (m->kind == KING && x->type >= COMPACT) return m->color == WHITE ? x->pairs : 1;
    if (x->type < COMBINADIC3) {
        n = x->type > NAIVE2 ? codes_of(m) : m->kind == KING && m->color == WHITE ? 64 / (u64)x->symmetry : 64;
        return is_pair && m->prev >= 0 ? n / 2 : n;
    }
    for (int j = 0; j < x->men; j++) n += x->man[j].part == i;
    return n ? choose(codes_of(m) - (u64)bits_of(m->chain), n) : 1;
}

/* What each number counts: the first is the least, but of two types the last. */
static void make_weights(Index *x) {
    int last_first = x->type == SIMPLE || x->type == COMPACT;
    x->size = 1;
    for (int i = 0; i < x->men; i++) {
        int at = last_first ? x->men - 1 - i : i;
        x->man[at].weight = x->size;
        x->size *= numbers_of(x, at);
    }
}

/* Whether the header says what it must; types and symmetries that no table has are refused {6.5, 7}. */
static int is_sound(const Index *x) {
    int kings[2] = {0, 0}, most = x->type <= NAIVE2 ? 4 : 8;
    for (int i = 0; i < x->men; i++) {
        const Man *m = &x->man[i];
        if (m->kind == KING) kings[m->color]++;
        if (m->kind == PAWN && most > 2) most = 2;
        if (x->structured && ((m->kind == PAWN && !m->structured) || x->type == SIMPLE || x->type == COMPACT)) return 0;
        if ((x->type == NAIVE2 || x->type == COMPACT) && m->prev >= 0 && x->man[m->prev].prev >= 0) return 0;
    }
    if (x->structured) most = 1;
    if (kings[WHITE] != 1 || kings[BLACK] != 1 || x->symmetry > most) return 0;
    return x->symmetry == 1 || x->symmetry == 2 || x->symmetry == 4 || x->symmetry == 8;
}

/* The symmetry of a table that declares none {6.5}. */
static int default_symmetry(const Index *x) {
    int most = x->type <= NAIVE2 ? 4 : 8;
    for (int i = 0; i < x->men; i++) {
        const Man *m = &x->man[i];
        if (m->legal != (m->kind == PAWN ? PAWN_SQUARES : ~(u64)0) || m->structured) return 1;
        if (m->kind == PAWN) most = 2;
    }
    return most;
}

/* Which of the pawn structures of PAWN are in the table {8}. */
static int find_structures(const u8 *rows, u32 n, Index *x) {
    u64 all;
    if (!x->structured) {
        x->structures = 1;
        return 1;
    }
    all = find_section(rows, n, "PAWN", 0, &x->pawns) ? x->pawns.length / 20 : 0;
    if (all >> 28 || x->start > all) return 0;
    if (!x->structures) x->structures = all - x->start;
    return x->structures <= all - x->start;
}

/* What follows from the men. */
static int number_men(const Tab *t, Index *x) {
    int white = -1, black = -1;
    for (int i = 0; i < x->men; i++)
        if (x->man[i].kind == KING) *(x->man[i].color == WHITE ? &white : &black) = i;
    if (white < 0 || black < 0) return 0;
    if (x->type == COMBINADIC3 || x->type == COMBINADIC4) {
        Man first = x->man[0];
        if (black == 0) return 0;
        x->man[0] = x->man[white], x->man[white] = first, white = 0;
    }
    advance(x);
    make_groups(x);
    if (!x->symmetry) x->symmetry = default_symmetry(x);
    if (!is_sound(x)) return 0;
    x->side_bit = x->type < COMBINADIC4 || x->metric > 2 || !is_paired(x);
    make_pairs(t, x, x->man[white].legal, x->man[black].legal);
    make_parts(x);
    make_weights(x);
    return x->entries == x->size * x->structures * (x->side_bit ? 2 : 1);
}

/* CTRL, with what TABL says [3], and STRM [4]. 1 read, 0 refused, -1 no memory. */
static int parse_index(const Tab *t, File f, const u8 *rows, u32 n, const u8 *tabl, Table *table) {
    Section s;
    Stream *st = table->stream;
    Index *x = st->index = (Index *)calloc(1, sizeof *x);
    u8 *p;
    int ok, pruned = 0;
    if (!x) return -1;
    x->metric = tabl[2], x->bits = tabl[3], x->entries = number(tabl + 8, 8);
    if (tabl[1] || x->metric > 4 || x->bits < 1 || x->bits > 16 || !find_section(rows, n, "CTRL", 0, &s)) return 0;
    if (!(p = load(t, f, &s, (u64)16 << 20))) return 0;
    p[s.length] = 0;
    ok = parse_header((const char *)p, x, &pruned) && find_structures(rows, n, x) && number_men(t, x);
    free(p);
    if (!ok || !find_section(rows, n, "STRM", 0, &s) || s.length < 32 || !(p = load(t, f, &s, 65536))) return 0;
    st->rows = p[3], st->tiles = number(p + 8, 8), ok = p[0] == 2 && !p[1] && st->rows >= 6 && st->rows <= 16;
    free(p);
    if (!ok || st->tiles != (x->entries >> st->rows) + ((x->entries & below(st->rows)) != 0)) return 0;
    for (int i = 0; i < x->men; i++)
        if (x->man[i].kind != KING) table->key += one_man(x->man[i].color, x->man[i].kind);
    table->men = (unsigned)x->men, table->claims = (tabl[4] & 15u) | (pruned ? 0 : 16u);
    table->longest = x->metric || x->bits == 16 ? HOFFMAN_MAX_PLIES : 1u << x->bits;
    /* chess before all else; distances, outcomes, those of one side */
    table->rank = (table->claims != CHESS) * 3 + (x->metric ? x->metric / 3 + 1 : 0);
    table->streams = 1;
    return find_parts(rows, n, 0, st);
}

/* ---- pawn structures {8} ---- */

/* A table of the numbers of structures, from 1, lies behind them in memory; its size is a power of two. */
static u64 places_for(u64 structures) {
    u64 n = 4;
    while (n < 2 * structures) n *= 2;
    return n;
}

static u64 place_of(const Index *x, const u8 *structure) {
    u64 hash = number(structure, 8) * 0x9E3779B97F4A7C15ull;
    hash = (hash ^ hash >> 32 ^ number(structure + 8, 8) ^ (u64)structure[16] << 56) * 0xC2B2AE3D27D4EB4Full;
    return hash >> 32 & (places_for(x->structures) - 1);
}

/* Its number among those of the table, from 1; 0 if it is not there, and then *place is free. */
static u64 find_structure(const Index *x, const u8 *pawns, const u8 *structure, u64 *place) {
    const u32 *numbers = (const u32 *)(const void *)(pawns + x->pawns.length / 20 * 20);
    u64 at = place_of(x, structure);
    while (numbers[at] && memcmp(pawns + 20 * (x->start + numbers[at] - 1), structure, 20))
        at = (at + 1) & (places_for(x->structures) - 1);
    *place = at;
    return numbers[at];
}

static u8 *load_structures(const Tab *t, File f, const Index *x) {
    u64 bytes = x->pawns.length / 20 * 20, place = 0, places = places_for(x->structures);
    u8 *read = load(t, f, &x->pawns, x->pawns.length), *pawns;
    if (!read) return 0;
    if (!(pawns = (u8 *)realloc(read, (size_t)(bytes + 4 * places)))) {
        free(read);
        return 0;
    }
    memset(pawns + bytes, 0, (size_t)(4 * places));
    for (u64 i = 0; i < x->structures; i++)
        if (!find_structure(x, pawns, pawns + 20 * (x->start + i), &place))
            ((u32 *)(void *)(pawns + bytes))[place] = (u32)i + 1;
    return pawns;
}

/* MODL [11] */
static int load_entries(const Tab *t, File f, const Stream *s, const u8 *modl, Model *m) {
    u64 length = s->model.length;
    if (length < 4 || modl[0] != 2 || modl[1] > 4 || length != 4 + 4 * (u64)modl[1]) return 0;
    m->offsets = modl[1];
    for (int i = 0; i < m->offsets; i++) {
        u64 offset = number(modl + 4 + 4 * i, 4);
        if (offset < 1 || offset > 65535) return 0;
        for (int j = 0; j < i; j++)
            if (m->offset[j] == offset) return 0;
        m->offset[i] = (u16)offset;
    }
    return !s->index->structured || (m->pawns = load_structures(t, f, s->index)) != 0;
}

/* ---- the index of a position {6.7} ---- */

/* pawn: the slot of the pawn that was just moved two squares, or -1 */
typedef struct { int sq[SLOTS], pawn; } Placed;

/* Finds another square of its group for a man, if need be by moving those that are on squares there. */
static int settle(const Index *x, const int *from, int *holder, int i, unsigned *tried) {
    const Man *m = &x->man[i];
    for (int j = m->group; j >= 0; j = x->man[j].next) {
        if (*tried >> j & 1 || !(m->legal >> from[j] & 1)) continue;
        *tried |= 1u << j;
        if (holder[j] >= 0 && !settle(x, from, holder, holder[j], tried)) continue;
        holder[j] = i;
        return 1;
    }
    return 0;
}

/* Puts all men on legal squares of their groups; 0 if that cannot be. */
static int put_on_legal(const Index *x, Placed *at) {
    int holder[SLOTS], from[SLOTS], all = 1;
    for (int i = 0; i < x->men; i++) all &= (int)(x->man[i].legal >> at->sq[i] & 1);
    if (all) return 1;
    memcpy(from, at->sq, sizeof from);
    for (int i = 0; i < x->men; i++) holder[i] = x->man[i].legal >> from[i] & 1 ? i : -1;
    for (int i = 0; i < x->men; i++) {
        unsigned tried = 0;
        int has = 0; /* maybe another square than its own, if it made room for one before */
        for (int j = 0; j < x->men; j++) has |= holder[j] == i;
        if (!has && !settle(x, from, holder, i, &tried)) return 0;
    }
    for (int j = 0; j < x->men; j++) at->sq[holder[j]] = from[j];
    return 1;
}

/* Deals the men of a position that was made canonical to slots {6.3 to 6.7}; 0 if the table does not have it. */
static int deal(const Index *x, const Pos *p, Placed *at) {
    int turned = !x->side_bit && p->turn == BLACK, change = turned ? 63 : 0, swap, victim;
    int white = lsb(p->c[turned] & p->k[KING]) ^ change, black = lsb(p->c[!turned] & p->k[KING]) ^ change;
    int flips = (x->symmetry >= 2 && (white & 7) > 3 ? 7 : 0) | (x->symmetry >= 4 && white > 31 ? 56 : 0);
    u64 mapped = 0;
    unsigned taken = 0;
    white ^= flips, black ^= flips, change ^= flips;
    swap = x->symmetry == 8 && (above(white) || (diagonal(white) && above(black)));
    for (u64 set = occupied(p); set; set &= set - 1) {
        int s = lsb(set) ^ change;
        mapped |= BIT(swap ? flip(s) : s);
    }
    for (; mapped; mapped &= mapped - 1) {
        int s = lsb(mapped), i = 0, kind = 0, from = (swap ? flip(s) : s) ^ change;
        int color = (int)(p->c[BLACK] >> from & 1) ^ turned;
        while (!(p->k[kind] >> from & 1)) kind++;
        while (i < x->men && (x->man[i].color != color || x->man[i].kind != kind || !(x->man[i].semi >> s & 1))) i++;
        for (i = i < x->men ? x->man[i].group : -1; i >= 0 && taken >> i & 1;) i = x->man[i].next;
        if (i < 0) return 0;
        taken |= 1u << i;
        at->sq[i] = s;
    }
    if (!put_on_legal(x, at)) return 0;
    at->pawn = -1;
    if (p->ep < 0) return 1;
    victim = p->turn == WHITE ? p->ep - 8 : p->ep + 8;
    for (int i = 0; i < x->men; i++)
        if (at->sq[i] == (victim ^ change)) at->pawn = i;
    return !(occupied(p) >> (2 * p->ep - victim) & 1);
}

/* The number of a man's code among its codes {7}. */
static u64 code_number(const Index *x, int i, const Placed *at) {
    const Man *m = &x->man[i];
    int s = at->sq[i], jumped = at->pawn == i;
    u64 fourth = fourth_rank(m, m->set), n = (u64)bits_of(fourth & below(s));
    if (x->type <= NAIVE2) {
        int ranks = x->symmetry == 2 ? 8 : 4;
        if (m->kind == KING && m->color == WHITE && x->symmetry > 1) return (u64)((s >> 3) + ranks * (s & 7));
        return (u64)(jumped ? s & 7 : s);
    }
    if (x->type <= COMPACT) return (u64)bits_of(m->set & below(s)) + n + (u64)jumped;
    if (jumped) return n;
    n = (u64)(bits_of(fourth) + bits_of(m->set & below(s)));
    for (int j = 0; j < m->part; j++) n -= x->man[m->part].chain >> j & 1 && at->sq[j] < s;
    return n;
}

/* The two numbers of a pair with some codes, of `n` codes {7.2}: the base, or the difference. */
static u64 pair_number(u64 a, u64 b, u64 n, int difference) {
    u64 low = a < b ? a : b, high = a < b ? b : a;
    if (high - low <= n / 2) return difference ? high - low - 1 : low;
    return difference ? n + low - high - 1 : high;
}

/* The number of a man, and of those that are numbered with it. */
static u64 number_of(const Index *x, int i, const Placed *at, int white, int black) {
    const Man *m = &x->man[i];
    u64 value[SLOTS], sum = 0;
    int n = 0, other = m->prev >= 0 ? m->prev : m->next;
    if (m->structured) return 0;
    if (m->kind == KING && x->type >= COMPACT)
        return m->color == WHITE ? x->before[white] + (u64)bits_of(x->kings[white] & below(black)) : 0;
    if ((x->type == NAIVE2 || x->type == COMPACT) && other >= 0)
        return pair_number(code_number(x, i, at), code_number(x, other, at), x->type == NAIVE2 ? 64 : codes_of(m),
            m->prev >= 0);
    if (x->type < COMBINADIC3) return code_number(x, i, at);
    for (int j = 0, k; j < x->men; j++) {
        if (x->man[j].part != i) continue;
        u64 v = code_number(x, j, at);
        for (k = n++; k > 0 && value[k - 1] > v; k--) value[k] = value[k - 1];
        value[k] = v;
    }
    for (int k = 0; k < n; k++) sum += choose(value[k], (u64)k + 1);
    return sum;
}

/* The index of a position in the colours of a table. HOFFMAN_NO_TABLE: it has none. */
static int find_index(const Ask *ask, int table, const Pos *p, u64 *index) {
    Table *t = &ask->base->table[table];
    const Index *x = t->stream->index;
    Placed at;
    int white = 0, black = 0;
    u64 sum = 0, place, k;
    if (bits_of(occupied(p)) != x->men || !deal(x, p, &at)) return HOFFMAN_NO_TABLE;
    for (int i = 0; i < x->men; i++) {
        const Man *m = &x->man[i];
        int ahead = m->color == WHITE ? 1 : -1;
        if (m->kind == KING) *(m->color == WHITE ? &white : &black) = at.sq[i];
        if (m->blocker >= 0 && (at.sq[m->blocker] - at.sq[i]) * ahead < 0) return HOFFMAN_NO_TABLE;
    }
    if (!(x->kings[white] >> black & 1)) return HOFFMAN_NO_TABLE;
    for (int i = 0; i < x->men; i++) sum += number_of(x, i, &at, white, black) * x->man[i].weight;
    if (x->structured) {
        u64 pawns[2];
        u8 structure[20];
        const File *f;
        const Model *m;
        if (ask->flags & HOFFMAN_SOFT && !LOAD_POINTER(&t->stream->loaded)) return HOFFMAN_BUSY;
        if (!(f = file_of(ask->base, t)) || !(m = model_of(ask->base, *f, t->stream))) return HOFFMAN_DAMAGED;
        memset(structure, 0, sizeof structure);
        for (int c = 0; c < 2; c++) pawns[c] = p->c[c] & p->k[PAWN];
        for (int i = 0; i < 16; i++) structure[i] = (u8)(pawns[i / 8] >> i % 8 * 8);
        structure[16] = (u8)p->ep;
        if (!(k = find_structure(x, (const u8 *)m->pawns, structure, &place))) return HOFFMAN_NO_TABLE;
        sum += x->size * (k - 1);
    }
    *index = x->side_bit ? 2 * sum + (u64)p->turn : sum;
    return *index < x->entries ? HOFFMAN_OK : HOFFMAN_NO_TABLE;
}

/* ---- entries [11] ---- */

/* What a tile is decoded with: probabilities of the bits that say what is equal, of upper and of lower parts; and the
 * entries. */
typedef struct {
    Coder coder;
    u16 same[16][4], high[256], low[256][256];
    u16 value[65536];
} Tile;

static int coded_bit(Coder *c, u16 *p) {
    u32 bound;
    normalise(c);
    bound = (c->range >> 12) * *p;
    if (c->code < bound) {
        c->range = bound, *p = (u16)(*p + ((4096 - *p) >> 4));
        return 0;
    }
    c->code -= bound, c->range -= bound, *p = (u16)(*p - (*p >> 4));
    return 1;
}

static u32 coded_bits(Coder *c, u16 p[256], int n) {
    u32 u = 1;
    for (int i = 0; i < n; i++) u = 2 * u + (u32)coded_bit(c, &p[u]);
    return u - (1u << n);
}

/* The first `n` entries of a tile. */
static void decode_entries(Tile *t, const Model *m, int bits, u32 n) {
    int high = bits > 8 ? bits - 8 : 0, low = bits - high;
    u32 h = 0;
    for (int i = 0; i < 64; i++) t->same[i / 4][i % 4] = 2048;
    for (int i = 0; i < 256; i++) t->high[i] = 2048;
    for (int i = 0; i < 256 << high; i++) t->low[i / 256][i % 256] = 2048;
    for (u32 x = 0; x < n; x++) {
        u16 candidate[4] = {0, 0, 0, 0}, *v = &t->value[x];
        int j, k, found = 0;
        for (j = 0; j < m->offsets && !found; j++) {
            candidate[j] = m->offset[j] > x ? 0 : v[-(int)m->offset[j]];
            for (k = 0; k < j && candidate[k] != candidate[j]; k++) {}
            if (k == j && coded_bit(&t->coder, &t->same[h][j])) *v = candidate[j], found = 1;
        }
        if (!found) {
            u32 upper = coded_bits(&t->coder, t->high, high);
            *v = (u16)(upper << low | coded_bits(&t->coder, t->low[upper], low));
        }
        h = (2 * h + (m->offsets && *v == candidate[0])) & 15;
    }
}

/* An entry from the file, and into the cache all that is decoded on the way, 1024 entries or a tile in each place. */
static NOINLINE int fetch_entry(hoffman_base *base, Table *table, u32 who, u64 index, u16 *entry) {
    Stream *s = table->stream;
    const File *f = file_of(base, table);
    const Model *m = f ? model_of(base, *f, s) : 0;
    u64 first = index >> s->rows << s->rows, unit = s->rows < 10 ? s->rows : 10, end = ((index >> unit) + 1) << unit;
    u32 n = (u32)((end < s->index->entries ? end : s->index->entries) - first);
    u64 at = 0;
    size_t length = 0;
    u8 *bytes = 0;
    Tile *t;
    int ok = m && find_tile(base, *f, s, m, index >> s->rows, &at, &length);
    if (!ok) {
        unreadable(base, table);
        return HOFFMAN_DAMAGED;
    }
    t = (Tile *)malloc(sizeof *t);
    bytes = (u8 *)malloc(length + 1);
    ok = t && bytes ? read_at(*f, at, bytes, length) ? HOFFMAN_OK : HOFFMAN_DAMAGED : HOFFMAN_MEMORY;
    if (ok == HOFFMAN_DAMAGED) unreadable(base, table);
    if (ok == HOFFMAN_OK) {
        start_coder(&t->coder, bytes, length);
        decode_entries(t, m, s->index->bits, n);
        count(base, DECODED, 1);
        for (u32 i = 0; i < n; i += 1024)
            keep_cells(base, who, (first + i) >> unit, t->value + i, 64, n - i < 1024 ? (int)(n - i) : 1024);
        *entry = t->value[index - first];
    }
    free(bytes);
    free(t);
    return ok;
}

static int entry_at(const Ask *ask, int table, u64 index, u16 *entry) {
    Table *t = &ask->base->table[table];
    u32 who = (u32)(table * MAX_STREAMS);
    int unit = t->stream->rows < 10 ? t->stream->rows : 10;
    if (held_cell(ask->base, who, index >> unit, (u32)(index & below(unit)), entry)) {
        count(ask->base, HITS, 1);
        return HOFFMAN_OK;
    }
    count(ask->base, MISSES, 1);
    return ask->flags & HOFFMAN_SOFT ? HOFFMAN_BUSY : fetch_entry(ask->base, t, who, index, entry);
}

/* The code of an entry {5} of a legal position; 0: it does not tell. */
static u16 code_of_entry(const Index *x, u16 entry, int turn) {
    int n = entry;
    if (x->metric == 2) return n == 0 ? DRAW : n == 1 ? 65535 : n == 2 ? 1 : 0;
    if (x->metric == 3) return n != 1 ? 0 : turn == WHITE ? 65535 : 1;
    if (x->metric == 4) return n != 0 ? 0 : turn == WHITE ? 1 : 65535;
    if (x->bits == 1) return n ? 1 : DRAW;
    if (n >> (x->bits - 1)) n -= 1 << x->bits;
    if (n == 0) return DRAW;
    if (n == 1 || n < -LONGEST - 1) return 0;
    if (x->metric == 1) return n < 0 ? 1 : 65535;
    return (u16)(n < 0 ? -n : 65537 - n);
}

/* ---- answers ---- */

/* The first table of some men from table `i` on, or -1. They are side by side. */
static int next_of(const hoffman_base *base, u64 key, int i) {
    if (i < 0) i = base->by_key[entry_of(base, key)].by_index - 1;
    return i >= 0 && i < base->tables && base->table[i].key == key && base->table[i].stream->index ? i : -1;
}

/* What tables say of a position in their colours: those of chess, or those that were made under assumptions. */
static int code_by_index(Ask *ask, const Pos *p, int chess, int exchanged, u16 *code) {
    u64 key = key_of_position(p), index = 0;
    for (int i = next_of(ask->base, key, -1); i >= 0; i = next_of(ask->base, key, i + 1)) {
        const Table *t = &ask->base->table[i];
        const Index *x = t->stream->index;
        int status, outcomes = ask->flags & HOFFMAN_WDL;
        u16 entry = 0;
        if ((t->claims == CHESS) != chess || (x->metric && !outcomes) || (exchanged && !x->side_bit)) continue;
        status = find_index(ask, i, p, &index);
        if (status == HOFFMAN_OK) status = entry_at(ask, i, index, &entry);
        if (status != HOFFMAN_OK && status != HOFFMAN_NO_TABLE) return status;
        if (status != HOFFMAN_OK || !(*code = code_of_entry(x, entry, p->turn))) continue;
        if (outcomes && *code != DRAW) *code = *code < DRAW ? 1 : 65535;
        ask->claims &= t->claims;
        return HOFFMAN_OK;
    }
    return HOFFMAN_NO_TABLE;
}

/* Of a legal position. Tables of chess answer with colours exchanged, too, and others only if they are asked for. */
static int index_code(Ask *ask, const Pos *pos, u16 *code) {
    Move moves[HOFFMAN_MAX_MOVES];
    Pos own = *pos, exchanged;
    int status;
    if (own.ep >= 0 && !generate(ask->t, pos, EN_PASSANT, moves)) own.ep = -1;
    exchanged = own;
    swap_colors(&exchanged);
    status = code_by_index(ask, &own, 1, 0, code);
    if (status == HOFFMAN_NO_TABLE) status = code_by_index(ask, &exchanged, 1, 1, code);
    if (status == HOFFMAN_NO_TABLE && ask->flags & HOFFMAN_ALLOW_ASSUMED) status = code_by_index(ask, &own, 0, 0, code);
    return status;
}

/* Where a table goes: those by index are side by side if they have the same men, in the order in which they are asked,
 * and by name if they are alike. */
static int place_of_table(const hoffman_base *base, const Table *table, size_t folder) {
    int at = -1;
    for (int i = 0; table->stream->index && i < base->tables; i++) {
        const Table *t = &base->table[i];
        int rank = t->rank - table->rank;
        if (t->key != table->key || !t->stream->index) continue;
        if (!rank && !strncmp(t->path, table->path, folder)) rank = strcmp(t->path, table->path);
        if (at < 0) at = i;
        if (rank <= 0) at = i + 1;
    }
    return at < 0 ? base->tables : at;
}
