// What one core does with one unit after the other. Internal to the operator.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "device/ascend_sim/instructions.h"
#include "device/ascend_sim/operator.h"

namespace gdn::ascend {

// A buffer of results: rounded into, then copied out, at once or a token later.
struct Result {
  Local at;
  Event free;  // its last copy has ended
};

class UnitProgram {
 public:
  UnitProgram(Core& core, Problem& problem, const Plan& plan, const Program& program);
  void run(const Unit& unit);

 private:
  // Results of a token that are not yet copied.
  struct Waiting {
    size_t slot = 0;
    int64_t token = 0, tile = 0, rows = 0;
    Event state_rounded, output_rounded;
  };

  void lay_out();
  void wait(Order order, Queue by, const Event& event);
  void barrier(Order order, Queue queue);
  Rows rows_of(const Local& to, Global& from, int64_t element_bytes, int64_t dim, int64_t heads,
               int64_t head) const;
  void load_inputs();
  void widen_inputs();
  void scale_q(int64_t tile);
  void compute_gates();
  int64_t tile_rows(int64_t tile) const;
  void prefetch(int64_t tile);
  void begin_tile(int64_t tile);
  void update(int64_t tile, int64_t token);
  void round_results(int64_t tile, int64_t token);
  void copy_results(int64_t rows_now);
  int64_t state_begin(int64_t index, int64_t tile) const;
  Local token_row(const Local& rows, int64_t token, int64_t pitch) const;

  Core& core_;
  Problem& problem_;
  const Plan& plan_;
  const Program& program_;
  const Dimensions& d_;
  int64_t K_, V_, heads_;  // padded
  int64_t tiles_;
  bool has_g_, has_gk_;

  Local q_raw_, k_raw_, v_raw_, beta_raw_, q_, k_, v_, beta_, g_, gk_;
  Local S_, u_, o_;
  std::array<Local, 2> state_in_;
  std::vector<Result> state_out_, output_;

  Unit unit_;
  int64_t accepted_ = 1;
  Event inputs_landed_, inputs_consumed_, gates_read_;
  std::array<Event, 2> state_landed_, state_consumed_;
  Event prefetched_;
  size_t next_slot_ = 0;
  std::optional<Waiting> waiting_;
};

}  // namespace gdn::ascend
