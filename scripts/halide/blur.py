"""A blur in Halide as an accelerator: its figures, and its pixels beside those that Halide computes."""

import halide as hl
import numpy as np
from pushmem_halide import compute_at, hw_accelerate, stream_to_accelerator

x, y = hl.Var("x"), hl.Var("y")
image = stream_to_accelerator("input", hl.UInt(16), 2)
rows, blur = hl.Func("rows"), hl.Func("blur")
rows[x, y] = (image[x, y] + image[x + 1, y] + image[x + 2, y]) / 3
blur[x, y] = (rows[x, y] + rows[x, y + 1] + rows[x, y + 2]) / 3
compute_at(rows.store_root(), blur, y)

accelerator = hw_accelerate(blur, [62, 62], [image])
print(accelerator.build("out/blur"))
picture = np.random.default_rng(0).integers(0, 4096, (64, 64), dtype=np.uint16)
print(accelerator.compare({"input": picture}))
