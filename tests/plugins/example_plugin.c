/* A complete partial engine in plain C that knows device/gdn.h alone: it decodes 4-bit tiles and
 * serves the recurrence for one sequence in slot 0, float32 and [kd][vd] state. All that it leaves
 * out is a NULL entry of the table, or GDN_UNSUPPORTED with a text. */
#include "device/gdn.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { buffers_max = 64 };

typedef struct buffer {
  unsigned char* bytes; /* NULL: free */
  uint64_t size;
} buffer;

/* gdn_engine stays undefined: a handle is a pointer to this. */
typedef struct engine {
  buffer buffers[buffers_max]; /* buffer b is buffers[b - 1] */
  char error[128];
} engine;

static char open_error[128] = "";

static gdn_status refuse(engine* e, gdn_status status, const char* why) {
  snprintf(e->error, sizeof e->error, "%s", why);
  return status;
}

static gdn_status accept(engine* e) {
  e->error[0] = '\0';
  return GDN_OK;
}

/* Opening, closing, describing. */

static gdn_status open_engine(const gdn_shape* shape, const gdn_options* options,
                              gdn_engine** handle) {
  if (shape == NULL || options == NULL || handle == NULL ||
      options->struct_size != sizeof *options) {
    snprintf(open_error, sizeof open_error, "shape, options or engine is null or of another size");
    return GDN_INVALID_ARGUMENT;
  }
  engine* e = calloc(1, sizeof *e);
  if (e == NULL) {
    snprintf(open_error, sizeof open_error, "no memory for the engine itself");
    return GDN_OUT_OF_MEMORY;
  }
  open_error[0] = '\0';
  *handle = (gdn_engine*)e;
  return GDN_OK;
}

static void close_engine(gdn_engine* handle) {
  engine* e = (engine*)handle;
  if (e == NULL) return;
  for (int i = 0; i < buffers_max; ++i) free(e->buffers[i].bytes);
  free(e);
}

static const char* last_error(const gdn_engine* handle) {
  return handle == NULL ? open_error : ((const engine*)handle)->error;
}

#define SERIAL "{\"kind\": \"order\", \"stages\": [{\"kind\": \"serial\", \"fused\": false}]}"

static const char* describe(void) {
  return "{\"name\": \"example\", \"version\": \"1\","
         " \"dialect\": {\"qk_norm\": \"none\", \"gate_input\": \"log_g\"},"
         " \"capabilities\": {"
         "\"calls\": [\"open\", \"close\", \"describe\", \"last_error\", \"buffer_create\","
         " \"buffer_write\", \"buffer_read\", \"buffer_release\", \"dequant\", \"recurrent\"],"
         " \"apply\": [], \"options\": []},"
         " \"contract\": {\"name\": \"example\","
         " \"delta_u\": " SERIAL ", \"delta_o\": " SERIAL
         ","
         " \"fused_possible\": false, \"functions\": {\"exp_ulp\": 1},"
         " \"q_scale\": \"reciprocal_of_sqrt\", \"decay\": \"first\"}}";
}

/* Buffers. */

static buffer* find(engine* e, gdn_buffer handle) {
  if (handle < 1 || handle > buffers_max) return NULL;
  buffer* b = &e->buffers[handle - 1];
  return b->bytes == NULL ? NULL : b;
}

static gdn_status buffer_create(gdn_engine* handle, uint64_t bytes, gdn_buffer* out) {
  engine* e = (engine*)handle;
  if (e == NULL) return GDN_INVALID_ARGUMENT;
  if (out == NULL) return refuse(e, GDN_INVALID_ARGUMENT, "buffer is null");
  int i = 0;
  while (i < buffers_max && e->buffers[i].bytes != NULL) ++i;
  if (i == buffers_max) return refuse(e, GDN_OUT_OF_MEMORY, "all 64 buffers are in use");
  if (bytes > SIZE_MAX / 2) return refuse(e, GDN_OUT_OF_MEMORY, "too large");
  unsigned char* memory = malloc(bytes == 0 ? 1 : (size_t)bytes);
  if (memory == NULL) return refuse(e, GDN_OUT_OF_MEMORY, "no memory for a buffer");
  e->buffers[i].bytes = memory;
  e->buffers[i].size = bytes;
  *out = (gdn_buffer)(i + 1);
  return accept(e);
}

static gdn_status check_range(engine* e, const buffer* b, uint64_t offset, const void* host,
                              uint64_t bytes) {
  if (b == NULL) return refuse(e, GDN_NOT_FOUND, "no such buffer");
  if (bytes > b->size || offset > b->size - bytes) {
    return refuse(e, GDN_INVALID_ARGUMENT, "the range leaves the buffer");
  }
  if (host == NULL && bytes > 0) return refuse(e, GDN_INVALID_ARGUMENT, "the host array is null");
  return accept(e);
}

static gdn_status buffer_write(gdn_engine* handle, gdn_buffer to, uint64_t offset, const void* src,
                               uint64_t bytes) {
  engine* e = (engine*)handle;
  if (e == NULL) return GDN_INVALID_ARGUMENT;
  buffer* b = find(e, to);
  const gdn_status status = check_range(e, b, offset, src, bytes);
  if (status == GDN_OK && bytes > 0) memcpy(b->bytes + offset, src, (size_t)bytes);
  return status;
}

static gdn_status buffer_read(gdn_engine* handle, gdn_buffer from, uint64_t offset, void* dst,
                              uint64_t bytes) {
  engine* e = (engine*)handle;
  if (e == NULL) return GDN_INVALID_ARGUMENT;
  const buffer* b = find(e, from);
  const gdn_status status = check_range(e, b, offset, dst, bytes);
  if (status == GDN_OK && bytes > 0) memcpy(dst, b->bytes + offset, (size_t)bytes);
  return status;
}

static gdn_status buffer_release(gdn_engine* handle, gdn_buffer which) {
  engine* e = (engine*)handle;
  if (e == NULL) return GDN_INVALID_ARGUMENT;
  buffer* b = find(e, which);
  if (b == NULL) return refuse(e, GDN_NOT_FOUND, "no such buffer");
  free(b->bytes);
  b->bytes = NULL;
  return accept(e);
}

/* 4-bit tiles: four f16 scales, then nibbles in two's complement; docs/formats.md. */

static float f16_value(unsigned bits) {
  const int exponent = (int)(bits >> 10 & 31);
  const int significand = (int)(bits & 1023);
  float value = exponent == 0 ? ldexpf((float)significand, -24)
                              : ldexpf((float)(1024 + significand), exponent - 25);
  if (exponent == 31) value = significand == 0 ? INFINITY : NAN;
  return bits >> 15 ? -value : value;
}

static gdn_status dequant(gdn_engine* handle, int64_t rows, int64_t cols, const void* tiles,
                          float* out) {
  engine* e = (engine*)handle;
  if (e == NULL) return GDN_INVALID_ARGUMENT;
  if (tiles == NULL || out == NULL) return refuse(e, GDN_INVALID_ARGUMENT, "an array is null");
  if (rows < 4 || rows % 4 != 0 || cols < 32 || cols % 32 != 0) {
    return refuse(e, GDN_INVALID_ARGUMENT, "rows in fours and columns in blocks of 32");
  }
  const unsigned char* tile = tiles;
  for (int64_t group = 0; group < rows; group += 4) {
    for (int64_t begin = 0; begin < cols; begin += 32, tile += 72) {
      for (int m = 0; m < 4; ++m) {
        const float scale = f16_value(tile[2 * m] | (unsigned)tile[2 * m + 1] << 8);
        float* row = out + (group + m) * cols + begin;
        for (int j = 0; j < 16; ++j) {
          const int byte = tile[8 + j / 4 * 16 + m * 4 + j % 4];
          row[j] = scale * (float)(((byte & 15) ^ 8) - 8);
          row[j + 16] = scale * (float)((byte >> 4 ^ 8) - 8);
        }
      }
    }
  }
  return accept(e);
}

/* The recurrence. Whatever is wrong is refused before what is right and not served; extents are
 * limited so that no index can overflow. */

static int is_count(int64_t value) { return value >= 1 && value <= 1 << 20; }

static int is_one_of(int value, int last) { return value >= 0 && value <= last; }

typedef enum view_kind { numbers, float32, indices } view_kind;

static int may_have(view_kind kind, gdn_format format) {
  if (kind == indices) return format == GDN_I32;
  return format == GDN_F32 || (kind == numbers && (format == GDN_BF16 || format == GDN_F16));
}

/* Does every element of a view of extents n[0..dimensions-1] lie in its buffer? */
static gdn_status check_view(engine* e, const char* name, const gdn_view* view, view_kind kind,
                             int dimensions, const int64_t* n) {
  const buffer* b = find(e, view->buffer);
  int inside = may_have(kind, view->format) && view->offset >= 0;
  int64_t last = view->offset;
  if (view->buffer != 0 && b == NULL) return refuse(e, GDN_NOT_FOUND, "a view's buffer");
  if (b != NULL && inside) {
    const int width = view->format == GDN_BF16 || view->format == GDN_F16 ? 2 : 4;
    const int64_t elements = (int64_t)b->size / width;
    for (int d = 0; d < dimensions; ++d) {
      if (n[d] == 0) return accept(e); /* of no elements all are inside */
    }
    inside = last < elements;
    for (int d = 0; inside && d < dimensions; ++d) {
      const int64_t stride = view->stride[d];
      inside = stride >= 0 && (n[d] == 1 || stride <= (elements - 1 - last) / (n[d] - 1));
      if (inside) last += (n[d] - 1) * stride;
    }
  }
  if (b != NULL && inside) return accept(e);
  snprintf(e->error, sizeof e->error, "%s is absent, of a wrong format or leaves its buffer", name);
  return GDN_INVALID_ARGUMENT;
}

static float* at(engine* e, const gdn_view* v, int64_t i, int64_t j, int64_t k, int64_t l) {
  float* elements = (float*)(void*)find(e, v->buffer)->bytes;
  return elements + v->offset + i * v->stride[0] + j * v->stride[1] + k * v->stride[2] +
         l * v->stride[3];
}

static gdn_status check_scalars(engine* e, const gdn_recurrent_args* a) {
  const int64_t kh = a->num_k_heads, vh = a->num_v_heads;
  const int64_t fewest = a->num_tokens > 0 ? 1 : 0;
  if (a->num_tokens < 0 || a->num_tokens > 1 << 20 || !is_count(kh) || !is_count(a->head_k_dim) ||
      !is_count(vh) || !is_count(a->head_v_dim) || vh % kh != 0 || !is_count(a->num_slots) ||
      a->num_snapshots < 0 || a->num_sequences < fewest ||
      a->num_sequences > (a->sequences.buffer ? 1 << 20 : 1)) {
    return refuse(e, GDN_INVALID_ARGUMENT, "a count is out of range");
  }
  if (!is_one_of((int)a->sequence_coding, GDN_START_AND_LENGTHS) ||
      !is_one_of((int)a->state_writes, GDN_WRITE_LAST) ||
      !is_one_of((int)a->padding, GDN_NO_PADDING) ||
      !is_one_of((int)a->qk_norm, GDN_QK_NORM_MEAN_EPS) ||
      (a->state_writes == GDN_WRITE_LAST && !a->snapshots.buffer)) {
    return refuse(e, GDN_INVALID_ARGUMENT, "a choice that there is not, or its array is missing");
  }
  if ((a->scale_is_given && !isfinite(a->scale)) ||
      (a->qk_norm != GDN_QK_NORM_NONE && !(a->qk_norm_eps >= 0 && isfinite(a->qk_norm_eps)))) {
    return refuse(e, GDN_INVALID_ARGUMENT, "scale or eps is not a finite number");
  }
  return accept(e);
}

static gdn_status check_views(engine* e, const gdn_recurrent_args* a) {
  const int64_t T = a->num_tokens, N = a->num_sequences, kd = a->head_k_dim, vd = a->head_v_dim;
  const int64_t of_k[] = {T, a->num_k_heads, kd}, of_v[] = {T, a->num_v_heads, vd};
  const int64_t of_gk[] = {T, a->num_v_heads, kd}, of_N[] = {N};
  const int64_t of_slots[] = {a->state_writes == GDN_WRITE_EVERY_TOKEN ? T : N};
  const int64_t of_state[] = {a->num_slots, a->num_v_heads, a->state_is_vk ? vd : kd,
                              a->state_is_vk ? kd : vd};
  const struct {
    const char* name;
    const gdn_view* view;
    view_kind kind;
    int needed, dimensions;
    const int64_t* n;
  } views[] = {{"q", &a->q, numbers, T > 0, 3, of_k},
               {"k", &a->k, numbers, T > 0, 3, of_k},
               {"v", &a->v, numbers, T > 0, 3, of_v},
               {"o", &a->o, numbers, T > 0, 3, of_v},
               {"beta", &a->beta, numbers, T > 0, 2, of_v},
               {"state", &a->state, numbers, 1, 4, of_state},
               {"g", &a->g, float32, 0, 2, of_v},
               {"gk", &a->gk, float32, 0, 3, of_gk},
               {"sequences", &a->sequences, indices, 0, 1, of_N},
               {"slots", &a->slots, indices, 0, 1, of_slots},
               {"accepted", &a->accepted, indices, 0, 1, of_N},
               {"from_zero", &a->from_zero, indices, 0, 1, of_N}};
  for (size_t i = 0; i < sizeof views / sizeof *views; ++i) {
    if (!views[i].needed && !views[i].view->buffer) continue;
    const gdn_status status =
        check_view(e, views[i].name, views[i].view, views[i].kind, views[i].dimensions, views[i].n);
    if (status != GDN_OK) return status;
  }
  return accept(e);
}

static gdn_status check_served(engine* e, const gdn_recurrent_args* a) {
  const gdn_view* views[] = {&a->q, &a->k, &a->v, &a->beta, &a->o, &a->state};
  if (a->num_sequences > 1 || a->sequences.buffer || a->slots.buffer || a->accepted.buffer ||
      a->from_zero.buffer || a->gk.buffer || a->state_writes != GDN_WRITE_FINAL || a->state_is_vk ||
      a->head_map_tiled || a->g_is_linear || a->scale_on_output || a->qk_norm != GDN_QK_NORM_NONE) {
    return refuse(e, GDN_UNSUPPORTED,
                  "one sequence in slot 0, state [kd][vd], grouped heads, log g, no norm");
  }
  for (size_t i = 0; i < sizeof views / sizeof *views; ++i) {
    const gdn_format format = views[i]->format;
    if (views[i]->buffer && format != GDN_F32) return refuse(e, GDN_UNSUPPORTED, "float32 only");
  }
  return accept(e);
}

/* One token of one v-head, one column of S at a time: decay, u = S^T k, d, S += k d, o = S^T q. */
static void advance(engine* e, const gdn_recurrent_args* a, int64_t t, int64_t head, float scale) {
  const int64_t k_head = head / (a->num_v_heads / a->num_k_heads);
  const float alpha = a->g.buffer ? expf(*at(e, &a->g, t, head, 0, 0)) : 1.0F;
  const float beta = *at(e, &a->beta, t, head, 0, 0);
  for (int64_t c = 0; c < a->head_v_dim; ++c) {
    float u = 0, o = 0;
    for (int64_t r = 0; r < a->head_k_dim; ++r) {
      float* S = at(e, &a->state, 0, head, r, c);
      *S *= alpha;
      u += *S * *at(e, &a->k, t, k_head, r, 0);
    }
    const float d = beta * (*at(e, &a->v, t, head, c, 0) - u);
    for (int64_t r = 0; r < a->head_k_dim; ++r) {
      float* S = at(e, &a->state, 0, head, r, c);
      *S += *at(e, &a->k, t, k_head, r, 0) * d;
      o += *S * (*at(e, &a->q, t, k_head, r, 0) * scale);
    }
    *at(e, &a->o, t, head, c, 0) = o;
  }
}

static gdn_status recurrent(gdn_engine* handle, const gdn_recurrent_args* args) {
  engine* e = (engine*)handle;
  if (e == NULL) return GDN_INVALID_ARGUMENT;
  if (args == NULL || args->struct_size != sizeof *args) {
    return refuse(e, GDN_INVALID_ARGUMENT, "args is null or of another size");
  }
  gdn_status status = check_scalars(e, args);
  if (status == GDN_OK) status = check_views(e, args);
  if (status == GDN_OK) status = check_served(e, args);
  if (status != GDN_OK) return status;
  const float scale = args->scale_is_given ? args->scale : 1.0F / sqrtf((float)args->head_k_dim);
  for (int64_t t = 0; t < args->num_tokens; ++t) {
    for (int64_t head = 0; head < args->num_v_heads; ++head) advance(e, args, t, head, scale);
  }
  return GDN_OK;
}

const gdn_api* gdn_engine_api(void);

const gdn_api* gdn_engine_api(void) {
  static const gdn_api api = {.abi_version = GDN_ABI_VERSION,
                              .struct_size = sizeof(gdn_api),
                              .name = "example",
                              .open = open_engine,
                              .close = close_engine,
                              .describe = describe,
                              .last_error = last_error,
                              .buffer_create = buffer_create,
                              .buffer_write = buffer_write,
                              .buffer_read = buffer_read,
                              .buffer_release = buffer_release,
                              .dequant = dequant,
                              .recurrent = recurrent};
  return &api;
}
