// Hazards are judged when an instruction is issued, by what its queue knows then: whether one is
// found does not depend on the schedule that moves the bytes.
#include "device/ascend_sim/core.h"

#include <cstring>
#include <utility>

namespace gdn::ascend {
namespace {

size_t index_of(Queue queue) { return static_cast<size_t>(queue); }

}  // namespace

Core::Core(int64_t index, int64_t local_bytes, uint32_t poison, Schedule schedule)
    : index_(index),
      memory_(static_cast<size_t>(whole_units(local_bytes))),
      poison_(poison),
      schedule_(schedule) {
  for (size_t i = 0; i < memory_.size(); i += sizeof poison_) {
    std::memcpy(memory_.data() + i, &poison_, sizeof poison_);
  }
}

Local Core::local(const char* name, int64_t bytes) {
  const Local made = {name, used_bytes_, bytes, used_bytes_};
  used_bytes_ += whole_units(bytes);
  return made;
}

void Core::out_of_bounds(const std::string& buffer, int64_t begin, int64_t end,
                         const Stamp& stamp) {
  Hazard beyond;
  beyond.buffer = buffer + ", which does not hold them,";
  beyond.begin = begin;
  beyond.end = end;
  beyond.earlier = beyond.later = stamp;
  hazards_.push_back(std::move(beyond));
}

void Core::note(const Instruction& instruction, const Stamp& stamp) {
  const Clock& known = known_[index_of(stamp.queue)];
  for (const LocalUse& use : instruction.local) {
    const int64_t begin = use.at.offset;
    auto hazard = log_.note(begin, begin + use.at.bytes, use.writes, stamp, known);
    if (!hazard) continue;
    hazard->buffer = use.at.name;
    hazard->begin -= use.at.buffer_offset;
    hazard->end -= use.at.buffer_offset;
    hazards_.push_back(*std::move(hazard));
  }
  for (const GlobalUse& use : instruction.global) {
    auto hazard = use.array->log.note(use.begin, use.end, use.writes, stamp, known);
    if (!hazard) continue;
    hazard->buffer = use.array->name;
    hazards_.push_back(*std::move(hazard));
  }
}

void Core::issue(Queue queue, Instruction instruction) {
  const size_t q = index_of(queue);
  const auto number = static_cast<int64_t>(queued_[q].size()) + 1;
  const Stamp stamp = {index_, queue, number, instruction.what, place};
  bool lies_within = true;
  for (const GlobalUse& use : instruction.global) {
    const auto size = static_cast<int64_t>(use.array->bytes.size());
    if (use.begin >= 0 && use.end <= size) continue;
    out_of_bounds(use.array->name, use.begin, use.end, stamp);
    lies_within = false;
  }
  if (!lies_within) instruction.act = [] {};
  if (lies_within) note(instruction, stamp);
  queued_[q].push_back({std::move(instruction.act), known_[q]});
  if (!schedule_.is_late[q]) run_up_to(queue, number);
}

Event Core::set(Queue from) const {
  const size_t q = index_of(from);
  Event event = {known_[q]};
  event.ended[q] = static_cast<int64_t>(queued_[q].size());
  return event;
}

void Core::wait(Queue by, const Event& event) {
  Clock& known = known_[index_of(by)];
  for (size_t q = 0; q < queue_count; ++q) known[q] = std::max(known[q], event.ended[q]);
}

void Core::barrier(Queue queue) { wait(queue, set(queue)); }

float Core::read(const Local& at, int64_t index) {
  float value = 0;
  const Local one = at.part(index * int64_t{sizeof value}, sizeof value);
  issue(Queue::scalar, {.what = "read of a number", .local = {{one, false}}, .act = [&] {
                          std::memcpy(&value, data(one), sizeof value);
                        }});
  return value;
}

void Core::run_up_to(Queue queue, int64_t number) {
  // By hand, not by recursion: a chain of waits is as long as the program.
  std::vector<std::pair<size_t, int64_t>> wanted = {{index_of(queue), number}};
  while (!wanted.empty()) {
    const auto [q, last] = wanted.back();
    if (has_run_[q] >= last) {
      wanted.pop_back();
      continue;
    }
    Queued& next = queued_[q][static_cast<size_t>(has_run_[q])];
    bool waits = false;
    for (size_t other = 0; other < queue_count && !waits; ++other) {
      waits = has_run_[other] < next.known[other];
      if (waits) wanted.emplace_back(other, next.known[other]);
    }
    if (waits) continue;
    next.act();
    next.act = nullptr;
    ++has_run_[q];
  }
}

void Core::finish() {
  for (size_t q = 0; q < queue_count; ++q) {
    run_up_to(static_cast<Queue>(q), static_cast<int64_t>(queued_[q].size()));
  }
}

}  // namespace gdn::ascend
