// Claim:   a state that is not wholly of this form and shape is not imported.
// Why:     the header says whose state it is; the same bytes are another state in another shape.
// Bound:   none: INVALID_ARGUMENT; all states and the next steps in equal bits.
// Origin:  a size that happened to fit: kd and vd swapped, or other heads of the same product.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

using A = Argument;
using K = CallKind;

bool applies(const Case& c) { return c.subject == Subject::layer && c.tokens >= 1; }

constexpr const char* dimensions[] = {"hidden_size", "kh", "kd", "vh", "vd", "ck"};
constexpr size_t first_dimension = 8;  // after "GDNS" and the version

Verdict check(const Case& given, const Lab& lab) {
  const Case c = given.with_calls({});
  std::vector<Call> before = setup_calls(c);
  made::append(before, steps_of_all_layers(c, 0));
  std::vector<Call> first = before;
  first.push_back(call_of(K::state_export));
  const Observation exported = lab.run(c.with_calls(first));
  if (!exported.served().holds()) return exported.served();
  const std::vector<uint8_t>& right = exported.exports.at(0);
  const size_t header = first_dimension + 8 * std::size(dimensions);
  if (right.size() < header) return claim(false, "the exported state is shorter than its header");

  Rng rng = Rng{c.seed}.stream("imports");
  RunOptions options;
  std::vector<WrongCall> wrong;
  const auto add = [&](std::vector<uint8_t> state, const std::string& what) {
    const int64_t id = 1 + std::ssize(wrong);
    options.exports[id] = std::move(state);
    wrong.push_back({call_of(K::state_import, {{A::id, id}}), GDN_INVALID_ARGUMENT, what});
  };
  const auto changed = [&](size_t byte, uint8_t by) {
    std::vector<uint8_t> state = right;
    state[byte] = static_cast<uint8_t>(state[byte] ^ by);
    return state;
  };
  const auto some_bit = [&] { return static_cast<uint8_t>(1 << rng.range(0, 7)); };
  add(changed(static_cast<size_t>(rng.range(0, 3)), some_bit()), "another magic");
  add(changed(static_cast<size_t>(rng.range(4, 7)), some_bit()), "another version");
  for (size_t d = 0; d < std::size(dimensions); ++d) {
    const auto byte = first_dimension + 8 * d + static_cast<size_t>(rng.range(0, 7));
    add(changed(byte, some_bit()), std::string("another ") + dimensions[d]);
  }
  std::vector<uint8_t> size = right;
  size.resize(right.size() - static_cast<size_t>(rng.range(1, std::ssize(right))));
  add(size, std::to_string(size.size()) + " bytes of " + std::to_string(right.size()));
  size = right;
  size.resize(right.size() + static_cast<size_t>(rng.range(1, 64)));
  add(size, std::to_string(size.size()) + " bytes in place of " + std::to_string(right.size()));
  return refused_without_trace(c, lab, before, wrong, steps_of_all_layers(c, c.tokens - 1),
                               options);
}

const Registered self{{.claim = "a state of another form or shape is not imported",
                       .applies = applies,
                       .check = check,
                       .kills = {"import_ignores_header"},
                       .one_in = 4}};

}  // namespace
}  // namespace gdn
