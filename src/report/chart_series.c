#include "report/chart_series.h"

#include "base/real.h"

#include <stdint.h>
#include <string.h>

enum {
    ABSENT = 0xffff,
    LARGEST = ABSENT - 1,
    MANTISSA_BITS = 11,
    MANTISSA = 1 << MANTISSA_BITS,
};

size_t trk__chart_bucket_rows(size_t rows)
{
    return rows <= TRK_CHART_ROWS_MAX ? 1 : (rows + TRK_CHART_BUCKETS - 1) / TRK_CHART_BUCKETS;
}

static size_t buckets_of(size_t rows)
{
    size_t each = trk__chart_bucket_rows(rows);
    return (rows + each - 1) / each;
}

size_t trk__chart_points(size_t rows)
{
    return trk__chart_bucket_rows(rows) == 1 ? rows : 2 * buckets_of(rows);
}

static void bucket_extremes(const double *values, size_t count, double ret_points[2])
{
    size_t least = count, most = count;
    for (size_t i = 0; i < count; i++) {
        if (isnan(values[i]))
            continue;
        if (least == count || values[i] < values[least])
            least = i;
        if (most == count || values[i] > values[most])
            most = i;
    }
    ret_points[0] = least == count ? NAN : values[least < most ? least : most];
    ret_points[1] = least == count ? NAN : values[least < most ? most : least];
}

void trk__chart_envelope(const double *values, size_t rows, double *ret_points)
{
    size_t each = trk__chart_bucket_rows(rows);
    if (each == 1) {
        memcpy(ret_points, values, rows * sizeof *values);
        return;
    }
    for (size_t first = 0, bucket = 0; first < rows; first += each, bucket++)
        bucket_extremes(values + first, rows - first < each ? rows - first : each,
                        ret_points + 2 * bucket);
}

void trk__chart_times(const double *times, size_t rows, double *ret_points)
{
    size_t each = trk__chart_bucket_rows(rows);
    if (each == 1) {
        memcpy(ret_points, times, rows * sizeof *times);
        return;
    }
    for (size_t first = 0, bucket = 0; first < rows; first += each, bucket++) {
        size_t last = rows - first < each ? rows - 1 : first + each - 1;
        ret_points[2 * bucket] = times[first];
        ret_points[2 * bucket + 1] = times[last];
    }
}

void trk__chart_rates(double *counts, const double *times, size_t rows, double interval)
{
    for (size_t i = 0; i < rows; i++) {
        double seconds = i > 0 ? times[i] - times[i - 1] : interval;
        counts[i] = seconds > 0 ? counts[i] / seconds : NAN;
    }
}

/* ---- code ---------------------------------------------------------------------------- */

struct base64 {
    struct trk_buffer *text;
    uint32_t bits;
    int count; /* bytes in `bits` */
};

static void base64_put(struct base64 *out, uint8_t byte)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    out->bits = out->bits << 8 | byte;
    if (++out->count < 3)
        return;
    char four[4];
    for (int i = 0; i < 4; i++)
        four[i] = letters[out->bits >> (18 - 6 * i) & 63];
    trk__buffer_add(out->text, four, sizeof four);
    out->bits = 0;
    out->count = 0;
}

static void base64_end(struct base64 *out)
{
    int missing = out->count ? 3 - out->count : 0;
    for (int i = 0; i < missing; i++)
        base64_put(out, 0);
    for (int i = 0; i < missing && out->text->len; i++)
        out->text->data[out->text->len - 1 - (size_t)i] = '=';
}

/* As a half-precision float without a sign: e = 0 is m units, e > 0 is (2048 + m) << (e - 1) units. */
static uint16_t code_of(double units)
{
    if (!(units >= 0.5))
        return 0;
    int exponent = 0;
    frexp(units, &exponent); /* units = [0.5, 1) x 2^exponent */
    int shift = exponent > MANTISSA_BITS + 1 ? exponent - MANTISSA_BITS - 1 : 0;
    double scaled = trk__round(ldexp(units, -shift));
    if (scaled >= 2 * MANTISSA) {
        scaled /= 2;
        shift++;
    }
    uint32_t code = scaled < MANTISSA
                        ? (uint32_t)scaled
                        : (uint32_t)(shift + 1) << MANTISSA_BITS | ((uint32_t)scaled - MANTISSA);
    return code > LARGEST ? LARGEST : (uint16_t)code;
}

static double largest_of(const double *values, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i]) && values[i] > largest)
            largest = values[i];
    return largest;
}

double trk__chart_encode(struct trk_buffer *text, const double *values, size_t count)
{
    const double most_units = ldexp(2 * MANTISSA - 2, 30); /* what LARGEST stands for */
    double unit = largest_of(values, count) / most_units;
    struct base64 out = {.text = text};
    for (size_t i = 0; i < count; i++) {
        uint16_t code = !isfinite(values[i]) ? ABSENT : unit > 0 ? code_of(values[i] / unit) : 0;
        base64_put(&out, (uint8_t)code);
        base64_put(&out, (uint8_t)(code >> 8));
    }
    base64_end(&out);
    return unit;
}

void trk__chart_encode_floats(struct trk_buffer *text, const double *values, size_t count)
{
    struct base64 out = {.text = text};
    for (size_t i = 0; i < count; i++) {
        float value = (float)values[i];
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        for (int byte = 0; byte < 4; byte++)
            base64_put(&out, (uint8_t)(bits >> 8 * byte));
    }
    base64_end(&out);
}
