// The smallest engine that deltaproof can judge: 4-bit decoding, and nothing else.
// docs/plug-in-your-engine.md builds it, judges it and goes on from it.
#include <cmath>
#include <cstdint>
#include <new>

#include "device/gdn.h"

namespace {

struct Engine {
  const char* error = "";
};
thread_local const char* open_error = "";

Engine* of(gdn_engine* handle) { return reinterpret_cast<Engine*>(handle); }

gdn_status refuse(Engine* engine, const char* why) {
  engine->error = why;
  return GDN_INVALID_ARGUMENT;
}

float scale_of(uint32_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const auto significand = static_cast<float>(bits & 1023);
  float value =
      exponent == 0 ? std::ldexp(significand, -24) : std::ldexp(1024 + significand, exponent - 25);
  if (exponent == 31) value = significand == 0 ? INFINITY : NAN;
  return (bits >> 15) != 0 ? -value : value;
}

// Your kernel goes here: one row m of a q4_tile, 4 rows x 32 columns in 72 bytes.
void decode_row(const uint8_t* tile, int m, float* weights) {
  const float scale = scale_of(tile[2 * m] | uint32_t{tile[2 * m + 1]} << 8);
  for (int j = 0; j < 16; ++j) {
    const int byte = tile[8 + j / 4 * 16 + m * 4 + j % 4];
    weights[j] = scale * static_cast<float>(((byte & 15) ^ 8) - 8);
    weights[j + 16] = scale * static_cast<float>((byte >> 4 ^ 8) - 8);
  }
}

gdn_status dequant(gdn_engine* handle, int64_t rows, int64_t cols, const void* tiles, float* out) {
  Engine* engine = of(handle);
  if (engine == nullptr) return GDN_INVALID_ARGUMENT;
  if (tiles == nullptr || out == nullptr) return refuse(engine, "an array is null");
  if (rows < 4 || rows % 4 != 0 || cols < 32 || cols % 32 != 0) {
    return refuse(engine, "expected rows in fours and columns in blocks of 32");
  }
  const auto* tile = static_cast<const uint8_t*>(tiles);
  for (int64_t row = 0; row < rows; row += 4) {
    for (int64_t col = 0; col < cols; col += 32, tile += 72) {
      for (int m = 0; m < 4; ++m) decode_row(tile, m, out + (row + m) * cols + col);
    }
  }
  return GDN_OK;
}

gdn_status open(const gdn_shape* shape, const gdn_options* options, gdn_engine** handle) {
  open_error = "an argument is null";
  if (shape == nullptr || options == nullptr || handle == nullptr) return GDN_INVALID_ARGUMENT;
  open_error = "no memory";
  auto* engine = new (std::nothrow) Engine;
  if (engine == nullptr) return GDN_OUT_OF_MEMORY;
  open_error = "";
  *handle = reinterpret_cast<gdn_engine*>(engine);
  return GDN_OK;
}

void close(gdn_engine* handle) { delete of(handle); }

const char* last_error(const gdn_engine* handle) {
  return handle == nullptr ? open_error : reinterpret_cast<const Engine*>(handle)->error;
}

const char* describe() {
  return R"({"name": "only_dequant", "version": "1", "dialect": {}, "contract": {},
             "capabilities": {"calls": ["open", "close", "describe", "last_error", "dequant"]}})";
}

}  // namespace

extern "C" const gdn_api* gdn_engine_api() {
  static const gdn_api api = [] {
    gdn_api table = {};  // what is left out is NULL, and not_applicable
    table.abi_version = GDN_ABI_VERSION;
    table.struct_size = sizeof table;
    table.name = "only_dequant";
    table.open = open;
    table.close = close;
    table.describe = describe;
    table.last_error = last_error;
    table.dequant = dequant;
    return table;
  }();
  return &api;
}
