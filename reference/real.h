// The multiprecision types. The only file that names their backend; heavy to compile, so that
// only reference/operators, reference/*.cpp that must, and tests of the reference include it.
#pragma once

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/mpfr.hpp>

namespace gdn {

namespace mp = boost::multiprecision;

// The default: 50 decimal digits, on the stack. Expression templates are off: they cost compile
// time and make `auto` dangerous.
using Real = mp::number<mp::mpfr_float_backend<50, mp::allocate_stack>, mp::et_off>;
// Witnesses: more digits, and another implementation of the same number of digits.
using Real100 = mp::number<mp::mpfr_float_backend<100, mp::allocate_stack>, mp::et_off>;
using RealBinary = mp::number<mp::cpp_bin_float<50>, mp::et_off>;

}  // namespace gdn

// Explicitly instantiates one template for each type: GDN_INSTANTIATE(macro) with macro(Type).
#define GDN_FOR_EACH_REAL(macro) macro(gdn::Real) macro(gdn::Real100) macro(gdn::RealBinary)
