// Regimes by name, each a property that can be read off a case.
#include <algorithm>
#include <bit>
#include <cmath>

#include "invariants/harness/life.h"
#include "invariants/harness/regimes.h"
#include "invariants/harness/regimes_parts.h"

namespace gdn {
namespace {

using D = Dialect;

bool is_layer(const Case& c) { return c.subject == Subject::layer; }
bool has_gates(const Case& c) { return is_layer(c) || c.subject == Subject::gates; }
bool has_recurrence(const Case& c) {
  return is_layer(c) || c.subject == Subject::delta_rule || c.subject == Subject::recurrent;
}
bool takes_beta(const Case& c) { return has_recurrence(c) && !is_layer(c); }
bool has_heads(const Case& c) { return has_recurrence(c) || c.subject == Subject::qk_norm; }
bool has_conv(const Case& c) { return is_layer(c) || c.subject == Subject::conv; }
bool decays(const Case& c) { return has_recurrence(c) || has_gates(c); }
bool draws_by(const Case& c, Pattern pattern) {
  const auto wanted = static_cast<int64_t>(pattern);
  return c.recipe.pattern == wanted || c.recipe.weight_pattern == wanted;
}
bool has_scales(const Case& c) { return c.subject == Subject::dequant || c.weights == Weights::q4; }

// 10^power <= horizon < 10^(power + 1), the last one open.
template <int64_t low, int64_t high>
bool horizon_in(const Case& c) {
  return decays(c) && c.recipe.horizon_tokens >= low && c.recipe.horizon_tokens < high;
}

template <int64_t low, int64_t high>
bool tokens_in(const Case& c) {
  return c.tokens >= low && c.tokens <= high;
}

template <int64_t low, int64_t high>
bool coherence_in(const Case& c) {
  return c.recipe.coherence_16ths >= low && c.recipe.coherence_16ths <= high;
}

template <int64_t ratio>
bool ratio_is(const Case& c) {
  return has_recurrence(c) && c.shape.v_heads_per_k_head() == ratio;
}

template <int64_t taps>
bool taps_are(const Case& c) {
  return has_conv(c) && c.shape.conv_kernel == taps;
}

template <Subject subject>
bool subject_is(const Case& c) {
  return c.subject == subject;
}

// Does some explicit number satisfy the predicate?
template <class Predicate>
bool any_number(const Case& c, Predicate predicate) {
  return std::any_of(c.numbers.begin(), c.numbers.end(), [&](const auto& array) {
    return std::any_of(array.second.begin(), array.second.end(),
                       [&](uint32_t bits) { return predicate(std::bit_cast<float>(bits)); });
  });
}

// Some head's explicit dt_bias of this magnitude, or one unit in the last place beside it, while
// the other part of the sum is given as 0.
bool gate_near(const Case& c, float magnitude) {
  const auto found = c.numbers.find("dt_bias");
  if (!has_gates(c) || found == c.numbers.end() || !c.numbers.contains("a")) return false;
  const uint32_t wanted = std::bit_cast<uint32_t>(magnitude);
  return std::any_of(found->second.begin(), found->second.end(), [wanted](uint32_t bits) {
    const uint32_t of_magnitude = bits & 0x7FFFFFFFU;
    return of_magnitude + 1 >= wanted && of_magnitude <= wanted + 1;
  });
}

bool gate_not_finite(const Case& c) {
  const auto found = c.numbers.find("dt_bias");
  return has_gates(c) && found != c.numbers.end() &&
         std::any_of(found->second.begin(), found->second.end(),
                     [](uint32_t bits) { return !std::isfinite(std::bit_cast<float>(bits)); });
}

bool calls(const Case& c, CallKind kind) {
  return std::any_of(c.calls.begin(), c.calls.end(),
                     [kind](const Call& call) { return call.kind == kind; });
}

// Calls of step and run on one layer, and no more than one of them long enough to be cut.
bool is_cut(const Case& c) {
  const auto pieces = std::count_if(c.calls.begin(), c.calls.end(), [](const Call& call) {
    return call.kind == CallKind::run || call.kind == CallKind::recurrent;
  });
  return pieces >= 2;
}

bool feeds_in_turns(const Case& c) {
  std::set<int64_t> layers;
  for (const Call& call : c.calls) {
    if (call.kind == CallKind::step || call.kind == CallKind::run) {
      layers.insert(call.at(Argument::layer));
    }
  }
  return layers.size() >= 2;
}

bool refuses(const Case& c) {
  if (!is_layer(c) || c.calls.empty()) return false;
  const Life life = live(c);
  return std::any_of(life.calls.begin(), life.calls.end(),
                     [](const CallLife& call) { return call.refused; });
}

bool rebuilds_pool(const Case& c) {
  return std::count_if(c.calls.begin(), c.calls.end(), [](const Call& call) {
           return call.kind == CallKind::pool_init || call.kind == CallKind::pool_clear;
         }) >= 2;
}

std::vector<Regime> subjects() {
  return {
      {"subject layer", subject_is<Subject::layer>},
      {"subject in_proj", subject_is<Subject::in_proj>},
      {"subject gates", subject_is<Subject::gates>},
      {"subject conv", subject_is<Subject::conv>},
      {"subject qk_norm", subject_is<Subject::qk_norm>},
      {"subject delta_rule", subject_is<Subject::delta_rule>},
      {"subject gated_norm", subject_is<Subject::gated_norm>},
      {"subject out_proj", subject_is<Subject::out_proj>},
      {"subject dequant", subject_is<Subject::dequant>},
      {"subject recurrent", subject_is<Subject::recurrent>},
  };
}

std::vector<Regime> sizes() {
  return {
      {"state >= 64x64",
       [](const Case& c) {
         return has_recurrence(c) && c.shape.head_k_dim * c.shape.head_v_dim >= large_state;
       }},
      {"tokens >= 64", [](const Case& c) { return c.tokens >= long_stream_tokens; }},
      {"tokens 1", tokens_in<1, 1>},
      {"tokens 5", tokens_in<5, 5>},
      {"tokens 63..65", tokens_in<63, 65>},
      {"tokens 127..129", tokens_in<127, 129>},
      {"kd != vd",
       [](const Case& c) { return has_heads(c) && c.shape.head_k_dim != c.shape.head_v_dim; }},
      {"kd = 1", [](const Case& c) { return has_heads(c) && c.shape.head_k_dim == 1; }},
      {"vd = 1", [](const Case& c) { return has_recurrence(c) && c.shape.head_v_dim == 1; }},
      {"odd kd", [](const Case& c) { return has_heads(c) && c.shape.head_k_dim % 2 == 1; }},
      {"odd hidden", [](const Case& c) { return is_layer(c) && c.shape.hidden_size % 2 == 1; }},
      {"vh / kh = 1", ratio_is<1>},
      {"vh / kh = 2", ratio_is<2>},
      {"vh / kh = 3", ratio_is<3>},
      {"vh / kh = 4", ratio_is<4>},
      {"conv taps 1", taps_are<1>},
      {"conv taps 2", taps_are<2>},
      {"conv taps 3", taps_are<3>},
      {"conv taps 4", taps_are<4>},
      {"conv taps 5", taps_are<5>},
      {"several layers", [](const Case& c) { return is_layer(c) && c.shape.num_layers > 1; }},
      {"eps 0",
       [](const Case& c) {
         return (has_heads(c) && c.shape.l2norm_eps == 0) ||
                ((is_layer(c) || c.subject == Subject::gated_norm) && c.shape.rms_norm_eps == 0);
       }},
  };
}

std::vector<Regime> memories() {
  return {
      {"horizon >= 1000", horizon_in<long_horizon_tokens, INT64_MAX>},
      {"horizon 10^0", horizon_in<1, 10>},
      {"horizon 10^1", horizon_in<10, 100>},
      {"horizon 10^2", horizon_in<100, 1000>},
      {"horizon 10^3", horizon_in<1000, 10'000>},
      {"horizon 10^4", horizon_in<10'000, 100'000>},
      {"horizon 10^5", horizon_in<100'000, 1'000'000>},
      {"horizon 10^6", horizon_in<1'000'000, INT64_MAX>},
      {"coherence 0", coherence_in<0, 0>},
      {"coherence between", coherence_in<1, 15>},
      {"coherence 1", coherence_in<16, 16>},
      {"beta near 0", [](const Case& c) { return decays(c) && c.recipe.beta_logit <= -8; }},
      {"beta near 1",
       [](const Case& c) {
         return decays(c) && c.recipe.beta_logit >= 8 && (is_layer(c) || c.recipe.beta_factor == 1);
       }},
      {"beta near 2",
       [](const Case& c) {
         return takes_beta(c) && c.recipe.beta_logit >= 8 && c.recipe.beta_factor == 2;
       }},
      {"gate 0", [](const Case& c) { return gate_near(c, 0.0F); }},
      {"gate 20", [](const Case& c) { return gate_near(c, 20.0F); }},
      {"gate 88.8", [](const Case& c) { return gate_near(c, 88.8F); }},
      {"gate 104", [](const Case& c) { return gate_near(c, 104.0F); }},
      {"gate 1e4", [](const Case& c) { return gate_near(c, 1e4F); }},
      {"gate inf or nan", gate_not_finite},
  };
}

std::vector<Regime> values() {
  return {
      {"sums cancel", [](const Case& c) { return c.recipe.cancelling_bits > 0; }},
      {"tiny norms",
       [](const Case& c) {
         return c.recipe.input_exponent <= -30 || c.recipe.weight_exponent <= -30;
       }},
      {"huge norms",
       [](const Case& c) {
         return c.recipe.input_exponent >= 30 || c.recipe.weight_exponent >= 30;
       }},
      {"zeros",
       [](const Case& c) { return c.recipe.zero_16ths > 0 || draws_by(c, Pattern::zero); }},
      {"dyadic", [](const Case& c) { return draws_by(c, Pattern::dyadic); }},
      {"all equal", [](const Case& c) { return draws_by(c, Pattern::equal); }},
      {"one hot", [](const Case& c) { return draws_by(c, Pattern::one_hot); }},
      {"exponents spread", [](const Case& c) { return c.recipe.exponent_spread > 0; }},
      {"subnormal",
       [](const Case& c) {
         return c.recipe.tiny_64ths > 0 || draws_by(c, Pattern::subnormal) ||
                any_number(c, [](float x) { return std::fpclassify(x) == FP_SUBNORMAL; });
       }},
      {"any finite bits", [](const Case& c) { return draws_by(c, Pattern::any_finite); }},
      {"inf or nan",
       [](const Case& c) {
         return c.recipe.extreme_64ths > 0 || draws_by(c, Pattern::any_bits) ||
                any_number(c, [](float x) { return !std::isfinite(x); });
       }},
      {"weights q4", [](const Case& c) { return c.weights == Weights::q4; }},
      {"activation q8_0",
       [](const Case& c) { return c.dialect.activation == D::Activation::q8_0; }},
      {"f16 scales by bits",
       [](const Case& c) {
         return has_scales(c) &&
                (c.subject == Subject::dequant || draws_by(c, Pattern::any_finite) ||
                 draws_by(c, Pattern::any_bits));
       }},
      {"f16 scales subnormal",
       [](const Case& c) { return c.weights == Weights::q4 && c.recipe.weight_exponent <= -14; }},
      {"f16 scales inf or nan",
       [](const Case& c) {
         return has_scales(c) && c.recipe.weight_pattern == static_cast<int64_t>(Pattern::any_bits);
       }},
  };
}

std::vector<Regime> orders_of_calls() {
  return {
      {"calls given", [](const Case& c) { return !c.calls.empty(); }},
      {"stream in pieces", is_cut},
      {"layers in turns", feeds_in_turns},
      {"forward", [](const Case& c) { return calls(c, CallKind::forward); }},
      {"out fed back",
       [](const Case& c) {
         return std::any_of(c.calls.begin(), c.calls.end(),
                            [](const Call& call) { return call.at(Argument::h_id) >= 0; });
       }},
      {"reset", [](const Case& c) { return calls(c, CallKind::reset); }},
      {"rollback",
       [](const Case& c) { return calls(c, CallKind::snapshot) && calls(c, CallKind::rollback); }},
      {"import",
       [](const Case& c) {
         return calls(c, CallKind::state_export) && calls(c, CallKind::state_import);
       }},
      {"unload", [](const Case& c) { return calls(c, CallKind::unload_layer); }},
      {"pool rebuilt", rebuilds_pool},
      {"operator beside layers",
       [](const Case& c) {
         return is_layer(c) && (calls(c, CallKind::apply) || calls(c, CallKind::dequant) ||
                                calls(c, CallKind::recurrent));
       }},
      {"buffers", [](const Case& c) { return calls(c, CallKind::buffer_write); }},
      {"refused call", refuses},
  };
}

std::vector<Regime> conventions() {
  return {
      {"state layout vk",
       [](const Case& c) { return c.dialect.state_layout == D::StateLayout::vk; }},
      {"head map tiled", [](const Case& c) { return c.dialect.head_map == D::HeadMap::tiled; }},
      {"qk norm mean", [](const Case& c) { return c.dialect.qk_norm == D::QkNorm::mean_eps; }},
      {"qk norm max", [](const Case& c) { return c.dialect.qk_norm == D::QkNorm::max_norm; }},
      {"qk norm none", [](const Case& c) { return c.dialect.qk_norm == D::QkNorm::none; }},
      {"scale on output", [](const Case& c) { return c.dialect.scale_on == D::ScaleOn::output; }},
      {"no scale", [](const Case& c) { return c.dialect.scale_on == D::ScaleOn::none; }},
      {"scale given", [](const Case& c) { return c.dialect.scale.has_value(); }},
      {"decay per channel", [](const Case& c) { return c.dialect.decay == D::Decay::per_channel; }},
      {"decay g then gk", [](const Case& c) { return c.dialect.decay == D::Decay::g_then_gk; }},
      {"linear alpha",
       [](const Case& c) { return c.dialect.gate_input == D::GateInput::linear_alpha; }},
      {"state stored in 16 bits",
       [](const Case& c) { return c.dialect.state_storage != Format::f32; }},
      {"inputs in 16 bits", [](const Case& c) { return c.dialect.input_storage != Format::f32; }},
      {"outputs in 16 bits", [](const Case& c) { return c.dialect.output_storage != Format::f32; }},
      {"gaps between states", [](const Case& c) { return c.pool.gap > 0 || c.pool.offset > 0; }},
  };
}

const std::vector<Regime>& regimes() {
  static const std::vector<Regime> all = [] {
    std::vector<Regime> list;
    for (const auto& part : {subjects(), sizes(), memories(), values(), orders_of_calls(),
                             conventions(), regimes_of_batches()}) {
      list.insert(list.end(), part.begin(), part.end());
    }
    return list;
  }();
  return all;
}

}  // namespace

std::vector<std::string> all_regimes() {
  std::vector<std::string> names;
  for (const Regime& regime : regimes()) names.push_back(regime.name);
  return names;
}

std::vector<std::string> regimes_of(const Case& c) {
  std::vector<std::string> names;
  for (const Regime& regime : regimes()) {
    if (regime.holds(c)) names.push_back(regime.name);
  }
  return names;
}

}  // namespace gdn
