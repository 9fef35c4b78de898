// Lists of calls for a stack of layers: a stream in pieces, or a life in which layers are fed in
// turns, taken back, moved and rebuilt, and wrong calls are refused.
#include <algorithm>
#include <array>

#include "invariants/harness/life.h"
#include "invariants/harness/regimes_parts.h"

namespace gdn {
namespace {

constexpr std::array after_token = {Tensor::OUT, Tensor::S, Tensor::HIST};
constexpr std::array after_move = {Tensor::S, Tensor::HIST};

template <size_t count>
Call call_of(CallKind kind, std::map<Argument, int64_t> given,
             const std::array<Tensor, count>& reads) {
  Call call = gdn::call_of(kind, std::move(given));
  call.reads = {reads.begin(), reads.end()};
  return call;
}

// What is left of the stream in each piece goes through `run`, single tokens through `step` too.
std::vector<Call> pieces(const Case& c, Rng& rng) {
  std::vector<Call> calls = setup_calls(c);
  const int64_t layer = rng.range(0, c.shape.num_layers - 1);
  constexpr int64_t chunks[] = {1, 31, 32, 33, 64};
  const int64_t chunk = in_100(rng, 50) ? one_of(rng, chunks) : rng.range(1, c.tokens);
  for (int64_t left = c.tokens; left > 0;) {
    const bool whole_chunk = left > chunk && in_100(rng, 70);
    const bool last = calls.size() > 24;
    const int64_t tokens = last ? left : std::min(left, whole_chunk ? chunk : rng.range(0, left));
    const bool step = tokens == 1 && in_100(rng, 50);
    Call call = call_of(step ? CallKind::step : CallKind::run, {{Argument::layer, layer}});
    if (!step) call.given[Argument::tokens] = tokens;
    // An empty run before a first token leaves nothing but the state to be read.
    const bool fed = tokens > 0;
    call.reads = {Tensor::S, Tensor::HIST};
    if (fed) call.reads.insert(Tensor::OUT);
    calls.push_back(std::move(call));
    left -= tokens;
  }
  return calls;
}

class LifeOfLayers {
 public:
  LifeOfLayers(const Case& c, Rng& rng) : c_(c), rng_(rng), calls_(setup_calls(c)) {}

  std::vector<Call> live() && {
    for (int64_t left = rng_.range(3, 10); left > 0; --left) one();
    return std::move(calls_);
  }

 private:
  int64_t layer() { return rng_.range(0, c_.shape.num_layers - 1); }
  int64_t layer_or_all() { return in_100(rng_, 40) ? -1 : layer(); }
  // Of a stream that calls read wherever they like: positions are explicit.
  int64_t first_of(int64_t tokens) { return rng_.range(0, c_.tokens - tokens); }

  void add(Call call) { calls_.push_back(std::move(call)); }

  void one() {
    const int64_t of_100 = rng_.range(1, 100);
    if (of_100 <= 40) return feed();
    if (of_100 <= 48)
      return add(call_of(CallKind::reset, {{Argument::layer, layer_or_all()}}, after_move));
    if (of_100 <= 62) return take_back();
    if (of_100 <= 72) return move();
    if (of_100 <= 80) return rebuild();
    if (of_100 <= 86) return beside();
    refuse();
  }

  void feed() {
    const int64_t tokens = rng_.range(1, std::min<int64_t>(3, c_.tokens));
    const int64_t which = rng_.range(1, 10);
    Call call = call_of(CallKind::step, {}, after_token);
    const bool whole_stack = which > 8;
    if (which > 5) {
      call.kind = whole_stack ? CallKind::forward : CallKind::run;
      call.given[Argument::tokens] = tokens;
    }
    if (!whole_stack) call.given[Argument::layer] = layer();
    if (last_out_ > 0 && tokens == last_tokens_ && which > 5 && in_100(rng_, 30)) {
      call.given[Argument::h_id] = last_out_;
    } else {
      call.given[Argument::first_token] = first_of(which > 5 ? tokens : 1);
    }
    if (in_100(rng_, 15)) {
      last_out_ = call.given[Argument::out_id] = 1 + last_out_;
      last_tokens_ = which > 5 ? tokens : 1;
    }
    add(std::move(call));
  }

  // A snapshot, drafts after it, and back: the whole stack or one layer.
  void take_back() {
    const int64_t id = ++snapshots_;
    const int64_t whose = layer_or_all();
    add(call_of(CallKind::snapshot, {{Argument::layer, whose}, {Argument::id, id}}));
    for (int64_t drafts = rng_.range(0, 2); drafts > 0; --drafts) feed();
    if (in_100(rng_, 15)) return;
    const int64_t back_to = in_100(rng_, 80) ? id : rng_.range(1, id);
    add(call_of(CallKind::rollback,
                {{Argument::id, back_to}, {Argument::read_layer, std::max<int64_t>(0, whose)}},
                after_move));
  }

  // A state goes to another layer, or comes back to its own after more tokens.
  void move() {
    const int64_t id = ++exports_;
    add(call_of(CallKind::state_export, {{Argument::layer, layer()}, {Argument::id, id}}));
    if (in_100(rng_, 50)) feed();
    add(call_of(CallKind::state_import, {{Argument::layer, layer()}, {Argument::id, id}},
                after_move));
  }

  // Weights go and come back; of a pool, in a new one and under the same keys.
  void rebuild() {
    const bool q4 = c_.weights == Weights::q4;
    if (!q4 || in_100(rng_, 40)) {
      const int64_t whose = layer();
      add(call_of(CallKind::unload_layer, {{Argument::layer, whose}}, after_move));
      if (in_100(rng_, 25)) return;
      Call load = call_of(CallKind::load_layer_f32, {{Argument::layer, whose}});
      if (in_100(rng_, 30)) load.given[Argument::weights] = layer();
      if (q4) load.omit = {"qkv", "z", "out"};
      add(std::move(load));
      if (q4) add(call_of(CallKind::bind_q4, {{Argument::layer, whose}}));
      return;
    }
    add(call_of(in_100(rng_, 50) ? CallKind::pool_init : CallKind::pool_clear));
    const int64_t whose = layer();
    const int64_t weights = layer();
    for (int64_t matrix = 0; matrix < 3; ++matrix) {
      add(call_of(CallKind::pool_put, {{Argument::weights, weights},
                                       {Argument::matrix, matrix},
                                       {Argument::key, 1 + 3 * whose + matrix}}));
    }
    if (in_100(rng_, 80)) add(call_of(CallKind::bind_q4, {{Argument::layer, whose}}));
  }

  // An operator, the decoder, the recurrence or a buffer, which leave no trace in a layer.
  void beside() {
    const int64_t which = rng_.range(1, 10);
    if (which <= 5) {
      const auto last = static_cast<int64_t>(Operator::out_proj);
      return add(call_of(CallKind::apply, {{Argument::op, rng_.range(0, last)}}));
    }
    if (which <= 7) {
      return add(call_of(CallKind::dequant,
                         {{Argument::rows, 4 * rng_.range(1, 2)}, {Argument::cols, 32}}));
    }
    if (which == 8) {
      const int64_t tokens = rng_.range(0, std::min<int64_t>(3, c_.tokens));
      return add(call_of(CallKind::recurrent,
                         {{Argument::first_token, first_of(tokens)}, {Argument::tokens, tokens}}));
    }
    const int64_t buffer = ++buffers_;
    add(call_of(CallKind::buffer_create, {{Argument::buffer, buffer}, {Argument::bytes, 64}}));
    add(call_of(CallKind::buffer_write,
                {{Argument::buffer, buffer}, {Argument::offset, 8}, {Argument::bytes, 16}}));
    add(call_of(CallKind::buffer_read,
                {{Argument::buffer, buffer}, {Argument::offset, 8}, {Argument::bytes, 16}}));
    add(call_of(CallKind::buffer_release, {{Argument::buffer, buffer}}));
  }

  // One wrong argument each; nothing can be read after a call on a layer that there is not.
  void refuse() {
    const int64_t whose = layer();
    const int64_t beyond = in_100(rng_, 50) ? c_.shape.num_layers : -2;
    const Call wrong[] = {
        call_of(CallKind::step, {{Argument::layer, beyond}, {Argument::first_token, 0}}),
        without("h", call_of(CallKind::step, {{Argument::layer, whose}, {Argument::first_token, 0}},
                             after_move)),
        without("out", call_of(CallKind::run,
                               {{Argument::layer, whose}, {Argument::first_token, 0}}, after_move)),
        call_of(CallKind::run,
                {{Argument::layer, whose}, {Argument::tokens, -1}, {Argument::first_token, 0}},
                after_move),
        without("h", call_of(CallKind::forward, {{Argument::first_token, 0}}, after_move)),
        call_of(CallKind::reset, {{Argument::layer, beyond}}),
        call_of(CallKind::read, {{Argument::layer, whose}, {Argument::tensor, 99}}),
        call_of(CallKind::read, {{Argument::layer, whose}, {Argument::capacity, 0}}),
        call_of(CallKind::rollback, {{Argument::id, 900'000}}, after_move),
        call_of(CallKind::state_export,
                {{Argument::layer, whose}, {Argument::id, 900'000}, {Argument::capacity, 8}},
                after_move),
        call_of(CallKind::state_import, {{Argument::layer, whose}, {Argument::id, 900'001}},
                after_move),
        call_of(CallKind::load_layer_f32, {{Argument::layer, whose}}, after_move),
        call_of(CallKind::bind_q4, {{Argument::layer, whose}, {Argument::key_z, 900'000}},
                after_move),
        call_of(CallKind::pool_put, {{Argument::key, 900'000}, {Argument::rows, 3}}, after_move),
        call_of(CallKind::pool_get, {{Argument::key, 900'001}}, after_move),
        call_of(CallKind::unload_layer, {{Argument::layer, beyond}}),
        call_of(CallKind::buffer_release, {{Argument::buffer, 900'000}}),
        call_of(CallKind::apply, {{Argument::op, 1}, {Argument::count_off, -1}}),
        call_of(CallKind::dequant, {{Argument::rows, 3}}),
    };
    add(one_of(rng_, wrong));
  }

  static Call without(const char* pointer, Call call) {
    call.omit = {pointer};
    return call;
  }

  const Case& c_;
  Rng& rng_;
  std::vector<Call> calls_;
  int64_t last_out_ = 0, last_tokens_ = 0;
  int64_t snapshots_ = 0, exports_ = 0, buffers_ = 0;
};

}  // namespace

void give_calls(Case& c, Rng& rng) {
  const bool cut = c.tokens > 8 || in_100(rng, 30);
  c.calls = cut ? pieces(c, rng) : LifeOfLayers(c, rng).live();
  // Before a first token there is no OUT to read.
  const Life life = live(c);
  for (size_t i = 0; i < c.calls.size(); ++i) {
    if (life.calls[i].refused) c.calls[i].reads.erase(Tensor::OUT);
  }
}

}  // namespace gdn
