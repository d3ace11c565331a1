//! Memories that are made for the program.

use pushmem_graph::{Driver, reads_apart};

use crate::common::{FIXED, app, apps, compare, compiled, program};

/// Programs take hardly more cycles than with tiles of the same ports, and memories have room for hardly more words than live.
#[test]
fn programs_are_as_fast_as_on_tiles_with_the_same_ports() {
    let mut loose = Vec::new();
    for name in apps() {
        // Those that compile for seconds.
        if name.contains("resnet_tiled") || name.starts_with("fsrcnn") || name.starts_with("matmul") {
            continue;
        }
        let made = compiled(app(&name), FIXED);
        let tiles = compiled(app(&name), "dual_port_long");
        // A stage has one addition, where three fit with tiles.
        let (length, most) = (made.accelerator.length, tiles.accelerator.length * 101 / 100 + 30);
        assert!(length <= most, "{name}: {length} cycles, {most} at most");
        let (room, live) = (made.accelerator.made_words(), made.accelerator.memory_words());
        loose.push(room as f64 / live.max(1) as f64);
        assert!(made.accelerator.configured().is_empty(), "{name}");
    }
    loose.sort_by(f64::total_cmp);
    assert!(loose[loose.len() / 2] <= 1.2, "{loose:?}");
}

/// The two lines of an image are one memory with one counter.
#[test]
fn delays_of_one_length_are_one_memory() {
    let accelerator = compiled(app("gaussian"), FIXED).accelerator;
    let lines: Vec<(u64, usize)> = accelerator.delay_lines.iter().map(|line| (line.length, line.wires.len())).collect();
    assert_eq!(lines, [(62, 2)]);
    assert_eq!((accelerator.tiles.len(), accelerator.shift_register_words()), (0, 6));
}

/// Words that come now and then are kept alone, where a delay line would keep what is between them as well.
#[test]
fn sparse_words_are_kept_alone() {
    let sparse = |rows: usize| {
        let text = format!(
            "name: sparse\ninputs: {{image: {{type: u16, shape: [256, {rows}]}}}}\noutputs: {{o: {{type: u16, shape: [64, {}]}}}}\n\
             buffers: {{thin: {{type: u16, shape: [64, {rows}]}}}}\nnest:\n  - for y in 0..{rows}:\n    - for x in 0..64:\n      \
             - thin[x, y] = image[4*x, y] + image[4*x+1, y] + image[4*x+2, y] + image[4*x+3, y]\n  - for y in 0..{}:\n    \
             - for x in 0..64:\n      - o[x, y] = thin[x, y] + thin[x, y+4]\n",
            rows - 4,
            rows - 4
        );
        compiled(program(&text), FIXED)
    };
    let made = sparse(8);
    compare(&made);
    let long = |wire: &pushmem_graph::Wire| matches!(wire.driver, Driver::ShiftRegister { length, .. } if length > 100);
    assert!(!made.accelerator.wires.iter().any(long), "{:?}", made.accelerator.delay_lines);
    assert!(made.accelerator.made_words() < 300, "{}", made.accelerator.made_words());
}

/// Most words of this array are never read, and those that are lie far from each other.
#[test]
fn memories_of_scattered_words_are_no_larger_than_their_arrays() {
    let text = "name: pairs\ninputs: {image: {type: u16, shape: [64, 64]}}\noutputs: {o: {type: u16, shape: [4, 60]}}\n\
                buffers: {a: {type: u16, shape: [64, 64]}}\nnest:\n  - for y in 0..64:\n    - for x in 0..64:\n      \
                - a[x, y] = image[x, y] + 1\n  - for y in 0..60:\n    - for x in 0..4:\n      - o[x, y] = 0\n    - for j in 0..4:\n      \
                - for k in 0..2:\n        - for x in 0..4:\n          - o[x, y] += a[16 * x + k, y + j]\n";
    let made = compiled(program(text), FIXED);
    compare(&made);
    assert!(made.accelerator.made_words() <= 8192, "{}", made.accelerator.made_words());
}

/// No port of most memories has to know of the other.
#[test]
fn words_are_seldom_read_while_they_are_written() {
    for name in ["transpose", "resnet_tiny", "depthwise"] {
        let accelerator = compiled(app(name), FIXED).accelerator;
        let mut tiles = accelerator.tiles.iter();
        assert!(tiles.all(|tile| reads_apart(&tile.configuration, &tile.spec)), "{name}");
    }
}
