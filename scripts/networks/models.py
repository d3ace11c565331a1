"""Networks in the shapes of MLPerf Tiny and of LeNet, with random weights, quantized by onnxruntime as users quantize theirs; and single
operators with the corner cases of edges, strides, groups and rounding."""

import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

INPUT, OUTPUT = "image", "scores"


class Network:
    """A network of real numbers, built layer by layer."""

    def __init__(self, seed: int):
        self.random = np.random.default_rng(seed)
        self.nodes, self.constants = [], []

    def constant(self, values: np.ndarray) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(values, name))
        return name

    def add(self, operator: str, *operands: str, name: str | None = None, **attributes) -> str:
        name = name or f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(operands), [name], name=name, **attributes))
        return name

    def weights(self, *shape: int) -> str:
        return self.constant((self.random.standard_normal(shape) * np.sqrt(2 / np.prod(shape[1:]))).astype(np.float32))

    def bias(self, channels: int) -> str:
        return self.constant(self.random.standard_normal(channels).astype(np.float32) / 10)

    def convolution(self, x: str, channels: int, to: int, extent: int | tuple[int, int], stride=1, groups=1, relu=True, **more) -> str:
        rows, columns = (extent, extent) if isinstance(extent, int) else extent
        stride = [stride, stride] if isinstance(stride, int) else list(stride)
        more = more or {"auto_pad": "SAME_UPPER"}
        x = self.add("Conv", x, self.weights(to, channels // groups, rows, columns), self.bias(to), group=groups, strides=stride,
                     kernel_shape=[rows, columns], **more)
        return self.add("Relu", x) if relu else x

    def dense(self, x: str, terms: int, to: int, relu=False, **more) -> str:
        x = self.add("Gemm", x, self.weights(to, terms), self.bias(to), transB=1, **more)
        return self.add("Relu", x) if relu else x

    def model(self, shape: list[int]) -> onnx.ModelProto:
        declare = helper.make_tensor_value_info
        graph = helper.make_graph(self.nodes, "network", [declare(INPUT, TensorProto.FLOAT, shape)],
                                  [declare(OUTPUT, TensorProto.FLOAT, None)], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        return onnx.shape_inference.infer_shapes(model)


class Images(CalibrationDataReader):
    """Random images for the calibration of a quantizer."""

    def __init__(self, shape: list[int]):
        random = np.random.default_rng(1)
        self.images = iter([{INPUT: random.random(shape, dtype=np.float32) * 2 - 1} for _ in range(4)])

    def get_next(self):
        return next(self.images, None)


def lenet(network: Network) -> list[int]:
    x = network.convolution(INPUT, 1, 6, 5)
    x = network.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = network.convolution(x, 6, 16, 5, pads=[0, 0, 0, 0])
    x = network.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = network.add("Flatten", x)
    x = network.dense(x, 400, 120, relu=True)
    x = network.dense(x, 120, 84, relu=True)
    network.dense(x, 84, 10, name=OUTPUT)
    return [1, 1, 28, 28]


def resnet8(network: Network) -> list[int]:
    x, channels = network.convolution(INPUT, 3, 16, 3), 16
    for to, stride in [(16, 1), (32, 2), (64, 2)]:
        inner = network.convolution(x, channels, to, 3, stride)
        inner = network.convolution(inner, to, to, 3, relu=False)
        beside = x if stride == 1 else network.convolution(x, channels, to, 1, stride, relu=False)
        x, channels = network.add("Relu", network.add("Add", inner, beside)), to
    x = network.add("Flatten", network.add("GlobalAveragePool", x))
    network.dense(x, 64, 10, name=OUTPUT)
    return [1, 3, 32, 32]


def ds_cnn(network: Network) -> list[int]:
    x = network.convolution(INPUT, 1, 64, (10, 4), 2)
    for _ in range(4):
        x = network.convolution(x, 64, 64, 3, groups=64)
        x = network.convolution(x, 64, 64, 1)
    x = network.add("Flatten", network.add("GlobalAveragePool", x))
    network.dense(x, 64, 12, name=OUTPUT)
    return [1, 1, 49, 10]


def mobilenet(network: Network) -> list[int]:
    x, channels = network.convolution(INPUT, 3, 8, 3, 2), 8
    for to, stride in [(16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), *[(128, 1)] * 5, (256, 2), (256, 1)]:
        x = network.convolution(x, channels, channels, 3, stride, groups=channels)
        x, channels = network.convolution(x, channels, to, 1), to
    x = network.add("Flatten", network.add("GlobalAveragePool", x))
    network.dense(x, 256, 2, name=OUTPUT)
    return [1, 3, 96, 96]


def autoencoder(network: Network) -> list[int]:
    x, terms = INPUT, 640
    for to in [128, 128, 128, 128, 8, 128, 128, 128, 128]:
        x, terms = network.dense(x, terms, to, relu=True), to
    network.dense(x, 128, 640, name=OUTPUT)
    return [1, 640]


def edges(network: Network) -> list[int]:
    """Unlike pads on all sides, dilations, groups, and strides that leave a rest."""
    x = network.convolution(INPUT, 4, 8, (3, 5), (2, 3), groups=2, pads=[2, 1, 0, 3])
    x = network.convolution(x, 8, 8, 3, dilations=[2, 1], pads=[2, 0, 1, 1])
    x = network.add("MaxPool", x, kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1])
    network.convolution(x, 8, 4, 2, relu=False, auto_pad="SAME_LOWER")
    network.nodes[-1].output[0] = OUTPUT
    return [1, 4, 19, 23]


def functions(network: Network) -> list[int]:
    """Functions of each element, and their sums."""
    x = network.convolution(INPUT, 3, 4, 1, relu=False)
    parts = [network.add("Sigmoid", x), network.add("Tanh", x), network.add("LeakyRelu", x, alpha=0.1), network.add("HardSigmoid", x)]
    clipped = network.add("Clip", x, network.constant(np.float32(-0.3)), network.constant(np.float32(0.9)))
    for part in parts:
        clipped = network.add("Add", clipped, part)
    network.convolution(clipped, 4, 2, 1, relu=False)
    network.nodes[-1].output[0] = OUTPUT
    return [1, 3, 8, 8]


def moves(network: Network) -> list[int]:
    """Borders, parts, orders, repeated elements, and tensors of several scales that are joined along each dimension."""
    integers = lambda *values: network.constant(np.array(values, np.int64))
    pads = integers(0, 0, 1, 2, 0, 0, 0, 1)
    x = network.convolution(INPUT, 3, 3, 1, relu=False)
    x = network.convolution(network.add("Pad", x, pads), 3, 6, 3, pads=[0, 0, 0, 0])
    beside = network.convolution(x, 6, 4, 1, relu=False)
    x = network.add("Concat", x, beside, network.add("Sigmoid", beside), axis=1)
    part = network.add("Slice", x, integers(1, -6), integers(9, 1 << 40), integers(1, 3))
    network.nodes.append(helper.make_node("Split", [part, integers(2, 4)], ["upper", "lower"], name="split", axis=2))
    x = network.add("Concat", network.convolution("lower", 8, 8, 1), "upper", axis=-2)
    x = network.add("Concat", x, network.add("Transpose", x, perm=[0, 1, 3, 2]), axis=3)
    scales = network.constant(np.array([1, 1, 3, 2], np.float32))
    x = network.add("Resize", x, "", scales, mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    x = network.convolution(x, 8, 3, 3, (2, 3))
    x = network.add("Transpose", x, perm=[0, 2, 3, 1])
    network.dense(network.add("Flatten", x), 3 * 9 * 8, 10, name=OUTPUT)
    return [1, 3, 7, 6]


def pairs(network: Network) -> list[int]:
    """Products and differences, of channels and a number for each, and of equal scales."""
    x = network.convolution(INPUT, 3, 8, 3)
    gate = network.add("GlobalAveragePool", x)
    gate = network.convolution(network.convolution(gate, 8, 4, 1), 4, 8, 1, relu=False)
    x = network.add("Mul", x, network.add("Sigmoid", gate))
    x = network.add("Sub", x, network.convolution(x, 8, 8, 3, groups=8, relu=False))
    x = network.add("Mul", network.add("Sigmoid", x), x)
    x = network.add("Sub", gate, network.add("Mul", x, x))
    x = network.add("Flatten", network.add("Add", x, gate))
    network.dense(x, 8 * 9 * 7, 10, name=OUTPUT)
    return [1, 3, 9, 7]


def residual(network: Network) -> list[int]:
    """A small network with all kinds of layers."""
    x = network.add("MaxPool", network.convolution(INPUT, 3, 8, 3), kernel_shape=[2, 2], strides=[2, 2])
    beside = network.convolution(x, 8, 8, 3, groups=8)
    x = network.add("Relu", network.add("Add", network.convolution(x, 8, 8, 3, relu=False), beside))
    x = network.convolution(x, 8, 16, 3, 2)
    x = network.add("Flatten", network.add("GlobalAveragePool", x))
    network.dense(x, 16, 10, name=OUTPUT)
    return [1, 3, 16, 16]


NETWORKS = {build.__name__: build for build in [residual, edges, functions, moves, pairs, lenet, autoencoder, ds_cnn, resnet8, mobilenet]}
# Types of activations.
TYPES = {"u8": QuantType.QUInt8, "i8": QuantType.QInt8}


def quantized(name: str, element: str, is_per_channel: bool, form: str, file: Path, seed: int = 0) -> None:
    """Writes a network with integers of 8 bits, in the form QDQ or QOperator."""
    network = Network(seed)
    shape = NETWORKS[name](network)
    with tempfile.TemporaryDirectory() as folder:
        real = Path(folder) / "real.onnx"
        onnx.save(network.model(shape), real)
        quantize_static(real, file, Images(shape), quant_format=QuantFormat.from_string(form), per_channel=is_per_channel,
                        activation_type=TYPES[element], weight_type=QuantType.QInt8)
