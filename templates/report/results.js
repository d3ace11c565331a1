// The results: the use of the run's cycles and of the parts of the hardware, figures beside others.

/// A bar for a share of 1.
const bar = share => html("span", { class: "gauge", role: "img", "aria-label": percent(share) }, html("i", { style: `width:${(100 * Math.min(share, 1)).toFixed(1)}%` }));

/// The unit that a stage shares with others.
const unitOf = place => contents.units.find(unit => unit.stages.includes(place));

/// All that is busy in a run: streams, kernels, shared units, ports of memories. Each with the cycles of the run in which it is in use.
function users() {
  const fired = stage => inRun(timed(stage.sequence));
  const stages = contents.stages.flatMap((stage, place) => ["stream", "kernel"].includes(stage.executed) && !unitOf(place)
    ? [{ name: stage.name, kind: stage.executed === "stream" ? "stream" : "kernel", count: fired(stage), stages: [stage] }] : []);
  const units = contents.units.map(unit => {
    const stages = unit.stages.map(place => contents.stages[place]);
    return { name: unit.name, kind: "shared unit", count: stages.reduce((sum, stage) => sum + fired(stage), 0), stages };
  });
  const ports = contents.memories.map((memory, number) => {
    const all = contents.tiles.filter(tile => tile.memory === number).flatMap(tile => contents.specs[tile.spec].ports.map(port => [port.name, accesses(tile, port)]));
    const [port, count] = all.reduce((most, other) => other[1] > most[1] ? other : most, ["", 0]);
    return { name: memory.name, kind: `busiest ${port}`, count, stages: [] };
  });
  return [...stages, ...units, ...ports.filter(port => port.count)].sort((one, other) => other.count - one.count);
}

/// Cycles without an iteration that the strides of loops leave after each pass of a loop, those of the innermost first.
function gapsOf(seq) {
  const gaps = [];
  let inside = 1;
  seq.extent.forEach((extent, level) => {
    const gap = seq.stride[level] - inside;
    if (gap > 0) gaps.push({ gap, after: level ? seq.names[level - 1] : null });
    inside = seq.stride[level] * extent;
  });
  return gaps;
}

/// The busiest part, and the use of the rest of the cycles.
function busiestText(most) {
  const { cycles } = contents.figures;
  const start = html("b", {}, `${most.name} (${most.kind})`), share = `${shown(most.count)} of ${plural(cycles, "cycle")}, ${percent(most.count / cycles)}`;
  const apart = `: runs that overlap could not begin closer than ${plural(most.count, "cycle")} after each other. `;
  if (most.stages.length !== 1) return [start, ` is the busiest part: it is in use in ${share}${apart}`];
  const seq = timed(most.stages[0].sequence), between = seq.last - seq.start + 1 - seq.total;
  const gaps = gapsOf(seq).map(({ gap, after }) => after ? `${shown(gap)} after each pass of ${after}` : `${shown(gap)} after each iteration`);
  const rest = [[seq.start, "before its first iteration"], [between, `between iterations${gaps.length ? ` (${gaps.join(", ")})` : ""}`], [cycles - 1 - seq.last, "after its last"]];
  const told = rest.filter(([count]) => count > 0).map(([count, where]) => `${shown(count)} ${where}`);
  return [start, ` is the busiest part: it has an iteration in ${share}${apart}`, told.length ? `Its other cycles: ${told.join("; ")}.` : ""];
}

/// Twice the copies of all that is too slow for half of the cycles of the busiest: what that costs and gains.
function nextStepText() {
  const next = contents.figures.bottleneck?.next_step;
  if (!next) return "";
  const costs = [[next.multipliers, "multiplier"], [next.processing_elements, "processing element"], [next.words, "word a cycle", "words a cycle"]];
  const told = costs.filter(([count]) => count > 0).map(([count, one, many]) => `${shown(count)} more ${count === 1 ? one : many || `${one}s`}`);
  return html("p", { class: "note" }, `The next step: twice the copies of ${next.of.join(", ")} take about ${plural(next.cycles, "cycle")}, with ${told.join(", ")}.`);
}

function buildTime() {
  const all = users(), { cycles } = contents.figures, most = 10;
  const rows = all.slice(0, most).map(({ name, kind, count }) => [nameCell(name), kind, count, bar(count / cycles), percent(count / cycles)]);
  const rest = all.length > most ? html("p", { class: "note" }, `${plural(all.length - most, "other")} are less busy.`) : "";
  return html("div", { id: "time" }, html("h3", {}, "Where the time goes"), all.length ? html("p", { class: "lead" }, busiestText(all[0])) : "",
    table(["", "", "cycles in use", "", "of the run"], rows, [2, 4]), rest, nextStepText());
}

/// Words that the tiles of a memory have room for.
const capacityOf = number => contents.tiles.filter(tile => tile.memory === number)
  .reduce((sum, tile) => sum + tile.instances.length * contents.specs[tile.spec].rows * contents.specs[tile.spec].row_words, 0);

/// Tiles that keep fewer words are registers in disguise.
const FEW_WORDS = 32;

/// The last row of the table of memories: all of them.
function totalOfMemories() {
  const { memories } = contents, sum = of => memories.reduce((all, memory, number) => all + of(memory, number), 0);
  const tiles = sum(memory => memory.tiles[1]), words = sum(memory => memory.live_words), room = sum((_, number) => capacityOf(number));
  const few = sum(memory => memory.live_words < FEW_WORDS * memory.tiles[1] ? memory.tiles[1] : 0);
  return [`all; ${shown(few)} of ${plural(tiles, "tile")} with fewer than ${FEW_WORDS} words`, tiles, words, room, bar(words / room), percent(words / room)];
}

function buildArea() {
  const { stages, units, memories, figures } = contents;
  const kernels = stages.flatMap((stage, place) => stage.processing_elements && !unitOf(place) ? [[stage.name + copiesText(stage), stage]] : []);
  const shared = units.map(unit => [`${unit.name}, shared by ${unit.stages.length}`, stages[unit.stages[0]]]);
  const rows = [...kernels, ...shared].sort(([, one], [, other]) => other.processing_elements - one.processing_elements)
    .map(([name, stage]) => [nameCell(name), stage.processing_elements, stage.multipliers || "", bar(stage.processing_elements / figures.processing_elements), percent(stage.processing_elements / figures.processing_elements)]);
  const kept = memories.map((memory, number) => {
    const room = capacityOf(number), share = memory.live_words / room;
    return [nameCell(memory.name), memory.tiles[1], memory.live_words, room, bar(share), percent(share)];
  });
  const parts = [html("h3", {}, "Where the area goes")];
  if (rows.length) parts.push(table(["stage", "PEs", "multipliers", "", "of all"], rows, [1, 2, 4]));
  else parts.push(html("p", { class: "note" }, "No stage computes."));
  const mapped = contents.array?.figures.processing_elements.used;
  if (mapped) parts.push(html("p", { class: "note" }, `PEs are those of hardware of its own, ${shown(figures.processing_elements)}; on the array the stages are mapped to ${plural(mapped, "tile")} of processing elements.`));
  if (kept.length) parts.push(table(["memory", "tiles", "words kept", "capacity", "", "filled"], kept, [1, 2, 3, 5], totalOfMemories()));
  parts.push(html("p", { class: "note" }, `Beside these: ${plural(figures.shift_register_words, "word")} in shift registers, ${plural(figures.pipeline_register_bits, "bit")} in pipeline registers, ${plural(figures.rom_tiles, "ROM")}. `, ...(synthesis.length ? [] : [html("code", {}, "pushmem synth PROGRAM --report FOLDER"), " adds area and clock to the page in the folder of its build."])));
  return html("div", { id: "area" }, parts);
}

/// The figures beside the published ones.
function buildPublished() {
  const { figures, published } = contents;
  const names = { cycles: "cycles", sequential_cycles: "cycles, one stage after the other", memory_tiles: "memory tiles, those with tables included", sram_words: "words in SRAM",
    sequential_words: "words in SRAM, one stage after the other", shift_register_words: "words in shift registers", processing_elements: "processing elements" };
  const mapped = contents.array?.figures;
  const own = { ...figures, memory_tiles: mapped?.memories.used ?? figures.memory_tiles + figures.rom_tiles, processing_elements: mapped?.processing_elements.used ?? figures.processing_elements };
  if (!published) return html("p", { class: "note" }, `No figures are published for a program ${figures.name} of this size on such ${mapped ? "an array" : "tiles"}.`);
  const known = Object.entries(names).filter(([figure]) => published[figure] !== null && published[figure] !== undefined);
  const rows = known.map(([figure, name]) => [name, own[figure], published[figure], published[figure] > 0 ? `${(own[figure] / published[figure]).toFixed(2)}\u00a0×` : ""]);
  return html("div", {}, html("h3", {}, "Beside the published figures"), table(["", "this build", "published", "ratio"], rows, [1, 2, 3]),
    html("p", { class: "note" }, `Published in: ${published.source}.${published.schedule ? ` Schedule: ${published.schedule}.` : ""}`));
}

function buildOccupancy() {
  const { figures } = contents;
  if (!figures.occupancy) return "";
  const { sequential, double_buffered, loop_optimized } = figures.occupancy;
  const rows = [["one stage after the other", sequential], ["with double buffers", double_buffered], ["with all optimizations of loops, as built", loop_optimized]];
  const what = figures.multipliers ? "multipliers" : "processing elements";
  return html("div", {}, html("h3", {}, `How much of the time ${what} are busy`), table(["schedule", "", "occupancy"], rows.map(([name, share]) => [name, bar(share || 0), percent(share)]), [2]));
}

function buildUnits() {
  if (!contents.units.length) return "";
  const rows = contents.units.map(unit => {
    const stages = unit.stages.map(place => contents.stages[place]);
    const share = stages.reduce((sum, stage) => sum + timed(stage.sequence).total, 0) / contents.figures.cycles;
    return [unit.name, unit.instances, stages.map(stage => stage.name).join(", "), percent(share)];
  });
  return html("div", {}, html("h3", {}, "Compute units that operations share"), table(["unit", "instances", "operations", "busy"], rows, [1, 3]),
    html("p", { class: "note" }, `${plural(contents.figures.multiplexed_words, "word")} multiplexed in front of them.`));
}

function buildLevels() {
  const { figures } = contents;
  if (!figures.global_buffer_banks && !figures.register_files) return "";
  const levels = [["global buffer", figures.global_buffer, figures.global_buffer_banks, "global_buffer"], ["memory tiles", figures.tile, figures.memory_tiles, "memory"], ["register files", figures.register_file, figures.register_files, "register_file"]];
  const keeps = level => few([...new Set(contents.tiles.filter(tile => tile.level === level).map(tile => contents.memories[tile.memory].name))]);
  return html("div", {}, html("h3", {}, "Levels of the memory hierarchy"), table(["level", "tile", "count", "keeps"], levels.filter(([, , count]) => count).map(([level, tile, count, key]) => [level, tile, count, keeps(key)]), [2]));
}

function buildLoops() {
  if (!contents.loops.length) return "";
  const rows = contents.loops.map(loop => [loop.parent === null ? loop.name : `${loop.name}, within ${contents.loops[loop.parent].name}`, loop.extent, loop.interval, loop.length, loop.bound, loop.versions.map(([array, count]) => `${count} of ${array}`).join(", ")]);
  return html("div", {}, html("h3", {}, "Loops that stages share"), table(["loop", "iterations", "initiation interval, cycles", "cycles of one iteration", "bound by", "versions of arrays"], rows, [1, 2, 3]));
}

function buildResults() {
  const parts = [buildTime(), buildChain(), buildPublished(), buildSynthesis(), buildMapping(), buildArea(), buildOccupancy(), buildUnits(), buildLevels(), buildLoops()];
  document.getElementById("results").append(html("div", { class: "newspaper" }, parts.filter(Boolean)));
}
