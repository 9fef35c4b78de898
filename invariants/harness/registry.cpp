// The list of invariants. It fills itself before main, one registrar a file.
#include <algorithm>

#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

// Function-local, because registrars of other files may run before this file's statics.
std::vector<Invariant>& list() {
  static std::vector<Invariant> invariants;
  return invariants;
}

std::string stem_of(std::string_view file) {
  const size_t slash = file.find_last_of('/');
  if (slash != std::string_view::npos) file.remove_prefix(slash + 1);
  return std::string(file.substr(0, file.find('.')));
}

}  // namespace

Registered::Registered(Claim claim, const char* file) {
  Invariant invariant{stem_of(file), std::move(claim)};
  const auto after = [](const Invariant& a, const Invariant& b) { return a.name < b.name; };
  list().insert(std::upper_bound(list().begin(), list().end(), invariant, after),
                std::move(invariant));
}

const std::vector<Invariant>& registry() { return list(); }

const Invariant* invariant_named(std::string_view name) {
  for (const Invariant& invariant : registry()) {
    if (invariant.name == name) return &invariant;
  }
  return nullptr;
}

namespace {

bool is_one_in(int64_t count, const Invariant& invariant, uint64_t text_hash) {
  return mix64(text_hash ^ fnv1a64(invariant.name)) % static_cast<uint64_t>(count) == 0;
}

}  // namespace

bool asked(const Invariant& invariant, const Case& c) {
  const int64_t count = invariant.claim.one_in;
  return count <= 1 || is_one_in(count, invariant, fnv1a64(print(c)));
}

bool asked_in_search(const Invariant& invariant, const Case& c, uint64_t text_hash) {
  const Claim& claim = invariant.claim;
  const bool is_layer = c.subject == Subject::layer;
  const int64_t searched = is_layer ? claim.searched_layers_one_in : claim.searched_others_one_in;
  return is_one_in(claim.one_in * searched, invariant, text_hash);
}

Verdict check(const Invariant& invariant, const Case& c, const Lab& lab) {
  Verdict none;
  none.detail = why_invalid(c);
  if (!none.detail.empty()) return none;
  if (!invariant.claim.applies(c)) return none;
  none.detail = lab.why_not(c);
  if (!none.detail.empty()) return none;
  return invariant.claim.check(c, lab);
}

}  // namespace gdn
