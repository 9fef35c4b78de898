// Bug: the recurrence counts tokens in 8 bits, so that of 256 and more only the rest is worked on.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status recurrent(gdn_engine* engine, const gdn_recurrent_args* args) {
  constexpr int64_t count_max = 255;
  const bool whole = args == nullptr || args->struct_size != sizeof *args;
  if (whole || args->num_tokens <= count_max || args->sequences.buffer != 0) {
    return right_twin().recurrent(engine, args);
  }
  gdn_recurrent_args counted = *args;
  counted.num_tokens &= count_max;
  return right_twin().recurrent(engine, &counted);
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "tokens_counted_in_8_bits";
  table.recurrent = recurrent;
  return table;
}();
const MutantRegistrar self{{.name = "tokens_counted_in_8_bits",
                            .bug = "of a sequence of 256 or more tokens only the rest is worked on",
                            .op = "delta_rule",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
