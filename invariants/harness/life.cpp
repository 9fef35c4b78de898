// The model of layers and of what they are fed.
#include "invariants/harness/life.h"

#include <algorithm>
#include <string_view>

#include "reference/formats.h"
#include "reference/rng.h"

namespace gdn {
namespace {

uint64_t hashed(uint64_t hash, int64_t number) {
  return mix64(hash ^ static_cast<uint64_t>(number)) + 0x9E3779B97F4A7C15U;
}

uint64_t hashed(uint64_t hash, const WeightsUsed& weights) {
  hash = hashed(hashed(hash, weights.small), weights.from_pool);
  for (const MatrixUsed& m : weights.large) {
    for (const int64_t number : {m.weights, m.matrix, m.rows, m.cols}) hash = hashed(hash, number);
  }
  return hash;
}

// The arrays of an operator by the ABI's names, those of no elements left out.
std::vector<std::string_view> arrays_of(Subject subject, const Shape& shape) {
  switch (subject) {
    case Subject::in_proj:
    case Subject::out_proj:
      return {"x", "weight", "y"};
    case Subject::conv:
      if (shape.conv_kernel == 1) return {"x", "weight", "y"};
      return {"x", "hist", "weight", "y"};
    case Subject::qk_norm:
      return {"q", "k"};
    case Subject::delta_rule:
      return {"q", "k", "v", "g", "beta", "S", "o"};
    case Subject::gated_norm:
      return {"o", "z", "weight", "y"};
    default:
      return {"a", "b", "A_log", "dt_bias", "beta", "g"};
  }
}

}  // namespace

int64_t MatrixUsed::bytes() const { return q4_bytes(rows, cols); }

LifeModel::LifeModel(const Case& c, int64_t snapshots_max, bool observes)
    : case_(&c),
      snapshots_max_(snapshots_max),
      observes_(observes),
      layers_(static_cast<size_t>(c.shape.num_layers)) {}

CallLife LifeModel::next(const Call& call) {
  now_ = {};
  now_.first_token = positions_.first_of(call);
  one(call, now_.first_token);
  ++calls_made_;
  const int64_t asked = call.at(Argument::read_layer);
  const int64_t own = takes(call.kind, Argument::layer) ? call.at(Argument::layer) : 0;
  const int64_t read = asked >= 0 ? asked : std::max<int64_t>(0, own);
  if (is_layer(read)) {
    now_.read = at(read).place;
    now_.read_has_token = at(read).has_token;
  }
  return now_;
}

void LifeModel::one(const Call& call, int64_t first_token) {
  const int64_t out_id = call.at(Argument::out_id);
  const int64_t h_id = call.at(Argument::h_id);
  std::optional<std::vector<size_t>> h;
  if (outputs_.contains(h_id)) h = outputs_.at(h_id);
  if (out_id >= 0) {
    outputs_.erase(out_id);
    output_tokens_[out_id] =
        call.kind == CallKind::step ? 1 : std::max<int64_t>(0, call.at(Argument::tokens));
  }
  const int64_t layer = call.at(Argument::layer);
  const bool all_allowed = call.kind == CallKind::reset || call.kind == CallKind::snapshot;
  const bool names_one = takes(call.kind, Argument::layer) && !(all_allowed && layer == -1);
  if (names_one && !is_layer(layer)) {
    now_.refused = true;
    return;
  }
  switch (call.kind) {
    case CallKind::load_layer_f32:
      return load(call, at(layer));
    case CallKind::unload_layer:
      at(layer) = {};
      return forget_snapshots(layer);
    case CallKind::reset:
      return reset(layer);
    case CallKind::read:
      return read(call, at(layer));
    case CallKind::step:
    case CallKind::run:
    case CallKind::forward:
      feed(call, first_token, h ? &*h : nullptr);
      if (!now_.refused && out_id >= 0) outputs_[out_id] = now_.tokens;
      return;
    case CallKind::state_export:
      return export_state(call, at(layer));
    case CallKind::state_import:
      return import_state(call, layer);
    case CallKind::snapshot:
      return snapshot(call, layer);
    case CallKind::rollback:
      return rollback(call);
    case CallKind::apply:
    case CallKind::dequant:
      now_.refused = is_refused_beside(call);
      return;
    case CallKind::recurrent:
      now_.refused = call.at(Argument::tokens) < 0;
      return;
    default:
      return memory(call);
  }
}

void LifeModel::load(const Call& call, LayerLife& layer) {
  const auto is_null = [&call](const char* name) { return call.omit.contains(name); };
  const bool lacks_small = is_null("b") || is_null("a") || is_null("conv") || is_null("A_log") ||
                           is_null("dt_bias") || is_null("norm");
  const int omitted = is_null("qkv") + is_null("z") + is_null("out");
  // A case of 4-bit weights has no others to give.
  const bool none = case_->weights == Weights::q4 || omitted == 3;
  if (layer.loaded || lacks_small || (!none && omitted > 0)) {
    now_.refused = true;
    return;
  }
  const int64_t given = call.at(Argument::weights);
  layer.loaded = given >= 0 ? given : call.at(Argument::layer);
  layer.has_f32 = !none;
}

void LifeModel::reset(int64_t layer_or_all) {
  const bool all = layer_or_all < 0;
  for (int64_t l = all ? 0 : layer_or_all; l < (all ? case_->shape.num_layers : layer_or_all + 1);
       ++l) {
    at(l).place = 0;
    at(l).has_token = false;
    forget_snapshots(l);
  }
}

void LifeModel::read(const Call& call, const LayerLife& layer) {
  const int64_t number = call.at(Argument::tensor);
  const int64_t capacity = call.at(Argument::capacity);
  now_.refused = number < 0 || number >= tensor_count;
  if (now_.refused || capacity == -2) return;
  const Tensor tensor = static_cast<Tensor>(number);
  const bool is_state = tensor == Tensor::S || tensor == Tensor::HIST;
  const bool too_small = capacity >= 0 && capacity < element_count(tensor, case_->shape);
  now_.refused = too_small || (!is_state && !(observes_ && layer.has_token));
}

size_t LifeModel::give(LayerLife& layer, int64_t row, size_t out_of) {
  WeightsUsed weights{*layer.loaded, layer.bound.has_value(), {}};
  for (int64_t m = 0; m < 3; ++m) {
    const auto at = static_cast<size_t>(m);
    weights.large[at] = layer.bound ? (*layer.bound)[at] : own_matrix(*layer.loaded, m);
  }
  uint64_t hash = hashed(fed_[layer.place].history, weights);
  hash = out_of > 0 ? hashed(~hash, static_cast<int64_t>(fed_[out_of].history)) : hashed(hash, row);
  fed_.push_back({layer.place, weights, row, out_of, calls_made_, hash});
  layer.place = fed_.size() - 1;
  layer.has_token = true;
  return layer.place;
}

void LifeModel::feed(const Call& call, int64_t first_token, const std::vector<size_t>* h) {
  const bool whole_stack = call.kind == CallKind::forward;
  const int64_t tokens = call.kind == CallKind::step ? 1 : call.at(Argument::tokens);
  // A null pointer is refused where something would be read or written through it.
  const bool is_null = tokens > 0 && (call.omit.contains("h") || call.omit.contains("out"));
  const auto ready = [](const LayerLife& layer) { return layer.ready(); };
  const bool all_ready = whole_stack ? std::all_of(layers_.begin(), layers_.end(), ready)
                                     : at(call.at(Argument::layer)).ready();
  const bool has_h = call.at(Argument::h_id) < 0 || h != nullptr;
  now_.refused = tokens < 0 || is_null || !all_ready || !has_h;
  if (now_.refused) return;
  for (int64_t t = 0; t < tokens; ++t) {
    size_t out_of = h != nullptr ? (*h)[static_cast<size_t>(t)] : 0;
    if (!whole_stack) {
      out_of = give(at(call.at(Argument::layer)), first_token + t, out_of);
    } else {
      for (LayerLife& layer : layers_) out_of = give(layer, first_token + t, out_of);
    }
    now_.tokens.push_back(out_of);
  }
}

bool LifeModel::is_refused_beside(const Call& call) const {
  const auto omits = [&call](std::string_view name) {
    return call.omit.contains(std::string(name));
  };
  if (call.kind == CallKind::apply) {
    const int64_t op = call.at(Argument::op);
    if (op < -1 || op > static_cast<int64_t>(Operator::out_proj)) return true;
    const std::vector<std::string_view> arrays =
        arrays_of(beside_the_layers(*case_, call).subject, case_->shape);
    return call.at(Argument::count_off) != 0 || std::any_of(arrays.begin(), arrays.end(), omits);
  }
  const int64_t rows = call.at(Argument::rows) == -1 ? q4_tile_rows : call.at(Argument::rows);
  const int64_t cols = call.at(Argument::cols) == -1 ? q4_block_weights : call.at(Argument::cols);
  return omits("tiles") || omits("out") || !why_not_q4_tile(rows, cols).empty() ||
         rows > elements_max / cols;
}

Life live(const Case& c) {
  LifeModel model(c);
  Life life;
  for (const Call& call : c.calls) life.calls.push_back(model.next(call));
  life.fed = model.fed();
  return life;
}

}  // namespace gdn
