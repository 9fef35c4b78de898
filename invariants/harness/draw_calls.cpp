// Each kind of call with its arguments: mostly what can be served, sometimes one too many, one
// short, absent or null.
#include "invariants/harness/draw_calls.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>

namespace gdn {
namespace {

using A = Argument;
using K = CallKind;

// How often each kind of call comes, of their sum.
struct Share {
  CallKind kind;
  int64_t parts;
};
constexpr Share shares[] = {
    {K::load_layer_f32, 6}, {K::unload_layer, 4}, {K::pool_init, 2},     {K::pool_put, 5},
    {K::pool_get, 4},       {K::pool_clear, 1},   {K::bind_q4, 5},       {K::step, 12},
    {K::run, 10},           {K::forward, 8},      {K::reset, 5},         {K::read, 6},
    {K::state_export, 6},   {K::state_import, 6}, {K::snapshot, 9},      {K::rollback, 8},
    {K::apply, 3},          {K::dequant, 2},      {K::recurrent, 2},     {K::buffer_create, 6},
    {K::buffer_write, 3},   {K::buffer_read, 3},  {K::buffer_release, 1}};
static_assert(std::size(shares) == call_kind_count);

bool one_in(Rng& rng, int64_t n) { return rng.range(1, n) == 1; }

template <class T>
T any_of(Rng& rng, std::initializer_list<T> choices) {
  return *(choices.begin() + rng.range(0, static_cast<int64_t>(choices.size()) - 1));
}

class Draw {
 public:
  Draw(Rng& rng, const Case& c, const LifeModel& model) : rng_(rng), case_(c), model_(model) {}

  Call any() {
    int64_t parts = 0;
    for (const Share& share : shares) parts += share.parts;
    int64_t at = rng_.range(1, parts);
    const Share* share = shares;
    while (at > share->parts) at -= (share++)->parts;
    return of(share->kind);
  }

  // What the first layer that cannot run lacks.
  std::optional<Call> set_up() {
    for (size_t l = 0; l < model_.layers().size(); ++l) {
      const LayerLife& layer = model_.layers()[l];
      if (layer.ready()) continue;
      const auto own = static_cast<int64_t>(l);
      call_ = {};
      if (!layer.loaded) {
        call_.kind = K::load_layer_f32;
        call_.given[A::layer] = own;
        if (case_.weights == Weights::q4) call_.omit = {"qkv", "z", "out"};
        return call_;
      }
      for (int64_t matrix = 0; matrix < 3; ++matrix) {
        if (model_.pool().contains(LifeModel::own_key(own, matrix))) continue;
        call_.kind = model_.pool().empty() && one_in(rng_, 2) ? K::pool_init : K::pool_put;
        if (call_.kind == K::pool_put) call_.given = {{A::weights, own}, {A::matrix, matrix}};
        return call_;
      }
      // A layer that was bound to an older pool: does it know?
      call_.kind = one_in(rng_, 3) ? K::step : K::bind_q4;
      call_.given[A::layer] = own;
      if (call_.kind == K::step) call_.given[A::first_token] = rng_.range(0, case_.tokens - 1);
      return call_;
    }
    return std::nullopt;
  }

 private:
  Call of(CallKind kind) {
    call_ = {};
    call_.kind = kind;
    if (takes(kind, A::layer)) call_.given[A::layer] = layer();
    switch (kind) {
      case K::load_layer_f32:
        load();
        break;
      case K::step:
      case K::run:
      case K::forward:
      case K::recurrent:
        feed();
        break;
      case K::reset:
      case K::snapshot:
        if (one_in(rng_, 3)) call_.given[A::layer] = -1;
        if (kind == K::snapshot) call_.given[A::id] = rng_.range(0, 3);
        if (kind == K::snapshot && one_in(rng_, 12)) call_.omit = {"id"};
        break;
      case K::rollback:
        call_.given[A::id] = rng_.range(0, 3);
        if (!one_in(rng_, 3)) call_.given[A::id] = one_of(model_.snapshot_ids(), 0);
        break;
      case K::read:
        call_.given[A::tensor] = any_of<int64_t>(
            rng_, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 13, 14, 14, 15, -1, 1000});
        call_.given[A::capacity] = capacity(read_count());
        break;
      case K::state_export:
      case K::state_import:
        move_state();
        break;
      case K::apply:
        call_.given[A::op] = any_of<int64_t>(rng_, {0, 1, 2, 3, 4, 5, 6, 7, -1, -2, 1000});
        if (one_in(rng_, 4)) call_.given[A::count_off] = any_of<int64_t>(rng_, {-1, 1});
        if (one_in(rng_, 4)) call_.omit = {any_of<std::string>(rng_, {"x", "y", "q", "S", "hist"})};
        break;
      default:
        memory();
        break;
    }
    return call_;
  }

  int64_t layer() {
    const int64_t layers = case_.shape.num_layers;
    if (one_in(rng_, 14)) return any_of<int64_t>(rng_, {-2, -1, layers, layers + 1, 1'000'000});
    return rng_.range(0, layers - 1);
  }

  template <class Map>
  int64_t one_of(const Map& map, int64_t if_none) {
    if (map.empty()) return if_none;
    return std::next(map.begin(), rng_.range(0, static_cast<int64_t>(map.size()) - 1))->first;
  }

  // Around what is needed.
  int64_t capacity(int64_t needed) {
    return std::clamp<int64_t>(any_of<int64_t>(rng_, {-1, -1, -2, needed, needed - 1, needed + 1}),
                               -2, elements_max);
  }
  int64_t read_count() const {
    const int64_t tensor = call_.at(A::tensor);
    const bool known = tensor >= 0 && tensor < tensor_count;
    return known ? element_count(static_cast<Tensor>(tensor), case_.shape) : 4;
  }

  void load() {
    const bool q4 = case_.weights == Weights::q4;
    if (one_in(rng_, 2)) call_.given[A::weights] = rng_.range(0, case_.shape.num_layers - 1);
    if (q4 || one_in(rng_, 6)) call_.omit = {"qkv", "z", "out"};
    if (one_in(rng_, 8)) {
      call_.omit.insert(any_of<std::string>(
          rng_, {"qkv", "z", "out", "b", "a", "conv", "A_log", "dt_bias", "norm"}));
    }
  }

  void feed() {
    int64_t tokens = 1;
    if (call_.kind != K::step) {
      tokens = std::min(case_.tokens, any_of<int64_t>(rng_, {0, 1, 2, 3, 4, 5}));
      if (one_in(rng_, 16)) tokens = any_of<int64_t>(rng_, {-1, -1000});
      call_.given[A::tokens] = tokens;
    }
    call_.given[A::first_token] = rng_.range(0, case_.tokens - std::max<int64_t>(0, tokens));
    if (call_.kind == K::recurrent) return;
    if (one_in(rng_, 16)) call_.omit = {any_of<std::string>(rng_, {"h", "out"})};
    if (one_in(rng_, 4)) call_.given[A::out_id] = rng_.range(0, 2);
    if (!one_in(rng_, 4)) return;
    for (const auto& [id, count] : model_.output_tokens()) {
      if (count != std::max<int64_t>(0, tokens) || one_in(rng_, 2)) continue;
      call_.given[A::h_id] = id;
      call_.given.erase(A::first_token);
      return;
    }
  }

  void move_state() {
    call_.given[A::id] = rng_.range(0, 2);
    const bool imports = call_.kind == K::state_import;
    if (imports && !one_in(rng_, 4)) call_.given[A::id] = one_of(model_.exports(), 0);
    const int64_t needed = model_.exported_bytes();
    if (call_.kind == K::state_export) {
      call_.given[A::capacity] = capacity(needed);
      return;
    }
    if (one_in(rng_, 6)) {
      call_.given[A::bytes] = any_of<int64_t>(rng_, {0, 1, 55, 56, needed - 1, needed, needed + 1});
    }
    if (one_in(rng_, 12)) call_.omit = {"src"};
  }

  // A key that is in the pool, or a case's own, or nobody's.
  int64_t key() {
    if (!model_.pool().empty() && one_in(rng_, 2)) return one_of(model_.pool(), 0);
    return any_of<int64_t>(rng_, {-1, -1, 0, 2, 77, int64_t{1} << 62});
  }

  void memory() {
    // Bytes as they fit, and more than any machine has.
    const int64_t huge = int64_t{1} << 61;
    switch (call_.kind) {
      case K::pool_init:
        if (one_in(rng_, 3)) {
          call_.given[A::bytes] =
              any_of<int64_t>(rng_, {0, 71, model_.own_matrix(0, 0).bytes(), 1 << 16, huge});
        }
        return;
      case K::pool_put:
        call_.given[A::weights] = rng_.range(-1, case_.shape.num_layers - 1);
        call_.given[A::matrix] = rng_.range(0, 2);
        if (one_in(rng_, 2)) call_.given[A::key] = key();
        if (one_in(rng_, 6)) call_.given[A::rows] = any_of<int64_t>(rng_, {-4, 0, 3, 4, 64, huge});
        if (one_in(rng_, 6)) call_.given[A::cols] = any_of<int64_t>(rng_, {-32, 0, 31, 32, 64});
        if (one_in(rng_, 12)) call_.omit = {"tiles"};
        return;
      case K::pool_get:
        call_.given[A::key] = key();
        call_.given[A::capacity] = capacity(got_bytes());
        return;
      case K::bind_q4:
        for (const Argument which : {A::key_qkv, A::key_z, A::key_out}) {
          if (one_in(rng_, 3)) call_.given[which] = key();
        }
        return;
      case K::dequant:
        if (one_in(rng_, 3)) call_.given[A::rows] = any_of<int64_t>(rng_, {-4, 0, 3, 4, 8, huge});
        if (one_in(rng_, 3)) call_.given[A::cols] = any_of<int64_t>(rng_, {-32, 0, 31, 32, 64});
        if (one_in(rng_, 6)) call_.omit = {any_of<std::string>(rng_, {"tiles", "out"})};
        return;
      default:
        if (!takes(call_.kind, A::buffer)) return;
        call_.given[A::buffer] = rng_.range(0, 2);
        if (call_.kind != K::buffer_create && !one_in(rng_, 4)) {
          call_.given[A::buffer] = one_of(model_.buffers(), 0);
        }
        if (takes(call_.kind, A::bytes)) {
          call_.given[A::bytes] = any_of<int64_t>(rng_, {0, 1, 7, 64, 100});
        }
        if (takes(call_.kind, A::offset)) {
          call_.given[A::offset] = any_of<int64_t>(rng_, {0, 0, 1, 36, 100, huge});
        }
        if (call_.kind == K::buffer_create && one_in(rng_, 8)) call_.given[A::bytes] = huge;
        return;
    }
  }
  int64_t got_bytes() const {
    const auto found = model_.pool().find(model_.key_of(call_));
    return found == model_.pool().end() ? 72 : found->second.bytes();
  }

  Rng& rng_;
  const Case& case_;
  const LifeModel& model_;
  Call call_;
};

}  // namespace

Call draw_call(Rng& rng, const Case& c, const LifeModel& model) {
  Draw draw(rng, c, model);
  if (one_in(rng, 2)) {
    if (std::optional<Call> call = draw.set_up()) return *std::move(call);
  }
  return draw.any();
}

std::vector<Call> draw_calls(Rng rng, const Case& c, int64_t count) {
  LifeModel model(c);
  std::vector<Call> calls;
  for (int64_t i = 0; i < count; ++i) {
    calls.push_back(draw_call(rng, c, model));
    model.next(calls.back());
  }
  return calls;
}

bool may_follow(const Call& call, const Case& c, const LifeModel& model) {
  const int64_t tokens = call.kind == K::step ? 1 : std::max<int64_t>(0, call.at(A::tokens));
  const int64_t h_id = call.at(A::h_id);
  if (h_id < 0) {
    return !takes(call.kind, A::first_token) || call.at(A::first_token) + tokens <= c.tokens;
  }
  const auto found = model.output_tokens().find(h_id);
  return found != model.output_tokens().end() && found->second == tokens;
}

}  // namespace gdn
