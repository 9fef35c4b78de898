// The lists behind gdn_builtin and gdn_mutant_at, sorted by name whatever the order of linking.
#include "device/engines/registry.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace gdn {
namespace {

// Function-local, because registrars of other files run before this file's statics might.
std::vector<const gdn_api*>& engines() {
  static std::vector<const gdn_api*> list;
  return list;
}

std::vector<gdn_mutant>& mutants() {
  static std::vector<gdn_mutant> list;
  return list;
}

}  // namespace

EngineRegistrar::EngineRegistrar(const gdn_api& api) {
  const auto after = [](const gdn_api* a, const gdn_api* b) {
    return std::strcmp(a->name, b->name) < 0;
  };
  engines().insert(std::upper_bound(engines().begin(), engines().end(), &api, after), &api);
}

MutantRegistrar::MutantRegistrar(const gdn_mutant& mutant) {
  const auto after = [](const gdn_mutant& a, const gdn_mutant& b) {
    return std::strcmp(a.name, b.name) < 0;
  };
  mutants().insert(std::upper_bound(mutants().begin(), mutants().end(), mutant, after), mutant);
}

}  // namespace gdn

size_t gdn_builtin_count(void) { return gdn::engines().size(); }

const gdn_api* gdn_builtin(size_t index) {
  return index < gdn::engines().size() ? gdn::engines()[index] : nullptr;
}

size_t gdn_mutant_count(void) { return gdn::mutants().size(); }

const gdn_mutant* gdn_mutant_at(size_t index) {
  return index < gdn::mutants().size() ? &gdn::mutants()[index] : nullptr;
}
