// Elements of the page, and numbers as people write them. Names come into the page as text only, never as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter(child => child !== null && child !== undefined && child !== ""));
  return element;
}

const html = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

const shown = value => value.toLocaleString("en-US", { maximumFractionDigits: 2 });
const percent = share => share === null || share === undefined ? "–" : `${(100 * share).toFixed(1)}\u00a0%`;
const plural = (count, what) => `${shown(count)} ${what}${count === 1 ? "" : "s"}`;

/// A table: columns that are numbers stand to the right. The sums of all rows may stand below.
function table(columns, rows, numeric = [], sums = null) {
  const of = (tag, cells) => html("tr", {}, cells.map((cell, column) => {
    const kind = numeric.includes(column) ? "number" : cell && cell.code ? "code" : null;
    return html(tag, { class: kind, scope: tag === "th" ? "col" : null }, cell && cell.code ? cell.code : typeof cell === "number" ? shown(cell) : cell ?? "");
  }));
  return html("div", { class: "scroll", tabindex: 0 }, html("table", {}, html("thead", {}, of("th", columns)), html("tbody", {}, rows.map(row => of("td", row))), sums ? html("tfoot", {}, of("td", sums)) : null));
}

const code = text => ({ code: text });

/// A name in a table: short ones stay in one line.
const nameCell = text => text.length <= 28 ? unbroken(text) : text;

/// An affine function as people write it, the outermost term first: `64y + x + 65`.
function affineText(start, stride, names) {
  let text = "";
  for (let level = stride.length - 1; level >= 0; level--) {
    if (stride[level] === 0) continue;
    const factor = Math.abs(stride[level]) === 1 ? "" : Math.abs(stride[level]);
    text += (text ? (stride[level] < 0 ? " − " : " + ") : stride[level] < 0 ? "−" : "") + factor + names[level];
  }
  if (!text) return String(start);
  return start === 0 ? text : `${text} ${start < 0 ? "−" : "+"} ${Math.abs(start)}`;
}

/// Text that stays in one line.
const unbroken = text => text.replace(/ /g, "\u00a0");

/// The iteration domain of a sequence: `0 ≤ x ≤ 63, 0 ≤ y ≤ 63`.
function domainText(seq) {
  const bounds = seq.names.map((name, level) => `${seq.first[level]} ≤ ${name} ≤ ${seq.first[level] + seq.extent[level] - 1}`);
  return bounds.map(unbroken).join(", ") || "one iteration";
}

/// The cycle of an iteration, in terms of the loop variables.
function cycleText(seq) {
  const offset = seq.first.reduce((sum, first, level) => sum - first * seq.stride[level], seq.start);
  return affineText(offset, seq.stride, seq.names);
}

/// Iterations in a cycle, on average from the first to the last.
const rateOf = seq => seq.total / (seq.last - seq.start + 1);

/// Choices among many are cut.
function few(texts, most = 12) {
  const told = texts.slice(0, most).map(unbroken).join(", ");
  return texts.length <= most ? told : `${told}, … (${texts.length} in all)`;
}

/// ` × 8` for a stage of eight copies.
const copiesText = stage => stage.copies > 1 ? ` × ${stage.copies}` : "";

/// The width of the page, in pixels, from which on parts stand side by side.
const COLUMNS = 1100;

/// Says below each part that is larger than its place that there is more of it.
function hintAtCuts() {
  for (const part of document.querySelectorAll(".scroll")) {
    const aside = part.scrollWidth > part.clientWidth + 1, below = part.scrollHeight > part.clientHeight + 1;
    const old = part.nextElementSibling?.matches(".hint") ? part.nextElementSibling : null;
    old?.remove();
    if (aside || below) part.after(html("p", { class: "hint" }, `More ${[aside && "to the side ↔", below && "below ↕"].filter(Boolean).join(" and ")}: scroll`));
  }
}
