// Checks of one access, in this order: bounds, alignment, reads of what nobody wrote, races.
#include <cstring>

#include "device/simt/block.h"

namespace gdn::simt {
namespace {

constexpr unsigned files_max = 31;  // named in a record; the next index is any other file
constexpr int line_max = 0xffff;

const char* verb(Access access) {
  return access == Access::read ? "read" : access == Access::write ? "write" : "atomic operation";
}

}  // namespace

void check_access(const void* address, unsigned bytes, Access access, Space space, Site site) {
  running_block->access(address, bytes, access, space, site);
}
void check_coherent_read(const void* address, unsigned bytes, Site site) {
  running_block->access(address, bytes, Access::read, Space::global, site, true);
}
void copy_async(void* to, const void* from, unsigned bytes, Site site) {
  running_block->copy_async(to, from, bytes, site);
}
void close_copies() { running_block->close_copies(); }
void wait_for_copies(int sets, Site site) { running_block->wait_for_copies(sets, site); }
void wait_for_launches_before() { running_block->wait_for_launches_before(); }
void* shared_array(const void* key, size_t bytes, Site site) {
  return running_block->shared_array(key, bytes, site);
}
void* dynamic_shared_bytes() { return running_block->dynamic_shared_bytes(); }

// Outside every step: the whole block.
void Block::wait_for_launches_before() {
  some_waited_ = true;
  if (running.thread != no_thread) {
    threads_[static_cast<unsigned>(running.thread)].waited = true;
    return;
  }
  for (unsigned i = 0; i < count_; ++i) threads_[i].waited = true;
}

void Block::access(const void* address, unsigned bytes, Access access, Space space, Site site,
                   bool coherent) {
  if (running.thread == no_thread) fail_in_step(site, "an access");
  const Target target = space == Space::shared ? shared_target(address, bytes, site)
                                               : global_target(address, bytes, site);
  const auto what = [&](const char* done) {
    return std::string(done) + " of " + std::to_string(bytes) + " bytes at " +
           target_text(address, space);
  };
  if (reinterpret_cast<uintptr_t>(address) % bytes != 0) {
    fail(FaultKind::misaligned, site, what(verb(access)));
  }
  Shadow& shadow = *target.shadow;
  const bool is_early = !threads_[static_cast<unsigned>(running.thread)].waited;
  if (is_early && space == Space::global) {
    // What a launch wrote that has ended may still be old in the multiprocessor's own cache.
    const uint32_t first = coherent ? launch_->first_overlapped_run : launch_->first_queued_run;
    if (access != Access::read || shadow.run_wrote(target.offset, bytes, first)) {
      fail(FaultKind::early_access, site,
           what(verb(access)) + ", which an earlier launch may still be at, before waiting for it");
    }
  }
  if (access != Access::write && !shadow.all_written(target.offset, bytes)) {
    fail(FaultKind::uninitialised_read, site, what(verb(access)) + ", which nobody wrote");
  }
  const Record* const race =
      shadow.note_range(target.offset, bytes, record(access, site), access,
                        [&](const Record& earlier) { return ordered(earlier, space); });
  if (race != nullptr) {
    fail(FaultKind::race, site, what(verb(access)) + " is not ordered with an earlier access",
         place_of(*race));
  }
  if (access != Access::read) shadow.mark_written(target.offset, bytes, true);
}

// The source is read as it is asked for. The destination is not to be touched until the copy has
// arrived: it is written now, and what is there counts as never written until it has.
void Block::copy_async(void* to, const void* from, unsigned bytes, Site site) {
  Thread& thread = threads_[static_cast<unsigned>(running.thread)];
  access(from, bytes, Access::read, Space::global, site);
  access(to, bytes, Access::write, Space::shared, site);
  shared_.shadow().mark_written(shared_.offset_of(to), bytes, false);
  thread.copies.push_back({to, from, bytes, thread.sets});
}

void Block::close_copies() { ++threads_[static_cast<unsigned>(running.thread)].sets; }

void Block::wait_for_copies(int sets, Site site) {
  Thread& thread = threads_[static_cast<unsigned>(running.thread)];
  const auto under_way = [&](const Copy& copy) { return copy.set >= thread.sets - sets; };
  auto copy = thread.copies.begin();
  for (; copy != thread.copies.end() && !under_way(*copy); ++copy) {
    access(copy->to, copy->bytes, Access::write, Space::shared, site);
    std::memcpy(copy->to, copy->from, copy->bytes);
  }
  thread.copies.erase(thread.copies.begin(), copy);
}

Block::Target Block::global_target(const void* address, unsigned bytes, Site site) {
  Allocation* const found = memory_.find(address);
  if (found == nullptr) {
    fail(FaultKind::out_of_bounds, site,
         address == nullptr ? "null pointer" : "an address far from every allocation");
  }
  if (!found->live) {
    fail(FaultKind::use_after_free, site, found->place_of(address) + ", which was released");
  }
  if (!found->holds(address, bytes)) {
    fail(FaultKind::out_of_bounds, site,
         std::to_string(bytes) + " bytes at " + found->place_of(address));
  }
  return {&found->shadow, found->offset_of(address)};
}

Block::Target Block::shared_target(const void* address, unsigned bytes, Site site) {
  if (shared_.find(address, bytes) == nullptr) {
    fail(FaultKind::out_of_bounds, site,
         std::to_string(bytes) + " bytes at " + shared_.place_of(address));
  }
  return {&shared_.shadow(), shared_.offset_of(address)};
}

std::string Block::target_text(const void* address, Space space) {
  return space == Space::shared ? shared_.place_of(address)
                                : memory_.find(address)->place_of(address);
}

void* Block::shared_array(const void* key, size_t bytes, Site site) {
  void* const at = shared_.declare(key, bytes);
  if (at == nullptr) {
    fail(FaultKind::bad_launch, site,
         "the block needs more than " + std::to_string(options_.shared_bytes_max) +
             " bytes of shared memory");
  }
  return at;
}

bool Block::ordered(const Record& earlier, Space space) const {
  if (earlier.run != run_) {
    // Shared memory is another's in each block. Launches follow one another; blocks of one do not.
    return space == Space::shared || earlier.run < launch_->first_run;
  }
  if (earlier.time < barrier_time_) return true;
  const auto mine = static_cast<unsigned>(running.thread);
  if (earlier.thread == mine) return true;
  return earlier.thread / 32 == mine / 32 &&
         threads_[mine].known[earlier.thread % 32] >= earlier.time;
}

Record Block::record(Access access, Site site) {
  const auto thread = static_cast<unsigned>(running.thread);
  Record made;
  made.run = run_;
  made.time = threads_[thread].time;
  made.thread = thread & 0x3ff;
  made.is_atomic = access == Access::atomic;
  made.file = file_index(site.file) & 0x1f;
  made.line = static_cast<unsigned>(site.line > line_max ? 0 : site.line) & 0xffff;
  return made;
}

unsigned Block::file_index(const char* file) {
  if (file == last_file_) return last_file_index_;
  unsigned index = 0;
  while (index < files_.size() && std::strcmp(files_[index], file) != 0) ++index;
  if (index == files_.size() && index < files_max) files_.push_back(file);
  last_file_ = file;
  last_file_index_ = index;
  return index;
}

Place Block::place_of(const Record& earlier) const {
  const unsigned index = earlier.run - launch_->first_run;
  const char* const file = earlier.file < files_.size() ? files_[earlier.file] : "another file";
  return {index % launch_->shape.blocks,
          index / launch_->shape.blocks,
          earlier.thread,
          {file, static_cast<int>(earlier.line)}};
}

}  // namespace gdn::simt
