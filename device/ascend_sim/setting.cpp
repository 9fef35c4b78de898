// The text of a setting.
#include "device/ascend_sim/setting.h"

#include <charconv>
#include <map>
#include <mutex>
#include <set>

namespace gdn::ascend {
namespace {

struct Key {
  std::string_view name;
  std::string_view expected;
  bool (*set)(std::string_view value, Setting* setting);
  bool may_be_repeated = false;
};

bool number(std::string_view value, int64_t low, int64_t high, int64_t* out) {
  const char* const last = value.data() + value.size();
  const auto [end, error] = std::from_chars(value.data(), last, *out);
  return error == std::errc{} && end == last && *out >= low && *out <= high;
}

bool set_chip(std::string_view value, Setting* setting) {
  if (value != "910b" && value != "310p") return false;
  const bool is_310p = value == "310p";
  setting->has_bf16 = !is_310p;
  setting->plan.sequence_tokens_max = is_310p ? 8 : 16;
  return true;
}

bool set_late(std::string_view value, Setting* setting) {
  for (const Queue queue : {Queue::copy_in, Queue::vector, Queue::copy_out}) {
    if (value != name_of(queue)) continue;
    setting->plan.schedule.is_late[static_cast<size_t>(queue)] = true;
    return true;
  }
  return false;
}

constexpr Key keys[] = {
    {"v_step", "a multiple of 16 from 16 to 512",
     [](std::string_view value, Setting* s) {
       return number(value, lane_block, head_dim_max, &s->plan.v_step) &&
              s->plan.v_step % lane_block == 0;
     }},
    {"depth", "1 or 2",
     [](std::string_view value, Setting* s) { return number(value, 1, 2, &s->plan.depth); }},
    {"cores", "1 to 64",
     [](std::string_view value, Setting* s) { return number(value, 1, 64, &s->plan.cores); }},
    {"chip", "910b or 310p", set_chip},
    {"late", "copy_in, vector or copy_out; may be repeated", set_late, true},
};

}  // namespace

bool parse_setting(std::string_view text, Setting* setting, std::string* why) {
  std::set<std::string_view> given;
  for (bool is_last = false; !is_last;) {
    const size_t comma = text.find(',');
    is_last = comma == std::string_view::npos;
    const std::string_view part = text.substr(0, comma);
    if (!is_last) text.remove_prefix(comma + 1);
    const size_t equals = part.find('=');
    const Key* found = nullptr;
    for (const Key& key : keys) {
      if (part.substr(0, equals) == key.name && equals != std::string_view::npos) found = &key;
    }
    if (found != nullptr && !found->may_be_repeated && !given.insert(found->name).second) {
      *why = "'" + std::string(part) + "': " + std::string(found->name) + " is given twice";
      return false;
    }
    if (found != nullptr && found->set(part.substr(equals + 1), setting)) continue;
    *why = "'" + std::string(part) + "': expected ";
    if (found != nullptr) *why += std::string(found->name) + "=, " + std::string(found->expected);
    if (found == nullptr) *why += "one of";
    for (const Key& key : keys) {
      if (found == nullptr) *why += " " + std::string(key.name) + "=";
    }
    return false;
  }
  return true;
}

const gdn_api* configured(std::string_view text, std::string* why) {
  static std::mutex lock;
  static std::map<std::string, const gdn_api*, std::less<>> known;
  const std::lock_guard<std::mutex> guard(lock);
  const auto found = known.find(text);
  if (found != known.end()) return found->second;
  Setting setting;
  if (!parse_setting(text, &setting, why)) return nullptr;
  const gdn_api* const made = api_of("ascend_sim", setting);
  if (made == nullptr) {
    *why = "more than " + std::to_string(settings_max) + " settings in one process";
    return nullptr;
  }
  known.emplace(text, made);
  return made;
}

}  // namespace gdn::ascend
