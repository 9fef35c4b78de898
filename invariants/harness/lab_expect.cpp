// What a case should give: the reference asked about the sequences that its calls make.
#include <algorithm>

#include "invariants/harness/lab.h"
#include "invariants/harness/lab_runner.h"
#include "invariants/harness/life.h"
#include "invariants/harness/weights_used.h"
#include "reference/operators.h"
#include "reference/recurrence.h"
#include "reference/recurrent_call.h"

namespace gdn {
namespace {

// A sequence that a layer sees from a zero state on: rows of the case's stream, with one layer's
// own weights or the pool's.
struct Sequence {
  WeightsUsed weights;
  std::vector<int64_t> tokens;
  std::vector<int64_t> calls;  // how many came in each call; sums to the tokens
  std::vector<size_t> places;  // of the tokens
};

LayerInputs inputs_of(const Case& c, const Numbers& numbers, const Sequence& sequence) {
  LayerInputs inputs;
  inputs.shape = c.shape;
  inputs.dialect = c.dialect;
  inputs.weights = weights_used(numbers, sequence.weights, c.shape);
  for (const int64_t t : sequence.tokens) inputs.h.push_back(numbers.h[static_cast<size_t>(t)]);
  inputs.calls = sequence.calls;
  return inputs;
}

// The tokens up to a place; nothing where the model cannot say what they give: the weights changed
// on the way, or another call's output was fed, which no case spells out.
std::optional<Sequence> sequence_up_to(const Life& life, size_t place, const Case& c) {
  Sequence sequence;
  sequence.weights = life.fed[place].weights;
  if (!are_plain(sequence.weights, c)) return std::nullopt;
  size_t call = SIZE_MAX;
  for (size_t at = place; at > 0; at = life.fed[at].before) {
    const Fed& token = life.fed[at];
    if (token.out_of > 0 || !(token.weights == sequence.weights)) return std::nullopt;
    sequence.tokens.push_back(token.row);
    sequence.places.push_back(at);
    if (token.call != call) sequence.calls.push_back(0);
    ++sequence.calls.back();
    call = token.call;
  }
  std::reverse(sequence.tokens.begin(), sequence.tokens.end());
  std::reverse(sequence.places.begin(), sequence.places.end());
  std::reverse(sequence.calls.begin(), sequence.calls.end());
  return sequence;
}

// Of each token that was fed, empty where it cannot be said. Tokens come after those before them,
// so that from the last one back the longest sequences are worked out first.
std::vector<TokenExpectation> expect_fed(const Case& c, const Numbers& numbers, const Life& life,
                                         const Contract& contract) {
  std::vector<TokenExpectation> of(life.fed.size());
  for (size_t place = life.fed.size() - 1; place > 0; --place) {
    if (!of[place].empty()) continue;
    const std::optional<Sequence> sequence = sequence_up_to(life, place, c);
    if (!sequence) continue;
    std::vector<TokenExpectation> tokens =
        expect_global(inputs_of(c, numbers, *sequence), contract);
    for (size_t t = 0; t < tokens.size(); ++t) {
      TokenExpectation& want = of[sequence->places[t]];
      if (want.empty()) want = std::move(tokens[t]);
    }
  }
  return of;
}

Matrix matrix_of(const Case& c, const Numbers& numbers) {
  Matrix m;
  m.rows = c.rows;
  m.cols = c.cols;
  if (numbers.tiles.empty()) {
    m.f32 = numbers.arrays.at("weight").data();
  } else {
    m.tiles = numbers.tiles.data();
  }
  return m;
}

std::vector<float> part(const std::vector<float>& all, int64_t index, int64_t count) {
  if (all.empty()) return {};
  const auto begin = all.begin() + index * count;
  return std::vector<float>(begin, begin + count);
}

// The inputs of one token, q and k as they are given.
TokenInputs token_inputs(const RecurrentInputs& in, int64_t t) {
  const Shape& s = in.shape;
  const auto of = [t](const std::vector<float>& all, int64_t count) {
    return exactly(part(all, t, count));
  };
  TokenInputs inputs;
  inputs.q = of(in.q, s.k_dim());
  inputs.k = of(in.k, s.k_dim());
  inputs.v = of(in.v, s.v_dim());
  inputs.g = of(in.g, s.num_v_heads);
  const int64_t gk_count = in.dialect.decay == Dialect::Decay::second_scalar
                               ? s.num_v_heads
                               : s.num_v_heads * s.head_k_dim;
  inputs.gk = of(in.gk, gk_count);
  inputs.beta = of(in.beta, s.num_v_heads);
  return inputs;
}

// apply's delta rule takes q and k as the recurrence uses them, and judges S before o: o is what
// the engine's own S gives in a layer, but here S is an output, so that its bound is carried.
std::map<std::string, Bounded> expect_delta_rule(const Case& c, const Numbers& numbers,
                                                 const Contract& contract) {
  const RecurrentInputs in = recurrent_inputs(c, numbers);
  Dialect as_given = c.dialect;
  as_given.qk_norm = Dialect::QkNorm::none;
  if (as_given.scale_on == Dialect::ScaleOn::q) as_given.scale_on = Dialect::ScaleOn::none;
  as_given.gate_input = Dialect::GateInput::log_g;
  RunningRecurrence running(c.shape, as_given, contract, in.initial_state);
  std::map<std::string, Bounded> want;
  want["o"] = running.call({token_inputs(in, 0)}).front();
  want["S"] = running.state();
  return want;
}

// The inputs of tokens [first, first + count) as the recurrence uses them.
std::vector<TokenInputs> normed_tokens(const Case& c, const RecurrentInputs& in, int64_t first,
                                       int64_t count, const Contract& contract) {
  std::vector<TokenInputs> tokens;
  for (int64_t t = first; t < first + count; ++t) {
    TokenInputs inputs = token_inputs(in, t);
    NormedQk normed = qk_norm(inputs.q, inputs.k, c.shape, c.dialect, contract);
    inputs.q = carried(std::move(normed.q));
    inputs.k = carried(std::move(normed.k));
    tokens.push_back(std::move(inputs));
  }
  return tokens;
}

CallExpectation expect_recurrent_call(const Case& c, const RecurrentInputs& in, const Call& call,
                                      int64_t first, const std::vector<float>& pool,
                                      const Contract& contract) {
  const RecurrentBatch batch = batch_of(c, call);
  CallExpectation want;
  want.refused = !batch.why_refused.empty();
  if (want.refused) return want;
  const auto count = static_cast<int64_t>(batch.store.size());
  RecurrentExpectation numbers =
      expect_call(c, batch, normed_tokens(c, in, first, count, contract), pool, contract);
  want.arrays = {{"o", std::move(numbers.o)}, {"S", std::move(numbers.S)}};
  if (call.at(Argument::snapshots) >= 0) want.arrays["snapshots"] = std::move(numbers.snapshots);
  return want;
}

std::map<std::string, Bounded> expect_recurrent(const Case& c, const Numbers& numbers,
                                                const Contract& contract) {
  const RecurrentInputs in = recurrent_inputs(c, numbers);
  const Call whole = c.with_calls({}).calls_made().front();
  return expect_recurrent_call(c, in, whole, 0, in.initial_state, contract).arrays;
}

std::map<std::string, Bounded> expect_operator(const Case& c, const Numbers& numbers,
                                               const Contract& contract) {
  const auto array = [&](const char* name) -> const std::vector<float>& {
    return numbers.arrays.at(name);
  };
  switch (c.subject) {
    case Subject::in_proj:
      return {{"y", project(matrix_of(c, numbers), exactly(array("x")), c.dialect.activation,
                            contract.in_proj, contract)}};
    case Subject::out_proj:
      return {{"y", project(matrix_of(c, numbers), exactly(array("x")), c.dialect.activation,
                            contract.out_proj, contract)}};
    case Subject::gates: {
      Gates g = gates(exactly(array("a")), exactly(array("b")), array("A_log"), array("dt_bias"),
                      c.dialect, contract);
      return {{"beta", std::move(g.beta)}, {"g", std::move(g.g)}};
    }
    case Subject::conv: {
      std::vector<float> window = array("hist");
      window.insert(window.end(), array("x").begin(), array("x").end());
      const std::vector<float> after(window.begin() + c.shape.conv_dim(), window.end());
      return {{"y", conv(exactly(window), array("weight"), c.shape.conv_dim(), contract)},
              {"hist", exactly(after)}};
    }
    case Subject::qk_norm: {
      NormedQk n = qk_norm(exactly(array("q")), exactly(array("k")), c.shape, c.dialect, contract);
      return {{"q", std::move(n.q)}, {"k", std::move(n.k)}};
    }
    case Subject::delta_rule:
      return expect_delta_rule(c, numbers, contract);
    case Subject::gated_norm:
      return {{"y", gated_norm(exactly(array("o")), exactly(array("z")), array("weight"), c.shape,
                               contract)}};
    case Subject::dequant:
      return {{"out", gdn::dequant(numbers.tiles.data(), c.rows, c.cols)}};
    case Subject::recurrent:
      return expect_recurrent(c, numbers, contract);
    case Subject::layer:
      return {};
  }
  return {};
}

// Of apply and dequant among the calls of a layer.
std::map<std::string, Bounded> expect_beside(const Case& c, const Call& call,
                                             const Contract& contract) {
  const Case beside = beside_the_layers(c, call);
  std::string why;
  const std::optional<Numbers> numbers = materialise(beside, &why);
  if (!numbers) return {};
  return expect_operator(beside, *numbers, contract);
}

Expectation expect_layers(const Case& c, const Numbers& numbers, const Contract& contract) {
  const Life life = live(c);
  const std::vector<TokenExpectation> of = expect_fed(c, numbers, life, contract);
  Expectation want;
  for (size_t i = 0; i < c.calls.size(); ++i) {
    const CallLife& now = life.calls[i];
    CallExpectation& call = want.calls.emplace_back();
    call.refused = now.refused;
    call.is_huge = now.is_huge;
    const CallKind kind = c.calls[i].kind;
    const bool beside = kind == CallKind::apply || kind == CallKind::dequant;
    if (beside && !now.refused) call.arrays = expect_beside(c, c.calls[i], contract);
    const auto is_known = [&of](size_t place) { return !of[place].empty(); };
    if (std::all_of(now.tokens.begin(), now.tokens.end(), is_known)) {
      for (const size_t place : now.tokens) call.tokens.push_back(of[place]);
    }
    const bool reads = !c.calls[i].reads.empty() || kind == CallKind::read;
    if (!reads || !now.read) continue;
    call.reads = *now.read == 0 ? zero_state(c.shape) : of[*now.read];
    // After reset, rollback or import the other tensors are gone with the token that made them.
    if (now.read_has_token) continue;
    std::erase_if(call.reads, [](const auto& entry) {
      return entry.first != Tensor::S && entry.first != Tensor::HIST;
    });
  }
  return want;
}

}  // namespace

const Expectation& Lab::expect(const Case& c) const {
  // An explicit list of calls of another subject is one that was cut up, or other calls; they have
  // no expectation of their own.
  static const Expectation none;
  if (c.subject != Subject::layer && !c.calls.empty()) return none;
  std::string why = why_invalid(c);
  const std::shared_ptr<CaseInHand> held = why.empty() ? in_hand(c, &why) : nullptr;
  if (!held) return none;
  if (c.subject != Subject::layer) {
    if (!held->want) {
      held->want.emplace().calls.emplace_back().arrays =
          expect_operator(held->bare, held->numbers, contract());
    }
    constexpr size_t lent_max = 16;
    lent_.resize(lent_max);
    lent_[++next_lent_ % lent_max] = held;
    return *held->want;
  }
  const std::string text = print(c);
  const auto known = expectations_.find(text);
  if (known != expectations_.end()) return known->second;
  // Enough for an invariant's variations of one case; a night's worth would not fit memory.
  constexpr size_t remembered_max = 16;
  if (expectations_.size() >= remembered_max) expectations_.clear();
  return expectations_.emplace(text, expect_layers(c, held->numbers, contract())).first->second;
}

std::vector<float> Lab::first_pool(const Case& c) const {
  std::string why;
  const std::shared_ptr<const Numbers> numbers = numbers_of(c, &why);
  return numbers ? recurrent_inputs(c, *numbers).initial_state : std::vector<float>{};
}

CallExpectation Lab::expect_recurrent(const Case& c, size_t index,
                                      const std::vector<float>& pool) const {
  std::string why;
  const std::shared_ptr<const Numbers> numbers = numbers_of(c, &why);
  if (!numbers) return {};
  const int64_t first = first_tokens(c)[index];
  return expect_recurrent_call(c, recurrent_inputs(c, *numbers), c.calls[index], first, pool,
                               contract());
}

std::vector<TokenExpectation> Lab::expect_local(const Case& c, int64_t layer,
                                                const std::vector<int64_t>& tokens,
                                                const std::vector<TokenTensors>& seen) const {
  std::string why;
  const std::shared_ptr<const Numbers> numbers = numbers_of(c, &why);
  if (!numbers) return {};
  Sequence sequence;
  sequence.weights.small = layer;
  for (MatrixUsed& matrix : sequence.weights.large) matrix.weights = layer;
  sequence.tokens = tokens;
  sequence.calls.assign(tokens.size(), 1);
  return gdn::expect_local(inputs_of(c, *numbers, sequence), seen, contract());
}

}  // namespace gdn
