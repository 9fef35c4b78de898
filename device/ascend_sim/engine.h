// The operator behind the C ABI: the buffers that recurrent addresses, and recurrent. Like the
// adaptor that a framework puts before such an operator, it checks every argument, hands over dense
// copies with rows and states as far apart as the program wants them, and copies back what was
// asked for.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "device/ascend_sim/host_plan.h"
#include "device/ascend_sim/setting.h"
#include "device/gdn.h"

namespace gdn::ascend {

// Left as it is made: a pool may be far larger than what is touched of it.
class Buffer {
 public:
  explicit Buffer(uint64_t bytes);  // throws std::bad_alloc
  unsigned char* data() const { return bytes_.get(); }
  int64_t size() const { return size_; }
  void fill(uint32_t pattern);

 private:
  struct Free {
    void operator()(unsigned char* bytes) const;
  };
  std::unique_ptr<unsigned char, Free> bytes_;
  int64_t size_ = 0;
};

// Unordered accesses, or work that was abandoned: the call did not touch a buffer.
struct Fault {
  std::string text;
};

class Engine {
 public:
  Engine(const Setting& setting, const gdn_options& options);

  // As the ABI says. What is refused is thrown as host::Failed, what the simulator finds as Fault.
  void buffer_create(uint64_t bytes, gdn_buffer* buffer);
  void buffer_write(gdn_buffer buffer, uint64_t offset, const void* src, uint64_t bytes);
  void buffer_read(gdn_buffer buffer, uint64_t offset, void* dst, uint64_t bytes);
  void buffer_release(gdn_buffer buffer);
  void recurrent(const gdn_recurrent_args* args);

  std::string last_error;

 private:
  unsigned char* checked(gdn_buffer buffer, uint64_t offset, const void* host_memory,
                         uint64_t bytes) const;

  Setting setting_;
  bool fills_ = false;
  std::map<gdn_buffer, Buffer> buffers_;
  gdn_buffer next_buffer_ = 1;
};

}  // namespace gdn::ascend
