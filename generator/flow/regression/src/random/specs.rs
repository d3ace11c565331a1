//! Random specifications of tiles.

use itertools::Itertools;
use pushmem_files::Document;
use pushmem_tile::{Kind, MAX_ROWS, Reset, TileSpec};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::{ChooseWith, LIMIT_PROBABILITY};

/// A random specification that can be built, small enough to build and run quickly.
pub fn random_spec(rng: &mut ChaCha8Rng) -> TileSpec {
    drawn_spec(rng, |rng| rng.random_range(2..=48))
}

/// A random specification of a tile with modes, with access to its contents, or with chained outputs, as [`random_spec`]; now and then of
/// narrow words.
pub fn random_spec_with_extras(rng: &mut ChaCha8Rng) -> TileSpec {
    const EXTRAS: [&str; 5] = ["fifo_mode", "ram_mode", "rom_mode", "contents", "output_chaining"];
    loop {
        let spec = random_spec(rng);
        let narrow = rng.random_bool(0.2).then(|| rng.random_range(1..8));
        let spec = TileSpec { word_bits: narrow.unwrap_or(spec.word_bits), ..spec };
        let wanted = EXTRAS.into_iter().filter(|_| rng.random_bool(0.6));
        let text = spec.to_yaml() + &wanted.map(|extra| format!("{extra}: true\n")).join("");
        // Not every tile can have every extra; those that are refused are drawn again.
        let document = Document::parse("random specification", text).expect("the text is YAML");
        if let Ok(spec) = TileSpec::from_document(&document)
            && (spec.has_modes() || spec.contents || spec.output_chaining)
        {
            return spec;
        }
    }
}

/// A random specification of all that there are, for checks of its text: with as many rows as a tile may have.
pub fn random_spec_of_any_size(rng: &mut ChaCha8Rng) -> TileSpec {
    drawn_spec(rng, |rng| {
        if rng.random_bool(LIMIT_PROBABILITY) {
            return *[2, 3, MAX_ROWS - 1, MAX_ROWS].choose_with(rng);
        }
        // Small and large ones alike.
        let most = 2 << rng.random_range(1..MAX_ROWS.ilog2());
        rng.random_range(2..=most)
    })
}

/// A random specification that can be built, with rows that `rows` draws.
fn drawn_spec(rng: &mut ChaCha8Rng, rows: impl Fn(&mut ChaCha8Rng) -> u32) -> TileSpec {
    let read = |text: String| {
        TileSpec::from_document(&Document::parse("random specification", text).expect("the text is YAML")).ok()
    };
    // Not every combination is possible; those that are refused are drawn again.
    loop {
        let text = random_spec_text(rng, &rows);
        let Some(spec) = read(text.clone()) else { continue };
        if let Some(spec) = read(text + &random_roles(&spec, rng)) {
            return with_random_options(spec, rng);
        }
    }
}

/// The specification with what a chip may choose.
fn with_random_options(spec: TileSpec, rng: &mut ChaCha8Rng) -> TileSpec {
    let reset = *[Reset::Asynchronous, Reset::Synchronous].choose_with(rng);
    let clock_gating = rng.random();
    // A register file has no SRAM to test.
    let bist = spec.kind != Kind::RegisterFile && rng.random();
    let shadow_registers = rng.random();
    TileSpec { reset, clock_gating, bist, shadow_registers, ..spec }
}

/// Lines for roles with limits of their own, and with addresses wider than they need to be.
fn random_roles(spec: &TileSpec, rng: &mut ChaCha8Rng) -> String {
    let main = spec.main_memory();
    // A chain has one address space, of some tiles.
    let row_bits = spec.rows.next_power_of_two().ilog2();
    let chain_bits = spec.chaining.then(|| row_bits + rng.random_range(1..=32 - row_bits));
    let mut text = String::new();
    for (role, controller) in &spec.controllers {
        let mut limits = Vec::new();
        if rng.random_bool(0.3) {
            limits.push(format!("levels: {}", rng.random_range(1..=8)));
        }
        for width in ["extent_bits", "cycle_bits"] {
            if rng.random_bool(0.3) {
                limits.push(format!("{width}: {}", random_width(rng)));
            }
        }
        let widths = controller.address_bits.iter().filter_map(|(&memory, &bits)| {
            let wider = rng.random_bool(0.4).then(|| (bits + rng.random_range(1..=8)).min(32));
            let bits = if memory == main { chain_bits.or(wider) } else { wider };
            bits.map(|bits| format!("{}: {bits}", memory.name()))
        });
        let widths = widths.collect_vec();
        if !widths.is_empty() {
            limits.push(format!("address_bits: {{{}}}", widths.join(", ")));
        }
        if !limits.is_empty() {
            text.push_str(&format!("  {}: {{{}}}\n", role.name(), limits.join(", ")));
        }
    }
    text
}

fn random_spec_text(rng: &mut ChaCha8Rng, rows: impl Fn(&mut ChaCha8Rng) -> u32) -> String {
    let kind =
        *["wide_fetch", "wide_fetch", "wide_fetch", "dual_port", "quad_port", "register_file", "rom"].choose_with(rng);
    let style = *["recurrence", "recurrence", "per_level", "multiplier"].choose_with(rng);
    let mut lines = vec![
        "name: random".to_owned(),
        format!("kind: {kind}"),
        format!("style: {style}"),
        format!("word_bits: {}", rng.random_range(8..=64)),
        format!("stencil_valid: {}", rng.random_bool(0.5)),
    ];
    let chaining = kind != "rom" && rng.random_bool(0.5);
    lines.push(format!("chaining: {chaining}"));
    let rows = rows(rng);
    lines.push(format!("rows: {}", if chaining { rows.next_power_of_two() } else { rows }));
    if kind != "rom" {
        lines.push(format!("inputs: {}", rng.random_range(1..=4)));
        lines.push(format!("outputs: {}", rng.random_range(1..=4)));
    }
    if kind != "register_file" {
        lines.push(format!("sram_latency: {}", rng.random_range(1..=2)));
    }
    if kind == "wide_fetch" {
        let fetch_width = *[1, 2, 4, 8].choose_with(rng);
        lines.push(format!("fetch_width: {fetch_width}"));
        lines.push(format!("agg_words: {}", fetch_width * rng.random_range(1..=16)));
        lines.push(format!("tb_words: {}", fetch_width * rng.random_range(1..=16)));
    }
    lines.push("controllers:".to_owned());
    lines.push(format!(
        "  all: {{levels: {}, extent_bits: {}, cycle_bits: {}}}",
        rng.random_range(1..=8),
        random_width(rng),
        random_width(rng)
    ));
    lines.join("\n") + "\n"
}

/// Bits of an extent or a schedule: mostly some that leave room, now and then very few, or all that are possible.
fn random_width(rng: &mut ChaCha8Rng) -> u32 {
    match rng.random_range(0..10) {
        0 => rng.random_range(1..=6),
        1 => 32,
        _ => rng.random_range(7..=24),
    }
}
