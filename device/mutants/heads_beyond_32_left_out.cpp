// Bug: each lane of a warp takes a head of the slot-addressed recurrence, and nobody those beyond
// 32: their output is 0.
#include "device/mutants/batches.h"

namespace gdn::mutants {
namespace {

constexpr int64_t lanes = 32;

gdn_status wrong(gdn_engine* engine, const Args& args) {
  const gdn_status status = right_twin().recurrent(engine, &args);
  if (status != GDN_OK || args.o.buffer == 0) return status;
  const uint64_t width = args.o.format == GDN_F32 ? 4 : 2;
  const uint32_t zero = 0;
  for (int64_t t = 0; t < args.num_tokens; ++t) {
    for (int64_t h = lanes; h < args.num_v_heads; ++h) {
      for (int64_t c = 0; c < args.head_v_dim; ++c) {
        const int64_t at =
            args.o.offset + t * args.o.stride[0] + h * args.o.stride[1] + c * args.o.stride[2];
        right_twin().buffer_write(engine, args.o.buffer, static_cast<uint64_t>(at) * width, &zero,
                                  width);
      }
    }
  }
  return status;
}

const gdn_api api = twin_recurring_by<wrong>("heads_beyond_32_left_out");
const MutantRegistrar self{{.name = "heads_beyond_32_left_out",
                            .bug = "heads beyond 32 of a call of recurrent give 0",
                            .op = "delta_rule",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
