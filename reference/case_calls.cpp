// The calls of a case that are always the same: set-up, one step a token, and whose token is next.
#include <algorithm>

#include "reference/case.h"
#include "reference/formats.h"

namespace gdn {
Call call_of(CallKind kind, std::map<Argument, int64_t> given, std::set<std::string> omit) {
  Call call;
  call.kind = kind;
  call.given = std::move(given);
  call.omit = std::move(omit);
  return call;
}

std::vector<Call> Case::calls_made() const {
  if (!calls.empty() || subject == Subject::layer) return calls;
  if (subject == Subject::dequant) return {call_of(CallKind::dequant, {})};
  if (subject != Subject::recurrent) return {call_of(CallKind::apply, {})};
  return {call_of(CallKind::recurrent, {{Argument::tokens, tokens}})};
}

int64_t StreamPositions::first_of(const Call& call) {
  // forward has a stream position of its own; no layer has this number.
  constexpr int64_t all_layers = INT64_MIN;
  const bool whole_stack = call.kind == CallKind::forward || call.kind == CallKind::recurrent;
  if (call.kind != CallKind::step && call.kind != CallKind::run && !whole_stack) return 0;
  if (call.at(Argument::h_id) >= 0) return 0;
  int64_t& position = next_[whole_stack ? all_layers : call.at(Argument::layer)];
  const int64_t given = call.at(Argument::first_token);
  const int64_t first = given >= 0 ? given : position;
  const int64_t tokens = call.kind == CallKind::step ? 1 : call.at(Argument::tokens);
  position = first + std::max<int64_t>(0, tokens);
  return first;
}

std::vector<int64_t> first_tokens(const Case& c) {
  StreamPositions positions;
  std::vector<int64_t> first;
  for (const Call& call : c.calls) first.push_back(positions.first_of(call));
  return first;
}

Case beside_the_layers(const Case& c, const Call& call) {
  if (c.subject != Subject::layer) return c;
  Case beside = c.with_calls({});
  beside.numbers.clear();
  beside.weights = Weights::f32;
  beside.tokens = 0;
  switch (call.kind) {
    case CallKind::dequant:
      beside.subject = Subject::dequant;
      beside.rows = q4_tile_rows;
      beside.cols = q4_block_weights;
      return beside;
    case CallKind::recurrent:
      beside.subject = Subject::recurrent;
      beside.tokens = c.tokens;
      return beside;
    default:
      break;
  }
  // A number that no operator has comes with arrays that one of them takes.
  const int64_t op = call.at(Argument::op);
  const bool known = op >= 0 && op <= static_cast<int64_t>(Operator::out_proj);
  beside.subject = known ? static_cast<Subject>(op + 1) : Subject::gates;
  if (beside.subject == Subject::in_proj) {
    beside.rows = c.shape.conv_dim();
    beside.cols = c.shape.hidden_size;
  }
  if (beside.subject == Subject::out_proj) {
    beside.rows = c.shape.hidden_size;
    beside.cols = c.shape.v_dim();
  }
  return beside;
}

std::vector<Call> setup_calls(const Case& c) {
  std::vector<Call> calls;
  const bool q4 = c.weights == Weights::q4;
  for (int64_t layer = 0; layer < c.shape.num_layers; ++layer) {
    Call load = call_of(CallKind::load_layer_f32, {});
    if (layer > 0) load.given[Argument::layer] = layer;
    if (q4) load.omit = {"qkv", "z", "out"};
    calls.push_back(std::move(load));
  }
  if (!q4) return calls;
  calls.push_back(call_of(CallKind::pool_init, {}));
  for (int64_t layer = 0; layer < c.shape.num_layers; ++layer) {
    for (int64_t matrix = 0; matrix < 3; ++matrix) {
      calls.push_back(
          call_of(CallKind::pool_put, {{Argument::weights, layer}, {Argument::matrix, matrix}}));
    }
    calls.push_back(call_of(CallKind::bind_q4, {{Argument::layer, layer}}));
  }
  return calls;
}

std::vector<Call> stepped_calls(const Case& c) {
  std::vector<Call> calls = setup_calls(c);
  for (int64_t t = 0; t < c.tokens; ++t) {
    Call step = call_of(CallKind::step, {});
    step.reads = every_tensor();
    calls.push_back(std::move(step));
  }
  return calls;
}

}  // namespace gdn
