/* An engine that does not come back from the call that the variable HANGING_PLUGIN names: it sleeps
 * in those of the library, and spins in those of an open engine. */
#include "device/gdn.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int hangs_in(const char* call) {
  const char* where = getenv("HANGING_PLUGIN");
  return where != NULL && strcmp(where, call) == 0;
}

static void sleep_in(const char* call) {
  while (hangs_in(call)) pause();
}

static void spin_in(const char* call) {
  if (!hangs_in(call)) return;
  for (volatile int spins = 1; spins;) {
  }
}

static gdn_status open_engine(const gdn_shape* shape, const gdn_options* options,
                              gdn_engine** handle) {
  static int opened;
  (void)shape;
  (void)options;
  sleep_in("open");
  *handle = (gdn_engine*)&opened;
  return GDN_OK;
}

static void close_engine(gdn_engine* handle) { (void)handle; }

static const char* last_error(const gdn_engine* handle) {
  (void)handle;
  return "this engine serves nothing";
}

static const char* describe(void) {
  sleep_in("describe");
  return "{\"name\": \"hanging\", \"dialect\": {}, \"contract\": {\"name\": \"any_f32\"},"
         " \"capabilities\": {\"calls\": [\"open\", \"close\", \"describe\", \"last_error\","
         " \"dequant\"]}}";
}

static gdn_status dequant(gdn_engine* handle, int64_t rows, int64_t cols, const void* tiles,
                          float* out) {
  (void)handle;
  (void)rows;
  (void)cols;
  (void)tiles;
  (void)out;
  spin_in("dequant");
  return GDN_INTERNAL;
}

const gdn_api* gdn_engine_api(void);
const gdn_api* gdn_engine_api(void) {
  static gdn_api api;
  sleep_in("loading");
  api.abi_version = GDN_ABI_VERSION;
  api.struct_size = sizeof api;
  api.name = "hanging";
  api.open = open_engine;
  api.close = close_engine;
  api.describe = describe;
  api.last_error = last_error;
  api.dequant = dequant;
  return &api;
}
