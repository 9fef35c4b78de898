// The entries of the table gdn_api, in one list for all that goes through them.
#pragma once

#define GDN_EACH_CALL(EACH) \
  EACH(open)                \
  EACH(close)               \
  EACH(describe)            \
  EACH(last_error)          \
  EACH(buffer_create)       \
  EACH(buffer_write)        \
  EACH(buffer_read)         \
  EACH(buffer_release)      \
  EACH(apply)               \
  EACH(dequant)             \
  EACH(load_layer_f32)      \
  EACH(unload_layer)        \
  EACH(pool_init)           \
  EACH(pool_put)            \
  EACH(pool_get)            \
  EACH(pool_clear)          \
  EACH(bind_q4)             \
  EACH(step)                \
  EACH(run)                 \
  EACH(forward)             \
  EACH(reset)               \
  EACH(read)                \
  EACH(state_export)        \
  EACH(state_import)        \
  EACH(snapshot)            \
  EACH(rollback)            \
  EACH(recurrent)
