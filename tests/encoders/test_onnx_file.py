"""ONNX files written here: any batch, a batch of fixed size, float16, several outputs."""

import sys
from pathlib import Path

import numpy as np
import pytest

from fidal.encoders import ENCODERS
from fidal.encoders.onnx_file import OnnxFile
from tests.encoders.made import pictures

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402

WEIGHT = np.arange(15, dtype=np.float32).reshape(3, 5) / 10
FLAT = {"mean": (0.0, 0.0, 0.0), "std": (1.0, 1.0, 1.0)}


def written(
    path: Path, batch: object = "n", size: object = 32, kind: int = TensorProto.FLOAT
) -> Path:
    """The mean of each channel times WEIGHT; a second output is the map itself."""
    weight = numpy_helper.from_array(WEIGHT.astype(helper.tensor_dtype_to_np_dtype(kind)), "weight")
    nodes = [
        helper.make_node("GlobalAveragePool", ["image"], ["pooled"]),
        helper.make_node("Flatten", ["pooled"], ["flat"]),
        helper.make_node("MatMul", ["flat", "weight"], ["embedding"]),
        helper.make_node("Identity", ["image"], ["map"]),
    ]
    image = helper.make_tensor_value_info("image", kind, [batch, 3, size, size])
    outputs = [
        helper.make_tensor_value_info("embedding", kind, [batch, 5]),
        helper.make_tensor_value_info("map", kind, [batch, 3, size, size]),
    ]
    graph = helper.make_graph(nodes, "g", [image], outputs, [weight])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, path)
    return path


def expected(images: np.ndarray) -> np.ndarray:
    return images.mean((1, 2)) / 255 @ WEIGHT


@pytest.mark.parametrize("batch", ["n", 1, 4])
@pytest.mark.parametrize(
    ("kind", "close"), [(TensorProto.FLOAT, 1e-5), (TensorProto.FLOAT16, 1e-2)]
)
def test_embeddings_are_those_of_the_file(
    tmp_path: Path, batch: object, kind: int, close: float
) -> None:
    assert ENCODERS["onnx"] is OnnxFile
    file = written(tmp_path / "g.onnx", batch, kind=kind)
    encoder = OnnxFile(file=file, size=32, output="embedding", batch=2, **FLAT)
    images = pictures(7, 32, 32)
    rows = encoder.encode(images)
    assert rows.dtype == np.float32 and rows.shape == (7, encoder.dimension) == (7, 5)
    assert np.allclose(rows, expected(images), atol=close)
    assert encoder.encode(images[:0]).shape == (0, 5)


def test_images_are_resized_and_normalised_as_the_fields_say(tmp_path: Path) -> None:
    file = written(tmp_path / "g.onnx")
    images = np.full((1, 64, 80, 1), 102, dtype=np.uint8)
    encoder = OnnxFile(file=file, size=32, output="embedding", mean=(0.1, 0.2, 0.4), std=(1, 2, 3))
    assert np.allclose(encoder.encode(images), np.array([[0.3, 0.1, 0.0]]) @ WEIGHT, atol=1e-5)


def test_images_as_stored(tmp_path: Path) -> None:
    file = written(tmp_path / "g.onnx", size="side")
    encoder = OnnxFile.model_validate({"file": file, "size": "none", "output": "embedding", **FLAT})
    images = pictures(2, 48, 48)
    assert encoder.dimension == 5
    assert np.allclose(encoder.encode(images), expected(images), atol=1e-5)


def test_the_output_must_be_chosen_and_be_a_vector(tmp_path: Path) -> None:
    file = written(tmp_path / "g.onnx")
    for output in (None, "pooled"):
        with pytest.raises(ValueError, match="has the outputs embedding, map; choose the one"):
            OnnxFile(file=file, size=32, output=output).encode(pictures(1, 32, 32))
    with pytest.raises(
        ValueError, match=r"output 'map' .* shape \(1, 3, 32, 32\), which is not n x"
    ):
        _ = OnnxFile(file=file, size=32, output="map").dimension


def test_the_identity_follows_file_fields_and_output(tmp_path: Path) -> None:
    a, b = written(tmp_path / "a.onnx"), written(tmp_path / "b.onnx", batch=4)
    encoders = [
        OnnxFile(file=a),
        OnnxFile(file=b),
        OnnxFile(file=a, size=32),
        OnnxFile(file=a, output="embedding"),
        OnnxFile(file=a, std=(1, 1, 1)),
    ]
    assert len({encoder.identity for encoder in encoders}) == 5
    assert OnnxFile(file=a, batch=2).identity == encoders[0].identity


def test_files_that_can_not_be_opened_are_named(tmp_path: Path) -> None:
    (tmp_path / "bad.onnx").write_bytes(b"no model")
    with pytest.raises(ValueError, match=r"bad\.onnx can't be opened .*one whole ONNX file"):
        OnnxFile(file=tmp_path / "bad.onnx").encode(pictures(1, 32, 32))
    with pytest.raises(ValueError, match=r"no checkpoint at .*none\.onnx"):
        _ = OnnxFile(file=tmp_path / "none.onnx").identity


def test_weights_in_another_file_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = onnx.load(written(tmp_path / "g.onnx"))
    options = {"save_as_external_data": True, "location": "g.data", "size_threshold": 0}
    onnx.save(model, tmp_path / "apart.onnx", **options)
    monkeypatch.chdir(tmp_path.parent)
    with pytest.raises(ValueError, match=r"apart\.onnx can't be opened .*external_data=False"):
        OnnxFile(file=tmp_path / "apart.onnx").encode(pictures(1, 32, 32))


def test_a_file_that_takes_something_else_than_an_image_is_refused(tmp_path: Path) -> None:
    tokens = helper.make_tensor_value_info("tokens", TensorProto.INT64, ["n", 7])
    out = helper.make_tensor_value_info("out", TensorProto.INT64, ["n", 7])
    graph = helper.make_graph(
        [helper.make_node("Identity", ["tokens"], ["out"])], "g", [tokens], [out]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, tmp_path / "text.onnx")
    with pytest.raises(ValueError, match=r"takes \[\('tensor\(int64\)', 2\)\]; it must take one"):
        OnnxFile(file=tmp_path / "text.onnx").encode(pictures(1, 32, 32))


def test_without_onnxruntime_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    file = written(tmp_path / "g.onnx", batch=3)
    with pytest.raises(ValueError, match=r"needs onnxruntime.*pip install 'fidal\[onnx\]'"):
        OnnxFile(file=file).encode(pictures(1, 32, 32))
