// The kernel `recurrent_packed` at batch 1 to 256 against the read+write ceiling of the same run.
#include "tests/bench/gpu_recurrent.h"

#include <vector>

#include "device/kernels/qk_norm.cuh"
#include "device/kernels/recurrent_packed.cuh"
#include "tests/bench/gpu_arrays.h"
#include "tests/bench/gpu_plain.cuh"
#include "tests/bench/gpu_timing.cuh"

namespace gdn::gpu {
namespace {

// As many states as the largest batch has: 768 MiB at the shape of Qwen3.5-27B, many times the L2
// cache, so that every launch of a graph finds its states cold.
constexpr int64_t pool_slots = 256;
constexpr int64_t batches[] = {1, 8, 64, pool_slots};

template <class T>
T* uploaded(const std::vector<T>& values) {
  T* const to = fresh<T>(values.size());
  require(cudaMemcpy(to, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
          "upload");
  // The copy may still be on its way, and graphs run on a stream that does not wait for it.
  require(cudaStreamSynchronize(cudaStreamLegacy), "upload");
  return to;
}

// Inputs of one token a slot, and which slot each has. Decays are linear and below 1, so that
// states stay numbers however often they are updated.
struct Pool {
  float *states, *q, *k, *v, *g, *beta, *o;

  explicit Pool(const Shape& s)
      : states(random_floats(pool_slots * s.state_count(), 901)),
        q(random_floats(pool_slots * s.k_dim(), 902, 0x1p-4F)),
        k(random_floats(pool_slots * s.k_dim(), 903, 0x1p-4F)),
        v(random_floats(pool_slots * s.v_dim(), 904)),
        g(random_floats(pool_slots * s.num_v_heads, 905, 0.9F)),
        beta(random_floats(pool_slots * s.num_v_heads, 906, 0.5F)),
        o(fresh<float>(static_cast<uint64_t>(pool_slots * s.v_dim()))) {}
  ~Pool() {
    for (float* const memory : {states, q, k, v, g, beta, o}) cudaFree(memory);
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
};

kernels::StatePool canonical(float* states, const Shape& s) {
  return {.bytes = {reinterpret_cast<uint8_t*>(states)},
          .offset = 0,
          .slot = s.state_count(),
          .head = s.head_k_dim * s.head_v_dim,
          .row = s.head_v_dim,
          .column = 1,
          .storage = kernels::Storage::f32};
}

// One token of each of `batch` sequences, in the slots that the tables name.
kernels::Recurrent batch_of(const Shape& s, const Pool& pool,
                            const kernels::RecurrentSequence* sequences, const int64_t* store,
                            int64_t batch) {
  return {.q = {pool.q},
          .k = {pool.k},
          .v = {pool.v},
          .g = {pool.g},
          .gk = {nullptr},
          .beta = {pool.beta},
          .o = {.bytes = {reinterpret_cast<uint8_t*>(pool.o)},
                .offset = 0,
                .s0 = s.v_dim(),
                .s1 = s.head_v_dim,
                .s2 = 1,
                .n0 = batch,
                .n1 = s.num_v_heads,
                .n2 = s.head_v_dim,
                .storage = kernels::Storage::f32},
          .o_factor = 1,
          .state = canonical(pool.states, s),
          .snapshots = canonical(nullptr, s),
          .work = {nullptr},
          .sequences = {sequences},
          .store = {store},
          .snapshots_kept = 0,
          .sequences_of_call = batch,
          .k_heads = s.num_k_heads,
          .kd = s.head_k_dim,
          .v_heads = s.num_v_heads,
          .vd = s.head_v_dim,
          .head_map_tiled = 0,
          .g_is_linear = 1,
          .packed = 1};
}

// Launches of `batch` sequences each until every slot had its token.
Times time_batches(const Shape& s, const Pool& pool, const Timer& timer, int repeats,
                   int64_t batch) {
  std::vector<kernels::RecurrentSequence> sequences;
  std::vector<int64_t> store;
  for (int64_t slot = 0; slot < pool_slots; ++slot) {
    const int64_t n = slot % batch;
    sequences.push_back({.first_token = n, .tokens = 1, .start = slot, .index = n});
    store.push_back(slot);
  }
  auto* const sequences_there = uploaded(sequences);
  auto* const store_there = uploaded(store);
  const int64_t heads = batch * s.num_v_heads;
  const unsigned threads = kernels::recurrent_packed_threads(s.head_v_dim);
  const LaunchShape shape =
      kernels::recurrent_packed_shape(heads, s.head_k_dim, s.head_v_dim, threads);
  const Times times = timer.time_graph(repeats, [&](cudaStream_t stream) {
    for (int64_t first = 0; first < pool_slots; first += batch) {
      const kernels::RecurrentPacked params = kernels::recurrent_packed_params(
          batch_of(s, pool, sequences_there + first, store_there + first, batch), heads, threads);
      require(launch<kernels::recurrent_packed>(stream, shape, params), "launch");
    }
  });
  require(cudaFree(sequences_there), "cudaFree");
  require(cudaFree(store_there), "cudaFree");
  return times;
}

Times time_ceiling(const Shape& s, const Pool& pool, const Timer& timer, int repeats,
                   int processors, int64_t batch) {
  const int64_t floats = batch * s.state_count();
  const auto count = static_cast<uint64_t>(floats) * sizeof(float) / sizeof(uint4);
  return time_plain<plain_read_and_write>(
      timer, repeats, processors, static_cast<size_t>(pool_slots / batch), [&](size_t i) {
        auto* const states = pool.states + static_cast<int64_t>(i) * floats;
        return PlainReadAndWrite{{reinterpret_cast<uint4*>(states)}, count};
      });
}

}  // namespace

double time_recurrent(const Shape& s, const Timer& timer, int repeats, int processors,
                      Findings& found) {
  const Pool pool(s);
  require(cudaDeviceSynchronize(), "filling");
  FiguresTable table{"recurrent: state traffic of one token a sequence, float32 states, " +
                         std::to_string(s.num_v_heads) + " heads of " +
                         std::to_string(s.head_k_dim) + " x " + std::to_string(s.head_v_dim),
                     {"batch", "MB of state, read and written", "µs a launch, median", "fastest",
                      "slowest", "GB/s", "plain read and write, GB/s", "of the plain one"},
                     {}};
  double of_one_state = 0;
  for (const int64_t batch : batches) {
    const Times kernel = time_batches(s, pool, timer, repeats, batch);
    const Times ceiling = time_ceiling(s, pool, timer, repeats, processors, batch);
    const auto launches = static_cast<double>(pool_slots / batch);
    if (batch == 1) of_one_state = ceiling.median / launches;
    const double bytes = 2.0 * sizeof(float) * static_cast<double>(batch * s.state_count());
    const auto speed = [&](const Times& t) { return bytes * launches / t.median * 1e-3; };
    table.rows.push_back({batch, bytes * 1e-6, kernel.median / launches, kernel.fastest / launches,
                          kernel.slowest / launches, speed(kernel), speed(ceiling),
                          speed(kernel) / speed(ceiling)});
  }
  found.tables.push_back(std::move(table));
  return of_one_state;
}

}  // namespace gdn::gpu
