"""Build a sentence-embedding ONNX file from a BERT-shaped safetensors folder, without PyTorch.

    build_onnx.py MODEL_FOLDER OUT.onnx [--store int8|float32]

The graph maps `input_ids, attention_mask` (int64, batch x sequence) to `sentence_embedding`
(float32, batch x hidden): mean over the mask, then L2. The arithmetic is float32 in both forms;
`int8` only stores the weights smaller (one scale for each output channel, unfolded when the session loads).

The order of nodes and initializers is part of the result: the file's hash is pinned in MANIFEST.toml.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

MICROSOFT = "com.microsoft"
Array = NDArray[Any]
Weights = dict[str, Array]


class Graph:
    """Nodes and initializers in the order they are added."""

    def __init__(self, store: str) -> None:
        self.small = store == "int8"
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []

    def constant(self, name: str, array: Array) -> str:
        """Store an array as it is."""
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def integers(self, name: str, *values: int) -> str:
        """Store a list of int64."""
        return self.constant(name, np.array(values, dtype=np.int64))

    def operation(self, kind: str, inputs: list[str], output: str, domain: str = "", **attributes: Any) -> str:
        """Add a node with one output."""
        node = helper.make_node(kind, inputs, [output], name=f"{kind}.{output}", domain=domain, **attributes)
        self.nodes.append(node)
        return output

    def weight(self, name: str, array: Array) -> str:
        """Store a weight matrix (inputs x outputs), as int8 with a scale for each output in the small form."""
        if not self.small:
            return self.constant(name, array)
        self._quantised(name, array, axis=0)
        self.nodes.append(
            helper.make_node("Cast", [f"{name}.q"], [f"{name}.qf"], to=TensorProto.FLOAT, name=f"cast.{name}")
        )
        self.nodes.append(helper.make_node("Mul", [f"{name}.qf", f"{name}.s"], [name], name=f"dq.{name}"))
        return name

    def half_weight(self, name: str, array: Array) -> str:
        """Store a small table as float16 in the small form."""
        if not self.small:
            return self.constant(name, array)
        self.constant(f"{name}.f16", array.astype(np.float16))
        self.nodes.append(helper.make_node("Cast", [f"{name}.f16"], [name], to=TensorProto.FLOAT, name=f"cast.{name}"))
        return name

    def word_rows(self) -> str:
        """Look up word vectors. The table stays int8 in memory: rows are gathered first and scaled after."""
        if not self.small:
            return self.operation("Gather", ["word", "input_ids"], "w_e")
        self.operation("Gather", ["word.q", "input_ids"], "w_q")
        self.operation("Cast", ["w_q"], "w_qf", to=TensorProto.FLOAT)
        self.operation("Gather", ["word.s", "input_ids"], "w_s")
        return self.operation("Mul", ["w_qf", "w_s"], "w_e")

    def word_table(self, table: Array) -> None:
        """Store the word vectors, with a scale for each row in the small form."""
        if self.small:
            self._quantised("word", table, axis=1)
        else:
            self.constant("word", table)

    def _quantised(self, name: str, array: Array, axis: int) -> None:
        array = np.ascontiguousarray(array)
        scale = np.maximum(np.abs(array).max(axis, keepdims=True) / 127, 1e-12).astype(np.float32)
        self.constant(f"{name}.q", np.clip(np.rint(array / scale), -127, 127).astype(np.int8))
        self.constant(f"{name}.s", scale)


def read_folder(folder: Path) -> tuple[dict[str, Any], Weights]:
    """The configuration and the float32 weights of a BERT folder, without the "bert." prefix."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    if config["hidden_act"] != "gelu" or config.get("position_embedding_type", "absolute") != "absolute":
        raise SystemExit("only BERT with GELU and absolute positions is supported")
    tensors = load_file(folder / "model.safetensors")
    weights = {key.removeprefix("bert."): value for key, value in tensors.items() if value.dtype.kind == "f"}
    return config, {key: value.astype(np.float32) for key, value in weights.items()}


def add_embeddings(graph: Graph, weights: Weights, epsilon: float) -> str:
    """Word and position vectors; the constant token type 0 is folded into the positions."""
    positions = weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
    graph.word_table(weights["embeddings.word_embeddings.weight"])
    graph.half_weight("pos", positions)
    graph.operation("Shape", ["input_ids"], "seq1", start=1, end=2)
    graph.operation("Slice", ["pos", graph.integers("z0", 0), "seq1", graph.integers("sax", 0)], "pos_s")
    graph.operation("Add", [graph.word_rows(), "pos_s"], "emb")
    gain = graph.constant("eg", weights["embeddings.LayerNorm.weight"])
    shift = graph.constant("eb", weights["embeddings.LayerNorm.bias"])
    return graph.operation("LayerNormalization", ["emb", gain, shift], "x0", epsilon=epsilon, axis=-1)


def add_attention(graph: Graph, weights: Weights, layer: int, x: str, heads: int) -> str:
    """Self-attention with query, key and value in one matrix, then the output projection (no bias yet)."""
    prefix = f"encoder.layer.{layer}.attention."
    names = ("query", "key", "value")
    matrix = np.concatenate([weights[f"{prefix}self.{name}.weight"].T for name in names], axis=1)
    bias = np.concatenate([weights[f"{prefix}self.{name}.bias"] for name in names])
    inputs = [x, graph.weight(f"l{layer}.qkv.w", matrix), graph.constant(f"l{layer}.qkv.b", bias), "mask32"]
    attended = graph.operation("Attention", inputs, f"l{layer}.att", domain=MICROSOFT, num_heads=heads)
    projection = graph.weight(f"l{layer}.o.w", weights[f"{prefix}output.dense.weight"].T)
    return graph.operation("MatMul", [attended, projection], f"l{layer}.o")


def add_skip_norm(
    graph: Graph, weights: Weights, part: str, names: tuple[str, str], x: list[str], out: str, epsilon: float
) -> str:
    """Bias, residual and layer normalisation in one node; `names` are those of the norm and of the bias."""
    norm, bias = names
    inputs = [
        *x,
        graph.constant(f"{norm}.g", weights[f"{part}.LayerNorm.weight"]),
        graph.constant(f"{norm}.b", weights[f"{part}.LayerNorm.bias"]),
        graph.constant(bias, weights[f"{part}.dense.bias"]),
    ]
    return graph.operation("SkipLayerNormalization", inputs, out, domain=MICROSOFT, epsilon=epsilon)


def add_layer(graph: Graph, weights: Weights, layer: int, x: str, out: str, config: dict[str, Any]) -> str:
    """One encoder layer."""
    name, prefix, epsilon = f"l{layer}", f"encoder.layer.{layer}", config["layer_norm_eps"]
    projected = add_attention(graph, weights, layer, x, config["num_attention_heads"])
    y = add_skip_norm(
        graph,
        weights,
        f"{prefix}.attention.output",
        (f"{name}.ln1", f"{name}.o.b"),
        [projected, x],
        f"{name}.y",
        epsilon,
    )
    wide = graph.weight(f"{name}.f1.w", weights[f"{prefix}.intermediate.dense.weight"].T)
    hidden = graph.operation("MatMul", [y, wide], f"{name}.f1")
    bias = graph.constant(f"{name}.f1.b", weights[f"{prefix}.intermediate.dense.bias"])
    hidden = graph.operation("BiasGelu", [hidden, bias], f"{name}.gelu", domain=MICROSOFT)
    narrow = graph.weight(f"{name}.f2.w", weights[f"{prefix}.output.dense.weight"].T)
    hidden = graph.operation("MatMul", [hidden, narrow], f"{name}.f2")
    return add_skip_norm(graph, weights, f"{prefix}.output", (f"{name}.ln2", f"{name}.f2.b"), [hidden, y], out, epsilon)


def add_pooling(graph: Graph, x: str) -> None:
    """Mean over the mask, then L2."""
    graph.operation("Cast", ["attention_mask"], "maskf", to=TensorProto.FLOAT)
    graph.operation("Unsqueeze", ["maskf", graph.integers("ax1", 1)], "mask_row")
    graph.operation("MatMul", ["mask_row", x], "summed")
    graph.operation("ReduceSum", ["maskf", graph.integers("rax", 1)], "cnt", keepdims=1)
    graph.operation("Max", ["cnt", graph.constant("tiny", np.array([1e-9], np.float32))], "cnt1")
    graph.operation("Squeeze", ["summed", "ax1"], "sum2")
    graph.operation("Div", ["sum2", "cnt1"], "mean")
    graph.operation("ReduceL2", ["mean", graph.integers("nax", 1)], "norm", keepdims=1)
    graph.operation("Max", ["norm", graph.constant("tiny2", np.array([1e-12], np.float32))], "norm1")
    graph.operation("Div", ["mean", "norm1"], "sentence_embedding")


def build(folder: Path, store: str) -> bytes:
    """The serialised model."""
    config, weights = read_folder(folder)
    graph = Graph(store)
    x = add_embeddings(graph, weights, config["layer_norm_eps"])
    graph.operation("Cast", ["attention_mask"], "mask32", to=TensorProto.INT32)
    last = config["num_hidden_layers"] - 1
    for layer in range(last + 1):
        x = add_layer(graph, weights, layer, x, "token_embeddings" if layer == last else f"l{layer}.x", config)
    add_pooling(graph, x)
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"])
        for name in ("input_ids", "attention_mask")
    ]
    outputs = [helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["batch", config["hidden_size"]])]
    proto = helper.make_graph(graph.nodes, "sentence_embedder", inputs, outputs, graph.initializers)
    versions = [helper.make_opsetid("", 18), helper.make_opsetid(MICROSOFT, 1)]
    model = helper.make_model(proto, opset_imports=versions, producer_name="ariel-lite-build", ir_version=9)
    return bytes(model.SerializeToString(deterministic=True))


def main() -> None:
    """Read the arguments, build, write, print size and hash."""
    parser = argparse.ArgumentParser(description="Build a sentence-embedding ONNX file from a BERT folder.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--store", choices=["int8", "float32"], default="int8")
    arguments = parser.parse_args()
    data = build(arguments.folder, arguments.store)
    arguments.out.write_bytes(data)
    print(arguments.out, len(data), hashlib.sha256(data).hexdigest())


if __name__ == "__main__":
    main()
