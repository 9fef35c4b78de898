// Two engines of one kernel source on the same cases: every output, tensor, export and status has
// equal bits, or NaN in both.
#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "invariants/harness/lab.h"
#include "tests/gpu/commands.h"
#include "tests/gpu/drawn_cases.h"

namespace gdn::gpu {
namespace {

struct Compared {
  int64_t cases = 0, served = 0, elements = 0, different = 0;
};

// What the cases had in them: a comparison that never met a shape shows nothing of it.
struct Met {
  std::set<int64_t> ratios, taps, hidden_of_128;
  int64_t one_k_head = 0, kd_odd = 0, vd_odd = 0, vd_other_than_kd = 0;

  void note(const Shape& s) {
    ratios.insert(s.v_heads_per_k_head());
    taps.insert(s.conv_kernel);
    hidden_of_128.insert(s.hidden_size % 128);
    one_k_head += s.num_k_heads == 1;
    kd_odd += s.head_k_dim % 32 != 0;
    vd_odd += s.head_v_dim % 32 != 0;
    vd_other_than_kd += s.head_v_dim != s.head_k_dim;
  }
};

class Comparison {
 public:
  explicit Comparison(const Options& options)
      : options_(options),
        got_(engine_or_exit(options.engine)),
        want_(engine_or_exit(options.against)) {
    const int64_t count = options.whole_shape ? 2 : options.cases;
    std::vector<std::jthread> workers;
    for (int64_t i = 0; i < std::clamp<int64_t>(options.threads, 1, count); ++i) {
      workers.emplace_back([this, count] { compare_cases(count); });
    }
  }

  Findings findings() const {
    Findings found;
    FiguresTable table{fmt::format("Bits of {} and {}", got_.name, want_.name),
                       {"case", "cases", "served", "numbers compared", "cases that differ"},
                       {}};
    Compared all;
    for (const auto& [kind, c] : by_kind_) {
      table.rows.push_back({kind, c.cases, c.served, c.elements, c.different});
      all.cases += c.cases;
      all.served += c.served;
      all.elements += c.elements;
      all.different += c.different;
    }
    table.rows.push_back({"all", all.cases, all.served, all.elements, all.different});
    found.tables.push_back(std::move(table));
    found.state(
        all.different == 0 && all.elements > 0,
        fmt::format("{} and {} give equal bits in every observation", got_.name, want_.name),
        fmt::format("{} of {} cases differ, {} numbers compared", all.different, all.cases,
                    all.elements));
    // Fewer cases are a run under a checker, which asks for no coverage.
    constexpr int64_t cases_of_a_whole_run = 200;
    const bool whole = !options_.whole_shape && options_.cases >= cases_of_a_whole_run;
    if (whole) state_coverage(found, all);
    found.notes = differences_;
    return found;
  }

 private:
  Case case_of(int64_t index) const {
    if (!options_.whole_shape) return drawn_case(options_.seed, index);
    return layer_case(qwen_shape(1), index == 0 ? Weights::f32 : Weights::q4, options_.seed);
  }

  void compare_cases(int64_t count) {
    const Lab got(got_);
    const Lab want(want_);
    for (int64_t i = next_++; i < count; i = next_++) {
      const Case c = case_of(i);
      const Observation a = got.run(c);
      const Observation b = want.run(c);
      note(c, a, b);
    }
  }

  void note(const Case& c, const Observation& a, const Observation& b) {
    const Verdict verdict = same_bits(a, b);
    const bool equal = verdict.outcome != Outcome::fails && a.conduct.outcome == b.conduct.outcome;
    const std::lock_guard lock(mutex_);
    Compared& compared = by_kind_[kind_of(c)];
    ++compared.cases;
    compared.served += a.served().holds();
    compared.elements += static_cast<int64_t>(verdict.elements);
    compared.different += !equal;
    if (c.subject == Subject::layer) met_.note(c.shape);
    if (equal) return;
    constexpr size_t shown_max = 20;
    if (differences_.size() >= shown_max) return;
    const std::string& why = verdict.detail.empty() ? a.conduct.detail : verdict.detail;
    differences_.push_back(fmt::format("{}\n{}", why, print(c)));
  }

  void state_coverage(Findings& found, const Compared& all) const {
    found.state(all.served * 10 >= all.cases * 9, "nine of ten cases are served in every call",
                fmt::format("{} of {}", all.served, all.cases));
    found.state(met_.ratios == std::set<int64_t>{1, 2, 3, 5} && met_.taps.size() == 6 &&
                    met_.hidden_of_128.size() > 3 && met_.one_k_head > 0 && met_.kd_odd > 0 &&
                    met_.vd_odd > 0 && met_.vd_other_than_kd > 0,
                "the cases have every ratio of heads 1, 2, 3, 5, 1 to 6 taps, kh = 1, vd other "
                "than kd, kd, vd and hidden off the multiples");
  }

  const Options& options_;
  EngineSource got_, want_;
  std::atomic<int64_t> next_ = 0;
  std::mutex mutex_;
  std::map<std::string, Compared> by_kind_;
  Met met_;
  std::vector<std::string> differences_;
};

}  // namespace

Findings check_same_bits(const Options& options) { return Comparison(options).findings(); }

}  // namespace gdn::gpu
