/* The C ABI of a Gated DeltaNet (GDN) inference engine: all that deltaproof knows of one.
 *
 * An engine is a table of functions, gdn_api. A shared library exports one through
 *   const gdn_api *gdn_engine_api(void);
 * and needs nothing of this project but this header (C99).
 *
 * Rules that hold for every call
 *  - It returns a status and never aborts, throws or prints. last_error tells why it was refused.
 *  - On a refused call or a failed allocation the engine's state is as it was before the call.
 *  - One thread per handle; handles are independent of each other.
 *  - Host arrays belong to the caller, are only read or written during the call, and are row-major.
 *  - A null pointer is refused unless it is said to be allowed, or nothing would be read or written
 *    through it. A refused call writes nothing through the caller's pointers.
 *  - Counts are of elements, sizes in bytes where the name says so. T = 0 is valid everywhere.
 *  - A function pointer may be NULL in a partial engine: the capability is missing. NULL is allowed
 *    for every entry but open, close, describe and last_error.
 *  - After a fault that poisons its device an engine is lost: every later call returns GDN_LOST.
 */
#ifndef GDN_H
#define GDN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GDN_ABI_VERSION 1u

/* A caller may pass any int where an enumeration is expected, and is refused; in C++ that is only
 * defined for an enumeration of a fixed type. */
#ifdef __cplusplus
#define GDN_FIXED_TYPE : int
#else
#define GDN_FIXED_TYPE
#endif

typedef enum gdn_status GDN_FIXED_TYPE {
  GDN_OK = 0,
  GDN_INVALID_ARGUMENT = 1, /* null, negative, out of range, wrong shape or count */
  GDN_UNSUPPORTED = 2,      /* a valid request that this engine does not serve */
  GDN_NOT_LOADED = 3,       /* the layer has no weights, or is bound to keys that are gone */
  GDN_ALREADY_LOADED = 4,   /* the layer is loaded or bound, or the key is present */
  GDN_NOT_FOUND = 5,        /* no such key, buffer or snapshot */
  GDN_OUT_OF_MEMORY = 6,    /* an allocation failed or was refused by the gate; pool is full */
  GDN_TOO_SMALL = 7,        /* a destination's capacity is too small; nothing was written */
  GDN_NO_TOKEN = 8,         /* read before a first token */
  GDN_NOT_AVAILABLE = 9,    /* no device or driver: the engine cannot run here */
  GDN_LOST = 10,            /* the device is lost */
  GDN_INTERNAL = 11
} gdn_status;

/* Counts from 1 on, eps finite and >= 0, vh a multiple of kh; conv_dim = 2 kh kd + vh vd. */
typedef struct gdn_shape {
  int64_t hidden_size;
  int64_t num_k_heads; /* kh */
  int64_t head_k_dim;  /* kd */
  int64_t num_v_heads; /* vh */
  int64_t head_v_dim;  /* vd */
  int64_t conv_kernel; /* ck >= 1 */
  int64_t num_layers;  /* nl >= 1 */
  float rms_norm_eps;
  float l2norm_eps;
} gdn_shape;

typedef enum gdn_format GDN_FIXED_TYPE {
  GDN_F32 = 0,
  GDN_BF16 = 1,
  GDN_F16 = 2,
  GDN_Q4_TILE = 3, /* 4 rows x 32 columns in 72 bytes */
  GDN_I32 = 4
} gdn_format;

/* Of the last token that a layer processed. */
typedef enum gdn_tensor GDN_FIXED_TYPE {
  GDN_QKV = 0,   /* [conv_dim] raw projection */
  GDN_Z = 1,     /* [vh][vd] */
  GDN_A = 2,     /* [vh] */
  GDN_B = 3,     /* [vh] */
  GDN_BETA = 4,  /* [vh] */
  GDN_G = 5,     /* [vh] log domain */
  GDN_CONV = 6,  /* [conv_dim] after conv and SiLU */
  GDN_Q = 7,     /* [kh][kd] after qk_norm, with its scale */
  GDN_K = 8,     /* [kh][kd] after qk_norm */
  GDN_V = 9,     /* [vh][vd] a slice of CONV */
  GDN_O = 10,    /* [vh][vd] recurrence output */
  GDN_ONORM = 11, /* [vh][vd] after the gated norm */
  GDN_OUT = 12,  /* [hidden_size] */
  GDN_S = 13,    /* [vh][kd][vd] state, whatever layout the engine stores */
  GDN_HIST = 14  /* [ck-1][conv_dim] oldest first; 0 elements at ck = 1 */
} gdn_tensor;
#define GDN_TENSOR_COUNT 15

typedef enum gdn_operator GDN_FIXED_TYPE {
  GDN_IN_PROJ = 0,
  GDN_GATES = 1,
  GDN_CONV_SILU = 2,
  GDN_QK_NORM = 3,
  GDN_DELTA_RULE = 4,
  GDN_GATED_NORM = 5,
  GDN_OUT_PROJ = 6
} gdn_operator;

typedef struct gdn_engine gdn_engine; /* one open engine; owned by its opener until close */

typedef struct gdn_options {
  uint32_t struct_size; /* sizeof(gdn_options) */
  int32_t observe;      /* store intermediates for read; on and off give equal bits */
  int32_t snapshots;    /* how many are kept at most; 0: none */
  int32_t q8_activations; /* projections round their activations to q8_0 blocks */
  /* Optional capabilities. The gate is asked before every allocation, host or device, with
   * release = 0, and refuses it by returning non-zero; it is told of every release of such memory
   * with release = 1, and its result is then ignored. NULL: no gate. */
  int (*allocation_gate)(void *context, uint64_t bytes, int release);
  void *allocation_context;
  int32_t fill;          /* write fill_pattern over fresh memory (poison) */
  uint32_t fill_pattern; /* 32 bits, repeated */
} gdn_options;

#define GDN_ALL_LAYERS (-1)

/* Large projections may be NULL together (they then come from bind_q4); the others may not. */
typedef struct gdn_layer_weights {
  uint32_t struct_size;
  const float *qkv;     /* [conv_dim, hidden] or NULL */
  const float *z;       /* [vh vd, hidden] or NULL */
  const float *out;     /* [hidden, vh vd] or NULL */
  const float *b;       /* [vh, hidden] */
  const float *a;       /* [vh, hidden] */
  const float *conv;    /* [conv_dim, ck], the last tap multiplies the newest input */
  const float *A_log;   /* [vh] */
  const float *dt_bias; /* [vh] */
  const float *norm;    /* [vd] */
} gdn_layer_weights;

/* A named array on the host, for apply. count is in elements; for GDN_Q4_TILE in weights. */
typedef struct gdn_array {
  const char *name;
  gdn_format format;
  void *data; /* inputs are only read */
  int64_t count;
} gdn_array;

/* The engine's own memory, addressed by recurrent. 0 is no buffer. */
typedef uint64_t gdn_buffer;

/* A strided view of a buffer; offset and strides are in elements of `format`. The dimensions that
 * strides belong to are named where the view is used. */
typedef struct gdn_view {
  gdn_buffer buffer; /* 0: absent */
  gdn_format format;
  int64_t offset;
  int64_t stride[4];
} gdn_view;

typedef enum gdn_sequence_coding GDN_FIXED_TYPE {
  GDN_CUMULATIVE = 0,       /* int32 [N+1], starts at 0; the last is at most T */
  GDN_LENGTHS = 1,          /* int32 [N], of T tokens at most in all */
  GDN_START_AND_LENGTHS = 2 /* int32 [N+1]: the first token of all, then lengths */
} gdn_sequence_coding;
typedef enum gdn_state_writes GDN_FIXED_TYPE {
  GDN_WRITE_FINAL = 0,      /* to the first slot index of the sequence */
  GDN_WRITE_EVERY_TOKEN = 1, /* token t to its own slot index */
  GDN_WRITE_LAST = 2        /* to `snapshots` alone: of n the state k tokens before its last is
                             * the k-th; what it has no token for is untouched */
} gdn_state_writes;
typedef enum gdn_padding GDN_FIXED_TYPE {
  GDN_NEGATIVE_SKIPS = 0,      /* a negative slot: state and output untouched */
  GDN_NEGATIVE_ZEROES = 1,     /* a negative slot: output 0 */
  GDN_NOT_POSITIVE_ZEROES = 2, /* slot <= 0: output 0 */
  GDN_SLOT_ZERO_IS_NULL = 3,   /* negative goes to slot 0, which is scratch */
  GDN_NO_PADDING = 4           /* a negative slot is an invalid argument */
} gdn_padding;
typedef enum gdn_qk_norm_form GDN_FIXED_TYPE {
  GDN_QK_NORM_NONE = 0,
  GDN_QK_NORM_SUM_EPS = 1,
  GDN_QK_NORM_MAX = 2,
  GDN_QK_NORM_MEAN_EPS = 3
} gdn_qk_norm_form;

/* The slot-addressed, variable-length recurrence on its own. Tokens of all sequences lie one after
 * the other. Every argument is checked before anything is touched, what index arrays hold as well.
 *
 *  - Sequence n has its tokens by `sequences`; those before the start and behind the last sequence
 *    belong to none: their o is untouched and their slot indices are not looked at. Nor are the
 *    slot index and accepted count of a sequence without tokens, which changes nothing.
 *  - The state stays float32 from token to token of a call, however the pool stores it; each store
 *    of a state, and of o, rounds once.
 *  - A sequence is padding where the slot that it starts from is: nothing is computed for it, no
 *    state is touched, and o of its tokens is untouched or 0. Of another sequence, a token whose
 *    own slot is padding gives its o, and its state goes nowhere. With GDN_SLOT_ZERO_IS_NULL every
 *    index <= 0 means slot 0, which is padding: what it holds after the call, and o and snapshots
 *    of sequences from it, mean nothing; they write no other slot. Padding is in `slots` alone.
 *  - Refused: a slot index of num_slots or more; an accepted count below 1 or above the number of
 *    the sequence's slot indices (its tokens with GDN_WRITE_EVERY_TOKEN, else 1); two states that
 *    would go to one slot, the null slot apart; GDN_WRITE_EVERY_TOKEN without slots. A sequence may
 *    start from a slot that it also writes. */
typedef struct gdn_recurrent_args {
  uint32_t struct_size;
  int64_t num_sequences; /* N */
  int64_t num_tokens;    /* T, of all sequences */
  int64_t num_k_heads, head_k_dim, num_v_heads, head_v_dim;
  int64_t num_slots;
  gdn_view q, k;      /* [T][kh][kd] f32, bf16, f16 */
  gdn_view v;         /* [T][vh][vd] */
  gdn_view g;         /* [T][vh] f32; absent: no decay per head */
  gdn_view gk;        /* [T][vh][kd] f32; absent: none per channel */
  gdn_view beta;      /* [T][vh] */
  gdn_view o;         /* [T][vh][vd] out */
  gdn_view state;     /* [slots][vh][kd][vd] or [slots][vh][vd][kd], by state_is_vk; in and out */
  gdn_view snapshots; /* [K N] states like `state`, for GDN_WRITE_LAST; of n the k-th is k N + n */
  int64_t num_snapshots;
  gdn_sequence_coding sequence_coding;
  gdn_view sequences; /* int32, by sequence_coding; absent: one sequence of T tokens */
  gdn_view slots;     /* int32 [N] or [T] for GDN_WRITE_EVERY_TOKEN; absent: sequence n in slot n */
  gdn_view accepted;  /* int32 [N]: start from slot index accepted - 1; absent: from the first */
  gdn_view from_zero; /* int32 [N]: non-zero starts from a zero state; absent: never */
  gdn_state_writes state_writes;
  gdn_padding padding;
  int32_t state_is_vk;
  int32_t head_map_tiled; /* k-head of v-head i: i % kh, in place of i / (vh/kh) */
  int32_t g_is_linear;    /* g holds alpha = exp(g) */
  gdn_qk_norm_form qk_norm;
  float qk_norm_eps;
  int32_t scale_is_given; /* else 1/sqrt(kd) */
  float scale;
  int32_t scale_on_output; /* in place of q */
} gdn_recurrent_args;

typedef struct gdn_api {
  uint32_t abi_version; /* GDN_ABI_VERSION */
  uint32_t struct_size; /* sizeof(gdn_api) */
  const char *name;     /* [a-z0-9_]+ */

  gdn_status (*open)(const gdn_shape *shape, const gdn_options *options, gdn_engine **engine);
  void (*close)(gdn_engine *engine); /* NULL is allowed */
  /* JSON, valid for the life of the process: name, dialect, capabilities, contract. Keys and
   * values are documented in docs/engine-description.md. */
  const char *(*describe)(void);
  /* Why the last call on this handle was refused; valid until the next call on it. With NULL: why
   * this thread's last open failed. Never NULL. */
  const char *(*last_error)(const gdn_engine *engine);

  /* src and dst may be NULL where bytes is 0 alone. */
  gdn_status (*buffer_create)(gdn_engine *, uint64_t bytes, gdn_buffer *buffer);
  gdn_status (*buffer_write)(gdn_engine *, gdn_buffer, uint64_t offset_bytes, const void *src,
                             uint64_t bytes);
  gdn_status (*buffer_read)(gdn_engine *, gdn_buffer, uint64_t offset_bytes, void *dst,
                            uint64_t bytes);
  gdn_status (*buffer_release)(gdn_engine *, gdn_buffer);

  /* One operator on explicit inputs, through the code that step uses. Arrays by name:
   *   in_proj, out_proj: x [cols], weight [rows, cols] f32 or q4_tile -> y [rows]
   *   gates:             a, b, A_log, dt_bias [vh] -> beta, g [vh]
   *   conv:              x [conv_dim], hist [ck-1][conv_dim], weight [conv_dim][ck]
   *                      -> y [conv_dim], hist (may be the input array)
   *   qk_norm:           q, k [kh][kd] -> q, k
   *   delta_rule:        q, k, v, g and/or gk [vh][kd], beta, S -> S, o
   *   gated_norm:        o, z [vh][vd], weight [vd] -> y [vh][vd]
   * The shape's num_layers and, for projections, all but the arrays' counts are ignored. */
  gdn_status (*apply)(gdn_engine *, gdn_operator, const gdn_shape *shape, const gdn_array *inputs,
                      size_t num_inputs, const gdn_array *outputs, size_t num_outputs);
  /* Decoded weights, row-major [rows, cols]; tiles holds rows cols / 32 18 bytes. */
  gdn_status (*dequant)(gdn_engine *, int64_t rows, int64_t cols, const void *tiles, float *out);

  /* Copies the weights. Refused, before any allocation, where the layer is loaded already or its
   * projections are bound to q4; bind_q4 likewise where it has f32 projections. */
  gdn_status (*load_layer_f32)(gdn_engine *, int64_t layer, const gdn_layer_weights *weights);
  /* Drops weights and binding, zeroes the state. */
  gdn_status (*unload_layer)(gdn_engine *, int64_t layer);

  /* A pool of 4-bit matrices by key. pool_init and pool_clear drop every layer's binding; small
   * tensors and state stay. pool_init on a live pool allocates the new before it frees the old; a
   * failure keeps pool and bindings. Capacity counts tile bytes. */
  gdn_status (*pool_init)(gdn_engine *, uint64_t capacity_bytes);
  gdn_status (*pool_put)(gdn_engine *, uint64_t key, int64_t rows, int64_t cols,
                         const void *tiles);
  /* The bytes as they were put. dst NULL asks for the size alone; else size_bytes may be NULL. */
  gdn_status (*pool_get)(gdn_engine *, uint64_t key, void *dst, uint64_t capacity_bytes,
                         uint64_t *size_bytes);
  gdn_status (*pool_clear)(gdn_engine *);
  /* All or nothing. The layer must be loaded without f32 projections; a bound one is bound anew. */
  gdn_status (*bind_q4)(gdn_engine *, int64_t layer, uint64_t key_qkv, uint64_t key_z,
                        uint64_t key_out);

  /* h and out are [hidden_size]; of run and forward [T][hidden_size]. */
  gdn_status (*step)(gdn_engine *, int64_t layer, const float *h, float *out);
  gdn_status (*run)(gdn_engine *, int64_t layer, int64_t T, const float *h, float *out);
  /* All layers in order, OUT of one is h of the next; all are checked before one is touched. */
  gdn_status (*forward)(gdn_engine *, int64_t T, const float *h, float *out);

  gdn_status (*reset)(gdn_engine *, int64_t layer_or_all); /* state and history to zero */
  /* *count: elements of the tensor; dst NULL asks for it alone, at any time; else count may be
   * NULL. Before a first token after open, reset, unload, import or rollback S and HIST can be
   * read, the others are GDN_NO_TOKEN; without options.observe they are GDN_UNSUPPORTED. */
  gdn_status (*read)(gdn_engine *, int64_t layer, gdn_tensor, float *dst, int64_t capacity,
                     int64_t *count);

  /* "GDNS", uint32 version 1, int64 hidden_size, kh, kd, vh, vd, ck; then S canonical and HIST in
   * float32; little endian. dst NULL asks for the size alone; else size_bytes may be NULL. Import
   * refuses another shape, size or version. */
  gdn_status (*state_export)(gdn_engine *, int64_t layer, void *dst, uint64_t capacity_bytes,
                             uint64_t *size_bytes);
  gdn_status (*state_import)(gdn_engine *, int64_t layer, const void *src, uint64_t size_bytes);

  /* Rollback restores S and HIST and drops later snapshots, not its own. Beyond options.snapshots
   * the oldest goes; reset, unload and import drop those that hold the layer. Ids are never used
   * twice. */
  gdn_status (*snapshot)(gdn_engine *, int64_t layer_or_all, uint64_t *id);
  gdn_status (*rollback)(gdn_engine *, uint64_t id);

  gdn_status (*recurrent)(gdn_engine *, const gdn_recurrent_args *args);
} gdn_api;

/* What a shared library exports. */
typedef const gdn_api *(*gdn_engine_api_function)(void);
#define GDN_ENGINE_API_SYMBOL "gdn_engine_api"

/* Engines and mutants that are built in. A mutant is an engine with one planted fault. */
typedef struct gdn_mutant {
  const char *name;   /* the bug: error_before_decay */
  const char *bug;    /* one sentence */
  const char *op;     /* the operator that triage must name, or "host" */
  const gdn_api *api;
} gdn_mutant;
size_t gdn_builtin_count(void);
const gdn_api *gdn_builtin(size_t index); /* NULL out of range */
/* One of them in a way that it can be had in beside its own, as text of its own: "v_step=32". NULL
 * where it cannot; *why then has the reason, until this thread's next call. */
const gdn_api *gdn_builtin_with(const char *name, const char *setting, const char **why);
size_t gdn_mutant_count(void);
const gdn_mutant *gdn_mutant_at(size_t index); /* sorted by name; NULL out of range */

#ifdef __cplusplus
}
#endif

#endif /* GDN_H */
