// The critical chain of a run, the figures of a mapping, and results of synthesis.

/// Each cycle of a run is in one link of its critical chain, or a wait between two.
function buildChain() {
  const { chain, stages, figures, array } = contents;
  if (!chain.links.length) return "";
  const scheduled = array ? array.figures.schedule_cycles : figures.cycles;
  const name = link => nameCell(stages[link.stage].name + copiesText(stages[link.stage]));
  const rows = chain.links.map(link => [name(link), link.cycles, bar(link.cycles / scheduled), percent(link.cycles / scheduled), link.waits || "", link.visits, link.last < link.first ? "" : unbroken(`${shown(link.first)} to ${shown(link.last)}`)]);
  if (chain.before) rows.unshift([chain.whole ? "before the first" : "events before", chain.before, bar(chain.before / scheduled), percent(chain.before / scheduled), "", "", ""]);
  const routes = array ? figures.cycles - scheduled : 0;
  if (routes) rows.push(["routes of the array", routes, bar(routes / scheduled), percent(routes / scheduled), "", "", ""]);
  const waits = chain.links.reduce((sum, link) => sum + link.waits, 0), longest = chain.links.reduce((most, link) => link.cycles > most.cycles ? link : most);
  const text = [`One image takes ${plural(figures.cycles, "cycle")}, and the next begins after as many: runs follow each other without a gap, and do not overlap. Each event below is the last that the next waits for, back from the last word; `,
    html("b", {}, stages[longest.stage].name), ` has the most of these cycles${waits ? `, and in ${plural(waits, "cycle")} a word is there before the next event begins, which waits for the interval of a loop, for a memory, or for its turn` : ""}.`];
  return html("div", { id: "chain" }, html("h3", {}, "The critical chain of one image"), html("p", { class: "lead" }, text),
    table(["", "cycles", "", "of the run", "waits after it", "times", "in cycles"], rows, [1, 3, 4, 5]));
}

/// The figures of the mapping on an array.
function buildMapping() {
  if (!contents.array) return "";
  return html("div", { id: "mapping" }, html("h3", {}, "On the array"), table(["", ""], contents.array.lines.map(([name, value]) => [unbroken(name), value])));
}

const synthesis = JSON.parse(document.getElementById("synthesis").textContent);

const microns = area => `${shown(Math.round(area))}\u00a0µm²`;

/// The rows of a synthesis with a cell library.
function ofCells(found) {
  const area = found.blocks.reduce((sum, block) => sum + block.area, 0);
  const rows = [["area", microns(area)], ...found.blocks.map(block => [block.block.replaceAll("_", " "), `${microns(block.area)}, ${percent(block.area / area)}`])];
  if (found.minimum_period_ps) rows.push(["least clock period", `${shown(Math.round(found.minimum_period_ps))} ps`]);
  if (found.power) rows.push(["power", `${shown(found.power.internal_mw + found.power.switching_mw + found.power.leakage_mw)} mW at ${plural(found.clock_ps, "ps").replace("pss", "ps")}, with assumed activity`]);
  if (found.activity) rows.push(["power of the run", `${shown(found.activity.blocks.reduce((sum, block) => sum + block.clock_mw + block.cells_mw + block.nets_mw + block.leakage_mw + (block.accesses_mw ?? 0), found.activity.clock_net_mw))} mW at ${shown(found.activity.clock_ps)} ps`]);
  return rows;
}

/// The rows of a place and route on an FPGA.
function ofFpga(found) {
  const parts = [["LUTs", found.luts], ["flip-flops", found.flip_flops], ["block RAMs", found.block_rams], ["multipliers", found.multipliers]];
  return [...parts.map(([name, { used, available }]) => [name, `${shown(used)} of ${shown(available)}, ${percent(used / available)}`]),
    ["configuration", found.constant_configuration ? "constants" : "in registers"], ["frequency", `${shown(found.maximum_mhz)} MHz after routing`],
    ["pixels", `${shown(found.pixels_per_cycle)} a cycle, ${shown(found.megapixels_per_second)} million a second`]];
}

/// The rows of an array, tile by tile.
function ofArray(found) {
  const area = kind => kind.blocks.reduce((sum, block) => sum + block.area, 0);
  const rows = [["area of all tiles", microns(found.area)], ...found.kinds.map(kind => [`${shown(kind.tiles)} tiles of ${kind.kind}`, `${microns(area(kind))} each`])];
  return found.minimum_period_ps ? [...rows, ["least clock period", `${shown(found.minimum_period_ps)} ps`]] : rows;
}

/// Area, clock, power and FPGA resources, of each synthesis that was added to the page.
function buildSynthesis() {
  if (!synthesis.length) return "";
  const parts = synthesis.flatMap(({ command, found }) => {
    const [title, rows] = found.kinds ? [found.array, ofArray(found)] : found.luts ? [`${found.design} on ${found.device}`, ofFpga(found)] : [`${found.design} in ${found.library}, for ${found.optimize}`, ofCells(found)];
    return [html("p", { class: "note" }, title, ": ", html("code", {}, command)), table(["", ""], rows)];
  });
  return html("div", { id: "measured" }, html("h3", {}, "Area, clock and power"), parts);
}
