/* UTF-8 decoding and terminal width, without locales. */
#include "support/utf8.h"

#include <stdbool.h>
#include <string.h>

static bool is_continuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

uint32_t utf8_decode(const unsigned char *text, size_t available, size_t *length) {
    unsigned char first = text[0];
    *length = 1;
    if (first < 0x80)
        return first;
    size_t wanted = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || available < wanted)
        return UTF8_INVALID;
    uint32_t point = first & (0xFFu >> (wanted + 1));
    for (size_t i = 1; i < wanted; i++) {
        if (!is_continuation(text[i]))
            return UTF8_INVALID;
        point = point << 6 | (text[i] & 0x3Fu);
    }
    bool overlong = (wanted == 3 && point < 0x800) || (wanted == 4 && point < 0x10000);
    if (overlong || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF))
        return UTF8_INVALID;
    *length = wanted;
    return point;
}

size_t utf8_plain(const unsigned char *text, size_t available) {
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    size_t at = 0;
    for (; available - at >= 8; at += 8) {
        uint64_t bytes;
        memcpy(&bytes, text + at, sizeof bytes);
        if ((bytes | (bytes - ones)) & tops) /* one is above 0x7F, or borrowed: it was 0 */
            break;
    }
    while (at < available && text[at] - 1u < 0x7F)
        at++;
    return at;
}

struct code_range {
    uint32_t first, last;
};

/* Combining marks and joiners; a coarse subset is enough for carets to line up in practice. */
static const struct code_range zero_width[] = {{0x300, 0x36F},   {0x483, 0x489},   {0x591, 0x5BD},   {0x610, 0x61A},
                                               {0x64B, 0x65F},   {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200F},
                                               {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}};
/* East Asian wide and full-width characters, and pictographs. */
static const struct code_range double_width[] = {
    {0x1100, 0x115F}, {0x2E80, 0x303E}, {0x3041, 0xA4CF}, {0xA960, 0xA97C},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},
    {0xFE30, 0xFE6F}, {0xFF00, 0xFF60}, {0xFFE0, 0xFFE6}, {0x1F300, 0x1F64F}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};

static bool is_in(const struct code_range *ranges, size_t count, uint32_t code_point) {
    for (size_t i = 0; i < count && code_point >= ranges[i].first; i++)
        if (code_point <= ranges[i].last)
            return true;
    return false;
}

unsigned utf8_width(uint32_t code_point) {
    if (code_point < 0x300)
        return 1;
    if (is_in(zero_width, sizeof zero_width / sizeof *zero_width, code_point))
        return 0;
    return is_in(double_width, sizeof double_width / sizeof *double_width, code_point) ? 2 : 1;
}
