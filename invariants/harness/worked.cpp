// Cases worked out by hand, run and judged.
#include "invariants/harness/worked.h"

#include <cmath>

namespace gdn {

Case worked_case(const Case& c, Subject subject, const Shape& shape, const Arrays& arrays,
                 int64_t tokens) {
  Case worked;
  worked.subject = subject;
  worked.seed = c.seed;
  worked.shape = shape;
  worked.dialect = c.dialect;
  worked.dialect.decay = Dialect::Decay::per_head;
  worked.dialect.gate_input = Dialect::GateInput::raw_a;
  worked.tokens = tokens;
  if (subject == Subject::recurrent) {
    worked.dialect.qk_norm = Dialect::QkNorm::none;
    worked.dialect.scale_on = Dialect::ScaleOn::none;
    worked.dialect.scale.reset();
  }
  if (subject == Subject::in_proj || subject == Subject::out_proj) {
    worked.cols = static_cast<int64_t>(arrays.at("x").size());
    worked.rows = static_cast<int64_t>(arrays.at("weight").size()) / worked.cols;
  }
  for (const auto& [name, values] : arrays) worked = worked.with_numbers(name, values);
  return worked;
}

Worked work(const Lab& lab, const Case& c) {
  Observation seen = lab.run(c);
  Worked worked;
  worked.served = seen.served();
  if (!worked.served.holds()) return worked;
  worked.got = std::move(seen.calls.front().arrays);
  worked.want = lab.expect(c).calls.front().arrays;
  return worked;
}

Verdict Worked::within_bound(const std::string& name) const {
  const auto found = got.find(name);
  if (found == got.end()) return claim(false, name + " was not given");
  return within(name, found->second, want.at(name));
}

Verdict Worked::is(const std::string& name, std::vector<double> literal) const {
  const auto found = got.find(name);
  if (found == got.end()) return claim(false, name + " was not given");
  Bounded expected = want.at(name);
  if (expected.bound.empty()) expected.bound.assign(expected.size(), 0.0);
  for (size_t i = 0; i < literal.size() && i < expected.size(); ++i) {
    expected.bound[i] += std::ldexp(std::abs(literal[i]), -50);
  }
  expected.value = std::move(literal);
  if (expected.value.size() != expected.bound.size()) {
    return claim(false, name + ": another number of literals than of elements");
  }
  return within(name, found->second, expected);
}

Shape with_heads(Shape shape, int64_t kh, int64_t kd, int64_t vh, int64_t vd) {
  shape.num_k_heads = kh;
  shape.head_k_dim = kd;
  shape.num_v_heads = vh;
  shape.head_v_dim = vd;
  shape.num_layers = 1;
  return shape;
}

}  // namespace gdn
