// Each witness gives its explanations; they are added up by name.
#include "ci/triage/causes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "invariants/harness/regimes.h"

namespace gdn {
namespace {

constexpr uint64_t drawn_seed = 1;
constexpr uint64_t drawn_max = 1000;  // of them one in ten or so is of the operator, and small
constexpr size_t asked_max = 24;
constexpr size_t witnesses_max = 8;
// Formulas of a thousand numbers take milliseconds.
constexpr int64_t numbers_max = 1 << 12;

bool is_small(const Case& c) {
  const Shape& s = c.shape;
  return c.rows * c.cols <= numbers_max && s.state_count() <= numbers_max &&
         s.conv_dim() * s.conv_kernel <= numbers_max;
}

class Witnesses {
 public:
  Witnesses(Operator op, const Lab& lab) : op_(op), lab_(lab) {}

  bool enough() const { return heard_ >= witnesses_max; }

  void ask(const Case& c) {
    if (enough() || !asked_.insert(print(c)).second || !lab_.why_not(c).empty()) return;
    const std::optional<Located> found = localise(c, lab_, true).first;
    if (found && found->op == op_ && !found->right_alone) hear(*found);
  }

  void hear(const Located& found) {
    if (found.run.tokens.empty()) return;
    ++heard_;
    for (Explanation& one : explanations_of(found.run)) {
      auto [at, is_new] = by_name_.try_emplace(one.name, Sum{one, 1});
      if (is_new) continue;
      Sum& sum = at->second;
      ++sum.witnesses;
      sum.all.tightness += one.tightness;
      sum.all.elements += one.elements;
      sum.all.worst_ratio = std::max(sum.all.worst_ratio, one.worst_ratio);
    }
  }

  std::vector<Explanation> agreed() const {
    std::vector<Sum> sums;
    size_t most = 0;
    for (const auto& [name, sum] : by_name_) {
      sums.push_back(sum);
      most = std::max(most, sum.witnesses);
    }
    std::erase_if(sums, [most](const Sum& sum) { return 2 * sum.witnesses < most; });
    std::stable_sort(sums.begin(), sums.end(), [](const Sum& a, const Sum& b) {
      if (a.witnesses != b.witnesses) return a.witnesses > b.witnesses;
      // Whole bits: below that two formulas say the same.
      const double one = std::floor(a.all.tightness), other = std::floor(b.all.tightness);
      return one != other ? one > other : a.all.kind < b.all.kind;
    });
    std::vector<Explanation> explanations;
    for (Sum& sum : sums) explanations.push_back(std::move(sum.all));
    return explanations;
  }

 private:
  struct Sum {
    Explanation all;
    size_t witnesses = 0;
  };

  const Operator op_;
  const Lab& lab_;
  size_t heard_ = 0;
  std::set<std::string> asked_;
  std::map<std::string, Sum> by_name_;
};

}  // namespace

std::vector<Explanation> causes_of(const Located& found, const std::vector<Case>& beside,
                                   const Lab& lab) {
  Witnesses witnesses(found.op, lab);
  witnesses.hear(found);
  for (const Case& c : beside) {
    if (is_small(c) && operator_of(c.subject) == found.op) witnesses.ask(c.with_calls({}));
  }
  size_t asked = 0;
  for (uint64_t i = 0; i < drawn_max && asked < asked_max && !witnesses.enough(); ++i) {
    const Case c = draw_case(drawn_seed, i);
    if (operator_of(c.subject) != found.op || c.subject == Subject::recurrent) continue;
    if (!is_small(c)) continue;
    ++asked;
    witnesses.ask(c);
  }
  return witnesses.agreed();
}

}  // namespace gdn
