"""Writes captures for `deltaproof verify` from the arrays of an op; numpy alone.

    from dump_capture import dump_trace

    dump_trace("mine.safetensors", source="my op 1.2 on an H200", q=q, k=k, v=v, g=g, beta=beta,
               initial_state=before, final_state=after, o=o, scale=128 ** -0.5)

    deltaproof verify mine.safetensors

As a program it shows both formats with the float32 recurrence and layer of gdn_numpy.py:

    python3 docs/python/dump_capture.py trace trace.safetensors
    python3 docs/python/dump_capture.py layer layer.safetensors --fault error_before_decay
"""
import argparse
import json
import os
import struct

import numpy as np


def in_bf16(x):
    """The upper halves of float32 numbers that bfloat16 holds."""
    bits = np.ascontiguousarray(x, "<f4").view("<u4")
    if (bits & 0xFFFF).any():
        raise ValueError("an array has numbers that bfloat16 does not hold")
    return (bits >> 16).astype("<u2")


def write_safetensors(path, metadata, arrays):
    """arrays: a name to an array of float32 or float16, or to ("BF16", float32 array)."""
    header, parts, at = {"__metadata__": metadata}, [], 0
    for name, array in arrays.items():
        kind, array = array if isinstance(array, tuple) else ("", array)
        shape = list(array.shape)
        if kind == "BF16":
            array = in_bf16(array)
        else:
            kinds = {np.dtype(np.float32): "F32", np.dtype(np.float16): "F16"}
            if array.dtype not in kinds:
                raise ValueError(f"{name} is {array.dtype}, expected float32 or float16")
            kind = kinds[array.dtype]
        parts.append(np.ascontiguousarray(array).tobytes())
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [at, at + len(parts[-1])]}
        at += len(parts[-1])
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(f"{path}.part", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(parts))
    os.replace(f"{path}.part", path)


def dump_trace(path, *, source, q, k, v, beta, initial_state, final_state, o, scale, g=None,
               gk=None, use_qk_l2norm=False, l2norm_eps=1e-6, state_layout="KV", scale_on="q",
               head_map="grouped", bf16=()):
    """The recurrence alone (gdn-trace-1): one sequence of T tokens.

    q, k [T, kh, kd]; v, o [T, vh, vd]; beta [T, vh]; g [T, vh] and/or gk [T, vh, kd], log decays;
    states [vh, kd, vd], or [vh, vd, kd] with state_layout "VK". Arrays named in `bf16` are float32
    here and stored in bfloat16. A source with the word Triton in it is allowed what Triton's exp
    and division do.
    """
    arrays = {"q": q, "k": k, "v": v, "g": g, "gk": gk, "beta": beta, "o": o,
              "initial_state": initial_state, "final_state": final_state}
    arrays = {name: np.asarray(array)[None] for name, array in arrays.items() if array is not None}
    for name in bf16:
        arrays[name] = ("BF16", arrays[name])
    metadata = {"format": "gdn-trace-1", "source": source, "scale": repr(float(scale)),
                "use_qk_l2norm": "true" if use_qk_l2norm else "false",
                "l2norm_eps": repr(float(l2norm_eps)), "state_layout": state_layout,
                "scale_on": scale_on, "head_map": head_map}
    write_safetensors(path, metadata, arrays)


def dump_layer(path, *, source, config, calls, weights, tensors):
    """A whole layer (gdn-oracle-1); corpus/oracle/README.md lists config, weights and tensors.

    weights by their Hugging Face names after `linear_attn.`; tensors: h, out, proj_qkv, proj_z,
    proj_b, proj_a, q, k, v, g, beta, core_o, normed [T, ...] and final_state [vh, kd, vd].
    """
    tokens = len(tensors["h"])
    if sum(calls) != tokens:
        raise ValueError(f"calls sum to {sum(calls)}, expected the {tokens} tokens of h")
    arrays = {f"linear_attn.{name}": array for name, array in weights.items()}
    for name, array in tensors.items():
        arrays[name] = array if name == "final_state" else array.reshape(tokens, -1)
    metadata = {"format": "gdn-oracle-1", "source": source, "tokens": str(tokens),
                "calls": json.dumps(list(calls)), "config": json.dumps(config)}
    write_safetensors(path, metadata, arrays)


def example_trace(path, fault, storage):
    import gdn_numpy as gdn

    rng = np.random.default_rng(1)
    T, kh, vh, kd, vd = 12, 2, 4, 16, 8

    def random(*shape):
        return rng.standard_normal(shape).astype(np.float32)

    dialect = {"qk_norm": "sum_eps", "scale_on": "q", "scale": "1/sqrt(kd)", "head_map": "grouped",
               "gate_input": "log_g", "state_layout": "kv", "output_storage": storage,
               "state_storage": "f32"}
    inputs = {"q": random(T, kh, kd), "k": random(T, kh, kd), "v": random(T, vh, vd),
              "g": -np.exp(random(T, vh)), "beta": rng.random((T, vh), np.float32)}
    for name in ("q", "k", "v", "beta"):
        inputs[name] = gdn.stored(inputs[name], storage)
    before = random(vh, kd, vd)
    o, after = gdn.recurrent(**inputs, S=before, dialect=dialect, fault=fault)
    dump_trace(path, source="gdn_numpy", **inputs, o=o, initial_state=before, final_state=after,
               scale=kd ** -0.5, use_qk_l2norm=True,
               bf16=("q", "k", "v", "beta", "o") if storage == "bf16" else ())


def example_layer(path, fault, _):
    import gdn_numpy as gdn

    rng = np.random.default_rng(1)
    config = {"hidden_size": 32, "linear_num_key_heads": 2, "linear_key_head_dim": 8,
              "linear_num_value_heads": 4, "linear_value_head_dim": 16,
              "linear_conv_kernel_dim": 4, "rms_norm_eps": 1e-6, "l2norm_eps": 1e-6}
    hidden, k_dim, v_dim, vh, T = 32, 16, 64, 4, 6

    def random(*shape, size=1.0):
        return (size * rng.standard_normal(shape)).astype(np.float32)

    size = hidden ** -0.5
    w = {"qkv": random(2 * k_dim + v_dim, hidden, size=size), "z": random(v_dim, hidden, size=size),
         "b": random(vh, hidden, size=size), "a": random(vh, hidden, size=size),
         "out": random(hidden, v_dim, size=v_dim ** -0.5),
         "conv": random(2 * k_dim + v_dim, 4, size=0.5), "A_log": random(vh, size=0.5),
         "dt_bias": random(vh, size=0.5), "norm": 1 + random(16, size=0.1)}
    shape = {"num_k_heads": 2, "head_k_dim": 8, "num_v_heads": vh, "head_v_dim": 16,
             "conv_kernel": 4, "rms_norm_eps": 1e-6, "l2norm_eps": 1e-6}
    dialect = {"qk_norm": "sum_eps", "scale_on": "q", "scale": "1/sqrt(kd)", "head_map": "grouped",
               "gate_input": "raw_a", "beta": "f32"}
    h = random(T, hidden)
    seen = gdn.layer(w, h, shape, dialect, fault)
    q, k, v = np.split(seen["CONV"], [k_dim, 2 * k_dim], axis=1)
    weights = {"in_proj_qkv.weight": w["qkv"], "in_proj_z.weight": w["z"],
               "in_proj_b.weight": w["b"], "in_proj_a.weight": w["a"], "A_log": w["A_log"],
               "dt_bias": w["dt_bias"], "conv1d.weight": w["conv"][:, None],
               "norm.weight": w["norm"], "out_proj.weight": w["out"]}
    tensors = {"h": h, "out": seen["OUT"], "proj_qkv": seen["QKV"], "proj_z": seen["Z"],
               "proj_b": seen["B"], "proj_a": seen["A"], "q": q, "k": k, "v": v, "g": seen["G"],
               "beta": seen["BETA"], "core_o": seen["O"], "normed": seen["ONORM"],
               "final_state": seen["S"]}
    dump_layer(path, source="gdn_numpy", config=config, calls=[1] * T, weights=weights,
               tensors=tensors)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["trace", "layer"])
    parser.add_argument("file")
    parser.add_argument("--fault", default="", help="error_before_decay: an op that is wrong")
    parser.add_argument("--bf16", action="store_true", help="q, k, v, beta and o of a trace")
    arguments = parser.parse_args()
    example = {"trace": example_trace, "layer": example_layer}[arguments.what]
    example(arguments.file, arguments.fault, "bf16" if arguments.bf16 else "f32")


if __name__ == "__main__":
    main()
