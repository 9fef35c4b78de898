// Bug: the gate multiplies the recurrence's output where it lies, so that O reads back gated.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

void gated_norm(const twin::GatedNorm& in, float* y) {
  twin::gated_norm(in, y);
  const auto bytes = static_cast<size_t>(in.heads * in.dim) * sizeof(float);
  if (y != in.o) std::memcpy(const_cast<float*>(in.o), y, bytes);
}

const MutantRegistrar self{
    {.name = "output_gated_in_place",
     .bug = "the gated norm writes its result over its input o",
     .op = "gated_norm",
     .api = &twin_with<&twin::TwinOperators::gated_norm, gated_norm>("output_gated_in_place")}};

}  // namespace
}  // namespace gdn::mutants
