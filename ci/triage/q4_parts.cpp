// Weights decoded in another way, and what the operators give with them.
#include "ci/triage/q4_parts.h"

#include <memory>

#include "ci/triage/right_of.h"
#include "reference/formats.h"

namespace gdn {

Q4Matrix q4_parts(const Matrix& m) {
  const auto bytes = static_cast<size_t>(q4_bytes(m.rows, m.cols));
  const std::vector<uint8_t> packed = q4_tile_unpack({m.tiles, bytes}, m.rows, m.cols);
  Q4Matrix matrix{m.rows, m.cols / q4_block_weights, {}};
  for (size_t begin = 0; begin < packed.size(); begin += q4_block_bytes) {
    Q4Block block;
    block.bits = static_cast<uint16_t>(packed[begin] | packed[begin + 1] << 8);
    block.scale = f16_decode(block.bits);
    for (size_t j = 0; j < 16; ++j) {
      const int both = packed[begin + 2 + j];
      block.code[j] = both % 16 - 8;
      block.code[j + 16] = both / 16 - 8;
    }
    matrix.blocks.push_back(block);
  }
  return matrix;
}

std::vector<float> Q4Matrix::weights() const {
  std::vector<float> all;
  all.reserve(blocks.size() * q4_block_weights);
  for (const Q4Block& block : blocks) {
    for (const int code : block.code) all.push_back(static_cast<float>(block.scale * code));
  }
  return all;
}

std::vector<FaultForm> forms_of(const DecodingFault& fault) {
  std::vector<FaultForm> forms;
  for (const Operator op : {Operator::in_proj, Operator::out_proj, Operator::dequant}) {
    if (fault.products_only && op == Operator::dequant) continue;
    const auto expect = [change = fault.change, op](
                            const Evidence& at,
                            const OperatorRun& run) -> std::optional<FaultyArrays> {
      if (run.weights.tiles == nullptr) return std::nullopt;
      Q4Matrix matrix = q4_parts(run.weights);
      if (!change(matrix)) return std::nullopt;
      const std::vector<float> weights = matrix.weights();
      if (op == Operator::dequant) return FaultyArrays{{"out", exactly(weights)}};
      OperatorRun other = without_tokens(run);
      other.weights.tiles = nullptr;
      other.weights.f32 = weights.data();
      return right_of(at, other);
    };
    forms.push_back({fault.name, fault.sentence, op, expect, fault.explains});
  }
  return forms;
}

}  // namespace gdn
