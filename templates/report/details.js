// The schedule, the memory and the source of a stage whose box was chosen.

/// A button that does something on the page.
function action(text, act) {
  const made = html("button", { type: "button" }, text);
  made.addEventListener("click", act);
  return made;
}

/// Shows the cycles of a stage in the timeline, and its row.
function showInTimeline(stage) {
  const seq = timed(stage.sequence), span = seq.last + stage.latency - seq.start + 1;
  show(seq.start - span * 0.05, span * 1.1);
  tell(seq.start);
  document.getElementById("schedule").scrollIntoView();
  mark(document.querySelector(`#rows [data-stage="${CSS.escape(stage.name)}"]`));
}

/// Shows the line of a stage in the program.
function showInProgram(stage) {
  const line = document.getElementById(`line-${stage.line}`);
  line.closest("details").open = true;
  line.scrollIntoView({ block: "center" });
  mark(line);
}

/// Marks one element of the page, and no other.
function mark(element) {
  document.querySelectorAll(".marked").forEach(other => other.classList.remove("marked"));
  element?.classList.add("marked");
}

/// Links to the arrays with these numbers.
const arrayLinks = numbers => numbers.flatMap((number, place) => [place ? ", " : "", html("a", { href: `#array-${number}` }, contents.arrays[number].name)]);

/// The memory of an array: what keeps its words, with links to its tiles.
function memoryOf(array) {
  const memories = contents.arrays[array].memories.map(number => contents.memories[number]);
  return [html("a", { href: `#array-${array}` }, contents.arrays[array].name), `: ${storageText(contents.arrays[array])}`, ...memories.flatMap(memory => [", ", ...tileLinks(memory)])];
}

/// Chooses a stage: its box is marked, and beside it stands all that there is of it.
function choose(number) {
  const stage = contents.stages[number], seq = timed(stage.sequence), tiles = contents.array?.stages[number];
  const roms = contents.roms.filter(rom => rom.stage === number);
  const rows = [
    ["source", stage.statement ? [html("code", {}, stage.statement), " "] : `stream of ${contents.arrays[stage.writes].name}`, stage.line ? action(`line ${stage.line} of the loop nest`, () => showInProgram(stage)) : ""],
    ["schedule", [html("code", {}, `cycle ${cycleText(seq)} for ${domainText(seq)}`), `, latency ${stage.latency}: cycles ${shown(seq.start)} to ${shown(seq.last + stage.latency)} `], action("in the timeline", () => showInTimeline(stage))],
    ["writes", memoryOf(stage.writes), ""],
    ...stage.reads.map((array, place) => [place ? "" : "reads", memoryOf(array), ""]),
    ["hardware", [stage.processing_elements ? plural(stage.processing_elements, "processing element") : "no processing element", stage.multipliers ? `, ${plural(stage.multipliers, "multiplier")}` : "", roms.length ? `, ${plural(roms.length, "ROM")}` : "",
      unitOf(number) ? `, in the shared unit ${unitOf(number).name}` : "", tiles ? `; on the array ${plural(tiles.processing_elements, "tile")}, ${addedText(tiles)} cycles later than scheduled` : ""], ""]];
  const part = document.getElementById("details");
  part.hidden = false;
  part.replaceChildren(html("h3", {}, stage.name + copiesText(stage)), html("dl", {}, rows.flatMap(([name, what, button]) => [html("dt", {}, name), html("dd", {}, what, button)])));
  document.querySelectorAll(".stage-node").forEach((node, place) => node.classList.toggle("chosen", place === number));
}

/// The cycles that routes add to a stage.
const addedText = ({ added: [least, most] }) => least === most ? shown(least) : `${shown(least)} to ${shown(most)}`;
