// The pipeline as a graph: each stage with the array that it is the last to write, below those that it reads from.

const STAGE = { width: 226, height: 60 }, ARRAY = { width: 168, height: 44 }, GAP = { inside: 30, column: 40, row: 40 };
// A graph that is wider than the page becomes so much smaller, and no more: its text has to be read.
const SMALLEST = 0.85;

/// The storage of an array, in a few words.
function storageText(array) {
  const tiles = array.memories.reduce((sum, memory) => sum + contents.memories[memory].tiles[1], 0);
  const parts = [tiles ? plural(tiles, "tile") : "", array.registers ? plural(array.registers, "register word") : ""].filter(Boolean);
  if (parts.length) return parts.join(", ");
  if (array.copy_of !== null) return `words of ${contents.arrays[array.copy_of].name}`;
  return array.kind === "output" ? "stream out" : "wires only";
}

/// The part of an edge that goes to the right into a lane, along it down or up, and out of it to the left.
function laneTo(lane, from, to) {
  const corner = Math.min(6, Math.abs(to - from) / 2) * Math.sign(to - from);
  return `H${lane - 6}Q${lane} ${from},${lane} ${from + corner}V${to - corner}Q${lane} ${to},${lane - 6} ${to}`;
}

/// The row of each stage: below all writers of its operands, except itself and stages later in the program.
function rankedStages(writersOf) {
  const { stages } = contents, rank = [];
  stages.forEach((stage, number) => {
    const before = stage.reads.flatMap(array => writersOf[array]).filter(other => other < number);
    rank.push(before.reduce((most, other) => Math.max(most, rank[other] + 1), 0));
  });
  // A stage that others wait for no longer than for the rest stands just above them: the graph is narrower so.
  for (let number = stages.length - 1; number >= 0; number--) {
    const uses = other => other > number && (stages[other].reads.includes(stages[number].writes) || stages[other].writes === stages[number].writes);
    const after = stages.flatMap((_, other) => uses(other) ? [rank[other]] : []);
    if (after.length) rank[number] = Math.max(rank[number], Math.min(...after) - 1);
  }
  return rank;
}

/// The places of stages and arrays.
function graphLayout() {
  const { stages, arrays } = contents;
  const ownerOf = arrays.map((_, array) => stages.findLastIndex(stage => stage.writes === array));
  const writersOf = arrays.map((_, array) => stages.flatMap((stage, number) => stage.writes === array ? [number] : []));
  const rank = rankedStages(writersOf), levels = [], at = [], arrayAt = [];
  stages.forEach((_, number) => (levels[rank[number]] ??= []).push(number));
  const width = number => STAGE.width + (ownerOf[stages[number].writes] === number ? GAP.inside + ARRAY.width : 0);
  const widths = levels.map(level => level.reduce((sum, number) => sum + width(number) + GAP.column, -GAP.column));
  const broad = Math.max(...widths);
  levels.forEach((level, row) => {
    let x = (broad - widths[row]) / 2 + 4;
    for (const number of level) {
      const y = 10 + row * (STAGE.height + GAP.row);
      at[number] = { x, y };
      if (ownerOf[stages[number].writes] === number) {
        arrayAt[stages[number].writes] = { x: x + STAGE.width + GAP.inside, y: y + (STAGE.height - ARRAY.height) / 2 };
      }
      x += width(number) + GAP.column;
    }
  });
  return { ownerOf, rank, levels, at, arrayAt, broad, lanes: new Map() };
}

const edgeOf = (path, title) => svg("path", { class: "edge", d: path, "marker-end": "url(#arrow)" }, svg("title", {}, title));

/// The edges from a stage to the array that it writes.
function writeEdges(stage, number, { ownerOf, at, arrayAt, broad, lanes }) {
  const { arrays } = contents, to = at[number], target = arrayAt[stage.writes], title = `${stage.name} writes ${arrays[stage.writes].name}`;
  if (ownerOf[stage.writes] === number) {
    const written = edgeOf(`M${to.x + STAGE.width} ${to.y + STAGE.height / 2}H${target.x - 2}`, title);
    if (!stage.reads.includes(stage.writes)) return [written];
    const [left, right, top] = [to.x + STAGE.width - 26, target.x + 26, to.y + 4];
    return [written, edgeOf(`M${right} ${target.y}V${top - 6}H${left}V${top - 5}`, `${stage.name} updates ${arrays[stage.writes].name}`)];
  }
  const [x, below] = [to.x + STAGE.width / 2, to.y + STAGE.height + 7];
  if (target.y > to.y && target.y < to.y + STAGE.height) {
    return [edgeOf(`M${x} ${to.y + STAGE.height}V${below}H${target.x + ARRAY.width / 3}V${target.y + ARRAY.height + 2}`, title)];
  }
  const key = `into ${stage.writes}`;
  if (!lanes.has(key)) lanes.set(key, lanes.size);
  const [lane, y] = [broad + 18 + 9 * lanes.get(key), target.y + ARRAY.height / 2];
  return [edgeOf(`M${x} ${to.y + STAGE.height}V${below - 4}Q${x} ${below},${x + 4} ${below}${laneTo(lane, below, y)}H${target.x + ARRAY.width + 2}`, title)];
}

/// The edges from the arrays that a stage reads.
function readEdges(stage, number, { ownerOf, rank, at, arrayAt, broad, lanes }) {
  const to = at[number], reads = stage.reads.filter(array => array !== stage.writes);
  return reads.map((array, place) => {
    const from = arrayAt[array], title = `${stage.name} reads ${contents.arrays[array].name}`;
    const x = to.x + STAGE.width * (place + 1) / (reads.length + 1);
    const bottom = from.y + ARRAY.height, middle = from.x + ARRAY.width / 2;
    if (rank[number] === rank[ownerOf[array]] + 1) {
      return edgeOf(`M${middle} ${bottom}C${middle} ${bottom + GAP.row},${x} ${to.y - GAP.row * 0.8},${x} ${to.y - 2}`, title);
    }
    // Past other rows, in a lane to the right of all that each array has for itself.
    if (!lanes.has(array)) lanes.set(array, lanes.size);
    const own = lanes.get(array), lane = broad + 18 + 9 * own, out = middle + 24;
    const below = from.y + (STAGE.height + ARRAY.height) / 2 + 5 + 4 * (own % 4), above = to.y - 8 - 3 * (own % 4);
    return edgeOf(`M${out} ${bottom}V${below - 4}Q${out} ${below},${out + 4} ${below}${laneTo(lane, below, above)}H${x + 6}Q${x} ${above},${x} ${above + 4}V${to.y - 2}`, title);
  });
}

const short = (text, most) => text.length > most ? `${text.slice(0, most - 1)}…` : text;

/// The box of a stage. A click on it tells what there is of it.
function stageBox(stage, number, { x, y }) {
  const seq = timed(stage.sequence), copies = copiesText(stage);
  const words = shown(rateOf(seq) * stage.copies), rate = `${words} ${words === "1" ? "word" : "words"}/cycle`;
  const latency = stage.latency ? `, latency ${stage.latency}` : "";
  const roms = contents.roms.filter(rom => rom.stage === number).length, tables = roms ? `, ${plural(roms, "ROM")}` : "";
  const lines = [rate + latency, `cycles ${shown(seq.start)} to ${shown(seq.last + stage.latency)}${tables}`];
  const node = svg("g", { class: "stage-node", "data-stage": stage.name, "data-copies": stage.copies, "data-roms": roms, role: "button", tabindex: 0 },
    svg("title", {}, `${stage.statement || `input ${stage.name}`}\n${rate}${latency} cycles, ${lines[1]}`),
    svg("rect", { class: "box", x, y, width: STAGE.width, height: STAGE.height, rx: 5 }),
    svg("rect", { class: stage.executed, x, y, width: 5, height: STAGE.height, rx: 2 }),
    svg("text", { class: "strong", x: x + 14, y: y + 19 }, short(stage.name, 26 - copies.length) + copies),
    lines.map((line, place) => svg("text", { class: "small", x: x + 14, y: y + 36 + 15 * place }, line)));
  node.addEventListener("click", () => choose(number));
  node.addEventListener("keydown", event => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(number); } });
  return node;
}

/// The box of an array, which leads to its ports and memories.
function arrayBox(array, number, { x, y }) {
  return svg("a", { href: `#array-${number}`, class: "array-node", "data-array": array.name },
    svg("title", {}, `${array.kind} ${array.name}: ${array.element} [${array.shape.join(", ")}], ${storageText(array)}`),
    svg("rect", { class: "pill", x, y, width: ARRAY.width, height: ARRAY.height, rx: ARRAY.height / 2 }),
    svg("text", { class: "strong", x: x + ARRAY.width / 2, y: y + 19, "text-anchor": "middle" }, short(array.name, 20)),
    svg("text", { class: "small", x: x + ARRAY.width / 2, y: y + 34, "text-anchor": "middle" }, short(storageText(array), 27)));
}

function drawGraph() {
  const { stages, arrays } = contents, layout = graphLayout(), { levels, at, arrayAt, broad, lanes } = layout;
  const edges = stages.flatMap((stage, number) => [...writeEdges(stage, number, layout), ...readEdges(stage, number, layout)]);
  const nodes = [...stages.map((stage, number) => stageBox(stage, number, at[number])), ...arrays.map((array, number) => arrayBox(array, number, arrayAt[number]))];
  const [w, h] = [broad + 30 + 9 * lanes.size, levels.length * (STAGE.height + GAP.row)];
  const marker = svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, svg("path", { class: "graph-arrow", d: "M0 0L8 4L0 8z" }));
  const picture = svg("svg", { viewBox: `0 0 ${w} ${h}`, width: w, height: h, role: "group", "aria-label": `${stages.length} stages and ${arrays.length} arrays` }, svg("defs", {}, marker), edges, nodes);
  picture.style.cssText = `max-width:100%;min-width:${Math.ceil(SMALLEST * w)}px;height:auto;display:block;margin:0 auto`;
  const graph = document.getElementById("graph");
  graph.append(picture);
  viewed(graph, picture, text => nodes.filter(node => (node.dataset.stage ?? node.dataset.array).toLowerCase().includes(text)));
  // The first stage is in sight.
  const scale = picture.getBoundingClientRect().width / w, first = at[levels[0][0]].x;
  if (scale * (first + STAGE.width) > graph.clientWidth) graph.scrollLeft = scale * (first - 8);
  const kinds = { stream: "words come from outside", kernel: "computed by a kernel", copy: "passed on, no hardware", constant: "always the same" };
  const used = Object.entries(kinds).filter(([kind]) => stages.some(stage => stage.executed === kind));
  graph.parentElement.append(legend(used.map(([kind, text]) => [`var(--${kind})`, text])));
}

function legend(entries) {
  return html("div", { class: "legend" }, entries.map(([color, text]) => html("span", {}, html("i", { style: `background:${color}` }), text)));
}

/// The operation of each stage.
function buildStages() {
  const rows = contents.stages.map((stage, place) => {
    const seq = timed(stage.sequence), unit = unitOf(place);
    const computes = stage.statement ?? `stream of ${contents.arrays[stage.writes].name}`;
    return [action(unbroken(stage.name + copiesText(stage)), () => choose(place)), code(computes), shown(rateOf(seq) * stage.copies), stage.latency, unit ? unbroken(`in ${unit.name}`) : stage.processing_elements];
  });
  const made = table(["stage", "computes", "words/cycle", "latency", "PEs"], rows, [2, 3, 4]);
  made.id = "stages";
  document.getElementById("computes").append(made);
}
