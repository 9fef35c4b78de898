// One open engine taken through the calls of one case. Internal to Lab.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "invariants/harness/allocation_ledger.h"
#include "invariants/harness/engine.h"
#include "invariants/harness/guarded.h"
#include "invariants/harness/lab.h"
#include "invariants/harness/observation.h"
#include "invariants/harness/recurrent_session.h"
#include "reference/case.h"

namespace gdn {

class Runner {
 public:
  // All outlive the runner. The ledger is the engine's gate, or nobody's.
  Runner(Engine& engine, const Case& c, const Numbers& numbers, AllocationLedger& ledger,
         const RunOptions& options);
  // Of the allocations that the engine asks for during the call, the nth is refused; 0: none.
  const CallObserved& next(const Call& call, uint64_t refuse_nth = 0);
  // What is read between the calls, and what a later call finds under its h_id.
  // Those of a token are left out where `may_lack_token` and there is none.
  TokenTensors read_tensors(int64_t layer, const std::set<Tensor>& tensors,
                            bool may_lack_token = false);
  // One of them, valid until the next read; nothing where it is refused or left out.
  std::optional<std::span<const float>> read_tensor(int64_t layer, Tensor tensor,
                                                    bool may_lack_token = false);
  void give(int64_t id, std::vector<float> rows) { outputs_[id] = std::move(rows); }
  const Verdict& conduct() const { return seen_.conduct; }
  Observation finish() &&;

 private:
  void call(const Call& call, int64_t first_token);
  void call_layer(const Call& call);
  void call_pool(const Call& call);
  void call_state(const Call& call);
  void call_buffer(const Call& call);
  void load(const Call& call);
  void pool_put(const Call& call);
  void pool_get(const Call& call);
  void bind(const Call& call);
  void feed(const Call& call, int64_t first_token);
  void read(const Call& call);
  void state_export(const Call& call);
  void state_import(const Call& call);
  void apply(const Call& call);
  void dequant(const Call& call);
  void recurrent(const Call& call, int64_t first_token);
  void count_tokens(const Call& call);
  void reads_after(const Call& call);

  const LayerNumbers& weights_of(const Call& call, int64_t otherwise) const;
  std::string where() const;  // "call 3, step"
  void misconduct(const std::string& what);
  void not_asked(const std::string& why);
  // A refused call writes nothing through the caller's pointers.
  void wrote_nothing_where_refused(bool untouched, const char* what);
  // Is the entry there? If not the call counts as unsupported.
  bool has(std::string_view name);
  // What is altered of the call that is being made; null: nothing.
  const Altered* altered() const;

  Engine& engine_;
  const Case& case_;
  const Numbers& numbers_;
  AllocationLedger& ledger_;
  const std::optional<RefusedAllocation> refuse_;
  const std::map<size_t, Altered> altered_;
  StreamPositions positions_;
  Observation seen_;
  CallObserved* now_ = nullptr;
  std::set<int64_t> fed_;                            // layers, since they were last zeroed or set
  CallKind kind_ = CallKind::step;                   // of the call that was made last
  std::map<size_t, Guarded<float>> destinations_;    // of reads between the calls, by their size
  std::map<int64_t, std::vector<uint8_t>> imports_;  // what state_import finds, by id
  std::map<int64_t, std::vector<float>> outputs_;    // kept by out_id
  std::map<int64_t, uint64_t> snapshots_;
  struct Buffer {
    gdn_buffer name = 0;
    std::vector<std::pair<uint64_t, uint64_t>> written;  // from, to
  };
  static std::vector<uint8_t> known_bytes(const Buffer& buffer, uint64_t offset,
                                          std::vector<uint8_t> bytes);
  std::map<int64_t, Buffer> buffers_;
  std::set<int64_t> released_;  // of those
  std::unique_ptr<RecurrentSession> recurrence_;
  // Of apply, dequant and recurrent among the calls of a layer, by subject.
  const Case& case_beside(const Call& call);
  const Numbers& numbers_beside(const Call& call);
  std::map<Subject, std::pair<Case, Numbers>> beside_;
};

}  // namespace gdn
