// Claim:   a state that is 1 at [key a][value b] alone gives e_b to the query e_a, 0 to any other.
// Why:     S is [kd][vd] and o = S^T q; square and oblong, first and last row and column.
// Bound:   the reference's, around 0 and 1: every sum has one term.
// Origin:  a state written as [kd][vd] and read as [vd][kd], which no shape check sees at kd = vd.
#include <algorithm>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

bool applies(const Case& c) { return c.subject == Subject::delta_rule && c.calls.empty(); }

struct Cell {
  int64_t a, b;
};

// The state of head h is h + 1 at its cell; q asks for row `a` of every head.
Verdict read_row(const Case& c, const Lab& lab, const Shape& shape, const std::vector<Cell>& cells,
                 int64_t a) {
  const int64_t kd = shape.head_k_dim;
  const int64_t vd = shape.head_v_dim;
  const auto heads = static_cast<size_t>(shape.num_v_heads);
  std::vector<float> q(static_cast<size_t>(kd), 0.0F);
  q[static_cast<size_t>(a)] = 1;
  std::vector<float> S(static_cast<size_t>(shape.state_count()), 0.0F);
  std::vector<double> o(static_cast<size_t>(shape.v_dim()), 0.0);
  for (size_t h = 0; h < heads; ++h) {
    const auto head = static_cast<int64_t>(h);
    const auto content = static_cast<float>(head + 1);
    S[static_cast<size_t>((head * kd + cells[h].a) * vd + cells[h].b)] = content;
    if (cells[h].a == a) o[static_cast<size_t>(head * vd + cells[h].b)] = content;
  }
  const Worked token = work(lab, worked_case(c, Subject::delta_rule, shape,
                                             {{"q", q},
                                              {"k", std::vector<float>(q.size(), 0.0F)},
                                              {"v", std::vector<float>(o.size(), 0.0F)},
                                              {"g", std::vector<float>(heads, 0.0F)},
                                              {"beta", std::vector<float>(heads, 0.0F)},
                                              {"S", S}}));
  if (!token.served.holds()) return token.served;
  return both(token.is("o", o), token.is("S", std::vector<double>(S.begin(), S.end())));
}

Verdict check(const Case& c, const Lab& lab) {
  Rng rng = Rng{c.seed}.stream("cells");
  const int64_t kd = std::min<int64_t>(c.shape.head_k_dim, 16);
  const int64_t vd = std::min<int64_t>(c.shape.head_v_dim, 16);
  const int64_t side = std::max<int64_t>(2, std::min(kd, vd));
  Verdict all = claim(true, "");
  for (const auto& [rows, columns] : {Cell{kd, vd}, Cell{side, side}, Cell{side, side + 1}}) {
    const std::vector<Cell> cells = {{0, columns - 1},
                                     {rows - 1, 0},
                                     {rows - 1, columns - 1},
                                     {rng.range(0, rows - 1), rng.range(0, columns - 1)}};
    const Shape shape = with_heads(c.shape, 1, rows, static_cast<int64_t>(cells.size()), columns);
    for (const int64_t a : {int64_t{0}, rows - 1}) {
      all = both(std::move(all), read_row(c, lab, shape, cells, a));
      if (!all.holds()) return all;
    }
  }
  return all;
}

const Registered self{{.claim = "the rows of the state belong to keys, its columns to values",
                       .applies = applies,
                       .check = check,
                       .kills = {"state_read_transposed"}}};

}  // namespace
}  // namespace gdn
