// Bug: the recurrence refuses the last way of padding, as if there were one fewer.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status recurrent(gdn_engine* engine, const gdn_recurrent_args* args) {
  if (args == nullptr) return right_twin().recurrent(engine, args);
  gdn_recurrent_args other = *args;
  if (other.padding == GDN_NO_PADDING) {
    other.padding = static_cast<gdn_padding>(GDN_NO_PADDING + 1);
  }
  return right_twin().recurrent(engine, &other);
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "last_way_of_padding_refused";
  table.recurrent = recurrent;
  return table;
}();
const MutantRegistrar self{{.name = "last_way_of_padding_refused",
                            .bug = "the last way of padding is refused",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
