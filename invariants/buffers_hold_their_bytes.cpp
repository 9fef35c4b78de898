// Claim:   a buffer holds what was written where it was written; what reaches beyond it is refused,
//          and one that was released is not found.
// Why:     recurrent finds its arguments in buffers, by offsets that are its caller's.
// Bound:   none: equal bytes.
// Origin:  an offset that was ignored, or counted in elements; a buffer found after its release.
#include "invariants/harness/invariant.h"

namespace gdn {
namespace {

using A = Argument;
using K = CallKind;

bool applies(const Case& c) { return c.subject == Subject::layer; }

Call on(K kind, int64_t buffer, int64_t offset, int64_t bytes) {
  return call_of(kind, {{A::buffer, buffer}, {A::offset, offset}, {A::bytes, bytes}});
}

Verdict check(const Case& given, const Lab& lab) {
  const Case c = given.with_calls({});
  Rng rng = Rng{c.seed}.stream("buffers");
  const int64_t count = rng.range(16, 400);
  std::vector<Call> calls;
  std::vector<std::vector<uint8_t>> held;
  for (int64_t buffer = 0; buffer < 2; ++buffer) {
    calls.push_back(call_of(K::buffer_create, {{A::buffer, buffer}, {A::bytes, count}}));
    calls.push_back(on(K::buffer_write, buffer, 0, count));
    held.push_back(buffer_content(c, buffer, static_cast<size_t>(count)));
  }
  for (int write = 0; write < 3; ++write) {
    const int64_t buffer = rng.range(0, 1);
    const int64_t offset = rng.range(1, count);
    const int64_t bytes = rng.range(0, count - offset);
    calls.push_back(on(K::buffer_write, buffer, offset, bytes));
    const auto written = buffer_content(c, buffer, static_cast<size_t>(bytes));
    std::copy(written.begin(), written.end(), held[static_cast<size_t>(buffer)].begin() + offset);
  }
  const size_t reads_at = calls.size();
  const int64_t from = rng.range(1, count - 1);
  for (int64_t buffer = 0; buffer < 2; ++buffer) {
    calls.push_back(on(K::buffer_read, buffer, 0, count));
    calls.push_back(on(K::buffer_read, buffer, from, count - from));
  }
  const Observation seen = lab.run(c.with_calls(calls));
  Verdict all = seen.served();
  if (!all.holds()) return all;
  for (size_t buffer = 0; buffer < 2; ++buffer) {
    const std::string name = "buffer " + std::to_string(buffer);
    const std::vector<uint8_t>& want = held[buffer];
    all = both(
        std::move(all), same_bytes(name, seen.calls[reads_at + 2 * buffer].bytes, want),
        same_bytes(name + " from " + std::to_string(from),
                   seen.calls[reads_at + 2 * buffer + 1].bytes, {want.begin() + from, want.end()}));
  }
  std::vector<WrongCall> wrong;
  for (const K kind : {K::buffer_read, K::buffer_write}) {
    wrong.push_back({on(kind, 0, from, count), GDN_INVALID_ARGUMENT, "more than is there"});
    wrong.push_back({on(kind, 0, count, 1), GDN_INVALID_ARGUMENT, "a byte after the last"});
    wrong.push_back({on(kind, 0, int64_t{1} << 62, 1), GDN_INVALID_ARGUMENT, "offset 2^62"});
    Call null = on(kind, 0, from, count - from);
    null.omit = {kind == K::buffer_read ? "dst" : "src"};
    wrong.push_back({std::move(null), GDN_INVALID_ARGUMENT, "bytes at a null address"});
  }
  const std::vector<Call> reads(calls.begin() + static_cast<std::ptrdiff_t>(reads_at), calls.end());
  all = both(std::move(all), refused_without_trace(c, lab, calls, wrong, reads));

  calls.push_back(call_of(K::buffer_release));
  const std::vector<WrongCall> released = {
      {on(K::buffer_read, 0, 0, 1), GDN_NOT_FOUND, "a released buffer"},
      {on(K::buffer_write, 0, 0, 1), GDN_NOT_FOUND, "a released buffer"},
      {call_of(K::buffer_release), GDN_NOT_FOUND, "a released buffer"}};
  return both(std::move(all),
              refused_without_trace(c, lab, calls, released, {reads.end() - 2, reads.end()}));
}

const Registered self{{.claim = "a buffer holds its bytes where they were written",
                       .applies = applies,
                       .check = check,
                       .kills = {"buffer_write_ignores_offset", "released_buffer_is_found"}}};

}  // namespace
}  // namespace gdn
