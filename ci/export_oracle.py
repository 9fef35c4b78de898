#!/usr/bin/env python3
"""Captures a Gated DeltaNet layer of transformers as gdn-oracle-1, for `deltaproof verify`.

Needs torch and transformers, and runs the layer on a CPU in float32 by its torch path:

    python3 ci/export_oracle.py --tiny-random qwen3_next --out tiny.safetensors
    python3 ci/export_oracle.py --tiny-random qwen3_5 --calls 1,1,1,1 --out tiny.safetensors
    python3 ci/export_oracle.py --checkpoint FOLDER --layer 0 --out layer0.safetensors
    deltaproof verify tiny.safetensors

--checkpoint is a local folder with config.json and *.safetensors of Qwen3-Next or Qwen3.5; only
that layer's tensors are read. h is what the layer is given, after the norm in front of it:
--hidden FILE.npy [tokens, hidden], or numbers drawn with --seed, so that the weights are real and
the tokens are not.

Exit status: 0 written, 2 bad input, 5 torch or transformers is missing.
"""
import argparse
import copy
import importlib
import inspect
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "docs" / "python"))

FAMILIES = {
    "qwen3_next": ("qwen3_next", "Qwen3NextGatedDeltaNet", "Qwen3NextConfig"),
    "qwen3_5": ("qwen3_5", "Qwen3_5GatedDeltaNet", "Qwen3_5TextConfig"),
}
SIZES = {"hidden_size": 64, "linear_num_key_heads": 2, "linear_key_head_dim": 16,
         "linear_num_value_heads": 6, "linear_value_head_dim": 16, "linear_conv_kernel_dim": 4}
L2NORM_EPS = 1e-6  # of the torch path, where it is no option


class BadInput(Exception):
    pass


def parsed(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--tiny-random", choices=sorted(FAMILIES), metavar="FAMILY",
                      help="a small layer of drawn weights: " + " or ".join(sorted(FAMILIES)))
    what.add_argument("--checkpoint", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--layer", type=int, default=0, help="of the checkpoint")
    parser.add_argument("--hidden", type=pathlib.Path, metavar="FILE.npy")
    parser.add_argument("--calls", default="1,1,1,1,1,1,1,1,1",
                        help="tokens in each call; all but the first are 1")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", required=True)
    return parser.parse_args(argv)


def calls_of(text):
    try:
        calls = [int(part) for part in text.split(",")]
    except ValueError:
        raise BadInput(f"--calls: expected whole numbers, got '{text}'") from None
    if min(calls) < 1:
        raise BadInput(f"--calls: expected 1 or more each, got '{text}'")
    # Some versions begin a later call of several tokens from nothing.
    if any(tokens != 1 for tokens in calls[1:]):
        raise BadInput("--calls: only the first call may have more than one token")
    return calls


def rows_of_groups(k_heads, k_dim, v_heads, v_dim):
    """Where the rows of qkv, z, b and a stand in Qwen3-Next's in_proj_qkvz and in_proj_ba.

    Those hold, k-head by k-head, q, k, and v and z of its v-heads; and b and a of them.
    """
    share = v_heads // k_heads
    values = share * v_dim
    group = 2 * k_dim + 2 * values

    def rows(begin, count, size):
        return [head * size + begin + i for head in range(k_heads) for i in range(count)]

    q, k = rows(0, k_dim, group), rows(k_dim, k_dim, group)
    v, z = rows(2 * k_dim, values, group), rows(2 * k_dim + values, values, group)
    return {"qkv": q + k + v, "z": z, "b": rows(0, share, 2 * share),
            "a": rows(share, share, 2 * share)}


def modules_of(family):
    """transformers' module of the family with nothing in it that needs a GPU."""
    name, layer, config = FAMILIES[family]
    try:
        modeling = importlib.import_module(f"transformers.models.{name}.modeling_{name}")
        configuration = importlib.import_module(f"transformers.models.{name}.configuration_{name}")
    except ModuleNotFoundError as missing:
        raise BadInput(f"this transformers has no {name}: {missing}") from None
    # Where fused kernels were found they are names of the module, and take the torch path's place.
    for fused in ("chunk_gated_delta_rule", "fused_recurrent_gated_delta_rule", "causal_conv1d_fn",
                  "causal_conv1d_update", "FusedRMSNormGated"):
        if hasattr(modeling, "torch_causal_conv1d_update") and hasattr(modeling, fused):
            setattr(modeling, fused, None)
    return modeling, getattr(modeling, layer), getattr(configuration, config)


def why_not_judged(modeling, calls):
    """Chunks are judged by the algorithm that the contract torch_cpu states."""
    chunk = inspect.getsource(modeling)
    if max(calls) > 1 and "solve_triangular" in chunk:
        return ("this version solves the triangle of a chunk in another way than the contract "
                "torch_cpu states: give calls of one token")
    return ""


def spied(rule, seen):
    """The recurrence, keeping what it is given and gives."""

    def call(query, key, value, *rest, **named):
        output, state = rule(query, key, value, *rest, **named)
        given = {"q": query, "k": key, "v": value, "g": named["g"], "beta": named["beta"],
                 "core_o": output}
        for name, tensor in given.items():
            seen.setdefault(name, []).append(tensor[0].detach().clone())
        seen["state"] = state[0].detach().clone()
        return output, state

    return call


def watched(layer, seen):
    def keep(name):
        def hook(_module, _inputs, output):
            seen.setdefault(name, []).append(output.detach().clone())
        return hook

    for name, module in layer.named_children():
        if name.startswith("in_proj") or name == "norm":
            module.register_forward_hook(keep(name))


def run(modeling, layer, config, h, calls):
    """Feeds h call by call with the cache carried over; what was seen, token by token."""
    import torch

    old_cache = [getattr(modeling, name) for name in dir(modeling) if
                 name.endswith("DynamicCache") and name != "DynamicCache"]
    cache = old_cache[0](config) if old_cache else modeling.DynamicCache(config=config)
    takes_position = "cache_position" in inspect.signature(layer.forward).parameters
    seen = {}
    at = 0
    for tokens in calls:
        more = {"cache_position": torch.arange(at, at + tokens)} if takes_position else {}
        out = layer(h[None, at:at + tokens], cache_params=cache, **more)
        seen.setdefault("out", []).append(out[0].detach().clone())
        at += tokens
    return cache, seen


def capture(modeling, make_layer, config, h, calls, weights):
    """make_layer: the class. weights: a state dictionary, or none for those it is made with."""
    import torch

    seen = {}
    for name in ("torch_chunk_gated_delta_rule", "torch_recurrent_gated_delta_rule"):
        setattr(modeling, name, spied(getattr(modeling, name), seen))
    layer = make_layer(config, 0).to(torch.float32).eval()
    if weights is None:
        with torch.no_grad():
            layer.dt_bias.normal_()
            layer.norm.weight.normal_(1, 0.1)
    else:
        layer.load_state_dict(weights)
    watched(layer, seen)
    with torch.no_grad():
        _, outs = run(modeling, layer, config, h, calls)
    return layer, {**seen, **outs}


def numpy_of(tensor):
    return tensor.detach().to("cpu").float().numpy()


def weights_of(layer, sizes):
    """By the names of Qwen3.5, which gdn-oracle-1 takes; Qwen3-Next's rows in their order."""
    weights = {name: numpy_of(tensor) for name, tensor in layer.state_dict().items()}
    if "in_proj_qkvz.weight" not in weights:
        return weights
    rows = rows_of_groups(*sizes)
    qkvz, ba = weights.pop("in_proj_qkvz.weight"), weights.pop("in_proj_ba.weight")
    for name, of in {"qkv": qkvz, "z": qkvz, "b": ba, "a": ba}.items():
        weights[f"in_proj_{name}.weight"] = of[rows[name]]
    return weights


def tensors_of(seen, sizes, h):
    import numpy as np

    k_heads, _, v_heads, _ = sizes
    tokens = len(h)
    all_of = {name: np.concatenate([numpy_of(part).reshape(-1, part.shape[-1]) if
                                    name.startswith("in_proj") or name in ("norm", "out")
                                    else numpy_of(part) for part in parts])
              for name, parts in seen.items() if name != "state"}
    if "in_proj_qkvz" in all_of:
        rows = rows_of_groups(*sizes)
        for name in ("qkv", "z", "b", "a"):
            of = all_of["in_proj_ba" if name in "ba" else "in_proj_qkvz"]
            all_of[f"in_proj_{name}"] = of[:, rows[name]]
    tensors = {"h": numpy_of(h), "out": all_of["out"], "normed": all_of["norm"],
               "final_state": numpy_of(seen["state"])}
    for name in ("qkv", "z", "b", "a"):
        tensors[f"proj_{name}"] = all_of[f"in_proj_{name}"]
    for name in ("q", "k", "v", "g", "beta", "core_o"):
        tensors[name] = all_of[name]
    for name in ("q", "k"):  # repeated for every v-head, or not yet
        tensors[name] = tensors[name][:, ::tensors[name].shape[1] // k_heads]
    return {name: array if name == "final_state" else array.reshape(tokens, -1)
            for name, array in tensors.items()}


def checkpoint_weights(folder, layer):
    """The tensors of one layer's linear_attn, in float32."""
    import torch
    from safetensors import safe_open

    index = folder / "model.safetensors.index.json"
    files = {folder / "model.safetensors"}
    if index.exists():
        where = json.loads(index.read_text())["weight_map"]
        files = {folder / file for name, file in where.items()
                 if f"layers.{layer}.linear_attn." in name}
    weights = {}
    for file in sorted(files):
        if not file.exists():
            raise BadInput(f"{file}: there is no such file")
        with safe_open(str(file), framework="pt") as tensors:
            for name in tensors.keys():
                before, found, after = name.partition(f"layers.{layer}.linear_attn.")
                if not found or before.startswith("mtp"):
                    continue
                tensor = tensors.get_tensor(name)
                if tensor.dtype not in (torch.float32, torch.bfloat16, torch.float16):
                    raise BadInput(f"{name} is {tensor.dtype}, expected float32, bf16 or f16")
                weights[after] = tensor.float()
    if not weights:
        raise BadInput(f"{folder}: layer {layer} has no linear_attn: it is a layer of attention, "
                       "or there is none of that number")
    return weights


def checkpoint_config(folder, make_configs):
    path = folder / "config.json"
    if not path.exists():
        raise BadInput(f"{path}: there is no such file")
    described = json.loads(path.read_text())
    described = described.get("text_config", described)
    kind = described.get("model_type", "").removesuffix("_text").removesuffix("_moe")
    if kind not in FAMILIES:
        raise BadInput(f"{path}: the model is '{described.get('model_type')}', expected one of "
                       + ", ".join(sorted(FAMILIES)))
    gate = described.get("output_gate_type") or "swish"
    if gate not in ("swish", "silu"):
        raise BadInput(f"{path}: output_gate_type is '{gate}', expected swish")
    return kind, {key: described[key] for key in (*make_configs, "rms_norm_eps")
                  if key in described}


def hidden_states(options, config, tokens):
    import numpy as np
    import torch

    if options.hidden is None:
        torch.manual_seed(options.seed + 1)
        return torch.randn(tokens, config.hidden_size)
    h = np.load(options.hidden)
    if h.shape != (tokens, config.hidden_size):
        raise BadInput(f"{options.hidden} is {list(h.shape)}, expected "
                       f"{[tokens, config.hidden_size]}")
    return torch.tensor(h, dtype=torch.float32)


def export(options):
    calls = calls_of(options.calls)
    try:
        import torch
        import transformers
    except ModuleNotFoundError as missing:
        print(f"export_oracle: {missing.name} is missing: it runs where torch and transformers are",
              file=sys.stderr)
        return 5
    from dump_capture import dump_layer

    family, sizes = options.tiny_random, dict(SIZES)
    weights = None
    if options.checkpoint is not None:
        family, sizes = checkpoint_config(options.checkpoint, SIZES)
        weights = checkpoint_weights(options.checkpoint, options.layer)
    modeling, make_layer, make_config = modules_of(family)
    why = why_not_judged(modeling, calls)
    if why:
        raise BadInput(f"--calls: {why}")
    # One layer alone: a cache asks the last layer of its kind whether it holds anything.
    config = make_config(**copy.deepcopy(sizes), num_hidden_layers=1,
                         layer_types=["linear_attention"])
    torch.manual_seed(options.seed)
    h = hidden_states(options, config, sum(calls))
    torch.manual_seed(options.seed)
    layer, seen = capture(modeling, make_layer, config, h, calls, weights)
    heads = (config.linear_num_key_heads, config.linear_key_head_dim,
             config.linear_num_value_heads, config.linear_value_head_dim)
    whole = {name: getattr(config, name) for name in SIZES}
    whole.update(rms_norm_eps=config.rms_norm_eps, l2norm_eps=L2NORM_EPS)
    of = options.checkpoint.name + f" layer {options.layer}" if weights else "random weights"
    source = (f"transformers {transformers.__version__} {make_layer.__name__}, torch "
              f"{torch.__version__} CPU float32 forward, {of}")
    dump_layer(options.out, source=source, config=whole, calls=calls,
               weights=weights_of(layer, heads), tensors=tensors_of(seen, heads, h))
    print(f"{options.out}: {source}, {sum(calls)} tokens")
    return 0


def main(argv):
    try:
        return export(parsed(argv))
    except BadInput as bad:
        print(f"export_oracle: {bad}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
