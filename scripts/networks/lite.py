"""Networks of TensorFlow Lite with random weights of int8, built operator by operator, and the words that the interpreter of TensorFlow
Lite for Microcontrollers gives for a network: those of its reference kernels."""

from pathlib import Path

import flatbuffers
import numpy as np
from tflite_micro.python.tflite_micro import runtime
from tflite_micro.tensorflow.lite.micro.python import schema_py_generated as schema

INPUT, OUTPUT = "features", "scores"
#: Numbers of types and of options, as in the schema.
TYPES = {"int8": schema.TensorType.INT8, "uint8": schema.TensorType.UINT8, "int32": schema.TensorType.INT32,
         "resource": schema.TensorType.RESOURCE}
SAME, VALID = 0, 1
NONE, RELU, RELU6 = 0, 1, 3


class Network:
    """A network, built operator by operator. A tensor is the number that it has in the file."""

    def __init__(self, seed: int):
        self.random = np.random.default_rng(seed)
        self.buffers, self.codes, self.first = [schema.BufferT()], [], []
        self.graph, self.once = schema.SubGraphT(), schema.SubGraphT()
        for graph in (self.graph, self.once):
            graph.tensors, graph.operators, graph.inputs, graph.outputs = [], [], [], []

    def tensor(self, shape, name=None, kind="int8", scale=None, zero=0, data=None, axis=0, graph=None) -> int:
        """A tensor. A scale may be one of each index along an axis."""
        graph = graph or self.graph
        tensor = schema.TensorT()
        tensor.shape, tensor.type, tensor.name = list(map(int, shape)), TYPES[kind], name or f"tensor_{len(graph.tensors)}"
        if scale is not None:
            tensor.quantization = schema.QuantizationParametersT()
            tensor.quantization.scale = np.atleast_1d(np.float32(scale))
            tensor.quantization.zeroPoint = np.full(tensor.quantization.scale.size, zero, np.int64)
            tensor.quantization.quantizedDimension = axis
        tensor.buffer = 0
        if data is not None:
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(np.ascontiguousarray(data).tobytes(), np.uint8)
            tensor.buffer = len(self.buffers)
            self.buffers.append(buffer)
        graph.tensors.append(tensor)
        return len(graph.tensors) - 1

    def sizes(self, *values: int) -> int:
        return self.tensor([len(values)], kind="int32", data=np.array(values, np.int32))

    def shape(self, x: int) -> list[int]:
        return self.graph.tensors[x].shape

    def quantization(self, x: int) -> tuple[float, int]:
        of = self.graph.tensors[x].quantization
        return float(of.scale[0]), int(of.zeroPoint[0])

    def add(self, name: str, inputs: list[int], outputs: list[int], options=None, graph=None, **values) -> None:
        """An operator with options of a type of the schema."""
        number = getattr(schema.BuiltinOperator, name)
        if number not in self.codes:
            self.codes.append(number)
        operator = schema.OperatorT()
        operator.opcodeIndex, operator.inputs, operator.outputs = self.codes.index(number), inputs, outputs
        if options:
            operator.builtinOptionsType = getattr(schema.BuiltinOptions, options)
            operator.builtinOptions = getattr(schema, f"{options}T")()
            for key, value in values.items():
                if not hasattr(operator.builtinOptions, key):
                    raise KeyError(key)
                setattr(operator.builtinOptions, key, value)
        (graph or self.graph).operators.append(operator)

    def convolution(self, x: int, to: int, extent=(1, 1), stride=(1, 1), dilation=(1, 1), padding=SAME, activation=RELU, depthwise=False,
                    per_channel=True, zero=-128) -> int:
        """`CONV_2D` or `DEPTHWISE_CONV_2D` with rows and columns of a window, to so many channels."""
        (_, rows, columns, channels), (scale, _) = self.shape(x), self.quantization(x)
        shape = [1, *extent, to] if depthwise else [to, *extent, channels]
        scales = self.random.uniform(0.001, 0.01, to if per_channel else 1)
        weights = self.tensor(shape, scale=scales, axis=3 if depthwise else 0, data=self.random.integers(-127, 128, shape, np.int8))
        terms = extent[0] * extent[1] * (1 if depthwise else channels)
        bias = self.tensor([to], kind="int32", scale=scale * scales, data=self.random.integers(-4000, 4000, to, np.int32))
        windows = [-(-size // step) if padding == SAME else (size - (taps - 1) * by - 1) // step + 1
                   for size, taps, step, by in zip((rows, columns), extent, stride, dilation)]
        out = self.tensor([1, *windows, to], scale=scale * scales.mean() * 40 * terms ** 0.5, zero=zero)
        values = dict(padding=padding, strideH=stride[0], strideW=stride[1], dilationHFactor=dilation[0], dilationWFactor=dilation[1],
                      fusedActivationFunction=activation)
        if depthwise:
            self.add("DEPTHWISE_CONV_2D", [x, weights, bias], [out], "DepthwiseConv2DOptions", depthMultiplier=to // channels, **values)
        else:
            self.add("CONV_2D", [x, weights, bias], [out], "Conv2DOptions", **values)
        return out

    def dense(self, x: int, to: int, zero=7) -> int:
        scale, _ = self.quantization(x)
        terms = int(np.prod(self.shape(x)))
        weights = self.tensor([to, terms], scale=0.01, data=self.random.integers(-127, 128, [to, terms], np.int8))
        bias = self.tensor([to], kind="int32", scale=scale * 0.01, data=self.random.integers(-4000, 4000, to, np.int32))
        out = self.tensor([1, to], scale=scale * 0.01 * 60 * terms ** 0.5, zero=zero)
        self.add("FULLY_CONNECTED", [x, weights, bias], [out], "FullyConnectedOptions")
        return out

    def pair(self, name: str, x: int, y: int, scale: float, zero=0, activation=NONE) -> int:
        shape = [max(one, other) for one, other in zip(self.shape(x), self.shape(y))]
        out = self.tensor(shape, scale=scale, zero=zero)
        self.add(name, [x, y], [out], f"{name.title()}Options", fusedActivationFunction=activation)
        return out

    def pool(self, name: str, x: int, extent, stride, padding=VALID) -> int:
        (_, rows, columns, channels), (scale, zero) = self.shape(x), self.quantization(x)
        windows = [-(-size // step) if padding == SAME else (size - taps) // step + 1
                   for size, taps, step in zip((rows, columns), extent, stride)]
        out = self.tensor([1, *windows, channels], scale=scale, zero=zero)
        self.add(name, [x], [out], "Pool2DOptions", padding=padding, strideH=stride[0], strideW=stride[1], filterHeight=extent[0],
                 filterWidth=extent[1])
        return out

    def same(self, name: str, x: int, inputs: list[int], shape, options=None, scale=None, zero=None, kind="int8", **values) -> int:
        """An operator of one tensor, to the same quantization unless another one is given."""
        own = self.quantization(x)
        out = self.tensor(shape, kind=kind, scale=scale or own[0], zero=own[1] if zero is None else zero)
        self.add(name, [x, *inputs], [out], options, **values)
        return out

    def join(self, axis: int, *parts: int) -> int:
        shape = list(self.shape(parts[0]))
        shape[axis] = sum(self.shape(part)[axis] for part in parts)
        scale, zero = self.quantization(parts[0])
        out = self.tensor(shape, scale=scale, zero=zero)
        self.add("CONCATENATION", list(parts), [out], "ConcatenationOptions", axis=axis)
        return out

    def rows(self, x: int, first: int) -> int:
        """The rows from this one on; below 0 from the end."""
        _, rows, columns, channels = self.shape(x)
        places = [self.sizes(*values) for values in ([0, first, 0, 0], [0, 0, 0, channels], [1, 1, 1, 1])]
        kept = -first if first < 0 else rows - first
        return self.same("STRIDED_SLICE", x, places, [1, kept, columns, channels], "StridedSliceOptions", beginMask=13, endMask=15)

    def state(self, name: str, shape, like: int) -> tuple[int, int]:
        """A state of the quantization of a tensor, and its elements."""
        scale, zero = self.quantization(like)
        handle = self.tensor([], f"{name}/handle", "resource")
        self.first.append((name, handle))
        own = self.tensor([], f"{name}/once", "resource", graph=self.once)
        value = self.tensor(shape, scale=scale, zero=zero, data=np.full(shape, zero, np.int8), graph=self.once)
        self.add("VAR_HANDLE", [], [own], "VarHandleOptions", self.once, sharedName=name)
        self.add("ASSIGN_VARIABLE", [own, value], [], "AssignVariableOptions", self.once)
        read = self.tensor(shape, scale=scale, zero=zero)
        self.add("READ_VARIABLE", [handle], [read], "ReadVariableOptions")
        return handle, read

    def stream(self, name: str, x: int, rows: int) -> int:
        """A tensor behind so many rows of the steps before."""
        _, _, columns, channels = self.shape(x)
        handle, read = self.state(name, [1, rows, columns, channels], x)
        joined = self.join(1, read, x)
        self.add("ASSIGN_VARIABLE", [handle, self.rows(joined, -rows)], [], "AssignVariableOptions")
        return joined

    def write(self, file: Path, outputs: list[int]) -> None:
        self.graph.inputs, self.graph.outputs = [0], outputs
        for number, output in enumerate(outputs):
            self.graph.tensors[output].name = OUTPUT if number == 0 else f"{OUTPUT}_{number}"
        # States have names before all, and elements before the first step.
        own = self.graph.operators
        self.graph.operators = []
        if self.first:
            self.add("CALL_ONCE", [], [], "CallOnceOptions", initSubgraphIndex=1)
        for name, handle in self.first:
            self.add("VAR_HANDLE", [], [handle], "VarHandleOptions", sharedName=name)
        self.graph.operators += own
        model = schema.ModelT()
        model.version, model.buffers, model.subgraphs = 3, self.buffers, [self.graph, *([self.once] if self.first else [])]
        model.operatorCodes = []
        for number in self.codes:
            code = schema.OperatorCodeT()
            code.builtinCode, code.deprecatedBuiltinCode, code.version = number, min(number, 127), 1
            model.operatorCodes.append(code)
        write(model, file)


def write(model: schema.ModelT, file: Path) -> None:
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    file.write_bytes(bytes(builder.Output()))


def streaming(network: Network) -> list[int]:
    """A small wake word: rows of earlier steps before windows along time, channels in two groups, and a score of 8 bits."""
    x = network.tensor([1, 2, 8], INPUT, scale=0.1, zero=-128)
    x = network.same("RESHAPE", x, [network.sizes(1, 2, 1, 8)], [1, 2, 1, 8])
    x = network.convolution(network.stream("first", x, 3), 16, (5, 1), (2, 1), padding=VALID)
    x = network.convolution(network.stream("second", x, 4), 16, (5, 1), padding=VALID, activation=NONE, depthwise=True, zero=3)
    x = network.convolution(x, 16)
    x = network.stream("third", x, 6)
    scale, zero = network.quantization(x)
    parts = [network.tensor([1, 7, 1, 8], scale=scale, zero=zero) for _ in range(2)]
    axis = network.tensor([], kind="int32", data=np.int32(-1))
    network.add("SPLIT_V", [x, network.sizes(8, 8), axis], parts, "SplitVOptions", numSplits=2)
    short = network.convolution(network.rows(parts[0], -3), 8, (3, 1), padding=VALID, activation=NONE, depthwise=True, zero=5)
    long = network.convolution(parts[1], 8, (7, 1), padding=VALID, activation=NONE, depthwise=True, zero=5)
    network.graph.tensors[long].quantization = network.graph.tensors[short].quantization
    x = network.convolution(network.join(3, short, long), 16)
    x = network.dense(x, 3)
    x = network.same("LOGISTIC", x, [], network.shape(x), scale=1 / 256, zero=-128)
    return [network.same("QUANTIZE", x, [], network.shape(x), scale=1 / 256, zero=0, kind="uint8")]


def layers(network: Network) -> list[int]:
    """Windows with and without edges, several kinds of sums, and means."""
    x = network.tensor([1, 13, 10, 3], INPUT, scale=0.05, zero=-5)
    x = network.convolution(x, 8, (3, 4), (2, 1), zero=-3, activation=NONE)
    x = network.convolution(x, 16, (3, 3), (1, 2), depthwise=True, activation=RELU6)
    beside = network.convolution(x, 16, (3, 2), dilation=(2, 1), per_channel=False, activation=NONE, zero=9)
    scale, other = network.quantization(x)[0], network.quantization(beside)[0]
    total = network.pair("ADD", x, beside, scale + other / 2, 4, RELU)
    total = network.pair("SUB", total, x, scale, -20)
    pads = network.tensor([4, 2], kind="int32", data=np.array([[0, 0], [1, 2], [0, 1], [0, 0]], np.int32))
    total = network.same("PAD", total, [pads], [1, 10, 6, 16], "PadOptions")
    most = network.pool("MAX_POOL_2D", total, (3, 2), (2, 1), SAME)
    mean = network.pool("AVERAGE_POOL_2D", most, (2, 3), (1, 2))
    of_all = network.same("MEAN", mean, [network.sizes(1, 2)], [1, 1, 1, 16], "ReducerOptions", scale=scale * 0.7, zero=11, keepDims=True)
    x = network.pair("MUL", mean, of_all, scale * 2, 1)
    x = network.same("RESHAPE", x, [network.sizes(1, -1)], [1, int(np.prod(network.shape(x)))])
    return [network.dense(x, 12), most, of_all]


def elements(network: Network) -> list[int]:
    """Functions of each element, parts, and tensors that are joined."""
    x = network.tensor([1, 16, 16, 2], INPUT, scale=0.06, zero=-9)
    shape = network.shape(x)
    parts = [network.same("LOGISTIC", x, [], shape, scale=1 / 256, zero=-128), network.same("TANH", x, [], shape, scale=1 / 128, zero=0),
             network.same("RELU", x, [], shape, scale=0.05, zero=-100), network.same("RELU6", x, [], shape),
             network.same("LEAKY_RELU", x, [], shape, "LeakyReluOptions", scale=0.07, zero=20, alpha=0.1)]
    parts = [network.same("QUANTIZE", part, [], shape, scale=0.03, zero=-40) for part in parts]
    x = parts[0]
    for number, part in enumerate(parts[1:]):
        x = network.join(2, x, part) if number % 2 == 0 else network.join(2, part, x)
    places = [network.sizes(*values) for values in ([0, 1, -70, 0], [1, 15, 80, 2], [1, 3, 2, 1])]
    x = network.same("STRIDED_SLICE", x, places, [1, 5, 35, 2], "StridedSliceOptions")
    places = [network.sizes(0, 1, 3, 0), network.sizes(1, -1, 30, 2)]
    return [x, network.same("SLICE", x, places, [1, 4, 30, 2], "SliceOptions")]


def recurrent(network: Network) -> list[int]:
    """A state that is computed from itself, as in a recurrent layer."""
    x = network.tensor([1, 4, 6], INPUT, scale=0.05, zero=2)
    handle, read = network.state("memory", [1, 4, 6], x)
    total = network.pair("ADD", x, read, 0.07, -4)
    kept = network.same("QUANTIZE", total, [], [1, 4, 6], scale=0.05, zero=2)
    network.add("ASSIGN_VARIABLE", [handle, kept], [], "AssignVariableOptions")
    return [network.same("TANH", total, [], [1, 4, 6], scale=1 / 128, zero=0)]


NETWORKS = {build.__name__: build for build in [streaming, layers, elements, recurrent]}


def built(name: str, file: Path, seed: int = 0) -> None:
    """Writes a network."""
    network = Network(seed)
    network.write(file, NETWORKS[name](network))


def expose(model: Path, file: Path) -> None:
    """Writes a network whose sums and functions are all outputs."""
    network = schema.ModelT.InitFromPackedBuf(model.read_bytes(), 0)
    [graph, *_] = network.subgraphs
    of = schema.BuiltinOperator
    shown = [of.CONV_2D, of.DEPTHWISE_CONV_2D, of.FULLY_CONNECTED, of.LOGISTIC, of.QUANTIZE]
    codes = [max(code.builtinCode, code.deprecatedBuiltinCode) for code in network.operatorCodes]
    graph.outputs = [operator.outputs[0] for operator in graph.operators if codes[operator.opcodeIndex] in shown]
    network.signatureDefs = None
    for number, output in enumerate(graph.outputs):
        graph.tensors[output].name = f"{OUTPUT}_{number}"
    graph.tensors[graph.inputs[0]].name = INPUT
    write(network, file)


def in_order(tensor: np.ndarray) -> np.ndarray:
    """A tensor of one image in the order of `pushmem`: rows, columns, channels; a vector has channels only."""
    shape = {4: tensor.shape[1:], 3: (*tensor.shape[1:2], 1, tensor.shape[-1])}.get(tensor.ndim, (1, 1, tensor.shape[-1]))
    return tensor.reshape(shape)


def expected(file: Path, batch: int, given: np.ndarray | None = None) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Steps, random ones unless some are given, and the words of each output after each."""
    [graph, *_] = schema.ModelT.InitFromPackedBuf(file.read_bytes(), 0).subgraphs
    interpreter = runtime.Interpreter.from_file(str(file), arena_size=1 << 22)
    shape = interpreter.get_input_details(0)["shape"]
    # Where all is random, sums are small: half of the steps are of one sign, and some are empty.
    random = np.random.default_rng(2)
    steps = random.integers(-128, 128, [batch, *shape]).astype(np.int8) if given is None else given.reshape(batch, *shape)
    if given is None:
        steps[: batch // 2] = random.integers(-128, -30, [batch // 2, *shape])
        steps[batch // 4 : batch // 3] = -128
    words = {graph.tensors[number].name.decode(): [] for number in graph.outputs}
    for step in steps:
        interpreter.set_input(step, 0)
        interpreter.invoke()
        for number, of_output in enumerate(words.values()):
            of_output.append(in_order(interpreter.get_output(number)).astype(np.int64))
    return np.stack([in_order(step) for step in steps]), {name: np.stack(of_output) for name, of_output in words.items()}
