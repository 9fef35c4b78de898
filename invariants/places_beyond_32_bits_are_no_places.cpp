// Claim:   strides and offsets are counted in 64 bits: a view whose elements would lie within their
//          buffer by 32 bits alone is refused, and a stride of any length that no element needs is
//          served.
// Why:     a pool of a few thousand states has more than 2^31 elements, and an index that wraps
//          around lands in another state.
// Bound:   none: the status of device/gdn.h, no byte changed, and equal bits where it is served.
// Origin:  slot times stride in 32 bits, with the product widened too late.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

using Args = gdn_recurrent_args;

// Multiples of it vanish in 32 bits, signed or not, also once they are bytes.
constexpr int64_t wraps = int64_t{1} << 32;

bool applies(const Case& c) { return c.subject == Subject::recurrent && c.tokens >= 1; }

struct Reach {
  const char* name;
  gdn_view Args::*view;
};
constexpr Reach views[] = {{"q", &Args::q},       {"k", &Args::k}, {"v", &Args::v},
                           {"beta", &Args::beta}, {"o", &Args::o}, {"state", &Args::state}};

Verdict check(const Case& given, const Lab& lab) {
  Case c = batch_case(given, 3, 3);
  const Call right = batch_call({2, 1}, {2, 0});
  std::vector<WrongCall> wrong;
  const auto add = [&](const std::string& what, std::function<void(Args&)> change) {
    wrong.push_back({right, GDN_INVALID_ARGUMENT, what});
    wrong.back().altered.recurrent = std::move(change);
  };
  for (const Reach& reach : views) {
    const auto view = reach.view;
    for (const int64_t far : {wraps, -wraps, wraps << 8, int64_t{1} << 31}) {
      const std::string by = " by " + std::to_string(far);
      if (far > 0) {
        add(std::string(reach.name) + ": the offset" + by,
            [=](Args& args) { (args.*view).offset += far; });
      }
      add(std::string(reach.name) + ": the first stride" + by,
          [=](Args& args) { (args.*view).stride[0] += far; });
    }
  }
  add("as many slots as 32 bits hold no more", [](Args& args) { args.num_slots += wraps; });
  add("as many tokens as 32 bits hold no more", [](Args& args) { args.num_tokens += wraps; });
  add("as many sequences as 32 bits hold no more", [](Args& args) { args.num_sequences += wraps; });
  Verdict all = refused_without_trace(c, lab, {right}, wrong, {right});
  if (!all.holds()) return all;

  // One slot and one token: no element needs a stride of theirs.
  c = batch_case(given, 1, 1);
  c.calls = {batch_call({1}, {0})};
  const Observation plain = lab.run(c);
  for (const int64_t far : {wraps, (int64_t{1} << 62), -wraps}) {
    RunOptions options;
    options.altered[0].recurrent = [far](Args& args) {
      for (const Reach& reach : views) (args.*(reach.view)).stride[0] = far;
    };
    const Observation seen = lab.run(c, options);
    all = both(std::move(all), plain.served(), seen.served());
    if (!all.holds()) return all;
    all = both(std::move(all),
               same_bits("strides of " + std::to_string(far), seen.calls[0], plain.calls[0]));
  }
  return all;
}

const Registered self{{.claim = "places in buffers are counted in 64 bits",
                       .applies = applies,
                       .check = check,
                       .kills = {"slot_stride_of_32_bits"},
                       .one_in = 16,
                       .searched_others_one_in = 128}};

}  // namespace
}  // namespace gdn
