// Bug: last_error keeps the words of the first refusal that it was asked about.
#include <string>

#include "device/mutants/per_handle.h"

namespace gdn::mutants {
namespace {

PerHandle<std::string> first;

const char* last_error(const gdn_engine* engine) {
  const char* const now = right_twin().last_error(engine);
  if (engine == nullptr || *now == '\0') return now;
  return first.with(engine, [now](std::string& words) {
    if (words.empty()) words = now;
    return words.c_str();
  });
}

void close(gdn_engine* engine) {
  first.forget(engine);
  right_twin().close(engine);
}

const gdn_api api = [] {
  gdn_api table = right_twin();
  table.name = "words_of_an_earlier_refusal";
  table.last_error = last_error;
  table.close = close;
  return table;
}();
const MutantRegistrar self{
    {.name = "words_of_an_earlier_refusal",
     .bug = "last_error gives the words of the first refusal for all later ones",
     .op = "host",
     .api = &api}};

}  // namespace
}  // namespace gdn::mutants
