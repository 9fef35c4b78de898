// A layer through step: every tensor of every token against what the engine itself fed the operator
// that makes it.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ci/triage/localise.h"
#include "invariants/harness/worked.h"

namespace gdn {
namespace {

// Operators in their order, and in each the tensors that it makes.
constexpr std::array<Tensor, 15> judged_in_order = {
    Tensor::QKV, Tensor::Z,    Tensor::B, Tensor::A,     Tensor::BETA,
    Tensor::G,   Tensor::CONV, Tensor::V, Tensor::HIST,  Tensor::Q,
    Tensor::K,   Tensor::S,    Tensor::O, Tensor::ONORM, Tensor::OUT};

class LayerSeen {
 public:
  LayerSeen(const Case& c, const Lab& lab, int64_t layer, std::shared_ptr<const Numbers> numbers)
      : case_(c), lab_(lab), layer_(layer), numbers_(std::move(numbers)) {
    weights_ = view_of(numbers_->layers[static_cast<size_t>(layer)], c.shape);
  }

  Verdict feed() {
    std::vector<Call> calls = setup_calls(case_);
    for (int64_t t = 0; t < case_.tokens; ++t) {
      Call step = call_of(CallKind::step, {{Argument::layer, layer_}});
      step.reads = every_tensor();
      calls.push_back(std::move(step));
    }
    const Observation seen = lab_.run(case_.with_calls(calls));
    const Verdict served = seen.served();
    if (served.outcome == Outcome::fails || !served.holds()) return served;
    std::vector<int64_t> rows;
    for (size_t i = 0; i < calls.size(); ++i) {
      if (calls[i].kind != CallKind::step) continue;
      rows.push_back(std::ssize(rows));
      tokens_.push_back(seen.calls[i].reads);
    }
    want_ = lab_.expect_local(case_, layer_, rows, tokens_);
    return served;
  }

  std::optional<Located> first_wrong() const {
    for (size_t t = 0; t < want_.size(); ++t) {
      for (const Tensor tensor : judged_in_order) {
        const auto got = tokens_[t].find(tensor);
        const auto want = want_[t].find(tensor);
        if (got == tokens_[t].end() || want == want_[t].end()) continue;
        if (want->second.size() == 0 && got->second.empty()) continue;
        Verdict verdict =
            within(fmt::format("{} of token {}", name_of(tensor), t), got->second, want->second);
        if (verdict.outcome == Outcome::fails) return found(t, tensor, std::move(verdict));
      }
    }
    return std::nullopt;
  }

  OperatorRun run_of(Operator op, const std::string& tensor) const {
    OperatorRun run;
    run.op = op;
    run.shape = case_.shape;
    run.dialect = case_.dialect;
    run.contract = lab_.contract();
    if (op == Operator::in_proj || op == Operator::out_proj) set_matrix(tensor, run);
    for (size_t t = 0; t < tokens_.size(); ++t) {
      Evidence at = evidence_of(run, t);
      at.token = static_cast<int64_t>(t);
      run.tokens.push_back(std::move(at));
    }
    return run;
  }

  const std::shared_ptr<const Numbers>& numbers() const { return numbers_; }

 private:
  Located found(size_t t, Tensor tensor, Verdict verdict) const {
    Located at;
    at.op = operator_of(tensor);
    at.tensor = name_of(tensor);
    at.layer = layer_;
    at.token = static_cast<int64_t>(t);
    at.verdict = std::move(verdict);
    at.got = tokens_[t].at(tensor);
    at.want = want_[t].at(tensor);
    at.axes = axes_of(tensor, case_.shape);
    return at;
  }

  void set_matrix(const std::string& tensor, OperatorRun& run) const {
    run.matrix = "out";
    run.weights = weights_.out;
    if (run.op == Operator::out_proj) return;
    const std::tuple<const char*, const char*, const Matrix*> matrices[] = {
        {"QKV", "qkv", &weights_.qkv},
        {"Z", "z", &weights_.z},
        {"B", "b", &weights_.b},
        {"A", "a", &weights_.a}};
    for (const auto& [of, name, matrix] : matrices) {
      if (tensor != of) continue;
      run.matrix = name;
      run.weights = *matrix;
    }
  }

  const std::vector<float>& read(size_t t, Tensor tensor) const {
    static const std::vector<float> absent;
    const auto at = tokens_[t].find(tensor);
    return at == tokens_[t].end() ? absent : at->second;
  }

  // A state before the first token is zero.
  std::vector<float> before(size_t t, Tensor tensor) const {
    const auto count = static_cast<size_t>(element_count(tensor, case_.shape));
    return t == 0 ? std::vector<float>(count) : read(t - 1, tensor);
  }

  void gives(Evidence& at, size_t t, const char* array, Tensor tensor) const {
    at.gave[array] = read(t, tensor);
    const auto want = want_[t].find(tensor);
    if (want != want_[t].end()) at.right[array] = want->second;
  }

  Evidence evidence_of(const OperatorRun& run, size_t t) const {
    Evidence at;
    const std::vector<float>& conv = read(t, Tensor::CONV);
    const auto part = [&conv](int64_t from, int64_t count) {
      if (std::ssize(conv) < from + count) return std::vector<float>();
      return std::vector<float>(conv.begin() + from, conv.begin() + from + count);
    };
    switch (run.op) {
      case Operator::in_proj:
        at.fed["x"] = numbers_->h[t];
        gives(at, t, "y", *tensor_named(tensor_of_matrix(run.matrix)));
        break;
      case Operator::gates:
        at.fed = {{"a", read(t, Tensor::A)},
                  {"b", read(t, Tensor::B)},
                  {"A_log", weights_.A_log},
                  {"dt_bias", weights_.dt_bias}};
        gives(at, t, "beta", Tensor::BETA);
        gives(at, t, "g", Tensor::G);
        break;
      case Operator::conv:
        at.fed = {{"x", read(t, Tensor::QKV)},
                  {"hist", before(t, Tensor::HIST)},
                  {"weight", weights_.conv}};
        gives(at, t, "y", Tensor::CONV);
        gives(at, t, "hist", Tensor::HIST);
        gives(at, t, "v", Tensor::V);
        break;
      case Operator::qk_norm:
        at.fed = {{"q", part(0, case_.shape.k_dim())},
                  {"k", part(case_.shape.k_dim(), case_.shape.k_dim())}};
        gives(at, t, "q", Tensor::Q);
        gives(at, t, "k", Tensor::K);
        break;
      case Operator::delta_rule:
        at.fed = {{"q", read(t, Tensor::Q)},       {"k", read(t, Tensor::K)},
                  {"v", read(t, Tensor::V)},       {"g", read(t, Tensor::G)},
                  {"beta", read(t, Tensor::BETA)}, {"S", before(t, Tensor::S)}};
        gives(at, t, "S", Tensor::S);
        gives(at, t, "o", Tensor::O);
        break;
      case Operator::gated_norm:
        at.fed = {{"o", read(t, Tensor::O)}, {"z", read(t, Tensor::Z)}, {"weight", weights_.norm}};
        gives(at, t, "y", Tensor::ONORM);
        break;
      case Operator::out_proj:
        at.fed["x"] = read(t, Tensor::ONORM);
        gives(at, t, "y", Tensor::OUT);
        break;
      case Operator::dequant:
        break;
    }
    const auto is_empty = [](const auto& array) { return array.second.empty(); };
    std::erase_if(at.fed, is_empty);
    std::erase_if(at.gave, is_empty);
    return at;
  }

  static std::string tensor_of_matrix(const std::string& matrix) {
    std::string tensor = matrix;
    for (char& c : tensor) c = static_cast<char>(c - 'a' + 'A');
    return tensor;
  }

  const Case& case_;
  const Lab& lab_;
  const int64_t layer_;
  const std::shared_ptr<const Numbers> numbers_;
  LayerWeights weights_;
  std::vector<TokenTensors> tokens_;
  std::vector<TokenExpectation> want_;
};

// The decoder of a 4-bit matrix, where the product with it is wrong.
std::optional<Located> wrong_decoder(const Located& at, const OperatorRun& run, const Lab& lab) {
  if (run.weights.tiles == nullptr) return std::nullopt;
  Case tiles;
  tiles.subject = Subject::dequant;
  tiles.shape = run.shape;
  tiles.rows = run.weights.rows;
  tiles.cols = run.weights.cols;
  const auto bytes = static_cast<size_t>(tiles.rows * tiles.cols / 32 * 18);
  tiles = tiles.with_tiles("tiles", {run.weights.tiles, run.weights.tiles + bytes});
  if (!why_invalid(tiles).empty()) return std::nullopt;
  std::optional<Located> decoder = localise_operator(tiles, lab, true).first;
  if (!decoder) return std::nullopt;
  decoder->layer = at.layer;
  decoder->token = at.token;
  return decoder;
}

bool is_right_alone(const Case& c, const Located& at, const OperatorRun& run, const Lab& lab) {
  const Case alone = case_alone(c, run, run.tokens[static_cast<size_t>(at.token)]);
  const Localised localised = localise_operator(alone, lab, false);
  return localised.served.holds() && !localised.first;
}

}  // namespace

Localised localise(const Case& c, const Lab& lab, bool with_evidence) {
  if (c.subject == Subject::recurrent) return localise_recurrent(c, lab, with_evidence);
  if (c.subject != Subject::layer) return localise_operator(c, lab, with_evidence);
  Localised localised;
  std::string why;
  std::optional<Numbers> made = materialise(c, &why);
  localised.served = claim(true, "");
  if (!made || c.tokens == 0) return localised;
  const auto numbers = std::make_shared<const Numbers>(*std::move(made));
  for (int64_t layer = 0; layer < c.shape.num_layers; ++layer) {
    LayerSeen seen(c, lab, layer, numbers);
    localised.served = seen.feed();
    if (!localised.served.holds()) return localised;
    localised.first = seen.first_wrong();
    if (!localised.first) continue;
    Located& at = *localised.first;
    OperatorRun run = seen.run_of(at.op, at.tensor);
    if (std::optional<Located> decoder = wrong_decoder(at, run, lab)) {
      at = *std::move(decoder);
      return localised;
    }
    at.right_alone = is_right_alone(c, at, run, lab);
    at.numbers = numbers;
    if (with_evidence) at.run = std::move(run);
    return localised;
  }
  return localised;
}

}  // namespace gdn
