// only_dequant.cpp with its kernel on a GPU: what a CUDA engine adds. One thread a row of a tile.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <new>

#include "device/gdn.h"

namespace {

struct Engine {
  const char* error = "";
};
thread_local const char* open_error = "";

Engine* of(gdn_engine* handle) { return reinterpret_cast<Engine*>(handle); }

gdn_status refuse(Engine* engine, gdn_status status, const char* why) {
  engine->error = why;
  return status;
}

// Your kernel goes here.
__global__ void decode_rows(const uint8_t* tiles, int64_t cols, int64_t tile_rows, float* out) {
  const int64_t index = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (index >= tile_rows) return;
  const int64_t tiles_across = cols / 32;
  const int m = static_cast<int>(index % 4);
  const uint8_t* tile = tiles + index / 4 * 72;
  float* row = out + (index / 4 / tiles_across * 4 + m) * cols + index / 4 % tiles_across * 32;
  const __half_raw bits = {static_cast<unsigned short>(tile[2 * m] | tile[2 * m + 1] << 8)};
  const float scale = __half2float(bits);
  for (int j = 0; j < 16; ++j) {
    const int byte = tile[8 + j / 4 * 16 + m * 4 + j % 4];
    row[j] = scale * static_cast<float>(((byte & 15) ^ 8) - 8);
    row[j + 16] = scale * static_cast<float>((byte >> 4 ^ 8) - 8);
  }
}

// Of the device, gone with its scope.
struct Memory {
  explicit Memory(size_t bytes) { error = cudaMalloc(&data, bytes); }
  ~Memory() { cudaFree(data); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void* data = nullptr;
  cudaError_t error = cudaSuccess;
};

gdn_status dequant(gdn_engine* handle, int64_t rows, int64_t cols, const void* tiles, float* out) {
  Engine* engine = of(handle);
  if (engine == nullptr) return GDN_INVALID_ARGUMENT;
  if (tiles == nullptr || out == nullptr) {
    return refuse(engine, GDN_INVALID_ARGUMENT, "an array is null");
  }
  if (rows < 4 || rows % 4 != 0 || cols < 32 || cols % 32 != 0) {
    return refuse(engine, GDN_INVALID_ARGUMENT, "expected rows in fours and columns of 32");
  }
  const auto bytes = static_cast<size_t>(rows * (cols / 32) * 18);
  const auto floats = static_cast<size_t>(rows * cols) * sizeof(float);
  const Memory from(bytes);
  const Memory to(floats);
  if (from.error != cudaSuccess || to.error != cudaSuccess) {
    return refuse(engine, GDN_OUT_OF_MEMORY, "no memory on the device");
  }
  const int64_t tile_rows = rows * (cols / 32);
  cudaMemcpy(from.data, tiles, bytes, cudaMemcpyHostToDevice);
  decode_rows<<<static_cast<unsigned>((tile_rows + 255) / 256), 256>>>(
      static_cast<const uint8_t*>(from.data), cols, tile_rows, static_cast<float*>(to.data));
  cudaMemcpy(out, to.data, floats, cudaMemcpyDeviceToHost);
  // A fault of the kernel shows here at the latest.
  if (cudaDeviceSynchronize() == cudaSuccess) return GDN_OK;
  return refuse(engine, GDN_LOST, cudaGetErrorString(cudaGetLastError()));
}

gdn_status open(const gdn_shape* shape, const gdn_options* options, gdn_engine** handle) {
  open_error = "an argument is null";
  if (shape == nullptr || options == nullptr || handle == nullptr) return GDN_INVALID_ARGUMENT;
  int devices = 0;  // stays as it is where there is no driver
  open_error = "there is no CUDA device here";
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return GDN_NOT_AVAILABLE;
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
  return R"({"name": "only_dequant_cuda", "version": "1", "dialect": {}, "contract": {},
             "capabilities": {"calls": ["open", "close", "describe", "last_error", "dequant"]}})";
}

}  // namespace

extern "C" const gdn_api* gdn_engine_api() {
  static const gdn_api api = [] {
    gdn_api table = {};
    table.abi_version = GDN_ABI_VERSION;
    table.struct_size = sizeof table;
    table.name = "only_dequant_cuda";
    table.open = open;
    table.close = close;
    table.describe = describe;
    table.last_error = last_error;
    table.dequant = dequant;
    return table;
  }();
  return &api;
}
