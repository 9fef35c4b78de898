// The fields of a case's text form by name, for the writer and the reader.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "reference/case.h"

namespace gdn {

inline constexpr std::string_view case_first_line = "deltaproof-case 1";

struct DimensionField {
  std::string_view name;
  int64_t Shape::*member;
};
inline constexpr DimensionField dimension_fields[] = {
    {"hidden_size", &Shape::hidden_size}, {"num_k_heads", &Shape::num_k_heads},
    {"head_k_dim", &Shape::head_k_dim},   {"num_v_heads", &Shape::num_v_heads},
    {"head_v_dim", &Shape::head_v_dim},   {"conv_kernel", &Shape::conv_kernel},
    {"num_layers", &Shape::num_layers}};

struct EpsilonField {
  std::string_view name;
  float Shape::*member;
};
inline constexpr EpsilonField epsilon_fields[] = {{"rms_norm_eps", &Shape::rms_norm_eps},
                                                  {"l2norm_eps", &Shape::l2norm_eps}};

struct PoolField {
  std::string_view name;
  int64_t PoolLayout::*member;
};
inline constexpr PoolField pool_fields[] = {{"slots", &PoolLayout::slots},
                                            {"offset", &PoolLayout::offset},
                                            {"gap", &PoolLayout::gap},
                                            {"states", &PoolLayout::states}};

struct ListField {
  std::string_view name;
  std::vector<int64_t> Call::*member;
};
inline constexpr ListField list_fields[] = {{"lengths", &Call::lengths},
                                            {"slots", &Call::slots},
                                            {"accepted", &Call::accepted},
                                            {"from_zero", &Call::from_zero}};

// Knobs that are spelled as the name of a Pattern.
constexpr bool is_pattern(int64_t Recipe::*member) {
  return member == &Recipe::pattern || member == &Recipe::weight_pattern;
}

}  // namespace gdn
