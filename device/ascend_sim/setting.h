// How an engine of this kind is set up, as a value and as text: `v_step=32,depth=2`.
#pragma once

#include <string>
#include <string_view>

#include "device/ascend_sim/plan.h"
#include "device/ascend_sim/program.h"
#include "device/gdn.h"

namespace gdn::ascend {

// How it computes, beside the arguments of a call.
struct Setting {
  Plan plan = {};
  Program program = right_program;
  bool has_bf16 = true;
};

// False, and *why, where the text is none of a setting.
bool parse_setting(std::string_view text, Setting* setting, std::string* why);

// A table of the ABI for engines of this setting. There are as many as settings_max; null beyond.
inline constexpr size_t settings_max = 128;
const gdn_api* api_of(const char* name, const Setting& setting);
// The table for a setting as text, the same for the same text.
const gdn_api* configured(std::string_view text, std::string* why);
const char* description();

}  // namespace gdn::ascend
