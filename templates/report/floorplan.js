// The array: its tiles, its nets and the load of its tracks.

/// The colour of a stage: neighbours differ, and no two are the same.
const hue = stage => `hsl(${(stage * 137.508 % 360).toFixed(0)} 65% 55%)`;

/// Makes a label smaller, and cuts it then, to the width of its tile.
function fitLabel(label, width) {
  const whole = label.textContent;
  if (label.getComputedTextLength() > width) label.style.fontSize = "6.5px";
  for (let length = whole.length - 1; length > 0 && label.getComputedTextLength() > width; length--) label.textContent = `${whole.slice(0, length)}…`;
}

/// A click on a tile leads to its stage, or to the card of its memory.
function openTile({ stage, memory }) {
  if (stage !== null) {
    choose(stage);
    document.getElementById("details").scrollIntoView({ block: "nearest" });
  }
  const tile = memory && contents.tiles.find(tile => tile.instances.some(instance => instance.name === memory));
  if (tile) location.hash = cardOf(tile);
}

function tileOf(tile, side) {
  const used = tile.label !== "", titled = svg("title", {}, tile.title);
  const box = svg("g", { class: `tile ${tile.kind}${used ? " used" : ""}`, "data-stage": tile.stage },
    titled, svg("rect", { x: tile.x, y: tile.y, width: side, height: side, rx: tile.kind === "io" ? 12 : 3, style: tile.stage === null ? null : `fill:${hue(tile.stage)};fill-opacity:.55` }),
    used ? svg("text", { class: "tile-label", x: tile.x + side / 2, y: tile.y + side / 2 + 3 }, tile.label) : null);
  if (tile.stage !== null || tile.memory) box.addEventListener("click", () => openTile(tile));
  return box;
}

/// Shows the tiles of a stage alone while the pointer is on its row.
function fadeOthers(row, number) {
  const picture = document.querySelector("#floorplan svg");
  const fade = chosen => {
    picture.classList.toggle("faded", chosen);
    picture.querySelectorAll(`.tile[data-stage="${number}"]`).forEach(tile => tile.classList.toggle("chosen", chosen));
  };
  row.addEventListener("pointerenter", () => fade(true));
  row.addEventListener("pointerleave", () => fade(false));
}

/// The tiles of each stage.
function stageTiles() {
  const numbers = Object.keys(contents.array.stages).map(Number);
  const rows = numbers.map(number => {
    const tiles = contents.array.stages[number], seq = timed(contents.stages[number].sequence);
    const name = html("span", {}, html("i", { class: "key", style: `background:${hue(number)}` }), contents.stages[number].name);
    return [name, tiles.processing_elements, tiles.tables || "", unbroken(`${shown(seq.start)} to ${shown(seq.last)}`), unbroken(addedText(tiles))];
  });
  const made = table(["stage", "PE tiles", "tables", "cycles", "later than scheduled"], rows, [1, 2]);
  made.id = "stage-tiles";
  [...made.querySelectorAll("tbody tr")].forEach((row, place) => fadeOthers(row, numbers[place]));
  return made;
}

function buildFloorplan() {
  const { array } = contents;
  if (!array) { document.getElementById("array").remove(); return; }
  document.getElementById("array").hidden = false;
  document.querySelector("nav [href='#array']").hidden = false;
  const { width, height, side, tiles, loads, nets, region, busiest } = array.floorplan, part = document.getElementById("floorplan");
  const lines = svg("g", {}, nets.map(net => svg("path", { class: `net ${net.layer}`, d: net.path }, svg("title", {}, net.title))));
  const ground = loads.map(load => svg("rect", { class: "load", x: load.x, y: load.y, width: load.width, height: load.height, "fill-opacity": (load.share * 0.6).toFixed(2) }, svg("title", {}, load.title)));
  const boxes = tiles.map(tile => tileOf(tile, side));
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `Tiles and nets of ${array.name}` }, ground, boxes.filter((_, place) => tiles[place].label === ""), lines, boxes.filter((_, place) => tiles[place].label !== ""));
  picture.style.cssText = `width:${width}px;max-width:100%;height:auto;display:block;margin:0 auto`;
  part.append(picture);
  picture.querySelectorAll(".tile-label").forEach(label => fitLabel(label, side - 3));
  viewed(part, picture, text => boxes.filter((_, place) => tiles[place].title.toLowerCase().includes(text)));
  const shownNets = html("input", { type: "checkbox", checked: true });
  shownNets.addEventListener("change", () => { lines.style.display = shownNets.checked ? "" : "none"; });
  part.previousElementSibling.append(html("label", {}, shownNets, " nets"));
  part.parentElement.after(html("p", { class: "note" }, `Its ${region}. ${busiest ? `The most tracks in use: ${busiest}. ` : ""}The pointer on a stage shows its tiles alone.`), stageTiles());
}
