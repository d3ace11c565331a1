// The unified buffers: ports of each array, and the memories that keep its words.

/// The width of a plot: that of its column, within limits. Its letters keep their size.
function plotWidth() {
  const room = document.querySelector("main").clientWidth, columns = room >= COLUMNS ? 2 : 1;
  return Math.round(Math.min(Math.max(room / columns - 90, 300), 720));
}

/// Words over time.
function livePlot(memory) {
  const { live, live_words: most } = memory;
  if (!live) return html("p", { class: "note" }, `At most ${plural(most, "word")}; there are too many accesses to show them over time.`);
  const [width, height, left, top, bottom] = [plotWidth(), 138, 62, 20, 20], cycles = contents.figures.cycles;
  const x = cycle => left + cycle / cycles * (width - left - 8), y = words => top + (1 - words / Math.max(most, 1)) * (height - top - bottom);
  const points = live.words.map((words, sample) => `${x(sample * live.step).toFixed(1)} ${y(words).toFixed(1)}`);
  const end = `${x(cycles).toFixed(1)} ${y(live.words.at(-1)).toFixed(1)}`;
  const marks = [], step = niceStep(cycles * 100 / width);
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
  const room = capacityOf(contents.memories.indexOf(memory));
  const facts = [`at most ${plural(memory.live_words, "word")} of ${shown(room)} in ${plural(memory.tiles[1], "tile")}, ${percent(memory.live_words / room)} filled`];
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
  const links = tiles.slice(0, 6).flatMap((place, index) => [index ? ", " : "", html("a", { href: `#${cardOf(contents.tiles[place])}` }, nameOf(contents.tiles[place]))]);
  return tiles.length > 6 ? [...links, ` and ${tiles.length - 6} more`] : links;
}

function buildBuffers() {
  const section = document.getElementById("buffers"), told = new Set();
  contents.arrays.forEach((array, number) => {
    const rows = array.ports.map(port => {
      const stage = contents.stages[port.stage], seq = timed(stage.sequence, port.direction === "write" ? stage.latency : 0);
      return [port.direction, unbroken(stage.name + copiesText(stage)), code(domainText(seq)), code(few(port.access, 4)), code(cycleText(seq)), unbroken(`${shown(seq.start)} to ${shown(seq.last)}`)];
    });
    const memories = array.memories.map(place => {
      const memory = contents.memories[place];
      if (told.has(place)) return html("p", { class: "note" }, `Shares the memory of ${contents.arrays[memory.arrays[0]].name}.`);
      told.add(place);
      return memoryPart(memory);
    });
    section.append(html("details", { class: "card buffer-card", id: `array-${number}`, "data-array": array.name, open: array.memories.length > 0 && contents.arrays.length <= 24 },
      html("summary", {}, html("b", {}, array.name), html("span", {}, `${array.kind}, ${array.element} [${array.shape.join(", ")}]: ${storageText(array)}`)),
      html("div", { class: "columns" }, html("div", {}, table(["", "stage", "iteration domain", "access map", "schedule: cycle", "active"], rows)), memories)));
  });
}
