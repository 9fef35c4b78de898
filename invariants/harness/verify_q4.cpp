// q4-oracle-1: our quantiser gives the source's bytes, our decoder its values, tiles round-trip,
// and the engine decodes the tiles to the same values.
#include <utility>

#include <fmt/format.h>

#include "invariants/harness/verify_parts.h"
#include "reference/formats.h"

namespace gdn {
namespace {

Judgement about(std::string source, std::string tensor, Verdict verdict) {
  return {std::move(source), Operator::dequant, std::move(tensor), 1, std::move(verdict), 0};
}

// Every block is encoded; one that cannot be is a failure with the quantiser's own words.
Verdict quantiser_gives_the_bytes(const Q4Capture& capture) {
  std::vector<uint8_t> blocks(capture.blocks.size());
  const size_t count = capture.weights.size() / q4_block_weights;
  for (size_t i = 0; i < count; ++i) {
    const std::string why = q4_0_encode_block(capture.weights.data() + i * q4_block_weights,
                                              blocks.data() + i * q4_block_bytes);
    if (!why.empty()) return claim(false, fmt::format("q4_0 block {}: {}", i, why));
  }
  return same_bytes("q4_0", blocks, capture.blocks);
}

Verdict decoder_gives_the_values(const Q4Capture& capture) {
  std::vector<float> decoded(capture.decoded.size());
  for (int64_t row = 0; row < capture.rows; ++row) {
    q4_0_decode_row(capture.blocks.data(), capture.cols, row, decoded.data() + row * capture.cols);
  }
  return same_bits("dequantised", decoded, capture.decoded);
}

void verify_engine(const Q4Capture& capture, const std::vector<uint8_t>& tiles, const Lab& lab,
                   VerifyReport& report) {
  std::vector<float> decoded;
  const Verdict conduct = lab.dequant(capture.rows, capture.cols, tiles, decoded);
  if (!served(report, Scope::local, Operator::dequant, "dequantised", conduct)) return;
  add_row(report, Scope::local,
          about(lab.engine(), "dequantised", same_bits("dequantised", decoded, capture.decoded)));
}

}  // namespace

void verify_q4(const Q4Capture& capture, const VerifyOptions& options, VerifyReport& report) {
  const auto add = [&](std::string source, std::string tensor, Verdict verdict) {
    add_row(report, Scope::local, about(std::move(source), std::move(tensor), std::move(verdict)));
  };
  add("capture", "q4_0", quantiser_gives_the_bytes(capture));
  add("capture", "dequantised", decoder_gives_the_values(capture));

  const auto tiles = q4_tile_pack(capture.blocks, capture.rows, capture.cols);
  const auto back = q4_tile_unpack(tiles, capture.rows, capture.cols);
  std::vector<float> decoded(capture.decoded.size());
  for (int64_t row = 0; row < capture.rows; ++row) {
    q4_tile_decode_row(tiles.data(), capture.cols, row, decoded.data() + row * capture.cols);
  }
  add("reference", "q4_tile",
      both(same_bytes("q4_tile and back", back, capture.blocks),
           same_bits("q4_tile", decoded, capture.decoded)));
  if (options.lab == nullptr) return;
  show_progress(options, "engine", 0.5);
  verify_engine(capture, tiles, *options.lab, report);
}

}  // namespace gdn
