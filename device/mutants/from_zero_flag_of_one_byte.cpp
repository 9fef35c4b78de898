// Bug: the recurrence looks at one byte of the flag that says that a sequence starts from zero.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status recurrent(gdn_engine* engine, const gdn_recurrent_args* args) {
  if (args == nullptr) return right_twin().recurrent(engine, args);
  gdn_recurrent_args other = *args;
  int32_t flag = 0;
  const uint64_t at = static_cast<uint64_t>(other.from_zero.offset) * sizeof flag;
  const bool is_read =
      right_twin().buffer_read(engine, other.from_zero.buffer, at, &flag, sizeof flag) == GDN_OK;
  if (is_read && (flag & 0xFF) == 0) other.from_zero.buffer = 0;
  return right_twin().recurrent(engine, &other);
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "from_zero_flag_of_one_byte";
  table.recurrent = recurrent;
  return table;
}();
const MutantRegistrar self{{.name = "from_zero_flag_of_one_byte",
                            .bug = "of the flag from_zero one byte is looked at",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
