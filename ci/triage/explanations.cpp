// Which formulas explain what an operator gave. A formula has to give every number of every token
// within its bound, those that were right among them, and has to be so much nearer to the wrong
// ones than the right formula is that chance is no explanation.
#ifdef __FAST_MATH__
#error "verdicts need IEEE arithmetic: build without fast math"
#endif

#include <algorithm>
#include <cmath>
#include <tuple>

#include "ci/triage/dialect_search.h"
#include "ci/triage/right_of.h"
#include "invariants/harness/verdict.h"

namespace gdn {
namespace {

// Elements of one array of one token that the right formula does not give.
struct Wrong {
  std::string array;
  std::vector<size_t> elements;
};

struct Token {
  const Evidence* at = nullptr;
  std::vector<Wrong> wrong;
  size_t wrong_count = 0;
};

Verdict within_one(float got, const Bounded& want, size_t i) {
  return within("", std::span(&got, 1), slice(want, i, 1));
}

std::vector<size_t> elements_outside(const std::vector<float>& got, const Bounded& want) {
  if (within("", got, want).outcome != Outcome::fails || got.size() != want.size()) return {};
  std::vector<size_t> outside;
  for (size_t i = 0; i < got.size(); ++i) {
    if (within_one(got[i], want, i).outcome == Outcome::fails) outside.push_back(i);
  }
  return outside;
}

// Wrong tokens first, so that a formula that does not fit is dropped soon.
std::vector<Token> tokens_of(const OperatorRun& run) {
  std::vector<Token> tokens;
  for (const Evidence& at : run.tokens) {
    Token& token = tokens.emplace_back();
    token.at = &at;
    for (const auto& [name, want] : at.right) {
      const auto gave = at.gave.find(name);
      if (gave == at.gave.end()) continue;
      Wrong wrong{name, elements_outside(gave->second, want)};
      token.wrong_count += wrong.elements.size();
      if (!wrong.elements.empty()) token.wrong.push_back(std::move(wrong));
    }
  }
  std::stable_sort(tokens.begin(), tokens.end(), [](const Token& a, const Token& b) {
    return (a.wrong_count > 0) > (b.wrong_count > 0);
  });
  return tokens;
}

// By how many powers of two the number is nearer to the formula than to what is right: a float32
// number cannot tell more than its 24 digits, and no formula is nearer than rounding lets it be. A
// NaN or an infinity that the formula demands counts as if all digits agreed.
constexpr double digits = 24;

double bits_told(double from_right, double got, const Bounded& want, size_t i) {
  const double formula = want.value[i];
  if (!std::isfinite(got) || !std::isfinite(formula) || !std::isfinite(from_right)) return digits;
  const double resolution =
      std::max({want.bound_of(i), unit_roundoff * std::abs(formula), underflow_unit});
  return std::clamp(std::log2(from_right / resolution), 0.0, digits);
}

// What a formula gives for one token; nothing where a number contradicts it, or where it says
// nothing of one that is wrong.
struct Fit {
  double worst_ratio = 0, bits = 0;
  size_t elements = 0;
};

std::optional<Fit> fit_array(const std::vector<float>& got, const Bounded& want,
                             const Bounded& right, const Wrong* wrong) {
  const Verdict all = within("", got, want);
  if (all.outcome == Outcome::fails) return std::nullopt;
  Fit fit{all.worst_ratio, 0, all.elements};
  for (const size_t i : wrong == nullptr ? std::vector<size_t>{} : wrong->elements) {
    if (all.undecided > 0 && !within_one(got[i], want, i).holds()) return std::nullopt;
    fit.bits += bits_told(std::abs(got[i] - right.value[i]), got[i], want, i);
  }
  // A formula that knows every bit tells something of the numbers that could be right as well.
  const auto is_wrong = [wrong](size_t i) {
    return wrong != nullptr &&
           std::binary_search(wrong->elements.begin(), wrong->elements.end(), i);
  };
  for (size_t i = 0; i < got.size(); ++i) {
    const bool is_exact = want.bound_of(i) == 0 && want.stored == Format::f32;
    if (!is_exact || !std::isfinite(right.bound_of(i)) || is_wrong(i)) continue;
    if (std::isfinite(got[i])) fit.bits += bits_told(right.bound_of(i), got[i], want, i);
  }
  return fit;
}

std::optional<Fit> fit_token(const Token& token, const FaultyArrays& faulty) {
  Fit fit;
  const auto wrong_of = [&](const std::string& name) {
    const auto is_it = [&](const Wrong& wrong) { return wrong.array == name; };
    const auto found = std::find_if(token.wrong.begin(), token.wrong.end(), is_it);
    return found == token.wrong.end() ? nullptr : &*found;
  };
  for (const auto& [name, right] : token.at->right) {
    const auto got = token.at->gave.find(name);
    if (got == token.at->gave.end()) continue;
    const Wrong* const wrong = wrong_of(name);
    const auto other = faulty.find(name);
    if (other == faulty.end()) {
      if (wrong != nullptr) return std::nullopt;
      continue;
    }
    const std::optional<Fit> one = fit_array(got->second, other->second, right, wrong);
    if (!one) return std::nullopt;
    fit.worst_ratio = std::max(fit.worst_ratio, one->worst_ratio);
    fit.bits += one->bits;
    fit.elements += one->elements;
  }
  return fit;
}

std::optional<Explanation> explanation_by(const FaultForm& form, const OperatorRun& run,
                                          const std::vector<Token>& tokens) {
  Explanation found{.name = form.name, .sentence = form.sentence, .explains = form.explains};
  for (const Token& token : tokens) {
    const std::optional<FaultyArrays> faulty = form.expect(*token.at, run);
    if (!faulty && token.wrong_count > 0) return std::nullopt;
    if (!faulty) continue;
    const std::optional<Fit> fit = fit_token(token, *faulty);
    if (!fit) return std::nullopt;
    found.worst_ratio = std::max(found.worst_ratio, fit->worst_ratio);
    found.elements += fit->elements;
    found.tightness += fit->bits;
  }
  found.tightness -= std::log2(form.choices);
  return found;
}

// With the output of the recurrence judged on the state that was given, as forms expect it.
OperatorRun with_right(const OperatorRun& given) {
  OperatorRun run = given;
  // Outside the slot-addressed recurrence the gate is a logarithm, whatever the layer starts from.
  if (run.op != Operator::delta_rule || run.is_recurrent) return run;
  run.dialect.gate_input = Dialect::GateInput::log_g;
  for (Evidence& at : run.tokens) {
    if (at.gave.contains("S") && at.gave.contains("o")) at.right["o"] = right_of(at, run).at("o");
  }
  return run;
}

bool is_better(const Explanation& a, const Explanation& b) {
  // Whole bits: below that two formulas say the same.
  const auto rank = [](const Explanation& e) {
    return std::make_tuple(-std::floor(e.tightness), e.kind, e.name, e.sentence);
  };
  return rank(a) < rank(b);
}

}  // namespace

std::vector<Explanation> explanations_of(const OperatorRun& given) {
  const OperatorRun run = with_right(given);
  const std::vector<Token> tokens = tokens_of(run);
  if (tokens.empty() || tokens.front().wrong_count == 0) return {};
  std::vector<FaultForm> candidates = dialect_changes(run);
  const size_t dialects = candidates.size();
  for (const FaultForm& form : fault_forms()) {
    if (form.op == run.op) candidates.push_back(form);
  }
  // One number of chance is as near to one of n formulas as m bits say with odds of n 2^-m: what
  // is told here has odds of at most one in a thousand.
  const double bits_needed = std::log2(static_cast<double>(candidates.size())) + 10;
  std::vector<Explanation> found;
  for (size_t i = 0; i < candidates.size(); ++i) {
    std::optional<Explanation> one = explanation_by(candidates[i], run, tokens);
    if (!one || one->tightness < bits_needed) continue;
    one->kind = i < dialects ? Explanation::Kind::dialect : Explanation::Kind::form;
    const auto is_same = [&](const Explanation& e) { return e.name == one->name; };
    const auto before = std::find_if(found.begin(), found.end(), is_same);
    if (before == found.end()) {
      found.push_back(*std::move(one));
    } else if (is_better(*one, *before)) {
      *before = *std::move(one);
    }
  }
  std::sort(found.begin(), found.end(), is_better);
  return found;
}

}  // namespace gdn
