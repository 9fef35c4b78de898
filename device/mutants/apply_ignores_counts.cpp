// Bug: the gates take as many elements as the shape says, whatever the arrays have.
#include "device/mutants/mutant.h"

namespace gdn::mutants {
namespace {

gdn_status apply(gdn_engine* engine, gdn_operator op, const gdn_shape* shape,
                 const gdn_array* inputs, size_t num_inputs, const gdn_array* outputs,
                 size_t num_outputs) {
  if (op != GDN_GATES || shape == nullptr || inputs == nullptr || outputs == nullptr) {
    return right_twin().apply(engine, op, shape, inputs, num_inputs, outputs, num_outputs);
  }
  std::vector<gdn_array> in(inputs, inputs + num_inputs);
  std::vector<gdn_array> out(outputs, outputs + num_outputs);
  for (gdn_array& array : in) array.count = shape->num_v_heads;
  for (gdn_array& array : out) array.count = shape->num_v_heads;
  return right_twin().apply(engine, op, shape, in.data(), in.size(), out.data(), out.size());
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "apply_ignores_counts";
  table.apply = apply;
  return table;
}();
const MutantRegistrar self{{.name = "apply_ignores_counts",
                            .bug = "apply of the gates takes its counts from the shape alone",
                            .op = "host",
                            .api = &api}};

}  // namespace
}  // namespace gdn::mutants
