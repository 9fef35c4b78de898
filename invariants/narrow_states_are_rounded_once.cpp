// Claim:   states in bf16 or f16 are those of float32 states, rounded to nearest even where they
// are
//          stored and nowhere else: tokens of one call see a float32 state, and a call sees what
//          the one before it stored.
// Why:     where a state is rounded is part of a dialect: once a token is another text than once a
//          call, and truncation drifts.
// Bound:   none: equal bits to float32 states that were rounded here.
// Origin:  a state read back from its slot between the tokens of a call; rounding toward zero; half
//          a unit rounded up, which drawn numbers never meet.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

constexpr int64_t tokens = 5;

bool applies(const Case& c) { return c.subject == Subject::recurrent && c.tokens >= 1; }

std::vector<float> rounded(std::vector<float> state, Format format) {
  for (float& x : state) {
    x = format == Format::bf16 ? bf16_decode(bf16_encode(x)) : f16_decode(f16_encode(x));
  }
  return state;
}

// A sequence in pieces, each of which starts from the state that the one before it stored.
Verdict in_pieces(const std::vector<int64_t>& pieces, Format format, const Case& given,
                  const Lab& lab) {
  Case narrow = drafting_case(given, tokens, tokens);
  narrow.dialect.state_storage = format;
  int64_t first = 0;
  std::vector<int64_t> slots = {0};
  for (const int64_t piece : pieces) {
    const std::vector<int64_t> others = counted(first + 1, piece - 1);
    slots.erase(slots.begin(), slots.end() - 1);
    slots.insert(slots.end(), others.begin(), others.end());
    narrow.calls.push_back(batch_call({piece}, slots, first));
    first += piece;
  }
  const Observation seen = lab.run(narrow);
  Verdict all = seen.served();
  std::vector<float> pool = lab.first_pool(narrow);
  for (size_t i = 0; i < narrow.calls.size() && all.holds(); ++i) {
    Case exact = narrow.with_numbers("S", pool).with_calls({narrow.calls[i]});
    exact.dialect.state_storage = Format::f32;
    const Observation want = lab.run(exact);
    all = both(std::move(all), want.served());
    if (!all.holds()) return all;
    const std::string where =
        "call " + std::to_string(i + 1) + " of " + std::to_string(pieces.size()) + ", ";
    pool = seen.calls[i].arrays.at("S");
    all = both(std::move(all),
               same_bits(where + "o", seen.calls[i].arrays.at("o"), want.calls[0].arrays.at("o")),
               same_bits(where + "states", pool, rounded(want.calls[0].arrays.at("S"), format)));
  }
  return all;
}

// States and outputs half way between two numbers of the format, below and above an even one and of
// either sign: with key, query and beta 1 and an empty slot both are the value.
Verdict half_way(Format format, const Case& given, const Lab& lab) {
  const float unit = format == Format::bf16 ? 0x1p-7F : 0x1p-10F;  // of numbers from 1 to 2
  const std::vector<float> v = {1 + unit / 2,          1 + 3 * (unit / 2),       -(1 + unit / 2),
                                -(1 + 3 * (unit / 2)), 1 + unit / 2 + unit / 32, 1 + unit / 4};
  const Arrays arrays = {{"q", {1}}, {"k", {1}},    {"v", v},
                         {"g", {0}}, {"beta", {1}}, {"S", std::vector<float>(v.size(), 0)}};
  const Shape shape = with_heads(given.shape, 1, 1, 1, std::ssize(v));
  Case wide = worked_case(given, Subject::recurrent, shape, arrays, 1);
  wide.dialect.scale_on = Dialect::ScaleOn::none;
  wide.dialect.input_storage = wide.dialect.state_storage = Format::f32;
  wide.dialect.output_storage = Format::f32;
  Case narrow = wide;
  narrow.dialect.state_storage = narrow.dialect.output_storage = format;
  const Observation want = lab.run(wide);
  const Observation seen = lab.run(narrow);
  Verdict all = both(want.served(), seen.served());
  for (const char* array : {"S", "o"}) {
    if (!all.holds()) return all;
    all = both(std::move(all),
               same_bits(std::string("half way, ") + array, seen.calls[0].arrays.at(array),
                         rounded(want.calls[0].arrays.at(array), format)));
  }
  return all;
}

Verdict check(const Case& c, const Lab& lab) {
  Verdict all;
  for (const Format format : {Format::bf16, Format::f16}) {
    all = both_served(std::move(all), half_way(format, c, lab));
    for (const std::vector<int64_t>& pieces :
         {std::vector<int64_t>{tokens}, std::vector<int64_t>{2, 1, 2}}) {
      // An engine may store in one format alone.
      all = both_served(std::move(all), in_pieces(pieces, format, c, lab));
    }
  }
  return all;
}

const Registered self{{.claim = "narrow states are float32 states, rounded where they are stored",
                       .applies = applies,
                       .check = check,
                       .kills = {"narrow_state_rounded_every_token"},
                       .one_in = 8,
                       .searched_others_one_in = 64}};

}  // namespace
}  // namespace gdn
