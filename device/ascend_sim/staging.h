// Dense copies of what a call names, as the operator takes them, and the way back.
#pragma once

#include <vector>

#include "device/ascend_sim/host_plan.h"
#include "device/ascend_sim/operator.h"
#include "device/gdn.h"

namespace gdn::ascend {

// Throws host::Failed with GDN_UNSUPPORTED for what the operator does not do; else chooses what the
// plan leaves open.
void check_served(const gdn_recurrent_args& args, const HostPlan& host, bool has_bf16, Plan* plan);

class Staging {
 public:
  // Sequences that are padding are left out; every state that is read or stored has a slot of its
  // own in the copy of the pool.
  Staging(const gdn_recurrent_args& args, const HostPlan& host, uint32_t poison,
          const Program& program);
  Problem& problem() { return problem_; }
  void copy_back() const;

 private:
  void number_slots();
  void lay_out(const Program& program, uint32_t poison);
  void gather(Global& to, const Seen& from, int64_t heads, int64_t dim);
  void gather_states();
  void move_state(int64_t staged, int64_t slot, bool to_pool) const;
  void copy_outputs_back() const;

  const gdn_recurrent_args& a_;
  const HostPlan& host_;
  mutable Problem problem_;
  std::vector<int64_t> tokens_;  // of each staged token, its place among those of the call
  int64_t slots_ = 0;
};

}  // namespace gdn::ascend
