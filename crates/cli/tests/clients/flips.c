/* Changes a file of a small table bit by bit: each change is refused, or damages some answers, or is in bytes that nobody
 * needs. No answer is ever another one.
 * Arguments: the file, a folder to work in, the name there, every how many bits, with how many positions.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "hoffprobe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int write_file(const char *path, const unsigned char *bytes, long n) {
    FILE *f = fopen(path, "wb");
    int ok = f && fwrite(bytes, 1, (size_t)n, f) == (size_t)n;
    return f && !fclose(f) && ok;
}

static hoffman_position *positions;
static hoffman_result *truth;

int main(int argc, char **argv) {
    char path[4000];
    unsigned n, i, step, known = 0, refused = 0, damaged = 0, unseen = 0;
    int *status;
    long length, bit;
    unsigned char *bytes;
    FILE *f;
    if (argc != 6 || !(f = fopen(argv[1], "rb")) || fseek(f, 0, SEEK_END) || (length = ftell(f)) < 100) return 2;
    rewind(f);
    bytes = (unsigned char *)malloc((size_t)length);
    step = (unsigned)atoi(argv[4]), n = (unsigned)atoi(argv[5]);
    positions = (hoffman_position *)calloc(n, sizeof *positions);
    truth = (hoffman_result *)calloc(n, sizeof *truth);
    status = (int *)calloc(n, sizeof *status);
    if (!bytes || !positions || !truth || !status || fread(bytes, 1, (size_t)length, f) != (size_t)length) return 2;
    fclose(f);
    snprintf(path, sizeof path, "%s/%s", argv[2], argv[3]);
    /* The cache is made anew with every change, so it is small. */
    if (hoffman_set_cache(100000) != HOFFMAN_OK) return 2;
    if (!write_file(path, bytes, length) || hoffman_init(argv[2]) != HOFFMAN_OK || hoffman_largest() != 3) return 2;
    /* Two kings and the man of the name, all over the board. */
    for (i = 0; i < n; i++) {
        uint64_t spread = (i + 1) * 0x9E3779B97F4A7C15u;
        uint8_t board[64];
        memset(board, 0, sizeof board);
        board[spread >> 58] = 6, board[spread >> 52 & 63] = 14;
        board[spread >> 46 & 63] = (uint8_t)(strchr(" pnbrq", argv[3][1]) - " pnbrq");
        hoffman_from_board(board, &positions[i]);
        positions[i].white_to_move = (int)(spread >> 45 & 1);
        status[i] = hoffman_probe(&positions[i], &truth[i]);
        known += status[i] == HOFFMAN_OK;
    }
    if (known < n / 3) return 2;
    for (bit = 0; bit < 8 * length; bit += step) {
        unsigned seen = 0;
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        if (!write_file(path, bytes, length) || hoffman_init(argv[2]) != HOFFMAN_OK) return 2;
        if (hoffman_largest() == 2) refused++;
        else {
            for (i = 0; i < n; i++) {
                hoffman_result r;
                int now = hoffman_probe(&positions[i], &r);
                seen += now != status[i];
                if (now == status[i] && (now != HOFFMAN_OK || !memcmp(&r, &truth[i], sizeof r))) continue;
                if (now == HOFFMAN_DAMAGED && status[i] == HOFFMAN_OK) continue;
                fprintf(stderr, "%s, bit %ld: position %u is answered by %d\n", path, bit, i, now);
                return 1;
            }
            if (seen) damaged++;
            else unseen++;
        }
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    printf("%s: of %ld bits %u refused, %u damaged answers, %u did not matter to %u positions\n", argv[3],
        (8 * length + step - 1) / step, refused, damaged, unseen, n);
    hoffman_free();
    free(bytes), free(positions), free(truth), free(status);
    return 0;
}
