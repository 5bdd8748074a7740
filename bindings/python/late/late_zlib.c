#include "late.h"

#include <zlib.h>

#define LIBRARY "libz.so.1"
static _Atomic(void *) library;

LATE_FUNCTION(int, deflateInit2_,
              (z_stream * stream, int level, int method, int window_bits, int mem_level,
               int strategy, const char *version, int stream_size),
              (stream, level, method, window_bits, mem_level, strategy, version, stream_size),
              Z_VERSION_ERROR)
LATE_FUNCTION(int, inflateInit2_,
              (z_stream * stream, int window_bits, const char *version, int stream_size),
              (stream, window_bits, version, stream_size), Z_VERSION_ERROR)
LATE_FUNCTION(int, deflate, (z_stream * stream, int flush), (stream, flush), Z_STREAM_ERROR)
LATE_FUNCTION(int, deflateEnd, (z_stream * stream), (stream), Z_STREAM_ERROR)
LATE_FUNCTION(int, inflate, (z_stream * stream, int flush), (stream, flush), Z_STREAM_ERROR)
LATE_FUNCTION(int, inflateReset, (z_stream * stream), (stream), Z_STREAM_ERROR)
LATE_FUNCTION(int, inflateEnd, (z_stream * stream), (stream), Z_STREAM_ERROR)
LATE_FUNCTION(uLong, crc32, (uLong crc, const Bytef *data, uInt len), (crc, data, len), 0)
LATE_FUNCTION(uLong, compressBound, (uLong len), (len), len + len / 1000 + 64)
LATE_FUNCTION(int, compress2,
              (Bytef * target, uLongf *target_len, const Bytef *source, uLong len, int level),
              (target, target_len, source, len, level), Z_STREAM_ERROR)
LATE_FUNCTION(int, uncompress, (Bytef * target, uLongf *target_len, const Bytef *source, uLong len),
              (target, target_len, source, len), Z_STREAM_ERROR)
