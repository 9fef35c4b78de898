// What mutants of the tiled operator are made of: its program with one wait left out or one entry
// in another way, in tiles of 16 values and with queues of two buffers, so that every part of it
// has something to do.
#pragma once

#include "device/ascend_sim/setting.h"
#include "device/engines/registry.h"

namespace gdn::mutants {

template <class Change>
const gdn_api* ascend_with(const char* name, Change change) {
  ascend::Setting setting;
  setting.plan.v_step = ascend::lane_block;
  setting.plan.depth = 2;
  // Two units or more come after each other on a core.
  setting.plan.cores = 1;
  change(setting.program);
  return ascend::api_of(name, setting);
}

inline const gdn_api* ascend_without(const char* name, ascend::Order order) {
  return ascend_with(name, [order](ascend::Program& program) {
    program.left_out.set(static_cast<size_t>(order));
  });
}

}  // namespace gdn::mutants
