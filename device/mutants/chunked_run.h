// What mutants of the chunked form are made of: the twin, whose run leaves the state that chunks
// of 64 tokens give. Per v-head, with P_t the decay up to token t and D_ts that from s to t:
//   d_t = beta_t (v_t - P_t S^T k_t) - sum over s < t of beta_t D_ts (k_t . k_s) d_s
//   S  <- P_n S + sum over s of D_ns k_s d_s^T
#pragma once

#include <algorithm>
#include <cmath>

#include "device/mutants/mutant.h"

namespace gdn::mutants {

inline constexpr int64_t chunk_tokens = 64;

// One head of one chunk. rows[t] holds beta_t times the decayed error and becomes d_t.
struct Chunk {
  int64_t tokens, kd, vd;
  std::vector<float> log_decay;  // up to each token, itself included
  std::vector<float> weights;    // [tokens][tokens], strictly lower: beta_t D_ts (k_t . k_s)
  std::vector<float> rows;       // [tokens][vd]
};
using DecayBetween = float (*)(float log_to_later, float log_to_earlier);
using Solve = void (*)(Chunk& chunk);

inline float right_decay_between(float later, float earlier) { return std::exp(later - earlier); }

inline void solve_by_substitution(Chunk& c) {
  for (int64_t t = 1; t < c.tokens; ++t) {
    for (int64_t s = 0; s < t; ++s) {
      const float weight = c.weights[static_cast<size_t>(t * c.tokens + s)];
      for (int64_t j = 0; j < c.vd; ++j) {
        c.rows[static_cast<size_t>(t * c.vd + j)] -=
            weight * c.rows[static_cast<size_t>(s * c.vd + j)];
      }
    }
  }
}

inline float product(const float* a, const float* b, int64_t count, int64_t b_stride) {
  float sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += a[i] * b[i * b_stride];
  return sum;
}

// What the recurrence was fed, token after token.
struct Fed {
  std::vector<float> k, v, beta, g;
};

inline bool append(gdn_engine* engine, int64_t layer, gdn_tensor tensor, std::vector<float>& to) {
  const int64_t count = count_of(engine, tensor);
  const size_t before = to.size();
  to.resize(before + static_cast<size_t>(count));
  return right_twin().read(engine, layer, tensor, to.data() + before, count, nullptr) == GDN_OK;
}

template <DecayBetween between, Solve solve>
void advance(const Fed& fed, int64_t first, int64_t tokens, int64_t kh, int64_t vh, int64_t head,
             int64_t kd, int64_t vd, float* S) {
  const auto key = [&](int64_t t) {
    return fed.k.data() + ((first + t) * kh + head / (vh / kh)) * kd;
  };
  Chunk c{tokens, kd, vd, {}, std::vector<float>(static_cast<size_t>(tokens * tokens)), {}};
  float log_decay = 0;
  for (int64_t t = 0; t < tokens; ++t) {
    const auto at = static_cast<size_t>((first + t) * vh + head);
    log_decay += fed.g[at];
    c.log_decay.push_back(log_decay);
    for (int64_t s = 0; s < t; ++s) {
      const float decay = between(log_decay, c.log_decay[static_cast<size_t>(s)]);
      c.weights[static_cast<size_t>(t * tokens + s)] =
          fed.beta[at] * decay * product(key(t), key(s), kd, 1);
    }
    const float* v = fed.v.data() + static_cast<int64_t>(at) * vd;
    for (int64_t j = 0; j < vd; ++j) {
      const float held = std::exp(log_decay) * product(key(t), S + j, kd, vd);
      c.rows.push_back(fed.beta[at] * (v[j] - held));
    }
  }
  solve(c);
  for (int64_t i = 0; i < kd * vd; ++i) S[i] *= std::exp(log_decay);
  for (int64_t t = 0; t < tokens; ++t) {
    const float decay = between(log_decay, c.log_decay[static_cast<size_t>(t)]);
    for (int64_t i = 0; i < kd * vd; ++i) {
      S[i] += decay * key(t)[i / vd] * c.rows[static_cast<size_t>(t * vd + i % vd)];
    }
  }
}

inline void put_state(gdn_engine* engine, int64_t layer, const std::vector<float>& S) {
  std::vector<uint8_t> state = exported(engine, layer);
  const auto after = static_cast<size_t>(count_of(engine, GDN_HIST)) * sizeof(float);
  const size_t bytes = S.size() * sizeof(float);
  std::memcpy(state.data() + state.size() - after - bytes, S.data(), bytes);
  right_twin().state_import(engine, layer, state.data(), state.size());
}

// A right engine where less than two tokens come, or where nothing is observed.
template <DecayBetween between, Solve solve>
gdn_status chunked_run(gdn_engine* engine, int64_t layer, int64_t T, const float* h, float* out) {
  std::vector<float> S;
  const bool is_plain = engine == nullptr || T < 2 || h == nullptr || out == nullptr ||
                        !append(engine, layer, GDN_S, S);
  if (is_plain) return right_twin().run(engine, layer, T, h, out);
  const int64_t hidden = count_of(engine, GDN_OUT);
  Fed fed;
  bool seen = true;
  for (int64_t t = 0; t < T; ++t) {
    const gdn_status status = right_twin().run(engine, layer, 1, h + t * hidden, out + t * hidden);
    if (status != GDN_OK) return status;
    seen = seen && append(engine, layer, GDN_K, fed.k) && append(engine, layer, GDN_V, fed.v) &&
           append(engine, layer, GDN_BETA, fed.beta) && append(engine, layer, GDN_G, fed.g);
  }
  if (!seen) return GDN_OK;
  const int64_t vh = count_of(engine, GDN_BETA);
  const int64_t vd = count_of(engine, GDN_V) / vh;
  const int64_t kd = static_cast<int64_t>(S.size()) / (vh * vd);
  const int64_t kh = count_of(engine, GDN_K) / kd;
  for (int64_t first = 0; first < T; first += chunk_tokens) {
    const int64_t tokens = std::min(chunk_tokens, T - first);
    for (int64_t head = 0; head < vh; ++head) {
      advance<between, solve>(fed, first, tokens, kh, vh, head, kd, vd, S.data() + head * kd * vd);
    }
  }
  put_state(engine, layer, S);
  return GDN_OK;
}

template <DecayBetween between, Solve solve>
gdn_api chunked_twin(const char* name) {
  gdn_api table = right_twin();
  table.name = name;
  table.run = chunked_run<between, solve>;
  return table;
}

}  // namespace gdn::mutants
