// Causes: layers that reach into each other, or know where they stand.
#include <algorithm>

#include "ci/triage/host_cause.h"

namespace gdn {
namespace {

using A = Argument;
using K = CallKind;
using What = Departure::What;

bool fed_one_layer(const Scene& s) {
  return s.is(What::numbers) && (s.is(K::step) || s.is(K::run)) && s.now.seen.ok();
}

// Layers other than the call's own are wrong, and that in one tensor.
bool others_are_wrong(const Scene& s, Tensor tensor) {
  return fed_one_layer(s) && !s.at.wrong.empty() &&
         std::any_of(s.at.wrong.begin(), s.at.wrong.end(),
                     [&](const auto& of) { return s.is_other(of.first); }) &&
         s.wrong_alone(tensor);
}

bool is_history_shared(const Scene& s) {
  if (!others_are_wrong(s, Tensor::HIST) || s.at.wrong.contains(s.layer())) return false;
  return std::all_of(s.at.wrong.begin(), s.at.wrong.end(), [&](const auto& of) {
    return equal_bits(s.got(of.first, Tensor::HIST), s.got(s.layer(), Tensor::HIST));
  });
}
const RegisteredCause history{{.name = "history_shared_between_layers",
                               .sentence = "other layers have the HIST of the layer that was fed",
                               .is_it = is_history_shared}};

bool is_next_head(const Scene& s) {
  if (!others_are_wrong(s, Tensor::S) || s.at.wrong.size() != 1) return false;
  const int64_t next = s.at.layer();
  if (next != s.layer() + 1) return false;
  const auto head = static_cast<size_t>(s.trace.story.bare.shape.state_count() /
                                        s.trace.story.bare.shape.num_v_heads);
  const std::vector<float>& got = s.got(next, Tensor::S);
  const std::vector<float>& had = s.had(next, Tensor::S);
  const std::vector<float>& own = s.got(s.layer(), Tensor::S);
  return std::equal(got.begin(), got.begin() + static_cast<std::ptrdiff_t>(head), own.begin()) &&
         equal_bits(std::span(got).subspan(head), std::span(had).subspan(head));
}
const RegisteredCause offset{
    {.name = "layer_offset",
     .sentence = "the first head of the layer's S stands in the next layer's S too",
     .is_it = is_next_head}};

bool is_layer_zero_touched(const Scene& s) {
  if (!others_are_wrong(s, Tensor::HIST) || !s.at.is_wrong(0, Tensor::HIST)) return false;
  const LayerBits* const right = s.truth.stepped(s.trace.fed, s.now.life.tokens.back());
  return s.at.is_wrong(s.layer(), Tensor::HIST) && s.kept(s.layer(), Tensor::HIST) &&
         right != nullptr && equal_bits(s.got(0, Tensor::HIST), right->at(Tensor::HIST));
}
const RegisteredCause zero{
    {.name = "step_touches_layer_zero",
     .sentence = "layer 0 has the HIST that the layer should have, which keeps its own",
     .is_it = is_layer_zero_touched}};

// The out that is handed over is not OUT, and by how much is what the layer is called.
bool is_index_added(const Scene& s) {
  if (!fed_one_layer(s) || !s.at.wrong.empty() || !s.at.wrong_arrays.contains("out")) return false;
  const auto* const want = s.truth.stepped_out(s.trace.fed, s.now.life.tokens.front());
  if (want == nullptr || s.layer() == 0) return false;
  return s.now.seen.out[0] == (*want)[0] + static_cast<float>(s.layer());
}
const RegisteredCause index{{.name = "layer_index_in_the_numbers",
                             .sentence = "the number of the layer is added to its out",
                             .is_it = is_index_added}};

bool is_cut(const Scene& s) {
  if (!s.is(What::served) || !takes(s.call.kind, A::layer)) return false;
  const int64_t cut = static_cast<int32_t>(static_cast<uint32_t>(s.layer()));
  return cut != s.layer() && cut >= 0 && cut < s.trace.story.bare.shape.num_layers;
}
const RegisteredCause cut{{.name = "layers_of_32_bits",
                           .sentence = "a layer of 2^32 is taken for layer 0",
                           .is_it = is_cut}};

bool is_touched_first(const Scene& s) {
  return s.is(What::numbers) && s.is(K::forward) && s.now.life.refused && !s.now.seen.ok() &&
         !s.at.wrong.empty();
}
const RegisteredCause touched{
    {.name = "forward_touches_before_it_checks",
     .sentence = "forward was refused and has fed layers before it found out",
     .is_it = is_touched_first}};

bool is_other_layer_changed(const Scene& s) {
  return s.is(What::numbers) && std::any_of(s.at.wrong.begin(), s.at.wrong.end(),
                                            [&](const auto& of) { return s.is_other(of.first); });
}
const RegisteredCause others{{.name = "call_changes_another_layer",
                              .sentence = "a call of one layer changes another's state",
                              .is_it = is_other_layer_changed,
                              .is_symptom = true}};

}  // namespace
}  // namespace gdn
