// Bug: a sequence of a negative length is taken to be empty.
#include "device/mutants/batches.h"

namespace gdn::mutants {
namespace {

gdn_status wrong(gdn_engine* engine, const Args& args) {
  if (args.sequence_coding == GDN_CUMULATIVE) return right_twin().recurrent(engine, &args);
  const int64_t first = args.sequence_coding == GDN_LENGTHS ? 0 : 1;
  Indices coded = indices_of(engine, args.sequences, args.num_sequences + first);
  for (size_t i = static_cast<size_t>(first); i < coded.size(); ++i) {
    coded[i] = std::max(coded[i], 0);
  }
  return call_with(engine, args, &Args::sequences, coded);
}

const gdn_api api = twin_recurring_by<wrong>("negative_length_taken_as_none");
const MutantRegistrar self{{.name = "negative_length_taken_as_none",
                            .bug = "a sequence of a negative length is taken to be empty",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
