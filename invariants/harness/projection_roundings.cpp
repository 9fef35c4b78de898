// What an engine fed its projections, and what they gave, put before the four tests.
#include "invariants/harness/projection_roundings.h"

#include <algorithm>

#include "invariants/harness/relation.h"
#include "invariants/harness/statistics.h"

namespace gdn {
namespace {

constexpr int64_t rows_of_a_wide_case = 64;

bool is_projection(const Case& c) {
  return c.subject == Subject::in_proj || c.subject == Subject::out_proj;
}

// Tiles decode exactly. Where the order is not declared, an engine may scale a sum of codes, which
// rounds otherwise.
bool add(ProjectionErrors& errors, const std::vector<float>& got, const Matrix& matrix,
         const Contract& contract, const Reduction& of_rows, const std::vector<float>& x) {
  const bool is_q4 = matrix.tiles != nullptr;
  if (projection_bits(contract, is_q4) > 0) return false;
  const Reduction& declared = projection_order(contract, of_rows, is_q4);
  if (!is_q4) return errors.add(got, matrix.f32, matrix.rows, matrix.cols, x);
  if (declared.kind != Reduction::Kind::order) return false;
  std::vector<float> weights(static_cast<size_t>(matrix.rows * matrix.cols));
  for (int64_t row = 0; row < matrix.rows; ++row) {
    matrix.decode_row(row, weights.data() + row * matrix.cols);
  }
  return errors.add(got, weights.data(), matrix.rows, matrix.cols, x);
}

using Projections = std::vector<NamedErrors>;

void add_operator(const Case& c, const Numbers& numbers, const Observation& seen,
                  const Contract& contract, const std::optional<Reduction>& order,
                  Projections& all) {
  const bool is_in = c.subject == Subject::in_proj;
  const Reduction& declared = is_in ? contract.in_proj : contract.out_proj;
  Matrix matrix{c.rows, c.cols, nullptr, nullptr};
  if (numbers.tiles.empty()) {
    matrix.f32 = numbers.arrays.at("weight").data();
  } else {
    matrix.tiles = numbers.tiles.data();
  }
  NamedErrors y{"y", ProjectionErrors(order.value_or(declared))};
  const std::vector<float>& got = seen.calls.front().arrays.at("y");
  if (add(y.errors, got, matrix, contract, declared, numbers.arrays.at("x"))) {
    all.push_back(std::move(y));
  }
}

// Rounding errors of different tokens know nothing of each other.
void add_tensor(const Case& c, Tensor tensor, const Matrix& matrix, const Numbers& numbers,
                const Observation& seen, const Contract& contract,
                const std::optional<Reduction>& order, Projections& all) {
  if (matrix.cols < long_sum_terms) return;
  const bool is_out = tensor == Tensor::OUT;
  const Reduction& declared = is_out ? contract.out_proj : contract.in_proj;
  NamedErrors named{std::string(name_of(tensor)), ProjectionErrors(order.value_or(declared))};
  size_t token = 0, added = 0;
  for (const CallObserved& call : seen.calls) {
    if (call.reads.empty()) continue;
    added += add(named.errors, call.reads.at(tensor), matrix, contract, declared,
                 is_out ? call.reads.at(Tensor::ONORM) : numbers.h[token]);
    if (++token == static_cast<size_t>(c.tokens)) break;
  }
  if (added > 0) all.push_back(std::move(named));
}

}  // namespace

Case wide_projection(Case c) {
  if (!c.numbers.empty()) return c;
  while (c.cols < long_sum_terms) c.cols *= 2;
  c.rows = std::max(c.rows, rows_of_a_wide_case);
  return c;
}

std::vector<NamedErrors> projection_errors(const Case& given, const Lab& lab,
                                           const std::optional<Reduction>& order, Verdict* why) {
  const Contract& contract = lab.contract();
  *why = not_applicable("the engine loses more than rounding");
  if (contract.flushes_subnormals) return {};
  const Case c = is_projection(given) ? given : given.with_calls(stepped_calls(given));
  std::string wrong;
  const std::optional<Numbers> numbers = materialise(c, &wrong);
  *why = not_applicable(wrong);
  if (!numbers) return {};
  const Observation seen = lab.run(c);
  *why = seen.served();
  if (!why->holds()) return {};
  *why = not_applicable("no long sums, or numbers of which the theorem says nothing");
  Projections all;
  if (is_projection(c)) {
    add_operator(c, *numbers, seen, contract, order, all);
    return all;
  }
  const LayerWeights w = view_of(numbers->layers.front(), c.shape);
  const std::pair<Tensor, const Matrix*> tensors[] = {{Tensor::QKV, &w.qkv},
                                                      {Tensor::Z, &w.z},
                                                      {Tensor::B, &w.b},
                                                      {Tensor::A, &w.a},
                                                      {Tensor::OUT, &w.out}};
  for (const auto& [tensor, matrix] : tensors) {
    add_tensor(c, tensor, *matrix, *numbers, seen, contract, order, all);
  }
  return all;
}

Verdict judge_roundings(const Case& c, const Lab& lab, const std::optional<Reduction>& order) {
  Verdict all;
  for (const NamedErrors& one : projection_errors(c, lab, order, &all)) {
    Verdict verdict = one.errors.verdict(one.tensor);
    // A tensor of which nothing can be said hides no other.
    const bool says_nothing = verdict.outcome == Outcome::not_applicable;
    if (all.outcome == Outcome::not_applicable) {
      all = std::move(verdict);
    } else if (!says_nothing) {
      all = both(std::move(all), std::move(verdict));
    }
  }
  return all;
}

}  // namespace gdn
