/* The C ABI driven from C99: the header alone is enough to open an engine, load a layer, step it
 * and move its state. Exit status 1 and one line where something differs. */
#include "device/gdn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

static void expect(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "abi_test: does not hold: %s\n", what);
  failures += 1;
}

static const gdn_api* find(const char* name) {
  for (size_t i = 0; i < gdn_builtin_count(); ++i) {
    if (strcmp(gdn_builtin(i)->name, name) == 0) return gdn_builtin(i);
  }
  return NULL;
}

/* hidden 2, one head of 1 x 1, one tap: z = h0, b = a = 0 and the three channels all see h0. */
static void drive(const gdn_api* api) {
  const gdn_shape shape = {2, 1, 1, 1, 1, 1, 1, 0.0F, 0.0F};
  gdn_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.observe = 1;
  gdn_engine* engine = NULL;
  expect(api->open(&shape, &options, &engine) == GDN_OK, "open");

  const float qkv[] = {1, 0, 1, 0, 1, 0}, z[] = {1, 0}, out[] = {1, 2}, none[] = {0, 0};
  const float conv[] = {1, 1, 1}, zero[] = {0}, one[] = {1};
  gdn_layer_weights weights;
  memset(&weights, 0, sizeof weights);
  weights.struct_size = sizeof weights;
  weights.qkv = qkv;
  weights.z = z;
  weights.out = out;
  weights.b = none;
  weights.a = none;
  weights.conv = conv;
  weights.A_log = zero;
  weights.dt_bias = zero;
  weights.norm = one;
  expect(api->load_layer_f32(engine, 0, &weights) == GDN_OK, "load_layer_f32");
  expect(api->load_layer_f32(engine, 0, &weights) == GDN_ALREADY_LOADED, "loaded once only");
  expect(strlen(api->last_error(engine)) > 0, "a refusal has a text");

  /* h0 = 100: silu(100) = 100, q = k = 1, v = 100, beta = 1/2, so o = S = 50. Its norm is 1, times
   * the gate 100; OUT is 100 and 200. */
  const float h[] = {100, 7};
  float y[] = {0, 0};
  expect(api->step(engine, 0, h, y) == GDN_OK, "step");
  expect(y[0] == 100.0F && y[1] == 200.0F, "step gives 100, 200");
  float state = 0;
  int64_t count = 0;
  expect(api->read(engine, 0, GDN_S, &state, 1, &count) == GDN_OK && count == 1, "read S");
  expect(state == 50.0F, "S is beta v");
  expect(api->read(engine, 0, GDN_HIST, NULL, 0, &count) == GDN_OK && count == 0, "no history");

  uint64_t bytes = 0;
  expect(api->state_export(engine, 0, NULL, 0, &bytes) == GDN_OK && bytes == 60, "export size");
  unsigned char* exported = malloc(bytes);
  expect(exported != NULL, "malloc");
  expect(api->state_export(engine, 0, exported, bytes, &bytes) == GDN_OK, "export");
  expect(api->reset(engine, GDN_ALL_LAYERS) == GDN_OK, "reset");
  expect(api->state_import(engine, 0, exported, bytes) == GDN_OK, "import");
  expect(api->read(engine, 0, GDN_S, &state, 1, NULL) == GDN_OK && state == 50.0F, "S is back");
  expect(api->read(engine, 0, GDN_O, &state, 1, NULL) == GDN_NO_TOKEN, "no token since");
  free(exported);
  api->close(engine);
}

int main(void) {
  const gdn_api* twin = find("twin");
  expect(twin != NULL, "the twin is built in");
  if (twin != NULL) drive(twin);
  expect(gdn_builtin(gdn_builtin_count()) == NULL, "no engine past the end");
  expect(gdn_mutant_count() >= 4, "mutants are built in");
  expect(gdn_mutant_at(gdn_mutant_count()) == NULL, "no mutant past the end");
  return failures == 0 ? 0 : 1;
}
