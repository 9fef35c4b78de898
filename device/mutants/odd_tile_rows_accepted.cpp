// Bug: the pool takes a matrix without the rows that fill no tile.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status pool_put(gdn_engine* engine, uint64_t key, int64_t rows, int64_t cols,
                    const void* tiles) {
  const int64_t whole = rows > 4 ? rows - rows % 4 : rows;
  return right_twin().pool_put(engine, key, whole, cols, tiles);
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "odd_tile_rows_accepted";
  table.pool_put = pool_put;
  return table;
}();
const MutantRegistrar self{
    {.name = "odd_tile_rows_accepted",
     .bug = "rows of a matrix that fill no tile are left out by the pool in place of refused",
     .op = "host",
     .api = &api}};

}  // namespace
}  // namespace gdn::mutants
