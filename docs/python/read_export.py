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


def read_safetensors(path):
    """Metadata, and the tensors by name."""
    with open(path, "rb") as file:
        content = file.read()
    if len(content) < 8:
        raise ValueError(f"{path}: {len(content)} bytes are no safetensors file")
    (length,) = struct.unpack("<Q", content[:8])
    if length > len(content) - 8:
        raise ValueError(f"{path}: a header of {length} bytes does not fit the file")
    header = json.loads(content[8 : 8 + length])
    metadata = header.pop("__metadata__", {})
    data = content[8 + length :]
    tensors = {}
    for name, entry in header.items():
        if entry["dtype"] not in TYPES:
            raise ValueError(f"{path}: {name} is of type {entry['dtype']}")
        begin, end = entry["data_offsets"]
        if not 0 <= begin <= end <= len(data):
            raise ValueError(f"{path}: {name} lies outside the file")
        numbers = np.frombuffer(data[begin:end], TYPES[entry["dtype"]])
        tensors[name] = numbers.reshape(entry["shape"])
    return metadata, tensors


def read_export(path):
    """Every case of a file, in the order in which they were exported."""
    metadata, tensors = read_safetensors(path)
    if metadata.get("format") != "gdn-cases-1":
        raise ValueError(f"{path}: the format is {metadata.get('format')}, expected gdn-cases-1")
    cases = {}
    for described in json.loads(metadata["cases"]):
        cases[described["name"]] = Case(described, metadata["contract"])
    for name, tensor in tensors.items():
        of, part, array = name.split("/")
        getattr(cases[of], {"in": "inputs", "want": "want", "bound": "bound"}[part])[array] = tensor
    return list(cases.values())


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
