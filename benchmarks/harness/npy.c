// Files of NumPy's .npy format: magic, version, header length (2 bytes in version 1, 4 later, little endian), a Python
// dictionary as text, the elements.
#include "bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *code;
    size_t bytes;
} elements[] = {
    [ELEMENT_INT] = {"<i4", 4},    [ELEMENT_UINT] = {"<u4", 4}, [ELEMENT_FLOAT] = {"<f4", 4},
    [ELEMENT_DOUBLE] = {"<f8", 8}, [ELEMENT_BYTE] = {"|u1", 1}, [ELEMENT_BOOL] = {"|b1", 1},
};

size_t element_bytes(enum element element) { return elements[element].bytes; }

size_t array_bytes(const struct array *array) { return array->count * element_bytes(array->element); }

void npy_write(const char *path, const struct array *array) {
    enum { START = 10, ALIGNED = 64, HEADER = 128 };
    char header[HEADER + 1], shape[64];
    if (array->columns)
        snprintf(shape, sizeof shape, "%zu, %zu", array->count / array->columns, array->columns);
    else
        snprintf(shape, sizeof shape, "%zu,", array->count);
    int used = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
                        elements[array->element].code, shape);
    int length = (START + used + 1 + ALIGNED - 1) / ALIGNED * ALIGNED - START;
    memset(header + used, ' ', (size_t)(length - used));
    header[length - 1] = '\n';
    unsigned char start[START] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)length, 0};

    // Whole or not at all: what an interrupted run leaves behind must not be taken for an input.
    char unfinished[4096];
    snprintf(unfinished, sizeof unfinished, "%s.unfinished", path);
    FILE *file = fopen(unfinished, "wb");
    bool good = file && fwrite(start, 1, START, file) == START &&
                fwrite(header, 1, (size_t)length, file) == (size_t)length &&
                fwrite(array->at, element_bytes(array->element), array->count, file) == array->count;
    if (file && fclose(file) != 0)
        good = false;
    if (!good || rename(unfinished, path) != 0)
        die(STATUS_USAGE, "%s: %s", path, strerror(errno));
}

static bool read_header(FILE *file, enum element element) {
    unsigned char start[8], length[4] = {0};
    if (fread(start, 1, 8, file) != 8 || memcmp(start, "\x93NUMPY", 6) != 0)
        return false;
    if (fread(length, 1, start[6] == 1 ? 2 : 4, file) != (start[6] == 1 ? 2u : 4u))
        return false;
    size_t bytes = length[0] | (size_t)length[1] << 8 | (size_t)length[2] << 16 | (size_t)length[3] << 24;
    char header[4096], code[8];
    if (bytes >= sizeof header || fread(header, 1, bytes, file) != bytes)
        return false;
    header[bytes] = '\0';
    snprintf(code, sizeof code, "'%s'", elements[element].code);
    return strstr(header, code) && strstr(header, "'fortran_order': False");
}

bool npy_read(const char *path, enum element element, struct npy_field field, size_t most, struct array *array) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return false;
    }
    *array = (struct array){element, 0, 0, allocate(most * element_bytes(element)), ""};
    bool good = read_header(file, element);
    size_t bytes = element_bytes(element);
    char *whole = allocate(field.of * bytes);
    if (good)
        for (; array->count < most && fread(whole, bytes, field.of, file) == field.of; array->count++)
            memcpy((char *)array->at + array->count * bytes, whole + field.index * bytes, bytes);
    else
        fprintf(stderr, "%s: not a .npy file of %s\n", path, elements[element].code);
    free(whole);
    fclose(file);
    return good;
}
