// Faults of the delta rule that begin beyond an index, or in one head: what a grid, a block of
// threads or an integer too small leaves out.
#include <algorithm>

#include "ci/triage/delta_parts.h"
#include "reference/formats.h"

namespace gdn {
namespace {

using Balls = std::vector<Ball>;

// Sizes of grids, blocks and warps.
constexpr size_t reaches[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512};

std::string beyond(const char* what, size_t reach, const char* effect) {
  return std::string(what) + " beyond " + std::to_string(reach) + " " + effect;
}

std::string name_of(const char* what, size_t reach, const char* effect, size_t named,
                    const char* as) {
  if (reach == named) return as;
  return std::string(what) + "_beyond_" + std::to_string(reach) + "_" + effect;
}

std::vector<RegisteredForm> beyond_reach() {
  constexpr double choices = std::size(reaches);
  std::vector<RegisteredForm> forms;
  for (const size_t reach : reaches) {
    forms.emplace_back(by_head(
        name_of("heads", reach, "left_out", 8, "heads_beyond_eight_left_out"),
        beyond("heads", reach, "keep their state and give 0"),
        [reach](const DeltaHead& h, const OperatorRun&) {
          if (static_cast<size_t>(h.head) < reach) return FaultyHead{};
          return FaultyHead{h.S, Balls(h.vd)};
        },
        {}, choices));
    forms.emplace_back(altered(
        name_of("keys", reach, "left_out", 128, "keys_beyond_128_left_out"),
        beyond("rows of the state", reach, "are neither written nor read"), Operator::delta_rule,
        [reach](Evidence& at, OperatorRun& run) {
          const auto kd = static_cast<size_t>(run.shape.head_k_dim);
          if (kd <= reach) return false;
          for (const char* name : {"q", "k"}) {
            std::vector<float>& x = at.fed[name];
            for (size_t i = 0; i < x.size(); ++i) {
              if (i % kd >= reach) x[i] = 0;
            }
          }
          return true;
        },
        {}, choices));
    forms.emplace_back(by_head(
        name_of("values", reach, "left_out", 128, "values_beyond_128_left_out"),
        beyond("columns of the state", reach, "are not updated and give no output"),
        [reach](const DeltaHead& h, const OperatorRun&) {
          if (h.vd <= reach) return FaultyHead{};
          Balls S = h.state_after(), o = h.read(h.S_given, h.q);
          for (size_t i = 0; i < S.size(); ++i) {
            if (i % h.vd >= reach) S[i] = h.S[i];
          }
          std::fill(o.begin() + static_cast<int64_t>(reach), o.end(), Ball{});
          return FaultyHead{S, o};
        },
        {}, choices));
  }
  return forms;
}
const std::vector<RegisteredForm> reach = beyond_reach();

// The state stored narrow, in all heads or the last; the output read before the store or after it.
FaultForm narrow_state(Format format, bool last_head, bool reads_register) {
  const std::string as = format == Format::bf16 ? "bf16" : "f16";
  const std::string whose = last_head ? "the state of the last head" : "the state";
  std::string name = "state_rounded_to_" + as;
  std::vector<std::string> explains;
  if (last_head) {
    name = "last_head_rounded_to_" + as;
    if (format == Format::f16) explains = {"last_head_in_half_precision"};
  }
  return by_head(
      name, whose + " is rounded to " + as + (reads_register ? " after it was read" : ""),
      [=](const DeltaHead& h, const OperatorRun& run) {
        if (last_head && h.head + 1 != run.shape.num_v_heads) return FaultyHead{};
        Balls S = h.state_after();
        FaultyHead out;
        if (reads_register) out.o = h.read(S, h.q);
        for (Ball& x : S) x = rounded_to(format, x);
        out.S = std::move(S);
        return out;
      },
      explains);
}
const RegisteredForm narrow[] = {
    narrow_state(Format::bf16, false, false), narrow_state(Format::bf16, false, true),
    narrow_state(Format::f16, false, false),  narrow_state(Format::f16, false, true),
    narrow_state(Format::bf16, true, false),  narrow_state(Format::bf16, true, true),
    narrow_state(Format::f16, true, false),   narrow_state(Format::f16, true, true)};

// What lies behind the reach of an index of 16 bits lands at the front; the output came before.
std::optional<FaultyArrays> wrapped_state(const Evidence& at, const OperatorRun& run) {
  constexpr size_t index_reach = 65536;
  const auto S = at.right.find("S");
  if (S == at.right.end() || S->second.size() <= index_reach) return std::nullopt;
  FaultyArrays faulty;
  Bounded& wrapped = faulty["S"] = S->second;
  const std::vector<float>& before = at.fed.at("S");
  for (size_t i = index_reach; i < wrapped.size(); ++i) {
    wrapped.value[i % index_reach] = wrapped.value[i];
    wrapped.bound[i % index_reach] = wrapped.bound_of(i);
    wrapped.value[i] = before[i];
    wrapped.bound[i] = 0;
  }
  // Read from registers.
  const FaultForm whole = by_head("", "", [](const DeltaHead& h, const OperatorRun&) {
    return FaultyHead{{}, h.read(h.state_after(), h.q)};
  });
  if (auto read = whole.expect(at, run)) faulty["o"] = (*read)["o"];
  return faulty;
}
const RegisteredForm index_of_16_bits(
    {"state_index_of_16_bits",
     "numbers of the state beyond the first 65536 are written over those at its front",
     Operator::delta_rule, wrapped_state});

}  // namespace
}  // namespace gdn
