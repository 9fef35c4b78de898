// The text of a small case that tests of the text form vary, and reading one.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "reference/case.h"

namespace gdn {

inline const std::string shape_text =
    "shape hidden_size=8 num_k_heads=1 head_k_dim=4 num_v_heads=2 head_v_dim=4 conv_kernel=1 "
    "num_layers=1 rms_norm_eps=1e-06 l2norm_eps=1e-06\n";
inline const std::string gates_text =
    "deltaproof-case 1\nsubject gates\nseed 7\n" + shape_text + "dialect deltaproof\ntokens 0\n";

inline Case parsed(const std::string& text) {
  std::string why;
  const std::optional<Case> c = parse_case(text, &why);
  EXPECT_TRUE(c.has_value()) << why << "\n" << text;
  return c.value_or(Case{});
}

}  // namespace gdn
