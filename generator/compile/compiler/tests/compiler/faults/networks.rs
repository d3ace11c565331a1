//! Small networks that together have all kinds of kept arrays.

/// Name, tile, and text.
pub const NETWORKS: [(&str, &str, &str); 4] = [
    // Banks, versions of arrays for tiles, weights that stay, several readers.
    (
        "convolution",
        "amber",
        "
name: convolution
inputs:
  input: {type: i16, shape: [2, 15, 6]}
  weights: {type: i16, shape: [2, 4, 3]}
outputs: {output: {type: i16, shape: [4, 12, 6]}}
buffers:
  loaded: {type: i16, shape: [2, 9, 6]}
  kernel: {type: i16, shape: [2, 4, 3]}
  sums: {type: i16, shape: [4, 6, 6]}
nest:
  - for r in 0..3:
    - for w in 0..4:
      - for z in 0..2:
        - kernel[z, w, r] = weights[z, w, r]
  - for t in 0..2:
    - for y in 0..6:
      - for x in 0..9:
        - for z in 0..2 unroll 2:
          - loaded[z, x, y] = input[z, 6*t + x, y]
    - for y in 0..6:
      - for x in 0..6:
        - for w in 0..4 unroll 2:
          - sums[w, x, y] = 7
    - for r in 0..3:
      - for y in 0..6:
        - for x in 0..6:
          - for w in 0..4 unroll 2:
            - for z in 0..2 unroll 2:
              - sums[w, x, y] += kernel[z, w, r] * loaded[z, x + r, y]
    - for y in 0..6:
      - for x in 0..6:
        - for w in 0..4:
          - output[w, 6*t + x, y] = max(sums[w, x, y], 0)
",
    ),
    // Two layers, and the input of the first added to the second; an update in place.
    (
        "residual",
        "dual_port",
        "
name: residual
inputs:
  input: {type: u16, shape: [4, 12]}
  weights: {type: u16, shape: [4, 4]}
outputs: {output: {type: u16, shape: [4, 12]}}
buffers:
  loaded: {type: u16, shape: [4, 12]}
  kernel: {type: u16, shape: [4, 4]}
  first: {type: u16, shape: [4, 12]}
  second: {type: u16, shape: [4, 12]}
nest:
  - for x in 0..12:
    - for z in 0..4:
      - loaded[z, x] = input[z, x]
  - for w in 0..4:
    - for z in 0..4:
      - kernel[z, w] = weights[z, w]
  - for x in 0..12:
    - for w in 0..4:
      - first[w, x] = 0
  - for z in 0..4:
    - for x in 0..12:
      - for w in 0..4:
        - first[w, x] += kernel[z, w] * loaded[z, x]
  - for x in 0..12:
    - for w in 0..4:
      - first[w, x] = min(first[w, x] >> 1, 1000)
  - for x in 0..12:
    - for w in 0..4:
      - second[w, x] = 0
  - for z in 0..4:
    - for x in 0..12:
      - for w in 0..4:
        - second[w, x] += kernel[w, z] * first[z, x]
  - for x in 0..12:
    - for w in 0..4:
      - output[w, x] = second[w, x] + loaded[w, x]
",
    ),
    // A sum over all tiles, initialized outside of their loop, and a transposed read.
    (
        "product",
        "quad_port",
        "
name: product
inputs:
  a: {type: i16, shape: [8, 6]}
  b: {type: i16, shape: [5, 8]}
outputs: {output: {type: i16, shape: [6, 5]}}
buffers:
  a_part: {type: i16, shape: [4, 6]}
  b_part: {type: i16, shape: [5, 4]}
  sums: {type: i16, shape: [5, 6]}
nest:
  - for y in 0..6:
    - for x in 0..5:
      - sums[x, y] = -1
  - for t in 0..2:
    - for y in 0..6:
      - for r in 0..4:
        - a_part[r, y] = a[4*t + r, y]
    - for r in 0..4:
      - for x in 0..5:
        - b_part[x, r] = b[x, 4*t + r]
    - for r in 0..4:
      - for y in 0..6:
        - for x in 0..5:
          - sums[x, y] += a_part[r, y] * b_part[x, r]
  - for x in 0..5:
    - for y in 0..6:
      - output[y, x] = sums[x, y]
",
    ),
    // Arrays at two levels of the memory hierarchy, and two images.
    (
        "levels",
        "dual_port",
        "
name: levels
inputs: {input: {type: u16, shape: [4, 10, 2], level: global_buffer}}
outputs: {output: {type: u16, shape: [4, 8, 2]}}
buffers: {tile: {type: u16, shape: [4, 6]}}
nest:
  - for n in 0..2:
    - for t in 0..2:
      - for y in 0..6:
        - for x in 0..4:
          - tile[x, y] = input[x, 4*t + y, n]
      - for y in 0..4:
        - for x in 0..4:
          - output[x, 4*t + y, n] = tile[x, 5 - y] * 3 + tile[3 - x, y]
",
    ),
];
