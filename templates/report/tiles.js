// The memory tiles: their configurations, tiles that differ in starts only shown together.

/// How many iterations come in the run. Delays go on after it.
const inRun = seq => until(seq, contents.figures.cycles - 1);

/// The cycles of the run from the first iteration to the last in it.
function activeText(seq) {
  const count = inRun(seq);
  return count ? `${shown(seq.start)} to ${shown(affine(seq.start, seq.stride, indices(seq, count - 1)))}` : "–";
}

/// How often a port of a tile is accessed in the run.
const accesses = (tile, port) => port.controllers.reduce((sum, name) => sum + (name in tile.controllers ? inRun(firings(controllerOf(tile, name), tile.begin)) : 0), 0);

/// How busy the ports of a tile are: accesses in a cycle of the run, on average.
function busy(tile) {
  return contents.specs[tile.spec].ports.map(port => `${port.name} ${percent(accesses(tile, port) / contents.figures.cycles)}`).join(", ")
    + (tile.chain.enable ? ", with the other tiles of its chain" : "");
}

const MEMORIES = ["agg", "sram", "tb", "register_file"];

/// The affine functions of a controller, by name.
const functionsOf = controller => ["cycle", ...MEMORIES].filter(what => controller[what]);

/// Tiles of one key do the same loops with the same strides: only starts differ, and places in a chain.
function shapeOf(tile) {
  const controllers = Object.keys(tile.controllers).map(name => {
    const controller = controllerOf(tile, name);
    return [name, controller.extent, functionsOf(controller).map(what => [what, controller[what].stride])];
  });
  return JSON.stringify([tile.spec, tile.level, tile.chain.enable, controllers]);
}

/// The tiles in groups of one shape each.
const tileGroups = (() => {
  const groups = new Map();
  for (const tile of contents.tiles) groups.set(shapeOf(tile), [...(groups.get(shapeOf(tile)) ?? []), tile]);
  return [...groups.values()];
})();

/// The address of the card that a tile is on.
const cardOf = tile => `tile-${tileGroups.findIndex(group => group.includes(tile))}`;

/// A value, or the first and the last of several, as a text for each says.
function spread(values, text = shown) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return least === most ? text(least) : `${text(least)} … ${text(most)}`;
}

/// An affine function that tiles have with several starts.
function affineOf(group, name, what, names) {
  const functions = group.map(tile => controllerOf(tile, name)[what]), starts = functions.map(({ start }) => start);
  if (new Set(starts).size === 1) return affineText(starts[0], functions[0].stride, names);
  const varying = affineText(0, functions[0].stride, names);
  return `${varying === "0" ? "" : `${varying} + `}(${spread(starts, String)})`;
}

function controllerTable(group) {
  const [tile] = group, purposes = Object.fromEntries(contents.specs[tile.spec].roles);
  const rows = Object.keys(tile.controllers).map(name => {
    const controller = controllerOf(tile, name), all = group.map(other => firings(controllerOf(other, name), other.begin)), { names } = all[0];
    const addresses = functionsOf(controller).slice(1).map(what => `${what}: ${affineOf(group, name, what, names)}`);
    const active = new Set(all.map(activeText)).size === 1 ? activeText(all[0]) : `${shown(Math.min(...all.map(seq => seq.start)))} … ${shown(Math.min(Math.max(...all.map(seq => seq.last)), contents.figures.cycles - 1))}`;
    return [code(name), purposes[name.replace(/_\d+$/, "")] || "", code(controller.extent.map((extent, level) => `${names[level]} < ${extent}`).join(", ")), code(affineOf(group, name, "cycle", names)), code(addresses.join("; ")), spread(all.map(inRun)), unbroken(active)];
  });
  return table(["controller", "", "ID: loops", "SG: fires in cycle", "AG: address", "firings in the run", "cycles of the run"], rows, [5]);
}

/// The starts in which tiles of a group differ: a heading, and the value of a tile.
function differences(group) {
  const starts = Object.keys(group[0].controllers).flatMap(name => functionsOf(controllerOf(group[0], name)).map(what => [`${name}: ${what}`, tile => controllerOf(tile, name)[what].start]));
  const all = [["begins in cycle", tile => tile.begin], ["tile ID", tile => tile.chain.tile_id], ...starts];
  return all.filter(([, value]) => new Set(group.map(value)).size > 1);
}

function tileBody(group) {
  const [tile] = group, spec = contents.specs[tile.spec], differing = differences(group), { enable } = tile.chain;
  const wires = group.flatMap(other => other.instances.map(instance => [code(instance.name), ...differing.map(([, value]) => value(other)), code(few(instance.inputs.map(wire => wire ?? "–"))), code(few(instance.outputs.map(wire => wire ?? "–"))), ...(enable ? [code(instance.chain_from ?? "–")] : [])]));
  const facts = [`${spec.name} (${spec.kind.replace("_", " ")}), ${spec.rows} rows of ${plural(spec.row_words, "word")} of ${spec.word_bits} bits`];
  const begins = group.map(other => other.begin);
  if (Math.max(...begins)) facts.push(`their own time, which SG counts, begins in cycle ${spread(begins)} of the run`);
  const end = Math.max(...group.flatMap(other => Object.keys(other.controllers).map(name => firings(controllerOf(other, name), other.begin).last)));
  if (end >= contents.figures.cycles) facts.push(`as a delay it goes on after the run, until cycle ${shown(end)}, which is not counted`);
  const ids = group.map(other => other.chain.tile_id);
  facts.push(enable ? `chained, tile ID ${spread(ids)}: rows ${shown(Math.min(...ids) * spec.rows)} to ${shown((Math.max(...ids) + 1) * spec.rows - 1)} of the chain` : "not chained");
  const columns = ["tile", ...differing.map(([heading]) => `start of ${heading}`.replace(/start of (begins in cycle|tile ID)/, "$1")), "inputs", "outputs", ...(enable ? ["chained behind"] : [])];
  const list = table(columns, wires, differing.map((_, place) => place + 1));
  list.classList.add("list");
  return [html("p", { class: "note" }, `${facts.join("; ")}.`), controllerTable(group), list];
}

function buildTiles() {
  const section = document.getElementById("tiles");
  tileGroups.forEach((group, number) => {
    const instances = group.flatMap(tile => tile.instances), memories = [...new Set(group.map(tile => contents.memories[tile.memory].name))];
    const shares = [...new Set(group.map(busy))], used = shares.length === 1 ? shares[0] : `${shares[0]} (first tile)`;
    const differ = group.length > 1 && differences(group).length ? `; they differ in ${plural(differences(group).length, "start")}` : "";
    const card = html("details", { class: "card tile-card", id: `tile-${number}`, "data-tiles": instances.length },
      html("summary", {}, html("b", {}, namesOf(instances.map(instance => instance.name))), html("span", {}, `${few(memories, 3)}; busy: ${used}${differ}`)));
    // A body is made when it is opened: networks have hundreds of tiles.
    const make = () => { if (card.children.length === 1) { card.append(...tileBody(group)); hintAtCuts(); } };
    card.addEventListener("toggle", make);
    section.append(card);
    if (number < 2) { card.open = true; make(); }
  });
  if (!contents.tiles.length) section.append(html("p", { class: "note" }, "There are none: all that is kept is in shift registers."));
  if (contents.roms.length) section.append(...romTable());
}

/// The tables in ROM tiles, those of one stage with the same table told once.
function romTable() {
  const alike = new Map();
  for (const rom of contents.roms) {
    const key = `${rom.stage} ${rom.table}`;
    alike.set(key, [...(alike.get(key) ?? []), rom]);
  }
  const rows = [...alike.values()].map(roms => {
    const [{ name, table, words, stage }] = roms;
    return [roms.length, code(namesOf(roms.map(rom => rom.name))), table, words, contents.stages[stage].name];
  });
  return [html("h3", {}, "Tables in ROM tiles"), html("div", { id: "roms" }, table(["tiles", "", "table", "entries", "looked up by"], rows, [0, 3]))];
}
