// The list behind gdn_builtin_with.
#include "device/engines/settings.h"

#include <map>

namespace gdn {
namespace {

// Function-local, because registrars of other files run before this file's statics might.
std::map<std::string, Configure, std::less<>>& configurable() {
  static std::map<std::string, Configure, std::less<>> engines;
  return engines;
}

}  // namespace

SettingsRegistrar::SettingsRegistrar(const char* engine, Configure configure) {
  configurable().emplace(engine, configure);
}

}  // namespace gdn

const gdn_api* gdn_builtin_with(const char* name, const char* setting, const char** why) {
  static thread_local std::string words;
  const auto found = gdn::configurable().find(std::string_view(name));
  words = std::string("the engine ") + name + " has no settings";
  const gdn_api* api = nullptr;
  if (found != gdn::configurable().end()) api = found->second(setting, &words);
  if (why != nullptr) *why = api == nullptr ? words.c_str() : "";
  return api;
}
