// One open engine taken through the calls of one case.
#include "invariants/harness/lab_runner.h"

#include <algorithm>
#include <array>
#include <limits>

#include "invariants/harness/lent.h"
#include "reference/formats.h"

namespace gdn {
namespace {

// The key that a case gives a matrix of a layer's weights unless it says otherwise.
uint64_t own_key(int64_t weights, int64_t matrix) {
  return 1 + 3 * static_cast<uint64_t>(weights) + static_cast<uint64_t>(matrix);
}

uint64_t key_or(int64_t given, int64_t weights, int64_t matrix) {
  return given >= 0 ? static_cast<uint64_t>(given) : own_key(weights, matrix);
}

const std::vector<uint8_t>& tiles_of(const LayerNumbers& n, int64_t matrix) {
  return matrix == 0 ? n.qkv_tiles : (matrix == 1 ? n.z_tiles : n.out_tiles);
}

// What no engine says of its own accord.
constexpr int64_t unwritten_count = -77;
constexpr uint64_t unwritten_size = static_cast<uint64_t>(unwritten_count);

}  // namespace

Runner::Runner(Engine& engine, const Case& c, const Numbers& numbers, AllocationLedger& ledger,
               const RunOptions& options)
    : engine_(engine),
      case_(c),
      numbers_(numbers),
      ledger_(ledger),
      refuse_(options.refuse),
      altered_(options.altered),
      imports_(options.exports) {
  constexpr size_t usual_calls = 8;
  seen_.conduct.outcome = Outcome::holds;
  seen_.calls.reserve(usual_calls);
}

const CallObserved& Runner::next(const Call& given, uint64_t refuse_nth) {
  const int64_t first_token = positions_.first_of(given);
  now_ = &seen_.calls.emplace_back();
  kind_ = given.kind;
  if (refuse_ && refuse_->call == seen_.calls.size() - 1) refuse_nth = refuse_->nth;
  ledger_.arm(refuse_nth);
  call(given, first_token);
  now_->allocations = ledger_.asked;
  ledger_.arm(0);
  if (!now_->ok() && now_->text.empty()) now_->text = engine_.last_error();
  count_tokens(given);
  reads_after(given);
  return *now_;
}

Observation Runner::finish() && {
  recurrence_.reset();
  return std::move(seen_);
}

std::string Runner::where() const {
  return "call " + std::to_string(seen_.calls.size()) + ", " + std::string(name_of(kind_));
}

void Runner::misconduct(const std::string& what) {
  seen_.conduct = both(std::move(seen_.conduct), claim(false, where() + ": " + what));
}

// What fails on its way may leave a part behind; what is refused has not set out.
void Runner::wrote_nothing_where_refused(bool untouched, const char* what) {
  const bool failed = now_->status == GDN_OUT_OF_MEMORY || now_->status >= GDN_NOT_AVAILABLE;
  if (now_->ok() || failed || untouched) return;
  misconduct(std::string("it refused and wrote ") + what);
}

const Altered* Runner::altered() const {
  const auto found = altered_.find(seen_.calls.size() - 1);
  return found == altered_.end() ? nullptr : &found->second;
}

void Runner::not_asked(const std::string& why) {
  now_->status = GDN_INVALID_ARGUMENT;
  now_->text = why + "; the engine was not asked";
}

bool Runner::has(std::string_view name) {
  if (has_call(engine_.api(), name)) return true;
  now_->status = GDN_UNSUPPORTED;
  return false;
}

void Runner::call(const Call& call, int64_t first_token) {
  if (!has(name_of(call.kind))) return;
  switch (call.kind) {
    case CallKind::load_layer_f32:
    case CallKind::unload_layer:
    case CallKind::reset:
    case CallKind::read:
      return call_layer(call);
    case CallKind::pool_init:
    case CallKind::pool_put:
    case CallKind::pool_get:
    case CallKind::pool_clear:
    case CallKind::bind_q4:
      return call_pool(call);
    case CallKind::step:
    case CallKind::run:
    case CallKind::forward:
      return feed(call, first_token);
    case CallKind::state_export:
    case CallKind::state_import:
    case CallKind::snapshot:
    case CallKind::rollback:
      return call_state(call);
    case CallKind::apply:
      return apply(call);
    case CallKind::dequant:
      return dequant(call);
    case CallKind::recurrent:
      return recurrent(call, first_token);
    case CallKind::buffer_create:
    case CallKind::buffer_write:
    case CallKind::buffer_read:
    case CallKind::buffer_release:
      return call_buffer(call);
  }
}

void Runner::call_layer(const Call& call) {
  const int64_t layer = call.at(Argument::layer);
  switch (call.kind) {
    case CallKind::load_layer_f32:
      return load(call);
    case CallKind::unload_layer:
      now_->status = engine_.api().unload_layer(engine_.handle(), layer);
      return;
    case CallKind::reset:
      now_->status = engine_.api().reset(engine_.handle(), layer);
      return;
    default:
      return read(call);
  }
}

void Runner::call_pool(const Call& call) {
  const gdn_api& api = engine_.api();
  switch (call.kind) {
    case CallKind::pool_init: {
      uint64_t bytes = 0;
      for (const LayerNumbers& n : numbers_.layers) {
        bytes += n.qkv_tiles.size() + n.z_tiles.size() + n.out_tiles.size();
      }
      const int64_t given = call.at(Argument::bytes);
      if (given >= 0) bytes = static_cast<uint64_t>(given);
      now_->status = api.pool_init(engine_.handle(), bytes);
      return;
    }
    case CallKind::pool_put:
      return pool_put(call);
    case CallKind::pool_get:
      return pool_get(call);
    case CallKind::bind_q4:
      return bind(call);
    default:
      now_->status = api.pool_clear(engine_.handle());
      return;
  }
}

const LayerNumbers& Runner::weights_of(const Call& call, int64_t otherwise) const {
  const int64_t given = call.at(Argument::weights);
  const int64_t wanted = given >= 0 ? given : otherwise;
  const bool known = wanted >= 0 && wanted < static_cast<int64_t>(numbers_.layers.size());
  return numbers_.layers[known ? static_cast<size_t>(wanted) : 0];
}

void Runner::load(const Call& call) {
  constexpr size_t arrays = 9;
  static constexpr std::vector<float> LayerNumbers::*const parts[arrays] = {
      &LayerNumbers::qkv,   &LayerNumbers::z,       &LayerNumbers::out,
      &LayerNumbers::b,     &LayerNumbers::a,       &LayerNumbers::conv,
      &LayerNumbers::A_log, &LayerNumbers::dt_bias, &LayerNumbers::norm};
  static constexpr const char* names[arrays] = {"qkv",  "z",     "out",     "b",   "a",
                                                "conv", "A_log", "dt_bias", "norm"};
  gdn_layer_weights w = {};
  w.struct_size = sizeof w;
  const float** const pointers[arrays] = {&w.qkv,  &w.z,     &w.out,     &w.b,   &w.a,
                                          &w.conv, &w.A_log, &w.dt_bias, &w.norm};
  const LayerNumbers& right = weights_of(call, call.at(Argument::layer));
  std::array<Lent<float>, arrays> given;
  for (size_t i = 0; i < arrays; ++i) {
    given[i].assign((right.*parts[i]).begin(), (right.*parts[i]).end());
    const bool is_null = given[i].empty() || call.omit.contains(names[i]);
    *pointers[i] = is_null ? nullptr : given[i].data();
  }
  now_->status = engine_.api().load_layer_f32(engine_.handle(), call.at(Argument::layer), &w);
  // The arrays are the caller's: unchanged by the call, and anything at all from then on.
  for (size_t i = 0; i < arrays; ++i) {
    if (!equal_bits(given[i], right.*parts[i])) {
      misconduct("it wrote into the weights that it was given");
    }
    std::fill(given[i].begin(), given[i].end(), std::numeric_limits<float>::quiet_NaN());
  }
}

void Runner::pool_put(const Call& call) {
  const int64_t matrix = call.at(Argument::matrix);
  const LayerNumbers& n = weights_of(call, 0);
  const Shape& s = case_.shape;
  const int64_t rows_of[] = {s.conv_dim(), s.v_dim(), s.hidden_size};
  const int64_t cols_of[] = {s.hidden_size, s.hidden_size, s.v_dim()};
  const int64_t rows = call.at(Argument::rows) == -1 ? rows_of[matrix] : call.at(Argument::rows);
  const int64_t cols = call.at(Argument::cols) == -1 ? cols_of[matrix] : call.at(Argument::cols);
  std::vector<uint8_t> tiles = tiles_of(n, matrix);
  // Other dimensions than the matrix's own: enough bytes for them, so that the pool alone decides.
  if (rows > 0 && cols > 0 && rows <= elements_max / cols) {
    tiles.resize(std::max(tiles.size(), static_cast<size_t>(q4_bytes(rows, cols))));
  }
  const uint64_t key =
      key_or(call.at(Argument::key), std::max<int64_t>(0, call.at(Argument::weights)), matrix);
  Guarded<uint8_t> given{std::span<const uint8_t>(tiles)};
  const void* const pointer = call.omit.contains("tiles") ? nullptr : given.data();
  now_->status = engine_.api().pool_put(engine_.handle(), key, rows, cols, pointer);
  if (!given.holds(tiles)) misconduct("it wrote into the tiles that it was given");
}

void Runner::pool_get(const Call& call) {
  const uint64_t key =
      key_or(call.at(Argument::key), std::max<int64_t>(0, call.at(Argument::weights)),
             call.at(Argument::matrix));
  const int64_t capacity = call.at(Argument::capacity);
  uint64_t size = unwritten_size;
  if (capacity < 0) {
    now_->status = engine_.api().pool_get(engine_.handle(), key, nullptr, 0, &size);
    wrote_nothing_where_refused(size == unwritten_size, "the size");
    if (capacity == -2 || !now_->ok() || size > uint64_t{elements_max}) return;
  }
  const uint64_t room = capacity >= 0 ? static_cast<uint64_t>(capacity) : size;
  Guarded<uint8_t> bytes(room);
  size = unwritten_size;
  now_->status = engine_.api().pool_get(engine_.handle(), key, bytes.data(), room, &size);
  wrote_nothing_where_refused(size == unwritten_size, "the size");
  wrote_nothing_where_refused(bytes.untouched(), "the destination");
  if (!bytes.intact()) misconduct("it wrote outside the bytes of pool_get");
  if (now_->ok()) now_->bytes = bytes.content();
  if (now_->ok() && size < room) now_->bytes.resize(size);
}

void Runner::bind(const Call& call) {
  const int64_t layer = call.at(Argument::layer);
  now_->status = engine_.api().bind_q4(
      engine_.handle(), layer, key_or(call.at(Argument::key_qkv), layer, 0),
      key_or(call.at(Argument::key_z), layer, 1), key_or(call.at(Argument::key_out), layer, 2));
}

void Runner::feed(const Call& call, int64_t first_token) {
  const gdn_api& api = engine_.api();
  const int64_t tokens = call.kind == CallKind::step ? 1 : call.at(Argument::tokens);
  std::vector<float> rows;
  const int64_t h_id = call.at(Argument::h_id);
  if (h_id >= 0 && !outputs_.contains(h_id)) {
    outputs_.erase(call.at(Argument::out_id));
    return not_asked("the call whose out is its h gave none");
  }
  if (h_id >= 0) {
    rows = outputs_.at(h_id);
  } else {
    rows.reserve(static_cast<size_t>(std::max<int64_t>(0, tokens) * case_.shape.hidden_size));
    for (int64_t t = first_token; t < first_token + tokens; ++t) {
      const std::vector<float>& h = numbers_.h[static_cast<size_t>(t)];
      rows.insert(rows.end(), h.begin(), h.end());
    }
  }
  Guarded<float> h{std::span<const float>(rows)};
  Guarded<float> out(rows.size());
  const float* const from = call.omit.contains("h") ? nullptr : h.data();
  float* const to = call.omit.contains("out") ? nullptr : out.data();
  const int64_t layer = call.at(Argument::layer);
  if (call.kind == CallKind::step) now_->status = api.step(engine_.handle(), layer, from, to);
  if (call.kind == CallKind::run) {
    now_->status = api.run(engine_.handle(), layer, tokens, from, to);
  }
  if (call.kind == CallKind::forward) {
    now_->status = api.forward(engine_.handle(), tokens, from, to);
  }
  if (!h.holds(rows)) misconduct("it wrote into h");
  if (!out.intact()) misconduct("it wrote outside out");
  wrote_nothing_where_refused(out.untouched(), "out");
  const int64_t out_id = call.at(Argument::out_id);
  outputs_.erase(out_id);
  if (!now_->ok()) return;
  now_->out = out.content();
  if (out_id >= 0) outputs_[out_id] = now_->out;
}

void Runner::read(const Call& call) {
  const gdn_tensor tensor = static_cast<gdn_tensor>(call.at(Argument::tensor));
  const int64_t layer = call.at(Argument::layer);
  const int64_t capacity = call.at(Argument::capacity);
  int64_t count = unwritten_count;
  if (capacity < 0) {
    now_->status = engine_.api().read(engine_.handle(), layer, tensor, nullptr, 0, &count);
    wrote_nothing_where_refused(count == unwritten_count, "the count");
    if (capacity == -2 || !now_->ok() || count < 0 || count > elements_max) return;
  }
  const int64_t room = capacity >= 0 ? capacity : count;
  Guarded<float> values(static_cast<size_t>(room));
  count = unwritten_count;
  now_->status = engine_.api().read(engine_.handle(), layer, tensor, values.data(), room, &count);
  wrote_nothing_where_refused(count == unwritten_count, "the count");
  wrote_nothing_where_refused(values.untouched(), "the destination");
  if (!values.intact()) misconduct("it wrote outside the tensor's destination");
  if (!now_->ok()) return;
  std::vector<float> content = values.content();
  if (count >= 0 && count < room) content.resize(static_cast<size_t>(count));
  now_->reads[static_cast<Tensor>(tensor)] = std::move(content);
}

void Runner::reads_after(const Call& call) {
  if (call.reads.empty()) return;
  const int64_t given = call.at(Argument::read_layer);
  const int64_t own = takes(call.kind, Argument::layer) ? call.at(Argument::layer) : 0;
  const int64_t layer = given >= 0 ? given : std::max<int64_t>(0, own);
  // There is nothing to read of a layer that is none.
  if (layer >= case_.shape.num_layers) return;
  TokenTensors reads = read_tensors(layer, call.reads, !fed_.contains(layer) || !now_->ok());
  for (auto& [tensor, values] : reads) now_->reads[tensor] = std::move(values);
}

std::optional<std::span<const float>> Runner::read_tensor(int64_t layer, Tensor tensor,
                                                          bool may_lack_token) {
  if (engine_.api().read == nullptr) {
    misconduct("it has no read");
    return std::nullopt;
  }
  const int64_t room = element_count(tensor, case_.shape);
  Guarded<float>& values =
      destinations_.try_emplace(static_cast<size_t>(room), static_cast<size_t>(room)).first->second;
  values.renew();
  int64_t count = 0;
  const gdn_status status =
      engine_.api().read(engine_.handle(), layer, static_cast<gdn_tensor>(tensor),
                         room > 0 ? values.data() : nullptr, room, &count);
  const auto read_of = [tensor] { return "read of " + std::string(name_of(tensor)); };
  if (!values.intact()) {
    misconduct(read_of() + " wrote outside its destination");
    destinations_.clear();
    return std::nullopt;
  }
  const bool is_state = tensor == Tensor::S || tensor == Tensor::HIST;
  if (status == GDN_NO_TOKEN && may_lack_token && !is_state) return std::nullopt;
  if (status != GDN_OK) {
    seen_.conduct =
        both(std::move(seen_.conduct),
             refusal(status, where() + ": " + read_of() + ": " + std::string(name_of(status)) +
                                 ": " + engine_.last_error()));
    return std::nullopt;
  }
  if (count != room) {
    misconduct(read_of() + " says " + std::to_string(count) + " elements, expected " +
               std::to_string(room));
  }
  return std::span<const float>(values.data(), values.size());
}

TokenTensors Runner::read_tensors(int64_t layer, const std::set<Tensor>& tensors,
                                  bool may_lack_token) {
  TokenTensors all;
  for (const Tensor tensor : tensors) {
    const auto values = read_tensor(layer, tensor, may_lack_token);
    if (values) all[tensor].assign(values->begin(), values->end());
  }
  return all;
}

}  // namespace gdn
