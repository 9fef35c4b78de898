// What mutants are made of. A numeric mutant is the twin with one entry of its operators replaced,
// twin_with. A host-state mutant is the twin's table of calls with one wrapped; it forwards
// everything and reaches state through public calls alone.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "device/engines/registry.h"
#include "device/gdn.h"
#include "device/twin/engine.h"
#include "device/twin/formats.h"

namespace gdn::mutants {

// The twin's calls with `entry` of its operators replaced by `wrong`.
template <auto entry, auto wrong>
const gdn_api& twin_with(const char* name) {
  static const twin::TwinOperators operators = [] {
    twin::TwinOperators table = twin::twin_operators;
    table.*entry = wrong;
    return table;
  }();
  static const gdn_api api = twin::twin_api(
      name, [](const gdn_shape* shape, const gdn_options* options, gdn_engine** engine) {
        return twin::twin_open(operators, shape, options, engine);
      });
  return api;
}

// The twin's calls with `decode` for its decoder of 4-bit tiles: what dequant gives, and what the
// projections multiply with.
template <auto decode>
const gdn_api& twin_decoding_with(const char* name) {
  static const twin::TwinOperators operators = [] {
    twin::TwinOperators table = twin::twin_operators;
    table.dequant = decode;
    table.project_q4 = [](const uint8_t* tiles, int64_t rows, int64_t cols, const float* x,
                          float* y) {
      std::vector<float> weights(static_cast<size_t>(rows * cols));
      decode(tiles, rows, cols, weights.data());
      twin::project_f32(weights.data(), rows, cols, x, y);
    };
    return table;
  }();
  static const gdn_api api = twin::twin_api(
      name, [](const gdn_shape* shape, const gdn_options* options, gdn_engine** engine) {
        return twin::twin_open(operators, shape, options, engine);
      });
  return api;
}

// The product of 4-bit tiles, with each f16 scale as what `read` makes of its bits.
template <auto read>
void project_misreading(const uint8_t* tiles, int64_t rows, int64_t cols, const float* x,
                        float* y) {
  const int64_t tile_count = rows / twin::tile_rows * (cols / twin::tile_cols);
  std::vector<uint8_t> misread(tiles, tiles + tile_count * twin::tile_bytes);
  for (auto tile = misread.begin(); tile != misread.end(); tile += twin::tile_bytes) {
    // A tile begins with the scales of its rows.
    for (int64_t m = 0; m < twin::tile_rows; ++m) {
      uint16_t scale = 0;
      std::memcpy(&scale, &tile[2 * m], sizeof scale);
      scale = read(scale);
      std::memcpy(&tile[2 * m], &scale, sizeof scale);
    }
  }
  twin::project_q4(misread.data(), rows, cols, x, y);
}

// The twin's calls where the product alone reads scales by a decoder of its own.
template <auto read>
const gdn_api& twin_multiplying_with(const char* name) {
  return twin_with<&twin::TwinOperators::project_q4, &project_misreading<read>>(name);
}

// A float32 projection whose running sum passes through `round` at each step.
template <auto round>
void project_summing_through(const float* w, int64_t rows, int64_t cols, const float* x, float* y) {
  for (int64_t r = 0; r < rows; ++r) {
    float sum = 0;
    for (int64_t c = 0; c < cols; ++c) sum = round(sum + w[r * cols + c] * x[c]);
    y[r] = sum;
  }
}

template <auto round>
const gdn_api& twin_summing_through(const char* name) {
  return twin_with<&twin::TwinOperators::project_f32, &project_summing_through<round>>(name);
}

// The right twin, as any caller sees it.
inline const gdn_api& right_twin() {
  static const gdn_api api = twin::twin_api(
      "twin", [](const gdn_shape* shape, const gdn_options* options, gdn_engine** engine) {
        return twin::twin_open(twin::twin_operators, shape, options, engine);
      });
  return api;
}

// The exported state of a layer; empty where there is no such layer.
inline std::vector<uint8_t> exported(gdn_engine* engine, int64_t layer) {
  uint64_t bytes = 0;
  if (right_twin().state_export(engine, layer, nullptr, 0, &bytes) != GDN_OK) return {};
  std::vector<uint8_t> state(bytes);
  right_twin().state_export(engine, layer, state.data(), bytes, &bytes);
  return state;
}

// Every layer's exported state, or that of one.
inline std::vector<std::vector<uint8_t>> exported_layers(gdn_engine* engine) {
  std::vector<std::vector<uint8_t>> states;
  for (int64_t layer = 0;; ++layer) {
    states.push_back(exported(engine, layer));
    if (states.back().empty()) break;
  }
  states.pop_back();
  return states;
}

// Elements of a tensor of a layer.
inline int64_t count_of(gdn_engine* engine, gdn_tensor tensor) {
  int64_t count = 0;
  right_twin().read(engine, 0, tensor, nullptr, 0, &count);
  return count;
}

// Puts the history of `before` back into a layer; S stays as it is now.
inline void restore_history(gdn_engine* engine, int64_t layer, const std::vector<uint8_t>& before) {
  std::vector<uint8_t> now = exported(engine, layer);
  const auto bytes = static_cast<size_t>(count_of(engine, GDN_HIST)) * sizeof(float);
  if (bytes == 0) return;
  std::memcpy(now.data() + now.size() - bytes, before.data() + before.size() - bytes, bytes);
  right_twin().state_import(engine, layer, now.data(), now.size());
}

// Puts S of `before` back into a layer; the history stays as it is now.
inline void restore_state(gdn_engine* engine, int64_t layer, const std::vector<uint8_t>& before) {
  std::vector<uint8_t> now = exported(engine, layer);
  const auto bytes = static_cast<size_t>(count_of(engine, GDN_S)) * sizeof(float);
  const auto after = static_cast<size_t>(count_of(engine, GDN_HIST)) * sizeof(float);
  const size_t begin = now.size() - after - bytes;
  std::memcpy(now.data() + begin, before.data() + begin, bytes);
  right_twin().state_import(engine, layer, now.data(), now.size());
}

// reset and rollback of the twin that put a part back as it was: restore_history or restore_state.
template <auto restore>
gdn_status reset_but(gdn_engine* engine, int64_t layer_or_all) {
  const auto before =
      engine == nullptr ? std::vector<std::vector<uint8_t>>{} : exported_layers(engine);
  const gdn_status status = right_twin().reset(engine, layer_or_all);
  if (status != GDN_OK) return status;
  for (size_t layer = 0; layer < before.size(); ++layer) {
    const auto index = static_cast<int64_t>(layer);
    if (layer_or_all != GDN_ALL_LAYERS && layer_or_all != index) continue;
    restore(engine, index, before[layer]);
  }
  return status;
}

template <auto restore>
gdn_status rollback_but(gdn_engine* engine, uint64_t id) {
  if (engine == nullptr) return right_twin().rollback(engine, id);
  const auto before = exported_layers(engine);
  const gdn_status status = right_twin().rollback(engine, id);
  if (status != GDN_OK) return status;
  for (size_t layer = 0; layer < before.size(); ++layer) {
    restore(engine, static_cast<int64_t>(layer), before[layer]);
  }
  return status;
}

}  // namespace gdn::mutants
