// A stack of its own that runs one function at a time and can pause inside it. The caller of
// `resume` gets control back when the function pauses or returns; the next `resume` continues or
// starts afresh. All on one operating system thread, by Boost.Context, annotated for ASan.
#pragma once

#include <boost/context/fiber.hpp>
#include <cstddef>

namespace gdn::simt {

class Fiber {
 public:
  // body(argument) runs once per start; it lets no exception out.
  Fiber(void (*body)(void*), void* argument);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  void resume();
  void pause();  // from inside the body

 private:
  boost::context::fiber enter(boost::context::fiber back);
  void arrived();

  void (*body_)(void*);
  void* argument_;
  bool ending_ = false;
  boost::context::fiber inside_;  // where the body stands, while it is not running
  boost::context::fiber back_;    // where resume was called, while the body is running

  // The bounds of either stack and what ASan keeps of it while it is not the current one.
  const void* stack_bottom_ = nullptr;
  size_t stack_bytes_ = 0;
  void* inside_fake_stack_ = nullptr;
  const void* back_bottom_ = nullptr;
  size_t back_bytes_ = 0;
};

}  // namespace gdn::simt
