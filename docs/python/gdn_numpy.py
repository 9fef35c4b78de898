"""The operators of a Gated DeltaNet layer in numpy's float32: an engine to show the files by.

exp and log1p are taken in float64 and rounded, well within the 2 ulp that the contract any_f32
allows; everything else is float32, summed in whatever order numpy takes.
"""
import numpy as np

f32 = np.float32


def exp(x):
    return np.exp(np.asarray(x, np.float64)).astype(f32)


def stored(x, storage):
    """Rounded to what a format holds, to nearest even."""
    x = np.asarray(x, f32)
    if storage == "f16":
        return x.astype(np.float16).astype(f32)
    if storage == "bf16":
        bits = x.view(np.uint32)
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
        return np.where(np.isnan(x), x, rounded.astype(np.uint32).view(f32))
    return x


def projection(x, weight):
    return weight @ x


def dequant(tiles, rows, cols):
    """q4_tile, docs/formats.md."""
    tile = tiles.reshape(rows // 4, cols // 32, 72)
    scale = tile[..., :8].copy().view("<f2").astype(f32)
    codes = tile[..., 8:].reshape(rows // 4, cols // 32, 4, 4, 4)  # j / 4, row, j % 4
    codes = codes.transpose(0, 3, 1, 2, 4).reshape(rows // 4, 4, cols // 32, 16)
    nibbles = np.concatenate([codes & 15, codes >> 4], axis=-1)
    signed = (nibbles.astype(np.int32) ^ 8) - 8
    weights = scale.transpose(0, 2, 1)[..., None] * signed.astype(f32)
    return weights.reshape(rows, cols)


def gates(a, b, A_log, dt_bias, dialect):
    beta = f32(1) / (f32(1) + exp(-b))
    x = a + dt_bias
    log1p = np.log1p(np.exp(np.minimum(x, 20).astype(np.float64))).astype(f32)
    softplus = np.where(x > 20, x, log1p)
    if dialect["gate_input"] == "raw_a_exponentiated":
        return stored(beta, dialect["beta"]), A_log * softplus
    g = -exp(A_log) * softplus
    g = np.where(x < -20, -exp(A_log.astype(np.float64) + x), g)
    return stored(beta, dialect["beta"]), g.astype(f32)


def conv(x, hist, weight):
    window = np.concatenate([hist, x[None]])
    y = (window.T * weight).sum(axis=1, dtype=f32)
    return y / (f32(1) + exp(-y)), window[1:]


def qk_norm(q, k, eps, dialect):
    def normed(x):
        total = (x * x).sum(axis=-1, keepdims=True, dtype=f32)
        form = dialect["qk_norm"]
        if form == "none":
            return x
        if form == "max_norm":
            return x / np.maximum(np.sqrt(total), f32(eps))
        if form == "mean_eps":
            return x / np.sqrt(total + f32(x.shape[-1]) * f32(eps))
        return x / np.sqrt(total + f32(eps))

    q, k = normed(q), normed(k)
    return (q * scale_of(q, dialect) if dialect["scale_on"] == "q" else q), k


def scale_of(q, dialect):
    given = dialect["scale"]
    return f32(1) / np.sqrt(f32(q.shape[-1])) if given == "1/sqrt(kd)" else f32(given)


def delta_rule(state, q, k, v, alpha, channels, beta, fault=""):
    """One token; state [vh, kd, vd], q and k [vh, kd], alpha and beta [vh], channels [vh, kd]."""
    before = state
    state = state * alpha[:, None, None]
    if channels is not None:
        state = state * channels[:, :, None]
    read = before if fault == "error_before_decay" else state
    error = beta[:, None] * (v - np.einsum("hk,hkv->hv", k, read))
    state = state + k[:, :, None] * error[:, None, :]
    return state, np.einsum("hk,hkv->hv", q, state)


def heads_of(x, v_heads, dialect):
    """A k-head for each v-head."""
    index = np.arange(v_heads)
    k_heads = x.shape[-2]
    tiled = dialect["head_map"] == "tiled"
    return x[..., index % k_heads if tiled else index // (v_heads // k_heads), :]


def recurrent(q, k, v, beta, S, dialect, eps=1e-6, g=None, gk=None, fault=""):
    """All tokens; the state in the dialect's layout. Returns o and the last state."""
    turned = dialect["state_layout"] == "vk"
    state = np.swapaxes(S, 1, 2) if turned else S
    vh = v.shape[1]
    outputs = []
    for t in range(v.shape[0]):
        q_t, k_t = qk_norm(q[t], k[t], eps, dialect)
        q_t, k_t = heads_of(q_t, vh, dialect), heads_of(k_t, vh, dialect)
        alpha = np.ones(vh, f32)
        if g is not None:
            alpha = g[t] if dialect["gate_input"] == "linear_alpha" else exp(g[t])
        channels = None if gk is None else np.broadcast_to(
            exp(gk[t]).reshape(vh, -1), (vh, k.shape[2]))
        state, o = delta_rule(state, q_t, k_t, v[t], alpha, channels, beta[t], fault)
        if dialect["scale_on"] == "output":
            o = o * scale_of(q_t, dialect)
        outputs.append(o)
    o = np.array(outputs, f32).reshape(v.shape)
    state = np.swapaxes(state, 1, 2) if turned else state
    return stored(o, dialect["output_storage"]), stored(state, dialect["state_storage"])


def gated_norm(o, z, weight, eps):
    mean = (o * o).mean(axis=-1, keepdims=True, dtype=f32)
    normed = o / np.sqrt(mean + f32(eps)) * weight
    return normed * (z / (f32(1) + exp(-z)))


def layer(w, h, shape, dialect, fault=""):
    """All tokens of h through one layer, from nothing. Every tensor of each, by the C header's
    names; the state and the history are those after the last token."""
    kh, kd = shape["num_k_heads"], shape["head_k_dim"]
    vh, vd = shape["num_v_heads"], shape["head_v_dim"]
    state = np.zeros((vh, kd, vd), f32)
    hist = np.zeros((shape["conv_kernel"] - 1, w["qkv"].shape[0]), f32)
    seen = {}
    for token in h:
        qkv, z = projection(token, w["qkv"]), projection(token, w["z"])
        b, a = projection(token, w["b"]), projection(token, w["a"])
        beta, g = gates(a, b, w["A_log"], w["dt_bias"], dialect)
        mixed, hist = conv(qkv, hist, w["conv"])
        q, k, v = np.split(mixed, [kh * kd, 2 * kh * kd])
        v = v.reshape(vh, vd)
        q_normed, k_normed = qk_norm(q.reshape(kh, kd), k.reshape(kh, kd), shape["l2norm_eps"],
                                     dialect)
        state, o = delta_rule(state, heads_of(q_normed, vh, dialect),
                              heads_of(k_normed, vh, dialect), v, exp(g), None, beta, fault)
        normed = gated_norm(o, z.reshape(vh, vd), w["norm"], shape["rms_norm_eps"])
        out = projection(normed.ravel(), w["out"])
        for name, tensor in {"QKV": qkv, "Z": z, "A": a, "B": b, "BETA": beta, "G": g,
                             "CONV": mixed, "Q": q_normed, "K": k_normed, "V": v, "O": o,
                             "ONORM": normed, "OUT": out}.items():
            seen.setdefault(name, []).append(np.ravel(tensor))
    seen = {name: np.array(rows, f32) for name, rows in seen.items()}
    return {**seen, "S": state, "HIST": hist}
