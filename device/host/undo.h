// Puts the state of layers back where a call fails on its way: S, HIST, and the tensors of the last
// token where they are observed.
#pragma once

#include "device/host/engine.h"

namespace gdn::host {

class Undo {
 public:
  // Without a copy, a call that fails after it has changed the state leaves the engine lost.
  enum class Copy : uint8_t { made, none };
  Undo(Engine& engine, LayerRange range, Copy copy = Copy::made);  // throws Failed
  ~Undo();  // puts back, unless keep was called
  Undo(const Undo&) = delete;
  Undo& operator=(const Undo&) = delete;

  void state_changed() { changed_ = true; }
  void keep() { kept_ = true; }

 private:
  Status copy_all(LayerState Layer::*to, LayerState Layer::*from) noexcept;

  Engine& engine_;
  LayerRange range_;
  bool copied_;
  bool changed_ = false;
  bool kept_ = false;
};

}  // namespace gdn::host
