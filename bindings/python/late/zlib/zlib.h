/* What is called of zlib, laid out as its binary interface is: https://zlib.net/manual.html */
#ifndef TRK_PYTHON_LATE_ZLIB_H
#define TRK_PYTHON_LATE_ZLIB_H

typedef unsigned char Bytef;
typedef unsigned int uInt;
typedef unsigned long uLong, uLongf;

typedef struct z_stream_s {
    const Bytef *next_in;
    uInt avail_in;
    uLong total_in;
    Bytef *next_out;
    uInt avail_out;
    uLong total_out;
    const char *msg;
    void *state;
    void *(*zalloc)(void *, uInt, uInt);
    void (*zfree)(void *, void *);
    void *opaque;
    int data_type;
    uLong adler, reserved;
} z_stream;

enum { Z_NO_FLUSH = 0, Z_FINISH = 4 };
enum {
    Z_OK = 0,
    Z_STREAM_END = 1,
    Z_ERRNO = -1,
    Z_STREAM_ERROR = -2,
    Z_DATA_ERROR = -3,
    Z_MEM_ERROR = -4,
    Z_BUF_ERROR = -5,
    Z_VERSION_ERROR = -6
};
enum { Z_BEST_COMPRESSION = 9, Z_DEFAULT_COMPRESSION = -1, Z_DEFAULT_STRATEGY = 0, Z_DEFLATED = 8 };

#define ZLIB_VERSION "1.2.0" /* the first digit is what the library compares */

int deflateInit2_(z_stream *stream, int level, int method, int window_bits, int mem_level,
                  int strategy, const char *version, int stream_size);
int inflateInit2_(z_stream *stream, int window_bits, const char *version, int stream_size);
#define deflateInit2(stream, level, method, window_bits, mem_level, strategy)                      \
    deflateInit2_(stream, level, method, window_bits, mem_level, strategy, ZLIB_VERSION,           \
                  (int)sizeof(z_stream))
#define inflateInit2(stream, window_bits)                                                          \
    inflateInit2_(stream, window_bits, ZLIB_VERSION, (int)sizeof(z_stream))

int deflate(z_stream *stream, int flush);
int deflateEnd(z_stream *stream);
int inflate(z_stream *stream, int flush);
int inflateReset(z_stream *stream);
int inflateEnd(z_stream *stream);
uLong crc32(uLong crc, const Bytef *data, uInt len);
uLong compressBound(uLong len);
int compress2(Bytef *target, uLongf *target_len, const Bytef *source, uLong len, int level);
int uncompress(Bytef *target, uLongf *target_len, const Bytef *source, uLong len);

#endif
