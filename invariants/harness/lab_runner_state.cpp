// Calls of a case that move state or memory, and operators on explicit inputs.
#include <bit>
#include <cstring>

#include "invariants/harness/lab_runner.h"
#include "reference/formats.h"
#include "reference/rng.h"

namespace gdn {
namespace {

// What no snapshot and no buffer of an engine is called.
constexpr uint64_t unknown_id = 0xFFFF'FFFF'FFFF'FFF0U;
constexpr uint64_t unwritten = unknown_id;

struct Output {
  const char* name;
  int64_t count;
};

std::vector<Output> outputs_of(const Case& c) {
  const Shape& s = c.shape;
  switch (c.subject) {
    case Subject::in_proj:
    case Subject::out_proj:
      return {{"y", c.rows}};
    case Subject::gates:
      return {{"beta", s.num_v_heads}, {"g", s.num_v_heads}};
    case Subject::conv:
      return {{"y", s.conv_dim()}, {"hist", s.history_count()}};
    case Subject::qk_norm:
      return {{"q", s.k_dim()}, {"k", s.k_dim()}};
    case Subject::delta_rule:
      return {{"S", s.state_count()}, {"o", s.v_dim()}};
    case Subject::gated_norm:
      return {{"y", s.v_dim()}};
    default:
      return {};
  }
}

// "GDNS", a version of 32 bits and six dimensions of 64: see state_export in device/gdn.h.
constexpr size_t state_header_bytes = 4 + 4 + 6 * 8;

// The interface knows a second decay by its channel: one that all share is given to each.
std::map<std::string, std::vector<float>> by_channel(
    const Case& c, std::map<std::string, std::vector<float>> arrays) {
  const auto gk = arrays.find("gk");
  if (c.dialect.decay != Dialect::Decay::second_scalar || gk == arrays.end()) return arrays;
  std::vector<float> each;
  for (const float x : gk->second) {
    each.insert(each.end(), static_cast<size_t>(c.shape.head_k_dim), x);
  }
  gk->second = std::move(each);
  return arrays;
}

}  // namespace

void Runner::state_export(const Call& call) {
  const int64_t layer = call.at(Argument::layer);
  const int64_t capacity = call.at(Argument::capacity);
  uint64_t size = unwritten;
  if (capacity < 0) {
    now_->status = engine_.api().state_export(engine_.handle(), layer, nullptr, 0, &size);
    wrote_nothing_where_refused(size == unwritten, "the size");
    if (capacity == -2 || !now_->ok() || size > uint64_t{4 * elements_max}) return;
  }
  const uint64_t room = capacity >= 0 ? static_cast<uint64_t>(capacity) : size;
  Guarded<uint8_t> bytes(room);
  size = unwritten;
  now_->status = engine_.api().state_export(engine_.handle(), layer, bytes.data(), room, &size);
  wrote_nothing_where_refused(size == unwritten, "the size");
  wrote_nothing_where_refused(bytes.untouched(), "the destination");
  if (!bytes.intact()) misconduct("it wrote outside the destination of state_export");
  if (!now_->ok()) return;
  now_->bytes = bytes.content();
  if (size < room) now_->bytes.resize(size);
  imports_[call.at(Argument::id)] = seen_.exports[call.at(Argument::id)] = now_->bytes;
  // The state is observed as the numbers that it is: two machines may spell a NaN differently.
  if (size < state_header_bytes) return;
  std::vector<float>& state = now_->arrays["state"];
  state.resize((now_->bytes.size() - state_header_bytes) / sizeof(float));
  std::memcpy(state.data(), now_->bytes.data() + state_header_bytes, state.size() * sizeof(float));
  if (state.size() * sizeof(float) + state_header_bytes == now_->bytes.size()) {
    now_->bytes.resize(state_header_bytes);
  }
}

void Runner::state_import(const Call& call) {
  std::vector<uint8_t> bytes = imports_[call.at(Argument::id)];
  const int64_t given = call.at(Argument::bytes);
  if (given >= 0 && given <= elements_max) bytes.resize(static_cast<size_t>(given));
  Guarded<uint8_t> source{std::span<const uint8_t>(bytes)};
  now_->status =
      engine_.api().state_import(engine_.handle(), call.at(Argument::layer),
                                 call.omit.contains("src") ? nullptr : source.data(), bytes.size());
  if (!source.holds(bytes)) misconduct("it wrote into the state that it was given");
}

void Runner::call_state(const Call& call) {
  const int64_t id = call.at(Argument::id);
  if (call.kind == CallKind::state_export) return state_export(call);
  if (call.kind == CallKind::state_import) return state_import(call);
  if (call.kind == CallKind::snapshot) {
    uint64_t given = unwritten;
    now_->status = engine_.api().snapshot(engine_.handle(), call.at(Argument::layer),
                                          call.omit.contains("id") ? nullptr : &given);
    wrote_nothing_where_refused(given == unwritten, "the id");
    if (now_->ok()) snapshots_[id] = given;
    return;
  }
  const auto known = snapshots_.find(id);
  now_->status = engine_.api().rollback(engine_.handle(),
                                        known == snapshots_.end() ? unknown_id : known->second);
}

// Which layers have a token whose tensors can be read.
void Runner::count_tokens(const Call& call) {
  if (!now_->ok()) return;
  const int64_t layer = call.at(Argument::layer);
  const int64_t tokens = call.kind == CallKind::step ? 1 : call.at(Argument::tokens);
  switch (call.kind) {
    case CallKind::step:
    case CallKind::run:
      if (tokens > 0) fed_.insert(layer);
      return;
    case CallKind::forward:
      for (int64_t l = 0; tokens > 0 && l < case_.shape.num_layers; ++l) fed_.insert(l);
      return;
    case CallKind::rollback:
      // Of one layer or of all: the snapshot knows.
      return fed_.clear();
    case CallKind::load_layer_f32:
    case CallKind::unload_layer:
    case CallKind::reset:
    case CallKind::state_import:
      if (layer < 0) fed_.clear();
      fed_.erase(layer);
      return;
    default:
      return;
  }
}

std::vector<uint8_t> buffer_content(const Case& c, int64_t buffer, size_t bytes) {
  Rng rng = Rng(c.seed).stream("buffer " + std::to_string(buffer));
  std::vector<uint8_t> content(bytes);
  for (uint8_t& byte : content) byte = static_cast<uint8_t>(rng.next());
  return content;
}

void Runner::call_buffer(const Call& call) {
  const gdn_api& api = engine_.api();
  const int64_t which = call.at(Argument::buffer);
  const uint64_t bytes = static_cast<uint64_t>(std::max<int64_t>(0, call.at(Argument::bytes)));
  const uint64_t offset = static_cast<uint64_t>(call.at(Argument::offset));
  const auto known = buffers_.find(which);
  const gdn_buffer buffer = known == buffers_.end() ? unknown_id : known->second.name;
  if (call.kind == CallKind::buffer_create) {
    gdn_buffer created = unwritten;
    now_->status = api.buffer_create(engine_.handle(), bytes, &created);
    wrote_nothing_where_refused(created == unwritten, "the buffer's name");
    if (!now_->ok()) return;
    // The engine may give a name again that it was given back: the older buffer is then nobody's.
    std::erase_if(buffers_, [created](const auto& old) { return old.second.name == created; });
    buffers_[which] = {created, {}};
    released_.erase(which);
    return;
  }
  if (call.kind == CallKind::buffer_release) {
    now_->status = api.buffer_release(engine_.handle(), buffer);
    if (now_->ok()) released_.insert(which);
    return;
  }
  if (bytes > uint64_t{elements_max}) {
    return not_asked("a buffer access has more bytes than a case can hold");
  }
  const std::vector<uint8_t> content = buffer_content(case_, which, bytes);
  if (call.kind == CallKind::buffer_write) {
    Guarded<uint8_t> source{std::span<const uint8_t>(content)};
    const void* const src = call.omit.contains("src") ? nullptr : source.data();
    now_->status = api.buffer_write(engine_.handle(), buffer, offset, src, bytes);
    if (!source.holds(content)) misconduct("it wrote into the bytes that it was given");
    if (now_->ok() && known != buffers_.end()) {
      known->second.written.emplace_back(offset, offset + bytes);
    }
    return;
  }
  Guarded<uint8_t> destination(bytes);
  void* const dst = call.omit.contains("dst") ? nullptr : destination.data();
  now_->status = api.buffer_read(engine_.handle(), buffer, offset, dst, bytes);
  if (!destination.intact()) misconduct("it wrote outside the destination of buffer_read");
  wrote_nothing_where_refused(destination.untouched(), "the destination");
  if (!now_->ok()) return;
  now_->bytes = destination.content();
  if (known != buffers_.end()) {
    now_->bytes = known_bytes(known->second, offset, std::move(now_->bytes));
  }
}

// What nobody has written has no value, and may be another in every run: 0 stands for it.
std::vector<uint8_t> Runner::known_bytes(const Buffer& buffer, uint64_t offset,
                                         std::vector<uint8_t> bytes) {
  std::vector<uint8_t> known(bytes.size());
  for (const auto& [from, to] : buffer.written) {
    const uint64_t begin = std::max(from, offset);
    const uint64_t end = std::min(to, offset + bytes.size());
    for (uint64_t i = begin; i < end; ++i) known[i - offset] = bytes[i - offset];
  }
  return known;
}

const Case& Runner::case_beside(const Call& call) {
  if (case_.subject != Subject::layer) return case_;
  Case beside = beside_the_layers(case_, call);
  const Subject subject = beside.subject;
  if (!beside_.contains(subject)) {
    std::string why;
    Numbers numbers = materialise(beside, &why).value_or(Numbers{});
    beside_.emplace(subject, std::pair(std::move(beside), std::move(numbers)));
  }
  return beside_.at(subject).first;
}

const Numbers& Runner::numbers_beside(const Call& call) {
  if (case_.subject != Subject::layer) return numbers_;
  return beside_.at(case_beside(call).subject).second;
}

void Runner::apply(const Call& call) {
  const Case& c = case_beside(call);
  const Numbers& numbers = numbers_beside(call);
  const auto arrays = by_channel(c, numbers.arrays);
  const std::optional<Operator> own = operator_of(c.subject);
  if (!own || *own > Operator::out_proj || c.subject == Subject::recurrent) {
    now_->status = GDN_UNSUPPORTED;
    return;
  }
  const int64_t given = call.at(Argument::op);
  const int64_t op =
      given == rule_of(Argument::op).unless_given ? static_cast<int64_t>(*own) : given;
  const int64_t count_off = call.at(Argument::count_off);
  // More is announced than is there only where the guards lie behind it.
  const auto array = [&](const std::string& name, gdn_format format, void* data, size_t count) {
    int64_t off = count_off;
    if (altered() != nullptr && altered()->fewer.contains(name)) off -= altered()->fewer.at(name);
    return gdn_array{name.c_str(), format, call.omit.contains(name) ? nullptr : data,
                     static_cast<int64_t>(count) + off};
  };
  std::map<std::string, Guarded<float>> in;
  Lent<gdn_array> inputs;
  for (const auto& [name, values] : arrays) {
    const auto [at, inserted] = in.emplace(name, Guarded<float>(std::span<const float>(values)));
    inputs.push_back(array(at->first, GDN_F32, at->second.data(), values.size()));
  }
  const std::string weight = "weight";
  Guarded<uint8_t> tiles{std::span<const uint8_t>(numbers.tiles)};
  if (!numbers.tiles.empty()) {
    inputs.push_back(
        array(weight, GDN_Q4_TILE, tiles.data(), static_cast<size_t>(c.rows * c.cols)));
  }
  std::map<std::string, Guarded<float>> out;
  Lent<gdn_array> outputs;
  for (const Output& o : outputs_of(c)) {
    const auto count = static_cast<size_t>(o.count);
    const auto [at, inserted] = out.emplace(o.name, Guarded<float>(count));
    outputs.push_back(array(at->first, GDN_F32, at->second.data(), count));
  }
  for (Lent<gdn_array>* list : {&inputs, &outputs}) {
    const auto twice = std::find_if(list->begin(), list->end(), [this](const gdn_array& one) {
      return altered() != nullptr && altered()->given_twice == one.name;
    });
    if (twice != list->end()) list->push_back(gdn_array(*twice));
  }
  const gdn_shape shape = c_shape(c.shape);
  now_->status = engine_.api().apply(engine_.handle(), static_cast<gdn_operator>(op), &shape,
                                     inputs.data(), inputs.size(), outputs.data(), outputs.size());
  for (const auto& [name, values] : arrays) {
    if (!in.at(name).holds(values)) misconduct("it wrote into its input " + name);
  }
  if (!tiles.holds(numbers.tiles)) misconduct("it wrote into the tiles that it was given");
  for (const auto& [name, guarded] : out) {
    if (!guarded.intact()) misconduct("it wrote outside its output " + name);
    wrote_nothing_where_refused(guarded.untouched(), "an output");
    if (now_->ok()) now_->arrays[name] = guarded.content();
  }
}

void Runner::dequant(const Call& call) {
  const Case& c = case_beside(call);
  const Numbers& numbers = numbers_beside(call);
  const auto or_own = [&](Argument argument, int64_t own) {
    const int64_t given = call.at(argument);
    return given == rule_of(argument).unless_given ? own : given;
  };
  const int64_t rows = or_own(Argument::rows, c.rows);
  const int64_t cols = or_own(Argument::cols, c.cols);
  std::vector<uint8_t> given = numbers.tiles;
  auto count = static_cast<size_t>(c.rows * c.cols);
  // Dimensions that can be served need memory behind them; the tiles go on with zeros.
  if (why_not_q4_tile(rows, cols).empty()) {
    if (rows > elements_max / cols) return not_asked("it has more weights than a case can hold");
    given.resize(std::max(given.size(), static_cast<size_t>(q4_bytes(rows, cols))));
    count = static_cast<size_t>(rows * cols);
  }
  Guarded<uint8_t> tiles{std::span<const uint8_t>(given)};
  Guarded<float> out(count);
  now_->status = engine_.api().dequant(engine_.handle(), rows, cols,
                                       call.omit.contains("tiles") ? nullptr : tiles.data(),
                                       call.omit.contains("out") ? nullptr : out.data());
  if (!tiles.holds(given)) misconduct("it wrote into the tiles that it was given");
  if (!out.intact()) misconduct("it wrote outside its output");
  wrote_nothing_where_refused(out.untouched(), "its output");
  if (now_->ok()) now_->arrays["out"] = out.content();
}

void Runner::recurrent(const Call& call, int64_t first_token) {
  const Case& c = case_beside(call);
  if (c.subject != Subject::recurrent) {
    now_->status = GDN_UNSUPPORTED;
    return;
  }
  if (!recurrence_) {
    // Its own buffers may get the names of those that were given back.
    for (const int64_t name : released_) buffers_.erase(name);
    recurrence_ = std::make_unique<RecurrentSession>(
        engine_, recurrent_inputs(c, numbers_beside(call)), c.pool);
    now_->status = recurrence_->start();
    if (!now_->ok()) {
      // Its end makes calls of its own, which would wipe the engine's words out.
      now_->text = engine_.last_error();
      recurrence_.reset();
      return;
    }
  }
  now_->status = recurrence_->call(call, first_token, now_->arrays, altered());
  if (now_->ok()) now_->status = recurrence_->state(now_->arrays["S"]);
  if (!now_->ok()) now_->text = recurrence_->refusal();
  if (!recurrence_->misconduct().empty()) misconduct(recurrence_->misconduct());
}

}  // namespace gdn
