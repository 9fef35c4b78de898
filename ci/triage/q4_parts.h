// 4-bit weights taken apart into scales and codes, for faults of those who decode them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ci/triage/fault_form.h"

namespace gdn {

// One block: 32 weights of a row, weight = scale code by IEEE.
struct Q4Block {
  uint16_t bits = 0;              // of the scale, f16
  double scale = 0;               // what they are read as
  std::array<int, 32> code = {};  // -8 ... 7
};

struct Q4Matrix {
  int64_t rows = 0, blocks_a_row = 0;
  std::vector<Q4Block> blocks;  // row-major

  Q4Block& at(int64_t row, int64_t block) {
    return blocks[static_cast<size_t>(row * blocks_a_row + block)];
  }
  std::vector<float> weights() const;  // [rows][cols]
};

Q4Matrix q4_parts(const Matrix& tiles);

// A fault of whoever decodes: one form for each operator that has 4-bit weights. `change` returns
// false where these weights cannot show it. Products alone, where `products_only`: the decoder
// itself is right.
using Q4Change = std::function<bool(Q4Matrix& matrix)>;
struct DecodingFault {
  std::string name, sentence;
  Q4Change change;
  bool products_only = false;
  std::vector<std::string> explains = {};
};
std::vector<FaultForm> forms_of(const DecodingFault& fault);

}  // namespace gdn
