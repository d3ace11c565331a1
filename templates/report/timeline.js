// The timeline. It shows a window of cycles; rows are drawn when they are in sight, each from its sequences.

const timeline = { from: 0, span: contents.figures.cycles, rows: [], cursor: null };
const NARROWEST = 8;

const palette = () => {
  const style = getComputedStyle(document.documentElement);
  return name => style.getPropertyValue(`--${name}`).trim();
};

/// A window of the timeline, within the run.
function show(from, span) {
  const all = contents.figures.cycles;
  timeline.span = Math.min(Math.max(span, Math.min(NARROWEST, all)), all);
  timeline.from = Math.min(Math.max(from, 0), all - timeline.span);
  drawTimeline();
}

/// Larger or smaller by a factor, around a place between 0 and 1.
const zoom = (factor, place = 0.5) => {
  const center = timeline.from + place * timeline.span;
  const span = Math.min(Math.max(timeline.span * factor, Math.min(NARROWEST, contents.figures.cycles)), contents.figures.cycles);
  show(center - place * span, span);
};

/// The canvas of a row, as large as it is on the screen, empty.
function prepared(canvas) {
  const scale = window.devicePixelRatio || 1, { width, height } = canvas.getBoundingClientRect();
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

/// Distances between marks of the axis: 1, 2 or 5 times a power of ten.
function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return [1, 2, 5, 10].map(factor => factor * power).find(step => step >= least) || 10 * power;
}

function drawAxis(canvas, color) {
  const { context, width, height } = prepared(canvas);
  const scale = width / timeline.span, step = Math.max(1, niceStep(90 / scale));
  context.font = "11.5px system-ui, sans-serif";
  for (let cycle = Math.ceil(timeline.from / step) * step; cycle <= timeline.from + timeline.span; cycle += step) {
    const x = (cycle - timeline.from) * scale;
    context.fillStyle = color("line");
    context.fillRect(x, height - 7, 1, 7);
    context.fillStyle = color("soft");
    if (x + 3 + context.measureText(shown(cycle)).width < width) context.fillText(shown(cycle), x + 3, height - 9);
  }
}

/// Bars: the share of the cycles of each pixel that have events.
function drawDensity(row, { context, width, height }, color) {
  const scale = width / timeline.span, inner = height - 5;
  const edges = Array.from({ length: Math.ceil(width) + 1 }, (_, x) => Math.floor(timeline.from + x / scale));
  const heights = new Float64Array(edges.length);
  for (const kind of new Set(row.tracks.map(track => track.color))) {
    const counts = new Float64Array(edges.length);
    for (const { seq } of row.tracks.filter(track => track.color === kind)) {
      let before = until(seq, edges[0] - 1);
      for (let x = 0; x + 1 < edges.length; x++) {
        const after = until(seq, edges[x + 1] - 1);
        counts[x] += after - before;
        before = after;
      }
    }
    context.fillStyle = color(kind);
    counts.forEach((count, x) => {
      if (count === 0) return;
      const bar = Math.max(inner * count / ((edges[x + 1] - edges[x]) * row.capacity), 1);
      context.fillRect(x, height - 2 - heights[x] - bar, 1, bar);
      heights[x] += bar;
    });
  }
}

/// The texts for the box of an event, the longest first.
function textsOf(row, track, index) {
  const text = indexText(track.seq, index);
  if (row.kind !== "stage") return [`${track.name} ${text}`, track.name, track.short];
  const values = [...index].map((value, level) => String(track.seq.first[level] + value));
  return [text, [...values].reverse().join(","), values[0] || ""];
}

/// Boxes: the event of each cycle, with indices where there is room: in all boxes of a row as much.
function drawEvents(row, { context, width, height }, color) {
  const scale = width / timeline.span, box = Math.max(scale - (scale > 3 ? 1 : 0), 1);
  const [from, to] = [Math.floor(timeline.from), Math.ceil(timeline.from + timeline.span) + 1];
  const together = row.capacity > 1;
  context.font = "10.5px system-ui, sans-serif";
  const counts = new Map(), texts = [];
  for (const track of row.tracks) {
    const tail = track.latency || 0;
    for (const { cycle, index } of eventsOf(track.seq, from - tail - 1, to)) {
      const x = (cycle - timeline.from) * scale, before = counts.get(cycle) || 0;
      counts.set(cycle, before + 1);
      const room = together ? (height - 6) / row.capacity : height - 6;
      context.fillStyle = color(track.color);
      const own = !track.owns || track.owns(index);
      context.globalAlpha = !own ? 0.2 : track.pale ? 0.72 : 1;
      context.fillRect(x, together ? height - 3 - (before + 1) * room : 3, box, tail && !together ? room - 3 : room);
      context.globalAlpha = 1;
      if (tail) context.fillRect(x, height - 4, box + tail * scale, 1);
      if (together || scale < 18 || !own) continue;
      texts.push({ x, choices: textsOf(row, track, index) });
    }
  }
  const fits = choice => texts.every(({ choices }) => context.measureText(choices[choice]).width < box - 4);
  const choice = [0, 1, 2].find(fits);
  if (choice === undefined) return;
  context.fillStyle = color("on");
  texts.forEach(({ x, choices }) => context.fillText(choices[choice], x + 3, height / 2 + 3));
}

/// The words in a buffer: in each cycle, or in one of the cycles of each pixel; above it what comes, below what leaves.
function drawWords(row, area, color) {
  const { context, width, height } = area, scale = width / timeline.span, inner = height - 8;
  const step = Math.max(scale, 2);
  const begin = scale >= 2 ? (Math.floor(timeline.from) - timeline.from) * scale : 0;
  context.font = "10.5px system-ui, sans-serif";
  for (let x = begin; x < width; x += step) {
    const cycle = Math.round(scale >= 2 ? timeline.from + x / scale : Math.floor(timeline.from + x / scale));
    if (cycle < 0 || cycle >= contents.figures.cycles) continue;
    const words = row.words(cycle, scale >= 2 ? 4096 : 64), bar = inner * words / row.capacity;
    context.fillStyle = color("level");
    context.fillRect(x, height - 4 - bar, step > 3 ? step - 1 : step, bar);
    if (step >= 18 && words) {
      context.fillStyle = color("ink");
      context.fillText(words, x + step / 2 - 4, height / 2 + 4);
    }
  }
  if (scale < 2) return;
  const [from, to] = [Math.floor(timeline.from), Math.ceil(timeline.from + timeline.span) + 1];
  row.tracks.forEach((track, side) => {
    context.fillStyle = color(track.color);
    for (const { cycle } of eventsOf(track.seq, from, to)) {
      context.fillRect((cycle - timeline.from) * scale, side ? height - 3 : 1, Math.max(scale - 1, 1), 2);
    }
  });
}

function drawRow(row, canvas, color) {
  const area = prepared(canvas);
  if (row.kind === "buffer") drawWords(row, area, color);
  else if (area.width / timeline.span >= 1) drawEvents(row, area, color);
  else drawDensity(row, area, color);
}

/// The whole run, with the window in it.
function drawOverview(canvas, color) {
  const area = prepared(canvas), all = contents.figures.cycles, { from, span } = timeline;
  const tracks = contents.stages.map(stage => ({ ...stageRow(stage).tracks[0] }));
  Object.assign(timeline, { from: 0, span: all });
  drawDensity({ tracks, capacity: tracks.length }, area, color);
  Object.assign(timeline, { from, span });
  const { context, width, height } = area, left = from / all * width, right = (from + span) / all * width;
  context.fillStyle = color("accent");
  context.globalAlpha = 0.16;
  context.fillRect(left, 0, Math.max(right - left, 2), height);
  context.globalAlpha = 1;
  context.fillRect(left, 0, 1.5, height);
  context.fillRect(Math.max(right - 1.5, left), 0, 1.5, height);
}

let waiting = false;
/// Draws all rows in sight, once for all that has changed since the last picture.
function drawTimeline() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; drawNow(); });
}

function drawNow() {
  const color = palette();
  for (const { canvas, draw } of timeline.rows) {
    const { top, bottom } = canvas.getBoundingClientRect();
    if (timeline.printing || bottom > -200 && top < window.innerHeight + 200) draw(canvas, color);
  }
  const [first, last] = [Math.floor(timeline.from), Math.ceil(timeline.from + timeline.span) - 1];
  document.getElementById("window").textContent = `cycles ${shown(first)} to ${shown(last)} of ${shown(contents.figures.cycles)}`;
  drawCursor();
}

function drawCursor() {
  const line = document.getElementById("cursor"), [{ canvas }] = timeline.rows;
  const place = timeline.cursor === null ? -1 : (timeline.cursor + 0.5 - timeline.from) / timeline.span;
  line.style.display = place >= 0 && place <= 1 ? "block" : "none";
  line.style.left = `${canvas.offsetLeft + place * canvas.clientWidth}px`;
}

/// The events of a cycle, in the rows that are shown.
function tell(cycle) {
  timeline.cursor = cycle;
  drawCursor();
  const told = timeline.rows.filter(({ row, node }) => row && !(row.sum && node.open)).flatMap(({ row }) => {
    const events = row.tracks.flatMap(track => eventsOf(track.seq, cycle, cycle + 1).map(({ index }) => {
      const addresses = track.controller ? ["agg", "sram", "tb", "register_file"].filter(memory => track.controller[memory])
        .map(memory => `${memory} ${affine(track.controller[memory].start, track.controller[memory].stride, index)}`) : [];
      const what = track.controller ? addresses.join(", ") : indexText(track.seq, index);
      const other = !track.owns || track.owns(index) ? "" : " (another tile of the chain)";
      return `${row.kind === "stage" ? row.label : track.name} ${what}${other}`;
    }));
    if (row.kind === "buffer") return [`${row.label.split(",")[0]} of ${nameOf(row.tile)}: ${row.words(cycle, 4096)} of ${row.capacity} words`];
    const whose = row.tile ? row.tile.instances[0].name : row.kind === "unit" ? row.label : "";
    return whose ? events.map(text => `${whose}: ${text}`) : events;
  });
  const most = 24, rest = told.length - most;
  document.getElementById("readout").replaceChildren(html("b", {}, `Cycle ${shown(cycle)} `),
    ...told.slice(0, most).map(text => html("span", { class: "code" }, text)), rest > 0 ? ` and ${rest} more` : "");
}

/// The rows of the tree that are open.
function openRows(nodes, depth = 0) {
  return nodes.flatMap(node => [{ node, row: node.row, depth }, ...(node.open ? openRows(node.inside, depth + 1) : [])]);
}

function buildRows(tree) {
  const rows = document.getElementById("rows"), focused = document.activeElement && document.activeElement.dataset.node;
  const line = (label, kind, draw, more) => {
    const canvas = html("canvas", { "aria-hidden": "true" });
    timeline.rows.push({ canvas, draw, ...more });
    return html("div", { class: `row ${kind}` }, label, canvas);
  };
  timeline.rows = [];
  const elements = [
    line(html("div", {}, "Whole run"), "overview", drawOverview),
    line(html("div", {}, "Cycle"), "axis", drawAxis),
  ];
  openRows(tree).forEach(({ node, row, depth }, place) => {
    const text = row ? row.label : node.label, title = row ? row.title : node.title || node.label;
    const inset = depth === 0 ? "" : depth === 1 ? "nested" : "deep";
    const label = node.inside.length
      ? html("button", { class: inset, title, "aria-expanded": String(Boolean(node.open)), "data-node": title, type: "button" }, `${node.open ? "▾" : "▸"} ${text}`)
      : html("div", { class: inset, title }, text);
    if (row?.kind === "stage") label.dataset.stage = row.name;
    if (node.inside.length) label.addEventListener("click", () => { node.open = !node.open; buildRows(tree); });
    const sum = () => ({ tracks: leaves(node.inside).filter(row => row.kind === "port").flatMap(row => row.tracks), kind: "port", capacity: 1 });
    const combined = row || { ...sum(), capacity: leaves(node.inside).filter(row => row.kind === "port").length || 1 };
    const blank = !row && (node.open || !combined.tracks.length);
    elements.push(line(label, row ? "" : "heading", blank ? prepared : (canvas, color) => drawRow(combined, canvas, color), { row, node }));
  });
  rows.replaceChildren(...elements, html("div", { id: "cursor" }));
  if (focused) rows.querySelector(`[data-node="${CSS.escape(focused)}"]`)?.focus();
  drawTimeline();
}

/// `#cycles=130-170` shows a window.
function windowFromAddress() {
  const found = /^#cycles=(\d+)-(\d+)$/.exec(location.hash);
  if (!found) return;
  const [from, to] = [Number(found[1]), Number(found[2])];
  show(from, to - from);
  document.getElementById("schedule").scrollIntoView();
}

function buildTimeline() {
  const tree = allRows(), button = (text, title, action) => {
    const made = html("button", { type: "button", title, "aria-label": title }, text);
    made.addEventListener("click", action);
    return made;
  };
  const jump = html("input", { type: "text", inputmode: "numeric", placeholder: "Go to cycle", "aria-label": "Go to cycle" });
  jump.addEventListener("keydown", event => {
    const cycle = Number(jump.value.replace(/[,\s]/g, ""));
    if (event.key !== "Enter" || !Number.isFinite(cycle) || jump.value.trim() === "") return;
    show(cycle - 10, 48);
    tell(Math.min(Math.max(cycle, 0), contents.figures.cycles - 1));
  });
  const all = open => () => { const set = nodes => nodes.forEach(node => { node.open = open || node === tree[0]; set(node.inside); }); set(tree); buildRows(tree); };
  const rows = html("div", { id: "rows", class: "rows", tabindex: "0", role: "group",
    "aria-label": "Timeline. Left and right arrows move, plus and minus zoom, Home shows the whole run, comma and period move a cycle." });
  document.getElementById("timeline").append(
    html("div", { class: "controls" },
      button("Whole run", "Show the whole run", () => show(0, contents.figures.cycles)),
      button("−", "Zoom out", () => zoom(2)), button("+", "Zoom in", () => zoom(0.5)),
      button("◂", "Earlier", () => show(timeline.from - timeline.span / 2, timeline.span)),
      button("▸", "Later", () => show(timeline.from + timeline.span / 2, timeline.span)),
      jump, tree.length > 1 ? button("Open all", "Open all tiles", all(true)) : null,
      tree.length > 1 ? button("Close all", "Close all tiles", all(false)) : null,
      html("output", { id: "window" })),
    rows,
    html("div", { id: "readout", "aria-live": "polite" }, "Point at a cycle to read it; drag to move, double-click or Ctrl and the wheel to zoom. Keys: arrows, +, −, Home, comma, period."),
    legend([["var(--stream)", "input"], ["var(--kernel)", "operation, or a memory is read (R0, R1: for which TB or output)"], ["var(--copy)", "words passed on"],
      ["var(--write)", "a memory is written (W0, W1: from which AGG or input)"], ["var(--level)", "words in a buffer: AGG, still to be moved; TB, still to be read"]]));
  const place = event => {
    const { left, width } = timeline.rows[0].canvas.getBoundingClientRect();
    return (event.clientX - left) / width;
  };
  let drag = null;
  rows.addEventListener("pointerdown", event => {
    const at = place(event);
    if (event.target.tagName !== "CANVAS" || event.button !== 0) return;
    const overview = event.target === timeline.rows[0].canvas;
    drag = { at, from: timeline.from, overview };
    event.target.setPointerCapture(event.pointerId);
    if (overview) show(at * contents.figures.cycles - timeline.span / 2, timeline.span);
  });
  rows.addEventListener("pointermove", event => {
    const at = place(event);
    if (drag && drag.overview) show(at * contents.figures.cycles - timeline.span / 2, timeline.span);
    else if (drag) show(drag.from + (drag.at - at) * timeline.span, timeline.span);
    else if (event.target.tagName === "CANVAS" && event.target !== timeline.rows[0].canvas) {
      tell(Math.min(Math.max(Math.floor(timeline.from + at * timeline.span), 0), contents.figures.cycles - 1));
    }
  });
  ["pointerup", "pointercancel"].forEach(name => rows.addEventListener(name, () => { drag = null; }));
  rows.addEventListener("dblclick", event => { if (event.target.tagName === "CANVAS") zoom(event.shiftKey ? 4 : 0.25, place(event)); });
  rows.addEventListener("wheel", event => {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      zoom(Math.exp(event.deltaY / 200), Math.min(Math.max(place(event), 0), 1));
    } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      show(timeline.from + event.deltaX / 600 * timeline.span, timeline.span);
    }
  }, { passive: false });
  rows.addEventListener("keydown", event => {
    const step = timeline.span / 8, cursor = timeline.cursor ?? Math.floor(timeline.from);
    const move = by => {
      tell(Math.min(Math.max(cursor + by, 0), contents.figures.cycles - 1));
      if (timeline.cursor < timeline.from || timeline.cursor >= timeline.from + timeline.span) show(timeline.cursor - timeline.span / 2, timeline.span);
    };
    const actions = { ArrowLeft: () => show(timeline.from - step, timeline.span), ArrowRight: () => show(timeline.from + step, timeline.span),
      "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), Home: () => show(0, contents.figures.cycles), ",": () => move(-1), ".": () => move(1) };
    if (!actions[event.key] || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    actions[event.key]();
  });
  buildRows(tree);
  windowFromAddress();
  window.addEventListener("hashchange", windowFromAddress);
  window.addEventListener("scroll", drawTimeline, { passive: true });
  window.addEventListener("resize", drawTimeline);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawTimeline);
  window.addEventListener("beforeprint", () => { timeline.printing = true; drawNow(); });
  window.addEventListener("afterprint", () => { timeline.printing = false; });
}
