// One operator on explicit numbers: which of its arrays is out of budget.
#include <fmt/format.h>

#include "ci/triage/localise.h"

namespace gdn {
namespace {

// The arrays of an operator in the order in which they are judged, with the tensors that they are.
std::vector<std::pair<std::string, Tensor>> arrays_of(Operator op) {
  switch (op) {
    case Operator::gates:
      return {{"beta", Tensor::BETA}, {"g", Tensor::G}};
    case Operator::conv:
      return {{"y", Tensor::CONV}, {"hist", Tensor::HIST}};
    case Operator::qk_norm:
      return {{"q", Tensor::Q}, {"k", Tensor::K}};
    case Operator::delta_rule:
      return {{"S", Tensor::S}, {"o", Tensor::O}};
    case Operator::gated_norm:
      return {{"y", Tensor::ONORM}};
    default:
      return {};
  }
}

std::vector<std::string> judged_of(Operator op) {
  if (op == Operator::dequant) return {"out"};
  std::vector<std::string> names;
  for (const auto& [array, tensor] : arrays_of(op)) names.push_back(array);
  return names.empty() ? std::vector<std::string>{"y"} : names;
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

OperatorRun run_of(const Case& c, Operator op, const Lab& lab, const Numbers& numbers,
                   const std::map<std::string, std::vector<float>>& gave) {
  OperatorRun run;
  run.op = op;
  run.shape = c.shape;
  run.dialect = c.dialect;
  run.contract = lab.contract();
  const bool projects = op == Operator::in_proj || op == Operator::out_proj;
  if (projects || op == Operator::dequant) run.weights = matrix_of(c, numbers);
  if (op == Operator::in_proj) run.matrix = "qkv";
  if (op == Operator::out_proj) run.matrix = "out";
  Evidence& at = run.tokens.emplace_back();
  at.fed = numbers.arrays;
  if (projects) at.fed.erase("weight");
  at.gave = gave;
  const auto is_empty = [](const auto& array) { return array.second.empty(); };
  std::erase_if(at.fed, is_empty);
  std::erase_if(at.gave, is_empty);
  at.right = lab.expect(c).calls.front().arrays;
  return run;
}

std::vector<Axis> axes_of_array(const Case& c, Operator op, const std::string& array) {
  for (const auto& [name, tensor] : arrays_of(op)) {
    if (name == array) return axes_of(tensor, c.shape);
  }
  if (op == Operator::dequant) return {{"row", c.rows}, {"column", c.cols}};
  return {{"row", c.rows}};
}

}  // namespace

std::vector<Axis> axes_of(Tensor tensor, const Shape& s) {
  switch (tensor) {
    case Tensor::QKV:
      return {{"row", s.conv_dim()}};
    case Tensor::CONV:
      return {{"channel", s.conv_dim()}};
    case Tensor::HIST:
      return {{"history row", s.conv_kernel - 1}, {"channel", s.conv_dim()}};
    case Tensor::A:
    case Tensor::B:
    case Tensor::BETA:
    case Tensor::G:
      return {{"v-head", s.num_v_heads}};
    case Tensor::Q:
    case Tensor::K:
      return {{"k-head", s.num_k_heads}, {"key channel", s.head_k_dim}};
    case Tensor::S:
      return {{"v-head", s.num_v_heads},
              {"key channel", s.head_k_dim},
              {"value channel", s.head_v_dim}};
    case Tensor::OUT:
      return {{"row", s.hidden_size}};
    default:
      return {{"v-head", s.num_v_heads}, {"value channel", s.head_v_dim}};
  }
}

std::string tensor_of(Operator op, const std::string& array) {
  for (const auto& [name, tensor] : arrays_of(op)) {
    if (name == array) return std::string(name_of(tensor));
  }
  return array;
}

Case case_alone(const Case& c, const OperatorRun& run, const Evidence& at) {
  Case alone;
  alone.subject = static_cast<Subject>(static_cast<int>(run.op) + 1);
  alone.seed = c.seed;
  alone.shape = run.shape;
  alone.shape.num_layers = 1;
  alone.dialect = run.dialect;
  for (const auto& [name, values] : at.fed) {
    if (!values.empty()) alone = alone.with_numbers(name, values);
  }
  if (run.op != Operator::in_proj && run.op != Operator::out_proj) return alone;
  const Matrix& m = run.weights;
  alone.rows = m.rows;
  alone.cols = m.cols;
  const auto count = static_cast<size_t>(m.rows * m.cols);
  // What no case can spell out has none of its own; it is invalid and not served.
  if (count > explicit_numbers_max) return alone;
  if (m.f32 != nullptr) return alone.with_numbers("weight", {m.f32, m.f32 + count});
  alone.weights = Weights::q4;
  return alone.with_tiles("tiles", {m.tiles, m.tiles + count / 32 * 18});
}

Localised localise_operator(const Case& given, const Lab& lab, bool with_evidence) {
  Localised localised;
  const std::optional<Operator> op = operator_of(given.subject);
  // Other calls than its own have no expectation; the operator is asked once.
  const Case c = given.with_calls({});
  const Observation seen = lab.run(c);
  localised.served = seen.served();
  if (!op || !localised.served.holds()) return localised;
  const std::map<std::string, std::vector<float>>& gave = seen.calls.front().arrays;
  const std::map<std::string, Bounded>& want = lab.expect(c).calls.front().arrays;
  for (const std::string& array : judged_of(*op)) {
    const auto found = gave.find(array);
    const auto right = want.find(array);
    if (right == want.end() || right->second.size() == 0) continue;
    const std::vector<float> none;
    const std::vector<float>& got = found == gave.end() ? none : found->second;
    Verdict verdict = within(tensor_of(*op, array), got, right->second);
    if (verdict.outcome != Outcome::fails) continue;
    Located& at = localised.first.emplace();
    at.op = *op;
    at.tensor = tensor_of(*op, array);
    at.verdict = std::move(verdict);
    at.got = got;
    at.want = right->second;
    at.axes = axes_of_array(c, *op, array);
    if (!with_evidence) return localised;
    std::string why;
    at.numbers = std::make_shared<const Numbers>(*materialise(c, &why));
    at.run = run_of(c, *op, lab, *at.numbers, gave);
    return localised;
  }
  return localised;
}

}  // namespace gdn
