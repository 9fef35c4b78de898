// What the queues of a core can be told to do. Vector instructions work on whole padded rows, and
// so on padding too; what is there is never part of a sum.
#pragma once

#include <cstdint>

#include "device/ascend_sim/core.h"
#include "device/gdn.h"

namespace gdn::ascend {

// Rows that are copied between local memory, where they lie `local_pitch` bytes apart, and a global
// array. Those of one instruction follow each other in rising order.
struct Rows {
  Local local;
  int64_t local_pitch = 0;
  Global* global = nullptr;
  int64_t begin = 0, global_pitch = 0;  // bytes
  int64_t row_bytes = 0, count = 0;
};

// What lies behind a row in its last unit is left undefined in local memory.
void copy_in(Core& core, const char* what, const Rows& rows);
// In whole units: up to 31 bytes of padding are written behind each row.
void copy_out(Core& core, const char* what, const Rows& rows);

// count numbers of `format` as float32, and float32 rounded once to nearest even.
void widen(Core& core, const Local& to, const Local& from, gdn_format format, int64_t count);
void narrow(Core& core, const Local& to, const Local& from, gdn_format format, int64_t count);

void multiply(Core& core, const Local& x, int64_t count, float factor);
void exponential(Core& core, const Local& x, int64_t count);
// x = (from - x) factor, in two roundings.
void subtract_and_multiply(Core& core, const Local& x, const Local& from, int64_t count,
                           float factor);

// A tile of state: `rows` rows of float32, `pitch` numbers apart.
struct Tile {
  Local at;
  int64_t rows = 0, pitch = 0;
};
// Each row times `factors`, number by number.
void multiply_rows(Core& core, const Tile& S, const Local& factors);
// Row r plus column[r] times `row`, in two roundings.
void add_outer(Core& core, const Tile& S, const Local& column, const Local& row);
// sums[r] = sum over the first `lanes` of row r times `row`: the upper half of the products is
// added to the lower until one is left.
void dot_rows(Core& core, const Local& sums, const Tile& S, const Local& row, int64_t lanes);

}  // namespace gdn::ascend
