"""Reads what `deltaproof export` writes (gdn-cases-1, docs/formats.md), and asserts its bounds.

Needs numpy alone. In a suite:

    from read_export import read_export, check

    for case in read_export("cases.safetensors"):
        if case.subject == "recurrent":
            o, state = my_engine(**case.inputs)
            check(case, "o", o)
            check(case, "S", state)
"""
import json
import struct

import numpy as np

TYPES = {"F64": "<f8", "F32": "<f4", "U8": "u1"}


class Case:
    """One case: its inputs by name, and what its outputs must be."""

    def __init__(self, described, contract):
        self.name = described["name"]
        self.subject = described["subject"]
        self.tokens = described["tokens"]
        self.shape = described["shape"]
        self.dialect = described["dialect"]
        self.text = described["text"]  # for `deltaproof replay`
        self.contract = contract
        self.inputs, self.want, self.bound = {}, {}, {}


def tensor_of(name, entry, data):
    """One tensor of a file, by what its header says of it."""
    begin, end = entry["data_offsets"]
    shape = entry["shape"]
    whole = [n for n in (begin, end, *shape) if isinstance(n, int) and n >= 0]
    if len(whole) != len(shape) + 2 or not begin <= end <= len(data):
        raise ValueError(f"{name} lies outside the file")
    if entry["dtype"] not in TYPES:
        raise ValueError(f"{name} is of type {entry['dtype']}")
    return np.frombuffer(data[begin:end], TYPES[entry["dtype"]]).reshape(shape)


def read_safetensors(path):
    """Metadata, and the tensors by name."""
    with open(path, "rb") as file:
        content = file.read()
    if len(content) < 8:
        raise ValueError(f"{path}: {len(content)} bytes are no safetensors file")
    (length,) = struct.unpack("<Q", content[:8])
    if length > len(content) - 8:
        raise ValueError(f"{path}: a header of {length} bytes does not fit the file")
    try:
        header = dict(json.loads(content[8 : 8 + length]))
        metadata = dict(header.pop("__metadata__", {}))
        data = content[8 + length :]
        return metadata, {name: tensor_of(name, header[name], data) for name in header}
    except (KeyError, RecursionError, TypeError, ValueError) as problem:
        raise ValueError(f"{path}: no safetensors file: {problem!r}") from None


def cases_of(metadata, tensors):
    cases = {}
    for described in json.loads(metadata["cases"]):
        case = Case(described, metadata["contract"])
        if case.name in cases:
            raise ValueError(f"case {case.name} is there twice")
        cases[case.name] = case
    for name, tensor in tensors.items():
        of, part, array = name.split("/")
        parts = {"in": cases[of].inputs, "want": cases[of].want, "bound": cases[of].bound}
        parts[part][array] = tensor
    for case in cases.values():
        shapes = [{name: t.shape for name, t in of.items()} for of in (case.want, case.bound)]
        if shapes[0] != shapes[1]:
            raise ValueError(f"case {case.name}: a value and its bound differ in shape")
    return list(cases.values())


def read_export(path):
    """Every case of a file, in the order in which they were exported."""
    metadata, tensors = read_safetensors(path)
    if metadata.get("format") != "gdn-cases-1":
        raise ValueError(f"{path}: the format is {metadata.get('format')}, expected gdn-cases-1")
    try:
        return cases_of(metadata, tensors)
    except (KeyError, RecursionError, TypeError, ValueError) as problem:
        raise ValueError(f"{path}: no export: {problem!r}") from None


def judge(got, want, bound):
    """Which elements are wrong, and of which nothing can be said."""
    got = np.asarray(got, dtype=np.float64)
    if got.shape != want.shape:
        raise ValueError(f"the shape is {got.shape}, expected {want.shape}")
    undecided = np.isfinite(want) & np.isinf(bound)
    with np.errstate(invalid="ignore", over="ignore"):
        right = np.isfinite(got) & (np.abs(got - want) <= bound)
    right |= np.isinf(want) & (got == want)
    right |= np.isnan(want) & np.isnan(got)
    right |= np.isnan(want) & np.isinf(bound) & np.isinf(got)  # NaN or infinite, which is free
    return ~right & ~undecided, undecided


def check(case, name, got):
    """Asserts that an output is within its bound; returns how many elements were undecided."""
    want, bound = case.want[name], case.bound[name]
    wrong, undecided = judge(got, want, bound)
    if wrong.any():
        got = np.asarray(got, dtype=np.float64)
        index = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise AssertionError(
            f"{case.subject} {case.name}: {name}{list(index)} is {float(got[index])!r}, expected "
            f"{float(want[index])!r} within {float(bound[index]):.3g}; "
            f"{int(wrong.sum())} of {wrong.size} elements are wrong"
        )
    return int(undecided.sum())
