// The rows of the timeline: stages, ports of memory tiles, aggregators and transpose buffers.

/// A row has tracks: sequences that are shown in one line. `capacity` is how many of their iterations may be in one cycle.
function stageRow(stage) {
  const track = { name: stage.name, color: stage.executed, seq: timed(stage.sequence), latency: stage.latency };
  return { kind: "stage", name: stage.name, label: stage.name + copiesText(stage), title: stage.statement || `input ${stage.name}`, tracks: [track], capacity: 1 };
}

/// A compute unit that stages share.
function unitRow(unit) {
  const tracks = unit.stages.map((place, turn) => {
    const stage = contents.stages[place];
    return { name: stage.name, short: String(turn), color: stage.executed, pale: turn % 2 === 1, seq: timed(stage.sequence) };
  });
  return { kind: "unit", label: `unit ${unit.name}`, title: `unit ${unit.name}: ${tracks.map(track => track.name).join(", ")} by turns`, tracks, capacity: 1 };
}

/// The color of a controller, by its access to the memory.
const colorOf = name => /2sram|2rf/.test(name) ? "write" : "read";

const controllerOf = (tile, name) => contents.controllers[tile.controllers[name]];

function controllerTrack(tile, name) {
  const controller = controllerOf(tile, name);
  if (!controller) return null;
  const color = colorOf(name), port = Number(/\d+$/.exec(name)?.[0] ?? 0);
  return { name, color, owns: owner(tile, controller), short: `${color === "write" ? "W" : "R"}${port}`, pale: port % 2 === 1, seq: firings(controller, tile.begin), controller };
}

/// Whether an access is to the tile's own rows. The controllers of all tiles of a chain fire, and one of them is addressed.
function owner(tile, controller) {
  const { rows, chain_rows: all } = contents.specs[tile.spec], { sram } = controller;
  if (!tile.chain.enable || !sram) return () => true;
  return index => Math.floor(modulo(affine(sram.start, sram.stride, index), all) / rows) === tile.chain.tile_id;
}

function portRows(tile) {
  return contents.specs[tile.spec].ports.map(port => {
    const tracks = port.controllers.map(name => controllerTrack(tile, name)).filter(Boolean);
    return { kind: "port", label: port.name, title: `${port.name} of ${nameOf(tile)}`, tracks, capacity: 1, tile };
  }).filter(row => row.tracks.length);
}

/// One side of a buffer of a tile: the firings of its controller and the addresses that it gives.
function side(tile, name, memory) {
  const controller = controllerOf(tile, name);
  return controller && { name, seq: firings(controller, tile.begin), address: controller[memory] };
}

function bufferRows(tile) {
  return contents.specs[tile.spec].buffers.map(buffer => {
    const fill = side(tile, buffer.filled_by, buffer.memory);
    const empty = side(tile, buffer.emptied_by, buffer.memory);
    if (!fill || !fill.address || buffer.memory === "tb" && !empty) return null;
    const words = (cycle, ahead) => buffer.memory === "agg" ? wordsToMove(buffer, fill, empty, cycle) : wordsToRead(buffer, fill, empty, cycle, ahead);
    const tracks = [{ name: fill.name, color: "write", seq: fill.seq }];
    if (empty) tracks.push({ name: empty.name, color: "read", seq: empty.seq });
    return { kind: "buffer", label: `${buffer.name}, ${buffer.words} words`, title: `${buffer.name} of ${nameOf(tile)}`, tracks, words, capacity: buffer.words, tile };
  }).filter(Boolean);
}

/// The name of one, or of several that do the same.
const namesOf = names => names.length === 1 ? names[0] : `${names[0]} and ${names.length - 1} alike`;

/// The name of a tile, or of several with the same configuration.
const nameOf = tile => namesOf(tile.instances.map(instance => instance.name));

const rowLabel = tile => tile.instances[0].name + (tile.instances.length > 1 ? ` (+${tile.instances.length - 1})` : "");

/// All rows as a tree: a node has a row, and the nodes inside.
function allRows() {
  const stages = { label: "Operations", inside: [...contents.stages.map(stageRow), ...contents.units.map(unitRow)].map(row => ({ row, inside: [] })), open: true };
  const seen = new Set();
  const memories = contents.memories.map((memory, number) => {
    const tiles = contents.tiles.filter(tile => tile.memory === number);
    const inside = tiles.map(tile => {
      const ports = portRows(tile), label = rowLabel(tile), buffers = bufferRows(tile);
      // The row of a tile is that of its port, or all of them together.
      const row = ports.length === 1 ? { ...ports.shift(), label }
        : { kind: "port", sum: true, label, title: `all ports of ${nameOf(tile)}`, tracks: ports.flatMap(row => row.tracks), capacity: Math.max(ports.length, 1), tile };
      return { row, inside: [...ports, ...buffers].map(row => ({ row, inside: [] })), open: tiles.length === 1 };
    });
    // Of memories that do the same, the first is open.
    const shape = JSON.stringify(tiles.map(tile => [tile.begin, tile.controllers])), again = seen.has(shape);
    seen.add(shape);
    return { label: `${memory.name}: ${plural(memory.tiles[1], "tile")}`, title: `memory of ${memory.name}`, inside, open: !again && (contents.tiles.length <= 8 || tiles.length === 1) };
  });
  return [stages, ...memories];
}

/// The rows that show single events, each once.
function leaves(nodes) {
  return nodes.flatMap(node => [...(node.row && !node.row.sum ? [node.row] : []), ...leaves(node.inside)]);
}

/// All events in a window of cycles, for tests: the name of the row, what fires, the cycle, and the indices, innermost first.
function eventsIn(from, to) {
  return leaves(allRows()).flatMap(row => row.tracks.flatMap(track =>
    eventsOf(track.seq, from, to).map(({ cycle, index }) => ({ row: row.title, kind: row.kind, name: track.name, tile: row.tile ? row.tile.instances[0].name : null, cycle, index }))));
}
