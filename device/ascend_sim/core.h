// One core: local memory, and four queues that run beside each other. An instruction starts after
// those before it in its queue, but may overlap them: only a barrier of the queue, or an event that
// another queue has waited for, says that they have ended.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "device/ascend_sim/access_log.h"
#include "device/ascend_sim/queues.h"

namespace gdn::ascend {

// Data is moved in units of this many bytes.
inline constexpr int64_t unit_bytes = 32;
inline int64_t whole_units(int64_t bytes) {
  return (bytes + unit_bytes - 1) / unit_bytes * unit_bytes;
}

// An array in global memory, with all bytes that a copy may touch: its guard belongs to it.
struct Global {
  const char* name = "";
  std::vector<unsigned char> bytes = {};
  AccessLog log = {};
};

// A buffer in a core's local memory, or a part of it.
struct Local {
  const char* name = "";
  int64_t offset = 0, bytes = 0;
  int64_t buffer_offset = 0;  // of the whole

  Local part(int64_t begin, int64_t count) const {
    return {name, offset + begin, count, buffer_offset};
  }
};

// That all instructions of a queue up to one have ended, and what that queue knew.
struct Event {
  Clock ended = {};
};

// Which queues run as late as events and barriers allow; the others as early. The scalar one gives
// the program its numbers and cannot be late. Of a program that orders all it must every choice
// gives the same bits.
struct Schedule {
  std::array<bool, queue_count> is_late = {};
};

struct LocalUse {
  Local at;
  bool writes = false;
};
struct GlobalUse {
  Global* array = nullptr;
  int64_t begin = 0, end = 0;
  bool writes = false;
};
struct Instruction {
  const char* what = "";
  std::vector<LocalUse> local = {};
  std::vector<GlobalUse> global = {};
  std::function<void()> act = {};
};

class Core {
 public:
  // Local memory holds `poison` until it is written.
  Core(int64_t index, int64_t local_bytes, uint32_t poison, Schedule schedule);
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  Local local(const char* name, int64_t bytes);
  unsigned char* data(const Local& local) { return memory_.data() + local.offset; }
  float* floats(const Local& local) { return reinterpret_cast<float*>(data(local)); }
  uint32_t poison() const { return poison_; }
  int64_t index() const { return index_; }

  Place place;  // goes into what is issued from now on
  void issue(Queue queue, Instruction instruction);
  // Once all that was issued to `from` has ended.
  Event set(Queue from) const;
  void wait(Queue by, const Event& event);
  void barrier(Queue queue);
  // A number that the scalar queue reads now.
  float read(const Local& at, int64_t index);
  // What is left runs.
  void finish();

  const std::vector<Hazard>& hazards() const { return hazards_; }

 private:
  struct Queued {
    std::function<void()> act;
    Clock known;
  };

  void note(const Instruction& instruction, const Stamp& stamp);
  void out_of_bounds(const std::string& buffer, int64_t begin, int64_t end, const Stamp& stamp);
  // Runs all of a queue up to a number, and first what each of them waits for.
  void run_up_to(Queue queue, int64_t number);

  int64_t index_;
  std::vector<unsigned char> memory_;
  int64_t used_bytes_ = 0;
  uint32_t poison_;
  Schedule schedule_;
  AccessLog log_;
  std::array<Clock, queue_count> known_ = {};
  std::array<std::vector<Queued>, queue_count> queued_;
  Clock has_run_ = {};
  std::vector<Hazard> hazards_;
};

}  // namespace gdn::ascend
