/* How many positions a second are answered, for programs that compare readers.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef HOFFMAN_TIMED_H
#define HOFFMAN_TIMED_H

#include <stdio.h>
#include <time.h>

/* Answers the position of that number; 0 if it is not known. */
typedef int answers(unsigned number, int *answer);

/* Asks n times for the first so many positions: processor time of one thread. */
static inline void measure(const char *what, answers *ask, unsigned n, unsigned of) {
    unsigned i, known = 0;
    long sum = 0;
    clock_t begin = clock();
    double took;
    for (i = 0; i < n; i++) {
        int answer;
        /* Each counts by its place, so that exchanged answers change the sum. */
        if (ask(i % of, &answer)) known++, sum += (long)(i % 7 + 1) * answer;
    }
    took = (double)(clock() - begin) / CLOCKS_PER_SEC;
    printf("%-22s %8u known, sum %10ld, %7.3f s, %9.0f a second\n", what, known, sum, took, n / took);
}

static inline void measure_all(answers *ask, unsigned n) {
    measure("each once", ask, n, n);
    measure("each once more", ask, n, n);
    measure("a thousand in turns", ask, n, n < 1000 ? n : 1000);
}

#endif
