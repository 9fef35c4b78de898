// Bug: the last sequence of a batch is taken to end with the last token.
#include "device/mutants/batches.h"

namespace gdn::mutants {
namespace {

gdn_status wrong(gdn_engine* engine, const Args& args) {
  const bool has_first = args.sequence_coding != GDN_LENGTHS;
  Indices coded = indices_of(engine, args.sequences, args.num_sequences + (has_first ? 1 : 0));
  const auto sequences = sequences_of(engine, args);
  if (sequences.empty() || coded.empty() || sequences.back().second == 0) {
    return right_twin().recurrent(engine, &args);
  }
  const int64_t first = sequences.back().first;
  const bool is_end = args.sequence_coding == GDN_CUMULATIVE;
  coded.back() = static_cast<int32_t>(is_end ? args.num_tokens : args.num_tokens - first);
  return call_with(engine, args, &Args::sequences, coded);
}

const gdn_api api = twin_recurring_by<wrong>("last_sequence_takes_the_tail");
const MutantRegistrar self{
    {.name = "last_sequence_takes_the_tail",
     .bug = "the last sequence of a batch is taken to end with the last token",
     .op = "host",
     .api = &api}};

}  // namespace
}  // namespace gdn::mutants
