/* How fast the reader answers: bench FOLDER [POSITIONS [MEGABYTES [ENDING...]]]
 *
 * Random legal positions of all endings of a folder, or of those named. Processor time of one thread.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "hoffprobe.h"

#include "random.h"

#include <stdio.h>
#include <time.h>

static void random_position(const char *ending, hoffman_position *p)
{
    uint8_t board[64];
    memset(p, 0, sizeof *p);
    random_board(ending, board, &p->white_to_move);
    hoffman_from_board(board, p);
}

static double seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static unsigned add_endings(char names[][16], unsigned n, char *name, size_t length, int left, int last, int black)
{
    static const char letters[] = "QRBNP";
    int k;
    if (black) {
        name[length] = 0;
        if (n < 1000 && hoffman_has(name)) strcpy(names[n++], name);
    } else {
        strcpy(name + length, "vK");
        n = add_endings(names, n, name, length + 2, left, 0, 1);
    }
    for (k = last; left && k < 5; k++) {
        name[length] = letters[k];
        n = add_endings(names, n, name, length + 1, left - 1, k, black);
    }
    return n;
}

typedef int asks(const hoffman_position *, hoffman_result *);

/* How many of them have an answer. */
static unsigned measure(const char *what, asks *ask, const hoffman_position *positions, unsigned n)
{
    hoffman_statistics before, after;
    hoffman_result r;
    unsigned i, known = 0;
    double begin, took;
    hoffman_stats(&before);
    begin = seconds();
    for (i = 0; i < n; i++) known += ask(&positions[i], &r) == HOFFMAN_OK;
    took = seconds() - begin;
    hoffman_stats(&after);
    printf("%-24s %8u known, %8.3f s, %9.0f a second, %7.2f us each, %.2f tiles each\n", what, known, took, n / took,
           1e6 * took / n, (double)(after.decoded - before.decoded) / n);
    return known;
}

int main(int argc, char **argv)
{
    static char names[1000][16];
    char name[32] = "K";
    unsigned n = argc > 2 ? (unsigned)strtoul(argv[2], 0, 10) : 100000, endings = 0, i, few, distances;
    size_t cache = (argc > 3 ? (size_t)strtoul(argv[3], 0, 10) : 64) << 20;
    hoffman_position *positions = (hoffman_position *)malloc((n + 1) * sizeof *positions);
    double begin;
    if (argc < 2 || !n || !positions) {
        fprintf(stderr, "usage: bench FOLDER [POSITIONS [MEGABYTES [ENDING...]]]\n");
        return 2;
    }
    hoffman_set_cache(cache);
    begin = seconds();
    for (i = 0; i < 10; i++)
        if (hoffman_init(argv[1]) != HOFFMAN_OK) return 1;
    {
        hoffman_statistics s;
        hoffman_stats(&s);
        printf("opening %lu tables: %.2f ms\n", (unsigned long)s.tables, 100 * (seconds() - begin));
    }
    for (; endings + 4 < (unsigned)argc && endings < 1000; endings++)
        snprintf(names[endings], 16, "%s", argv[4 + endings]);
    if (!endings) endings = add_endings(names, 0, name, 1, HOFFMAN_MEN - 2, 0, 0);
    if (!endings) {
        fprintf(stderr, "%s: no tables of cells\n", argv[1]);
        return 1;
    }
    for (i = 0; i < n; i++) random_position(names[chance(endings)], &positions[i]);

    /* Tables may have outcomes alone. */
    distances = measure("distances, cold", hoffman_probe, positions, n);
    few = n < 1000 ? n : 1000;
    if (distances) {
        measure("distances, once more", hoffman_probe, positions, n);
        measure("a thousand of them", hoffman_probe, positions, few);
    } else measure("outcomes, cold", hoffman_probe_wdl, positions, n);
    for (i = 0; i < n; i++) positions[i] = positions[i % few];
    if (distances) {
        measure("these again and again", hoffman_probe, positions, n);
        measure("the same, soft", hoffman_probe_soft, positions, n);
    }
    measure("a thousand, outcomes", hoffman_probe_wdl, positions, few);
    measure("these again and again", hoffman_probe_wdl, positions, n);
    free(positions);
    hoffman_free();
    return 0;
}
