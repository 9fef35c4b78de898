"""A test suite over `deltaproof export`: the operators of gdn_numpy.py against proven bounds.

    deltaproof export --cases 200 --out cases.safetensors
    python3 docs/python/example_suite.py cases.safetensors

Ends with 0 if every output that it computes is within its bound, with 1 if one is not.
"""
import argparse
import collections
import sys

import numpy as np

import gdn_numpy as gdn
from read_export import check, read_export


def outputs_of(case, fault):
    """What the engine gives by the names of the case's outputs; nothing where it serves no such."""
    i, dialect, shape = case.inputs, case.dialect, case.shape
    if case.subject == "gates":
        beta, g = gdn.gates(i["a"], i["b"], i["A_log"], i["dt_bias"], dialect)
        return {"beta": beta, "g": g}
    if case.subject in ("in_proj", "out_proj") and dialect["activation"] == "f32":
        weight = i["weight"] if "weight" in i else gdn.dequant(i["tiles"], len(case.want["y"]),
                                                              len(i["x"]))
        return {"y": gdn.projection(i["x"], weight)}
    if case.subject == "dequant":
        return {"out": gdn.dequant(i["tiles"], *case.want["out"].shape)}
    if case.subject == "conv":
        y, hist = gdn.conv(i["x"], i["hist"], i["weight"])
        return {"y": y, "hist": hist}
    if case.subject == "qk_norm":
        q, k = gdn.qk_norm(i["q"], i["k"], shape["l2norm_eps"], dialect)
        return {"q": q, "k": k}
    if case.subject == "gated_norm":
        return {"y": gdn.gated_norm(i["o"], i["z"], i["weight"], shape["rms_norm_eps"])}
    if case.subject == "recurrent" and i["S"].ndim == 3:
        o, state = gdn.recurrent(**i, dialect=dialect, eps=shape["l2norm_eps"], fault=fault)
        return {"o": o, "S": state}
    own = "raw_a", "f32", "kv", "q"
    chosen = tuple(dialect[d] for d in ("gate_input", "activation", "state_layout", "scale_on"))
    if case.subject == "layer" and chosen == own and "qkv" in i and case.tokens > 0:
        return gdn.layer(i, i["h"], shape, dialect, fault)
    return {}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--fault", default="", help="error_before_decay: an engine that is wrong")
    arguments = parser.parse_args()
    served, undecided, failures = collections.Counter(), 0, []
    np.seterr(all="ignore")  # infinities and NaN are inputs like others
    for case in read_export(arguments.file):
        for name, got in outputs_of(case, arguments.fault).items():
            served[case.subject] += 1
            try:
                undecided += check(case, name, got)
            except AssertionError as wrong:
                failures.append(str(wrong))
    for failure in failures:
        print(failure)
    print(", ".join(f"{subject} {count}" for subject, count in sorted(served.items())))
    print(f"{sum(served.values())} outputs, {undecided} elements undecided, {len(failures)} wrong")
    return 1 if failures or not served else 0


if __name__ == "__main__":
    sys.exit(main())
