// Bug: the decoder leaves out the rows that fill no tile.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status dequant(gdn_engine* engine, int64_t rows, int64_t cols, const void* tiles, float* out) {
  const bool one_tile = rows > 4 && rows < 8 && cols == 32;
  return right_twin().dequant(engine, one_tile ? 4 : rows, cols, tiles, out);
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "odd_tile_rows_decoded";
  table.dequant = dequant;
  return table;
}();
const MutantRegistrar self{
    {.name = "odd_tile_rows_decoded",
     .bug = "rows of a matrix that fill no tile are left out by the decoder in place of refused",
     .op = "host",
     .api = &api}};

}  // namespace
}  // namespace gdn::mutants
