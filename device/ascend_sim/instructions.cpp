// Each is issued with the bytes that it uses, and moves or computes them when it runs.
#include "device/ascend_sim/instructions.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "device/twin/formats.h"

#ifdef __FAST_MATH__
#error "the operator's numbers are IEEE: build without fast math"
#endif

namespace gdn::ascend {
namespace {

constexpr int64_t float_bytes = sizeof(float);

Local numbers(const Local& at, int64_t count) { return at.part(0, count * float_bytes); }
Local all_of(const Tile& S) { return numbers(S.at, S.rows * S.pitch); }

void fill(unsigned char* at, int64_t bytes, uint32_t pattern) {
  for (int64_t i = 0; i < bytes; ++i) at[i] = static_cast<unsigned char>(pattern >> (i % 4 * 8));
}

Local whole_rows(const Rows& rows) { return rows.local.part(0, rows.count * rows.local_pitch); }

}  // namespace

void copy_in(Core& core, const char* what, const Rows& rows) {
  if (rows.count <= 0) return;
  Instruction made = {.what = what, .local = {{whole_rows(rows), true}}};
  for (int64_t r = 0; r < rows.count; ++r) {
    const int64_t begin = rows.begin + r * rows.global_pitch;
    made.global.push_back({rows.global, begin, begin + rows.row_bytes, false});
  }
  made.act = [&core, rows] {
    for (int64_t r = 0; r < rows.count; ++r) {
      unsigned char* const to = core.data(rows.local) + r * rows.local_pitch;
      std::memcpy(to, rows.global->bytes.data() + rows.begin + r * rows.global_pitch,
                  static_cast<size_t>(rows.row_bytes));
      fill(to + rows.row_bytes, rows.local_pitch - rows.row_bytes, core.poison());
    }
  };
  core.issue(Queue::copy_in, std::move(made));
}

void copy_out(Core& core, const char* what, const Rows& rows) {
  if (rows.count <= 0) return;
  const int64_t written = whole_units(rows.row_bytes);
  Instruction made = {.what = what, .local = {{whole_rows(rows), false}}};
  for (int64_t r = 0; r < rows.count; ++r) {
    // A row's padding is written over by the row behind it, in the same instruction.
    const int64_t begin = rows.begin + r * rows.global_pitch;
    made.global.push_back({rows.global, begin, begin + written, true});
    if (rows.global_pitch >= written) continue;
    made.global.back().end = begin + (rows.count - 1) * rows.global_pitch + written;
    break;
  }
  made.act = [&core, rows, written] {
    for (int64_t r = 0; r < rows.count; ++r) {
      std::memcpy(rows.global->bytes.data() + rows.begin + r * rows.global_pitch,
                  core.data(rows.local) + r * rows.local_pitch, static_cast<size_t>(written));
    }
  };
  core.issue(Queue::copy_out, std::move(made));
}

void widen(Core& core, const Local& to, const Local& from, gdn_format format, int64_t count) {
  const Local source = from.part(0, count * twin::element_bytes(format));
  core.issue(Queue::vector, {.what = "widening",
                             .local = {{numbers(to, count), true}, {source, false}},
                             .act = [&core, to, from, format, count] {
                               for (int64_t i = 0; i < count; ++i) {
                                 core.floats(to)[i] =
                                     twin::load_element(format, core.data(from), i);
                               }
                             }});
}

void narrow(Core& core, const Local& to, const Local& from, gdn_format format, int64_t count) {
  const Local target = to.part(0, count * twin::element_bytes(format));
  core.issue(Queue::vector, {.what = "rounding",
                             .local = {{target, true}, {numbers(from, count), false}},
                             .act = [&core, to, from, format, count] {
                               for (int64_t i = 0; i < count; ++i) {
                                 twin::store_element(format, core.data(to), i,
                                                     core.floats(from)[i]);
                               }
                             }});
}

void multiply(Core& core, const Local& x, int64_t count, float factor) {
  core.issue(Queue::vector,
             {.what = "product", .local = {{numbers(x, count), true}}, .act = [=, &core] {
                for (int64_t i = 0; i < count; ++i) core.floats(x)[i] *= factor;
              }});
}

void exponential(Core& core, const Local& x, int64_t count) {
  core.issue(Queue::vector,
             {.what = "exponential", .local = {{numbers(x, count), true}}, .act = [=, &core] {
                for (int64_t i = 0; i < count; ++i) core.floats(x)[i] = std::exp(core.floats(x)[i]);
              }});
}

void subtract_and_multiply(Core& core, const Local& x, const Local& from, int64_t count,
                           float factor) {
  core.issue(Queue::vector, {.what = "error of a value",
                             .local = {{numbers(x, count), true}, {numbers(from, count), false}},
                             .act = [=, &core] {
                               for (int64_t i = 0; i < count; ++i) {
                                 const float difference = core.floats(from)[i] - core.floats(x)[i];
                                 core.floats(x)[i] = difference * factor;
                               }
                             }});
}

void multiply_rows(Core& core, const Tile& S, const Local& factors) {
  core.issue(Queue::vector, {.what = "decay by channel",
                             .local = {{all_of(S), true}, {numbers(factors, S.pitch), false}},
                             .act = [=, &core] {
                               for (int64_t i = 0; i < S.rows * S.pitch; ++i) {
                                 core.floats(S.at)[i] *= core.floats(factors)[i % S.pitch];
                               }
                             }});
}

void add_outer(Core& core, const Tile& S, const Local& column, const Local& row) {
  core.issue(Queue::vector, {.what = "rank-one addition",
                             .local = {{all_of(S), true},
                                       {numbers(column, S.rows), false},
                                       {numbers(row, S.pitch), false}},
                             .act = [=, &core] {
                               for (int64_t i = 0; i < S.rows * S.pitch; ++i) {
                                 const float product = core.floats(column)[i / S.pitch] *
                                                       core.floats(row)[i % S.pitch];
                                 core.floats(S.at)[i] += product;
                               }
                             }});
}

void dot_rows(Core& core, const Local& sums, const Tile& S, const Local& row, int64_t lanes) {
  core.issue(
      Queue::vector,
      {.what = "sum over keys",
       .local = {{numbers(sums, S.rows), true}, {all_of(S), false}, {numbers(row, S.pitch), false}},
       .act = [=, &core] {
         std::vector<float> products(static_cast<size_t>(lanes));
         for (int64_t r = 0; r < S.rows; ++r) {
           const float* const of_row = core.floats(S.at) + r * S.pitch;
           for (size_t i = 0; i < products.size(); ++i) {
             products[i] = of_row[i] * core.floats(row)[i];
           }
           for (size_t left = products.size(); left > 1;) {
             const size_t kept = left - left / 2;
             for (size_t i = kept; i < left; ++i) {
               products[i - kept] += products[i];
             }
             left = kept;
           }
           core.floats(sums)[r] = products.front();
         }
       }});
}

}  // namespace gdn::ascend
