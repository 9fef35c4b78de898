// How many threads a launch has. Threads of a block are numbered along one line, blocks along two.
#pragma once

namespace gdn {

struct LaunchShape {
  unsigned blocks = 1;
  unsigned blocks_y = 1;
  unsigned threads = 32;      // of one block
  unsigned shared_bytes = 0;  // dynamic shared memory of one block
};

}  // namespace gdn
