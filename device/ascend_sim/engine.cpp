// Buffers, and what a call of recurrent comes to.
#include "device/ascend_sim/engine.h"

#include <algorithm>
#include <cinttypes>
#include <cstdlib>
#include <cstring>
#include <new>

#include "device/ascend_sim/staging.h"
#include "device/host/status.h"

namespace gdn::ascend {

using host::refuse;

void Buffer::Free::operator()(unsigned char* bytes) const { std::free(bytes); }

Buffer::Buffer(uint64_t bytes) : size_(static_cast<int64_t>(bytes)) {
  bytes_.reset(static_cast<unsigned char*>(std::malloc(std::max<uint64_t>(1, bytes))));
  if (bytes_ == nullptr) throw std::bad_alloc();
}

void Buffer::fill(uint32_t pattern) {
  for (int64_t i = 0; i < size_; ++i) {
    bytes_.get()[i] = static_cast<unsigned char>(pattern >> (i % 4 * 8));
  }
}

Engine::Engine(const Setting& setting, const gdn_options& options)
    : setting_(setting), fills_(options.fill != 0) {
  if (fills_) setting_.plan.poison = options.fill_pattern;
}

void Engine::buffer_create(uint64_t bytes, gdn_buffer* buffer) {
  if (buffer == nullptr) refuse(GDN_INVALID_ARGUMENT, "buffer is null");
  if (bytes > static_cast<uint64_t>(INT64_MAX)) throw std::bad_alloc();
  Buffer made(bytes);
  if (fills_) made.fill(setting_.plan.poison);
  buffers_.emplace(next_buffer_, std::move(made));
  *buffer = next_buffer_++;
}

unsigned char* Engine::checked(gdn_buffer buffer, uint64_t offset, const void* host_memory,
                               uint64_t bytes) const {
  const auto found = buffers_.find(buffer);
  if (found == buffers_.end()) refuse(GDN_NOT_FOUND, "no buffer %" PRIu64, buffer);
  const auto size = static_cast<uint64_t>(found->second.size());
  if (bytes > size || offset > size - bytes) {
    refuse(GDN_INVALID_ARGUMENT,
           "%" PRIu64 " bytes at %" PRIu64 " do not lie in a buffer of %" PRIu64, bytes, offset,
           size);
  }
  if (bytes > 0 && host_memory == nullptr) refuse(GDN_INVALID_ARGUMENT, "src or dst is null");
  return found->second.data() + offset;
}

void Engine::buffer_write(gdn_buffer buffer, uint64_t offset, const void* src, uint64_t bytes) {
  unsigned char* const to = checked(buffer, offset, src, bytes);
  if (bytes > 0) std::memcpy(to, src, bytes);
}

void Engine::buffer_read(gdn_buffer buffer, uint64_t offset, void* dst, uint64_t bytes) {
  const unsigned char* const from = checked(buffer, offset, dst, bytes);
  if (bytes > 0) std::memcpy(dst, from, bytes);
}

void Engine::buffer_release(gdn_buffer buffer) {
  if (buffers_.erase(buffer) == 0) refuse(GDN_NOT_FOUND, "no buffer %" PRIu64, buffer);
}

void Engine::recurrent(const gdn_recurrent_args* args) {
  const HostPlan host = checked_plan(args, [this](gdn_buffer name) -> Found {
    const auto found = buffers_.find(name);
    if (found == buffers_.end()) return {};
    return {found->second.data(), found->second.size()};
  });
  Plan plan = setting_.plan;
  check_served(*args, host, setting_.has_bf16, &plan);
  Staging staging(*args, host, plan.poison, setting_.program);
  const Report report = run(staging.problem(), plan, setting_.program);
  if (!report.hazards.empty()) {
    throw Fault{std::to_string(report.hazards.size()) +
                " unordered accesses, first: " + report.hazards.front().text()};
  }
  if (!report.abandoned.empty()) {
    throw Fault{"core " + std::to_string(report.abandoned.front().core) +
                " abandoned its work: " + report.abandoned.front().why};
  }
  staging.copy_back();
}

}  // namespace gdn::ascend
