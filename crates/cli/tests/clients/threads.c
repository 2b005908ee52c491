/* Many threads ask one base with a cache that is much too small: all get the answers that one thread got.
 * Arguments: a folder with KQvKR and what it needs, threads, positions of each.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "hoffprobe.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned positions, wrong, busy, answered;
static hoffman_position *position;
static hoffman_result *truth;
static int *status;

/* A place of its own for each thread to begin at, so that they meet each other in all ways. */
static void *ask_all(void *with) {
    unsigned start = *(unsigned *)with, i, own_wrong = 0, own_busy = 0, own = 0;
    for (i = 0; i < positions; i++) {
        unsigned k = (start * 37 + i) % positions;
        hoffman_result r;
        int soft = hoffman_probe_soft(&position[k], &r);
        if (soft == HOFFMAN_BUSY) own_busy++, soft = hoffman_probe(&position[k], &r);
        own++;
        if (soft != status[k] || (soft == HOFFMAN_OK && memcmp(&r, &truth[k], sizeof r))) own_wrong++;
    }
    __atomic_fetch_add(&wrong, own_wrong, __ATOMIC_RELAXED);
    __atomic_fetch_add(&busy, own_busy, __ATOMIC_RELAXED);
    __atomic_fetch_add(&answered, own, __ATOMIC_RELAXED);
    return 0;
}

static void random_position(hoffman_position *p) {
    static uint64_t state = 88172645463325252u;
    uint8_t board[64];
    int i;
    static const uint8_t men[4] = {6, 14, 5, 12};
    memset(p, 0, sizeof *p);
    memset(board, 0, sizeof board);
    for (i = 0; i < 4; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        board[state >> 40 & 63] = men[i];
    }
    hoffman_from_board(board, p);
    p->white_to_move = (int)(state >> 50 & 1);
}

int main(int argc, char **argv) {
    pthread_t thread[64];
    unsigned number[64], threads, i;
    hoffman_statistics s;
    if (argc != 4 || (threads = (unsigned)atoi(argv[2])) > 64 || !(positions = (unsigned)atoi(argv[3]))) return 2;
    position = (hoffman_position *)calloc(positions, sizeof *position);
    truth = (hoffman_result *)calloc(positions, sizeof *truth);
    status = (int *)calloc(positions, sizeof *status);
    if (!position || !truth || !status || hoffman_init(argv[1]) != HOFFMAN_OK || hoffman_largest() != 4) return 2;
    for (i = 0; i < positions; i++) {
        random_position(&position[i]);
        status[i] = hoffman_probe(&position[i], &truth[i]);
    }
    /* Everything anew: files, models, and room for a few dozen tiles. */
    if (hoffman_init(argv[1]) != HOFFMAN_OK || hoffman_set_cache(100000) != HOFFMAN_OK) return 2;
    for (i = 0; i < threads; i++) number[i] = i;
    for (i = 0; i < threads; i++)
        if (pthread_create(&thread[i], 0, ask_all, &number[i])) return 2;
    for (i = 0; i < threads; i++) pthread_join(thread[i], 0);
    hoffman_stats(&s);
    printf("%u answers of %u threads, %u of them decoded anew, %u wrong\n", answered, threads, busy, wrong);
    if (s.failures || s.hits + s.misses < answered / 2 || !s.decoded) return 3;
    hoffman_free();
    free(position), free(truth), free(status);
    return wrong || !answered ? 1 : 0;
}
