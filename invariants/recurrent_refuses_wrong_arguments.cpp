// Claim:   recurrent refuses arguments of which any one is wrong, whether or not it serves what
//          they ask for, and a refused call leaves every buffer as it was.
// Why:     views are all that an engine knows of where its caller's elements lie: one unchecked
//          stride or count is an access beyond a buffer.
// Bound:   none: the status of device/gdn.h; no byte of a state, input or o has changed, and the
//          next right call gives its bits as if nothing had been refused.
// Origin:  views checked for too few heads, and strides that reach before their buffer.
#include <algorithm>
#include <limits>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

using Args = gdn_recurrent_args;
using A = Argument;

constexpr int64_t largest = std::numeric_limits<int64_t>::max();
constexpr gdn_buffer no_such_buffer = 0xFFFF'FFFF'FFFF'FFF0U;

bool applies(const Case& c) { return c.subject == Subject::recurrent && c.tokens >= 1; }

class WrongArguments {
 public:
  explicit WrongArguments(const Call& right) : right_(right) {}

  void add(std::string what, std::function<void(Args&)> spoil,
           gdn_status status = GDN_INVALID_ARGUMENT) {
    WrongCall& wrong = all_.emplace_back(WrongCall{right_, status, std::move(what)});
    wrong.altered.recurrent = std::move(spoil);
  }
  template <class Field>
  void add(const std::string& name, Field Args::*field, std::initializer_list<Field> values) {
    for (const Field value : values) {
      add(name + " of " + std::to_string(value), [=](Args& args) { args.*field = value; });
    }
  }
  void add_null() {
    all_.push_back({right_, GDN_INVALID_ARGUMENT, "null args"});
    all_.back().altered.null_args = true;
  }
  std::vector<WrongCall> all() && { return std::move(all_); }

 private:
  const Call& right_;
  std::vector<WrongCall> all_;
};

void add_counts(WrongArguments& wrong, const Case& c) {
  wrong.add_null();
  // A slot more is a state beyond the buffer; sequences without a coding are one at most.
  wrong.add("num_sequences", &Args::num_sequences, {int64_t{-1}, int64_t{0}, int64_t{2}, largest});
  wrong.add("num_slots", &Args::num_slots, {int64_t{-1}, int64_t{0}, c.pool.slots + 1, largest});
  wrong.add("num_snapshots", &Args::num_snapshots, {int64_t{-1}});
  wrong.add("num_tokens", &Args::num_tokens, {int64_t{-1}, largest});
  wrong.add("one token more than there is", [](Args& args) { ++args.num_tokens; });
  constexpr std::pair<const char*, int64_t Args::*> dimensions[] = {
      {"num_k_heads", &Args::num_k_heads},
      {"head_k_dim", &Args::head_k_dim},
      {"num_v_heads", &Args::num_v_heads},
      {"head_v_dim", &Args::head_v_dim}};
  for (const auto& [name, dimension] : dimensions) {
    wrong.add(name, dimension, {int64_t{-1}, int64_t{0}, largest});
    wrong.add(std::string("one more ") + name,
              [field = dimension](Args& args) { ++(args.*field); });
  }
  // Every element is there, but some v-heads have no k-head.
  const int64_t kh = c.shape.num_k_heads;
  if (kh > 1) wrong.add("num_v_heads", &Args::num_v_heads, {c.shape.num_v_heads - 1});
}

void add_choices(WrongArguments& wrong) {
  for (const int off : {-1, 1, 1 << 20}) {
    const auto beyond = [off](auto last) {
      return static_cast<decltype(last)>(off < 0 ? off : static_cast<int>(last) + off);
    };
    const std::string where = off < 0 ? " of -1" : " beyond the last by " + std::to_string(off);
    wrong.add("sequence_coding" + where,
              [=](Args& args) { args.sequence_coding = beyond(GDN_START_AND_LENGTHS); });
    wrong.add("state_writes" + where,
              [=](Args& args) { args.state_writes = beyond(GDN_WRITE_LAST); });
    wrong.add("padding" + where, [=](Args& args) { args.padding = beyond(GDN_NO_PADDING); });
    wrong.add("qk_norm" + where, [=](Args& args) { args.qk_norm = beyond(GDN_QK_NORM_MEAN_EPS); });
  }
  const float infinite = std::numeric_limits<float>::infinity();
  for (const float eps : {-1e-6F, infinite, std::numeric_limits<float>::quiet_NaN()}) {
    for (const gdn_qk_norm_form form :
         {GDN_QK_NORM_SUM_EPS, GDN_QK_NORM_MAX, GDN_QK_NORM_MEAN_EPS}) {
      wrong.add("qk_norm_eps of " + std::to_string(eps), [=](Args& args) {
        args.qk_norm = form;
        args.qk_norm_eps = eps;
      });
    }
  }
  for (const float scale : {infinite, -infinite, std::numeric_limits<float>::quiet_NaN()}) {
    wrong.add("scale of " + std::to_string(scale), [=](Args& args) {
      args.scale_is_given = 1;
      args.scale = scale;
    });
  }
}

// A view that the right call has, as the Lab lays its buffer out.
struct Seen {
  std::string name;
  gdn_view Args::*view;
  std::vector<int64_t> extents;
  // Elements of the buffer behind the last that the view names; -1: as many as before the first.
  int64_t behind = 0;
  bool is_required = true;
  bool is_float32 = false;
};

void add_view(WrongArguments& wrong, const Seen& seen) {
  const auto view = seen.view;
  const auto add = [&](const std::string& what, auto change,
                       gdn_status status = GDN_INVALID_ARGUMENT) {
    wrong.add(
        seen.name + ": " + what, [=](Args& args) { change(args.*view); }, status);
  };
  if (seen.is_required) add("no buffer", [](gdn_view& v) { v.buffer = 0; });
  add(
      "an unknown buffer", [](gdn_view& v) { v.buffer = no_such_buffer; }, GDN_NOT_FOUND);
  for (const int format : {-1, int{GDN_Q4_TILE}, int{GDN_I32}, int{GDN_I32} + 1, 1 << 20}) {
    add("format " + std::to_string(format),
        [=](gdn_view& v) { v.format = static_cast<gdn_format>(format); });
  }
  if (seen.is_float32) add("bf16", [](gdn_view& v) { v.format = GDN_BF16; });
  if (seen.is_float32) add("f16", [](gdn_view& v) { v.format = GDN_F16; });
  const auto behind = [given = seen.behind](const gdn_view& v) {
    return given < 0 ? v.offset : given;
  };
  for (const int64_t offset : {int64_t{-1}, -largest, largest}) {
    add("offset " + std::to_string(offset), [=](gdn_view& v) { v.offset = offset; });
  }
  add("an offset one too far", [=](gdn_view& v) { v.offset += behind(v) + 1; });
  for (size_t d = 0; d < seen.extents.size(); ++d) {
    if (seen.extents[d] < 2) continue;
    const std::string which = "stride " + std::to_string(d);
    add(which + " too long", [=](gdn_view& v) { v.stride[d] += behind(v) + 1; });
    add(which + " beyond 64 bits", [=](gdn_view& v) { v.stride[d] = largest; });
    add(which + " to before the buffer", [=](gdn_view& v) {
      v.offset = 0;
      v.stride[d] = -1;
    });
  }
}

void add_views(WrongArguments& wrong, const Case& c, const Numbers& numbers, int64_t T) {
  const Shape& s = c.shape;
  const int64_t kh = s.num_k_heads;
  const int64_t kd = s.head_k_dim;
  const int64_t vh = s.num_v_heads;
  const int64_t vd = s.head_v_dim;
  const bool vk = c.dialect.state_layout == Dialect::StateLayout::vk;
  add_view(wrong, {"q", &Args::q, {T, kh, kd}});
  add_view(wrong, {"k", &Args::k, {T, kh, kd}});
  add_view(wrong, {"v", &Args::v, {T, vh, vd}});
  add_view(wrong, {"beta", &Args::beta, {T, vh}});
  add_view(wrong, {"o", &Args::o, {T, vh, vd}, -1});
  add_view(wrong,
           {"state", &Args::state, {c.pool.slots, vh, vk ? vd : kd, vk ? kd : vd}, c.pool.gap});
  if (numbers.arrays.contains("g")) add_view(wrong, {"g", &Args::g, {T, vh}, 0, false, true});
  if (numbers.arrays.contains("gk")) {
    add_view(wrong, {"gk", &Args::gk, {T, vh, kd}, 0, false, true});
  }
}

// Arrays that the right call leaves out, of which an engine may serve none: wrong ones are wrong.
void add_optional(WrongArguments& wrong) {
  constexpr std::pair<const char*, gdn_view Args::*> indices[] = {{"sequences", &Args::sequences},
                                                                  {"slots", &Args::slots},
                                                                  {"accepted", &Args::accepted},
                                                                  {"from_zero", &Args::from_zero}};
  for (const auto& [name, place] : indices) {
    const std::string of = name;
    wrong.add(of + " of float32", [view = place](Args& args) {
      args.*view = args.beta;
      (args.*view).format = GDN_F32;
    });
    wrong.add(
        of + " in an unknown buffer",
        [view = place](Args& args) {
          (args.*view).buffer = no_such_buffer;
          (args.*view).format = GDN_I32;
        },
        GDN_NOT_FOUND);
    wrong.add(of + " before its buffer", [view = place](Args& args) {
      (args.*view).buffer = args.beta.buffer;
      (args.*view).format = GDN_I32;
      (args.*view).offset = -1;
    });
  }
  wrong.add("states to keep and no snapshots",
            [](Args& args) { args.state_writes = GDN_WRITE_LAST; });
  wrong.add("a state for every token and no q", [](Args& args) {
    args.state_writes = GDN_WRITE_EVERY_TOKEN;
    args.q.buffer = 0;
  });
  wrong.add("an offset of -1 into no tokens", [](Args& args) {
    args.num_tokens = 0;
    args.q.offset = -1;
  });
}

Verdict check(const Case& given, const Lab& lab) {
  const Case c = given.with_calls({});
  std::string why;
  const std::optional<Numbers> numbers = materialise(c, &why);
  if (!numbers) return {};
  const int64_t tokens = std::min<int64_t>(c.tokens, 2);
  const auto of = [](int64_t count) {
    return call_of(CallKind::recurrent, {{A::first_token, 0}, {A::tokens, count}});
  };
  const Call right = of(tokens);
  WrongArguments wrong(right);
  add_counts(wrong, c);
  add_choices(wrong);
  add_views(wrong, c, *numbers, tokens);
  add_optional(wrong);
  return refused_without_trace(c, lab, {of(1)}, std::move(wrong).all(), {right});
}

const Registered self{{.claim = "recurrent refuses wrong arguments and touches nothing",
                       .applies = applies,
                       .check = check,
                       .kills = {"no_slots_taken_as_one"},
                       .one_in = 16,
                       .searched_others_one_in = 512}};

}  // namespace
}  // namespace gdn
