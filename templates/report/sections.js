// The other parts of the page: figures, unified buffers, tiles, results.

function buildSummary() {
  const { figures, policy } = contents;
  const kinds = { stencil: "Image pipeline in one raster scan", dnn: "Coarse pipeline of loop nests" };
  document.getElementById("subtitle").textContent = `${kinds[policy]}, compiled for the tile ${figures.tile}, proven. Times are unstalled cycles from the start of a run.`;
  const figure = (value, what, more) => html("div", { class: "figure" }, html("b", {}, typeof value === "number" ? shown(value) : value), html("span", {}, value === 1 ? what.replace(/s\b/, "") : what), html("span", {}, more));
  const others = [[figures.rom_tiles, "ROM"], [figures.global_buffer_banks, "global-buffer bank"], [figures.register_files, "register file"]];
  document.getElementById("summary").append(html("div", { class: "figures" },
    figure(figures.cycles, "cycles", `${shown(figures.sequential_cycles)} one stage after the other`),
    figure(figures.memory_tiles, "memory tiles", others.filter(([count]) => count).map(([count, what]) => plural(count, what)).join(", ")),
    figure(figures.sram_words, "words in SRAM", `${shown(figures.sequential_words)} one stage after the other`),
    figure(figures.shift_register_words, "words in shift registers", ""),
    figure(figures.processing_elements, "processing elements", figures.multipliers ? plural(figures.multipliers, "multiplier") : ""),
    figure(`${figures.input_words} / ${figures.output_words}`, "words a cycle", "in / out, at most")));
}

/// Words over time.
function livePlot(memory) {
  const { live, live_words: most } = memory;
  if (!live) return html("p", { class: "note" }, `At most ${plural(most, "word")}; there are too many accesses to show them over time.`);
  const [width, height, left, top, bottom] = [860, 138, 62, 20, 20], cycles = contents.figures.cycles;
  const x = cycle => left + cycle / cycles * (width - left - 8), y = words => top + (1 - words / Math.max(most, 1)) * (height - top - bottom);
  const points = live.words.map((words, sample) => `${x(sample * live.step).toFixed(1)} ${y(words).toFixed(1)}`);
  const end = `${x(cycles).toFixed(1)} ${y(live.words.at(-1)).toFixed(1)}`;
  const marks = [], step = niceStep(cycles / 8);
  for (let cycle = 0; cycle < cycles * 0.97; cycle += step) {
    marks.push(svg("path", { class: "plot-grid", d: `M${x(cycle)} ${height - bottom}v4` }), svg("text", { class: "small", x: x(cycle), y: height - 4, "text-anchor": "middle" }, shown(cycle)));
  }
  return html("div", { class: "scroll" }, svg("svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `Live words of ${memory.name} over the cycles of a run, at most ${most}` },
    svg("path", { class: "plot-area", d: `M${x(0)} ${y(0)}L${points.join("L")}L${end}L${x(cycles)} ${y(0)}Z` }),
    svg("path", { class: "plot-line", d: `M${points.join("L")}L${end}` }),
    svg("path", { class: "plot-grid", d: `M${left} ${y(0)}H${width - 8}` }), svg("path", { class: "plot-most", d: `M${left} ${y(most)}H${width - 8}` }),
    svg("text", { class: "small", x: left - 6, y: y(most) + 4, "text-anchor": "end" }, shown(most)), svg("text", { class: "small", x: left - 6, y: y(0) + 4, "text-anchor": "end" }, "0"),
    svg("text", { class: "small", x: width - 8, y: height - 4, "text-anchor": "end" }, "cycles"), svg("text", { class: "small plot-label", x: left + 6, y: top - 9 }, "live words"), marks));
}

function memoryPart(memory) {
  const facts = [`at most ${plural(memory.live_words, "word")}`, plural(memory.tiles[1], "tile")];
  if (memory.factors && memory.factors.some(factor => factor > 1)) facts.push(`cyclic banks [${memory.factors.join(", ")}]`);
  if (memory.copied) facts.push("some words in several tiles");
  const delays = memory.delays.map(([wire, delays]) => `${wire} by ${delays.length === 1 ? plural(delays[0], "cycle") : `${delays.join(", ")} cycles`}`).join("; ");
  const rows = memory.ports.map(group => {
    const seq = timed(group.sequence);
    return [group.direction, few(group.ports.map(([name]) => name), 4), code(domainText(seq)), code(few(group.ports.map(([, access]) => access), 4)), code(cycleText(seq)), rateOf(seq) * group.ports.length];
  });
  return html("div", { class: "memory" },
    html("h3", {}, memory.delays.length ? `Memory that delays ${delays}` : `Memory of ${memory.name}`),
    html("p", { class: "note" }, `${facts.join(", ")}: `, tileLinks(memory)),
    livePlot(memory),
    html("details", {}, html("summary", {}, `${plural(memory.ports.reduce((sum, group) => sum + group.ports.length, 0), "port")} of the memory`),
      table(["", "port", "iteration domain", "access map", "schedule: cycle", "words/cycle"], rows, [5])));
}

function tileLinks(memory) {
  const number = contents.memories.indexOf(memory), tiles = contents.tiles.flatMap((tile, place) => tile.memory === number ? [place] : []);
  const links = tiles.slice(0, 6).flatMap((place, index) => [index ? ", " : "", html("a", { href: `#tile-${place}` }, nameOf(contents.tiles[place]))]);
  return tiles.length > 6 ? [...links, ` and ${tiles.length - 6} more`] : links;
}

function buildBuffers() {
  const section = document.getElementById("buffers"), told = new Set();
  contents.arrays.forEach((array, number) => {
    const rows = array.ports.map(port => {
      const stage = contents.stages[port.stage], seq = timed(stage.sequence, port.direction === "write" ? stage.latency : 0);
      return [port.direction, unbroken(stage.name + (stage.copies > 1 ? ` × ${stage.copies}` : "")), code(domainText(seq)), code(few(port.access)), code(cycleText(seq)), unbroken(`${shown(seq.start)} to ${shown(seq.last)}`)];
    });
    const memories = array.memories.map(place => {
      const memory = contents.memories[place];
      if (told.has(place)) return html("p", { class: "note" }, `Shares the memory of ${contents.arrays[memory.arrays[0]].name}.`);
      told.add(place);
      return memoryPart(memory);
    });
    section.append(html("details", { class: "card buffer-card", id: `array-${number}`, "data-array": array.name, open: array.memories.length > 0 && contents.arrays.length <= 24 },
      html("summary", {}, html("b", {}, array.name), html("span", {}, `${array.kind}, ${array.element} [${array.shape.join(", ")}]: ${storageText(array)}`)),
      table(["", "stage", "iteration domain", "access map", "schedule: cycle", "active"], rows), memories));
  });
}

/// How many iterations come in the run. Delays go on after it.
const inRun = seq => until(seq, contents.figures.cycles - 1);

/// The cycles of the run from the first iteration to the last in it.
function activeText(seq) {
  const count = inRun(seq);
  return count ? `${shown(seq.start)} to ${shown(affine(seq.start, seq.stride, indices(seq, count - 1)))}` : "–";
}

function tileBody(tile) {
  const spec = contents.specs[tile.spec], purposes = Object.fromEntries(spec.roles);
  const rows = Object.keys(tile.controllers).map(name => {
    const controller = controllerOf(tile, name), seq = firings(controller, tile.begin), names = seq.names;
    const addresses = ["agg", "sram", "tb", "register_file"].filter(memory => controller[memory])
      .map(memory => `${memory}: ${affineText(controller[memory].start, controller[memory].stride, names)}`);
    return [code(name), purposes[name.replace(/_\d+$/, "")] || "", code(seq.extent.map((extent, level) => `${names[level]} < ${extent}`).join(", ")), code(affineText(controller.cycle.start, controller.cycle.stride, names)), code(addresses.join("; ")), inRun(seq), unbroken(activeText(seq))];
  });
  const wires = tile.instances.map(instance => [code(instance.name), code(few(instance.inputs.map(wire => wire ?? "–"))), code(few(instance.outputs.map(wire => wire ?? "–"))), instance.chain_from ? code(instance.chain_from) : ""]);
  const facts = [`${spec.name} (${spec.kind.replace("_", " ")}), ${spec.rows} rows of ${plural(spec.row_words, "word")} of ${spec.word_bits} bits`];
  if (tile.begin) facts.push(`its own time, which SG counts, begins in cycle ${shown(tile.begin)} of the run`);
  const { enable, tile_id: id } = tile.chain;
  const end = Math.max(...Object.keys(tile.controllers).map(name => firings(controllerOf(tile, name), tile.begin).last));
  if (end >= contents.figures.cycles) facts.push(`as a delay it goes on after the run, until cycle ${shown(end)}, which is not counted`);
  facts.push(enable ? `chained, tile ID ${id}: rows ${shown(id * spec.rows)} to ${shown((id + 1) * spec.rows - 1)} of the chain are its own` : "not chained");
  return [html("p", { class: "note" }, `${facts.join("; ")}.`),
    table(["controller", "", "ID: loops", "SG: fires in cycle", "AG: address", "firings in the run", "cycles of the run"], rows, [5]),
    table(["tile", "inputs", "outputs", "chained behind"], wires)];
}

/// How busy the ports of a tile are: accesses in a cycle of the run, on average.
function busy(tile) {
  return contents.specs[tile.spec].ports.map(port => {
    const accesses = port.controllers.reduce((sum, name) => sum + (name in tile.controllers ? inRun(firings(controllerOf(tile, name), tile.begin)) : 0), 0);
    return `${port.name} ${percent(accesses / contents.figures.cycles)}`;
  }).join(", ") + (tile.chain.enable ? ", with the other tiles of its chain" : "");
}

function buildTiles() {
  const section = document.getElementById("tiles");
  contents.tiles.forEach((tile, number) => {
    const card = html("details", { class: "card tile-card", id: `tile-${number}`, "data-tiles": tile.instances.length },
      html("summary", {}, html("b", {}, nameOf(tile)), html("span", {}, `${contents.memories[tile.memory].name}; busy: ${busy(tile)}`)));
    // A body is made when it is opened: networks have hundreds.
    const make = () => { if (card.children.length === 1) card.append(...tileBody(tile)); };
    card.addEventListener("toggle", make);
    section.append(card);
    if (number < 4) { card.open = true; make(); }
  });
  if (!contents.tiles.length) section.append(html("p", { class: "note" }, "There are none: all that is kept is in shift registers."));
  if (contents.roms.length) {
    // Those of one stage with the same table are told once.
    const alike = new Map();
    for (const rom of contents.roms) {
      const key = `${rom.stage} ${rom.table}`;
      alike.set(key, [...(alike.get(key) ?? []), rom]);
    }
    const rows = [...alike.values()].map(roms => {
      const [{ name, table, words, stage }] = roms;
      return [roms.length, code(namesOf(roms.map(rom => rom.name))), table, words, contents.stages[stage].name];
    });
    section.append(html("h3", {}, "Tables in ROM tiles"), html("div", { id: "roms" }, table(["tiles", "", "table", "entries", "looked up by"], rows, [0, 3])));
  }
}

function buildResults() {
  const section = document.getElementById("results"), { figures, published } = contents;
  const names = { cycles: "cycles", sequential_cycles: "cycles, one stage after the other", memory_tiles: "memory tiles, those with tables included", sram_words: "words in SRAM",
    sequential_words: "words in SRAM, one stage after the other", shift_register_words: "words in shift registers", processing_elements: "processing elements" };
  const own = { ...figures, memory_tiles: figures.memory_tiles + figures.rom_tiles };
  if (published) {
    const rows = Object.entries(names).map(([figure, name]) => {
      const other = published[figure], known = other !== null && other !== undefined;
      return [name, own[figure], known ? other : "–", known && other > 0 ? `${(own[figure] / other).toFixed(2)} ×` : ""];
    });
    section.append(html("h3", {}, "Beside the published figures"), table(["", "this build", "published", "ratio"], rows, [1, 2, 3]),
      html("p", { class: "note" }, `Published in: ${published.source}.${published.schedule ? ` Schedule: ${published.schedule}.` : ""}`));
  } else {
    section.append(table(["", "this build"], Object.entries(names).map(([figure, name]) => [name, own[figure]]), [1]),
      html("p", { class: "note" }, `No figures are published for a program ${figures.name} of this size on such tiles.`));
  }
  if (figures.occupancy) {
    const { sequential, double_buffered, loop_optimized } = figures.occupancy;
    const rows = [["one stage after the other", sequential], ["with double buffers", double_buffered], ["with all optimizations of loops, as built", loop_optimized]];
    const what = figures.multipliers ? "multipliers" : "processing elements";
    const made = table(["schedule", "occupancy", ""], rows.map(([name, share]) => [name, percent(share), html("span", { class: "bar", style: `width:${Math.round(320 * (share || 0))}px` })]), [1]);
    made.classList.add("bars");
    section.append(html("h3", {}, `How much of the time ${what} are busy`), made);
  }
  if (contents.units.length) {
    const rows = contents.units.map(unit => {
      const stages = unit.stages.map(place => contents.stages[place]);
      const share = stages.reduce((sum, stage) => sum + timed(stage.sequence).total, 0) / figures.cycles;
      return [unit.name, unit.instances, stages.map(stage => stage.name).join(", "), percent(share)];
    });
    section.append(html("h3", {}, "Compute units that operations have in turn"), table(["unit", "instances", "operations", "busy"], rows, [1, 3]),
      html("p", { class: "note" }, `${plural(figures.multiplexed_words, "word")} multiplexed in front of them.`));
  }
  const levels = [["global buffer", figures.global_buffer, figures.global_buffer_banks, "global_buffer"], ["memory tiles", figures.tile, figures.memory_tiles, "memory"], ["register files", figures.register_file, figures.register_files, "register_file"]];
  if (figures.global_buffer_banks || figures.register_files) {
    const keeps = level => few([...new Set(contents.tiles.filter(tile => tile.level === level).map(tile => contents.memories[tile.memory].name))]);
    section.append(html("h3", {}, "Levels of the memory hierarchy"), table(["level", "tile", "count", "keeps"], levels.filter(([, , count]) => count).map(([level, tile, count, key]) => [level, tile, count, keeps(key)]), [2]));
  }
  if (contents.loops.length) {
    const rows = contents.loops.map(loop => [loop.parent === null ? loop.name : `${loop.name}, within ${contents.loops[loop.parent].name}`, loop.extent, loop.interval, loop.length, loop.bound, loop.versions.map(([array, count]) => `${count} of ${array}`).join(", ")]);
    section.append(html("h3", {}, "Loops that stages share"), table(["loop", "iterations", "initiation interval, cycles", "cycles of one iteration", "bound by", "versions of arrays"], rows, [1, 2, 3]));
  }
  const tiles = figures.proven_cycles ? `; of the tiles it covers ${plural(figures.proven_cycles, "cycle")} and simulates ${shown(figures.simulated_cycles)} of them, because the state repeats` : "";
  section.append(html("footer", {}, `The proof covers all that operations read${tiles}.`));
}

/// A link to a card opens it.
function openTarget() {
  const card = location.hash && document.getElementById(location.hash.slice(1));
  if (card && card.tagName === "DETAILS") { card.open = true; card.scrollIntoView(); }
}

buildSummary();
drawGraph();
buildTimeline();
buildBuffers();
buildTiles();
buildResults();
window.addEventListener("hashchange", openTarget);
openTarget();
drawTimeline();
