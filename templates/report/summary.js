// The head of the page: what was built, its checks and its main figures.

/// The checks that were run: the name, whether it was, and what it says.
function checksOf() {
  const { figures, build, array } = contents, { rtl } = build;
  const covered = array ? `every word that a run leaves: ${plural(array.figures.proven_words, "word")}, from the bitstream`
    : figures.proven_cycles ? `${plural(figures.proven_cycles, "tile cycle")}, ${shown(figures.simulated_cycles)} simulated, as the state repeats` : "every word that an operation reads";
  const ran = rtl && (rtl.words === null ? `${rtl.scenarios.join(", ")}: ${plural(rtl.cycles, "cycle")}` : `${plural(rtl.scenarios.length, "scenario")}, ${plural(rtl.words, "word")} compared`);
  return [
    ["proof", true, covered],
    ["model", build.checked_by_model, build.checked_by_model ? "computes what the interpreter computes" : "not run"],
    ["RTL", rtl !== null, ran || ["not run in this build; ", html("code", {}, "make"), " in its folder runs it"]]];
}

const published = name => contents.published?.[name] ?? null;

/// Published values of a figure.
const beside = name => published(name) === null ? "" : `published: ${shown(published(name))}`;

/// The main figures: the value, what it counts, and what there is to say beside it.
function mainFigures() {
  const { figures } = contents;
  const others = [[figures.rom_tiles, "ROM"], [figures.global_buffer_banks, "global-buffer bank"], [figures.register_files, "register file"], [figures.random_access_memories, "RAM"]];
  return [
    [figures.cycles, "cycles", `one stage after the other: ${shown(figures.sequential_cycles)}`, beside("cycles")],
    [figures.memory_tiles, "memory tiles", others.filter(([count]) => count).map(([count, what]) => plural(count, what)).join(", "), beside("memory_tiles")],
    [figures.sram_words, "words in SRAM", `one stage after the other: ${shown(figures.sequential_words)}`, beside("sram_words")],
    [figures.shift_register_words, "words in shift registers", figures.hold_registers ? `and ${plural(figures.hold_registers, "hold register")}` : "", beside("shift_register_words")],
    [figures.processing_elements, "processing elements", figures.multipliers ? plural(figures.multipliers, "multiplier") : "", beside("processing_elements")],
    [`${figures.input_words} / ${figures.output_words}`, "words a cycle", "in / out, at most"]];
}

/// The same of a program on an array.
function arrayFigures() {
  const { figures, array, build } = contents, own = array.figures;
  const share = of => `of ${shown(of.available)}, ${percent(of.used / of.available)}`;
  return [
    [own.cycles, "cycles", `in hardware of its own: ${shown(own.dedicated_cycles)}`, beside("cycles")],
    [own.processing_elements.used, "processing elements", share(own.processing_elements), beside("processing_elements")],
    [own.memories.used, "memory tiles", share(own.memories), beside("memory_tiles")],
    [`${own.inputs.used} / ${own.outputs.used}`, "IO tiles", "words in / out"],
    [figures.sram_words, "words in SRAM", `one stage after the other: ${shown(figures.sequential_words)}`, beside("sram_words")],
    [own.track_registers + own.operand_registers, "registers", `${shown(own.track_registers)} of tracks, ${shown(own.operand_registers)} of operands`],
    [own.bitstream_words, "writes", "of the bitstream"],
    ...(build.clock ? [[build.clock.split(",")[0], "clock", build.clock.split(",").slice(1).join(",").trim()]] : [])];
}

function buildSummary() {
  const { figures, policy, build, version, specs, array } = contents;
  const kinds = { stencil: "Image pipeline in one raster scan", dnn: "Coarse pipeline of loop nests" };
  const where = array ? `the array ${array.name}` : `memory tiles ${figures.tile}`;
  document.getElementById("subtitle").textContent = `${kinds[policy]} on ${where}. Times are unstalled cycles from the start of a run.`;
  const made = [...(array ? [["array", array.name, array.digest]] : []), ...specs.map(spec => ["tile", spec.name, spec.digest])];
  const tiles = made.map(([kind, name, digest]) => `${kind} ${name} (digest ${digest.slice(0, 12)})`);
  document.getElementById("origin").append(html("code", {}, build.command), html("span", {}, [`pushmem ${version}`, ...tiles].join(" · ")));
  document.getElementById("checks").append(...checksOf().map(([name, done, text]) =>
    html("li", { class: done ? "done" : "open", "data-check": name }, html("b", {}, `${name} ${done ? "✓" : "–"}`), html("span", {}, text))));
  const figure = ([value, what, ...more]) => html("div", { class: "figure" }, html("b", {}, typeof value === "number" ? shown(value) : value), html("span", {}, value === 1 ? what.replace(/s\b/, "") : what), more.filter(Boolean).map(text => html("span", { class: "more" }, text)));
  document.getElementById("summary").append(html("div", { class: "figures" }, (array ? arrayFigures() : mainFigures()).map(figure)));
}
