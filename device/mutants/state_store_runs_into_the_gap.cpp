// Bug: each state that is stored is followed by a zero, whatever lies there.
#include "device/mutants/batches.h"

namespace gdn::mutants {
namespace {

gdn_status wrong(gdn_engine* engine, const Args& args) {
  const gdn_status status = right_twin().recurrent(engine, &args);
  const Indices slots = slots_of(engine, args);
  if (status != GDN_OK || args.state_writes == GDN_WRITE_LAST) return status;
  const int64_t state = args.num_v_heads * args.head_k_dim * args.head_v_dim;
  const uint32_t zero = 0;
  const uint64_t bytes = args.state.format == GDN_F32 ? 4 : 2;
  for (const int32_t slot : slots) {
    if (slot < 0 || slot >= args.num_slots) continue;
    const int64_t behind = args.state.offset + slot * args.state.stride[0] + state;
    right_twin().buffer_write(engine, args.state.buffer, static_cast<uint64_t>(behind) * bytes,
                              &zero, bytes);
  }
  return status;
}

const gdn_api api = twin_recurring_by<wrong>("state_store_runs_into_the_gap");
const MutantRegistrar self{
    {.name = "state_store_runs_into_the_gap",
     .bug = "each state that is stored is followed by a zero, whatever lies there",
     .op = "host",
     .api = &api}};

}  // namespace
}  // namespace gdn::mutants
