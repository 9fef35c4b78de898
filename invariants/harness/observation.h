// What one run of a case gave, and what it should have given.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "device/gdn.h"
#include "invariants/harness/verdict.h"
#include "reference/layer.h"

namespace gdn {

struct CallObserved {
  gdn_status status = GDN_OK;
  std::string text;                                  // the engine's own words where it refused
  std::vector<float> out;                            // step, run, forward: [tokens][hidden]
  TokenTensors reads;                                // of the last token, those that were asked for
  std::map<std::string, std::vector<float>> arrays;  // outputs of apply, dequant and recurrent;
                                                     // `state` of state_export
  std::vector<uint8_t> bytes;  // pool_get, buffer_read; the header of state_export
  uint64_t allocations = 0;    // that the engine asked for during the call, where it has the gate

  bool ok() const { return status == GDN_OK; }
};

struct Observation {
  std::vector<CallObserved> calls;
  // Did the engine behave, whatever the numbers? not_applicable: it does not serve such cases;
  // engine_error: it could not be opened, or a read that was asked for was refused; fails: it wrote
  // outside an output or into an input.
  Verdict conduct;
  // What state_export gave, whole, by the ids of the case.
  std::map<int64_t, std::vector<uint8_t>> exports;
  // Allocations that the engine still held after close, and whether it released what it had not:
  // zero and false where the engine has no gate.
  uint64_t held_after_close = 0;
  bool released_too_much = false;

  // conduct, and every call served: what an invariant of numbers asks for first.
  Verdict served() const;
};

// Equal bits in everything that two calls, or two runs, gave.
Verdict same_bits(const std::string& where, const CallObserved& got, const CallObserved& want);
Verdict same_bits(const Observation& got, const Observation& want);

struct CallExpectation {
  bool is_huge = false;  // asks for so much memory that a refusal for want of it is right as well
  bool refused = false;  // an error with its reason is what is right
  std::vector<TokenExpectation> tokens;   // of step, run: every tensor of each token
  TokenExpectation reads;                 // what is read back after the call
  std::map<std::string, Bounded> arrays;  // of apply, dequant, recurrent
};

struct Expectation {
  std::vector<CallExpectation> calls;  // empty entries where nothing is expected
};

// A layer fed token by token, every tensor read after each.
struct LayerRun {
  std::vector<TokenTensors> seen;
  Verdict conduct;
};

// The recurrence alone. Arrays are as in TraceCapture; the state is [vh][kd][vd] here.
struct RecurrentInputs {
  Shape shape;
  Dialect dialect;  // norms, scale, head map, layout of the state, storage
  int64_t tokens = 0;
  std::vector<float> q, k, v, g, gk, beta;
  std::vector<float> initial_state;  // empty: zeros
  std::vector<int64_t> calls;        // tokens in each call; empty: one call of all
};
struct RecurrentRun {
  std::vector<float> o;                    // [tokens][vh][vd]
  std::vector<std::vector<float>> states;  // after each call, [vh][kd][vd]
  Verdict conduct;
};

}  // namespace gdn
