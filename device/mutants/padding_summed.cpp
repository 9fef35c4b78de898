// Bug: sums take the whole padded row, and with it the exponential of whatever lies behind the
//      gates of its channels.
#include "device/mutants/ascend_mutant.h"

namespace gdn::mutants {
namespace {

const MutantRegistrar self{{.name = "padding_summed",
                            .bug = "sums run over the padding of rows",
                            .op = "delta_rule",
                            .api = ascend_with("padding_summed", [](ascend::Program& program) {
                              program.summed_lanes = [](int64_t, int64_t padded_kd) {
                                return padded_kd;
                              };
                            })}};

}  // namespace
}  // namespace gdn::mutants
