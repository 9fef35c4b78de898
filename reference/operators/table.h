// Small dense row-major tables of doubles, as bounds are computed with, and an exact quantity
// beside how far an engine's may lie from it.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "reference/bound.h"

namespace gdn {

struct Table {
  size_t rows = 0, cols = 0;
  std::vector<double> x;
  Table(size_t row_count, size_t col_count)
      : rows(row_count), cols(col_count), x(row_count * col_count) {}
  double& operator()(size_t i, size_t j) { return x[i * cols + j]; }
  double operator()(size_t i, size_t j) const { return x[i * cols + j]; }
};

inline Table operator*(const Table& a, const Table& b) {
  Table product(a.rows, b.cols);
  for (size_t i = 0; i < a.rows; ++i) {
    for (size_t m = 0; m < a.cols; ++m) {
      const double factor = a(i, m);
      if (factor == 0) continue;
      for (size_t j = 0; j < b.cols; ++j) product(i, j) += factor * b(m, j);
    }
  }
  return product;
}

inline Table operator+(Table a, const Table& b) {
  for (size_t i = 0; i < a.x.size(); ++i) a.x[i] += b.x[i];
  return a;
}

inline Table absolute(Table a) {
  for (double& x : a.x) x = std::abs(x);
  return a;
}

inline Table negated(Table a) {
  for (double& x : a.x) x = -x;
  return a;
}

// Row i times gamma(i + 1): the roundings of a product that has i + 1 terms there.
inline Table times_gamma(Table a) {
  for (size_t i = 0; i < a.rows; ++i) {
    for (size_t j = 0; j < a.cols; ++j) a(i, j) *= gamma(static_cast<double>(i + 1));
  }
  return a;
}

inline Table transposed(const Table& a) {
  Table t(a.cols, a.rows);
  for (size_t i = 0; i < a.rows; ++i) {
    for (size_t j = 0; j < a.cols; ++j) t(j, i) = a(i, j);
  }
  return t;
}

// (I - A)^-1 B for lower triangular A; signs as they are.
inline Table solve(const Table& a, Table b) {
  for (size_t i = 0; i < b.rows; ++i) {
    for (size_t m = 0; m < i; ++m) {
      for (size_t j = 0; j < b.cols; ++j) b(i, j) += a(i, m) * b(m, j);
    }
    for (size_t j = 0; j < b.cols; ++j) b(i, j) /= 1 - a(i, i);
  }
  return b;
}

inline Table identity(size_t n) {
  Table one(n, n);
  for (size_t i = 0; i < n; ++i) one(i, i) = 1;
  return one;
}

// J B: row i is the sum of the rows above it.
inline Table sums_above(const Table& b) {
  Table sums(b.rows, b.cols);
  for (size_t i = 1; i < b.rows; ++i) {
    for (size_t j = 0; j < b.cols; ++j) sums(i, j) = sums(i - 1, j) + b(i - 1, j);
  }
  return sums;
}

inline double row_norm(const Table& a, size_t i) {
  double squares = 0;
  for (size_t j = 0; j < a.cols; ++j) squares += a(i, j) * a(i, j);
  return std::sqrt(squares);
}

// A number and how far the engine's may lie from it.
struct Estimate {
  Table exact, error;
  Estimate(size_t rows, size_t cols) : exact(rows, cols), error(rows, cols) {}
  Table size() const { return absolute(exact) + error; }
};

}  // namespace gdn
