/* An engine that takes the process with it when it is opened, in the way that the variable
 * CRASHING_PLUGIN names: the program that loads it has to end with a status and a line. */
#include "device/gdn.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static gdn_status open_engine(const gdn_shape* shape, const gdn_options* options,
                              gdn_engine** handle) {
  (void)shape;
  (void)options;
  (void)handle;
  const char* how = getenv("CRASHING_PLUGIN");
  static int opened = 0;
  if (how != NULL && strcmp(how, "late segfault") == 0 && opened++ > 0) raise(SIGSEGV);
  if (how != NULL && strcmp(how, "segfault") == 0) raise(SIGSEGV);
  if (how != NULL && strcmp(how, "abort") == 0) abort();
  if (how != NULL && strcmp(how, "exit") == 0) exit(0);
  return how != NULL && strcmp(how, "no device") == 0 ? GDN_NOT_AVAILABLE : GDN_INTERNAL;
}

static void close_engine(gdn_engine* handle) { (void)handle; }

static const char* last_error(const gdn_engine* handle) {
  (void)handle;
  return "two\nlines and \033[31mred";
}

static const char* describe(void) {
  return "{\"name\": \"crashing\", \"dialect\": {}, \"contract\": {\"name\": \"a\\nb\"},"
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
  return GDN_INTERNAL;
}

const gdn_api* gdn_engine_api(void);
const gdn_api* gdn_engine_api(void) {
  static gdn_api api;
  api.abi_version = GDN_ABI_VERSION;
  api.struct_size = sizeof api;
  api.name = "crashing";
  api.open = open_engine;
  api.close = close_engine;
  api.describe = describe;
  api.last_error = last_error;
  api.dequant = dequant;
  return &api;
}
