// The program, its streams, the ports of the hardware, and the shell around it.

/// A field of a register: its bits and what it says.
const fieldText = ({ name, low, bits, description }) => `${name}[${bits === 1 ? low : `${low + bits - 1}:${low}`}]${description ? ` ${description}` : ""}`;

/// The registers of a shell, as software sees them.
function registerTable(registers) {
  const access = { read_only: "read", read_write: "read, write", request: "request" };
  const rows = registers.map(({ name, offset, access: kind, description, fields }) => [code(`0x${offset.toString(16).padStart(2, "0")}`), code(name), access[kind], [description, description ? " " : "", fields.map(fieldText).join("; ")]]);
  const made = table(["offset", "register", "access", "fields"], rows);
  made.id = "registers";
  made.classList.add("list");
  return made;
}

function buildProgram() {
  const { program, build, streams, arrays, figures } = contents, section = document.getElementById("program");
  const rows = streams.map(stream => {
    const array = arrays[stream.array], seq = timed(stream.sequence);
    return [stream.direction, code(stream.name), code(`${array.element} [${array.shape.join(", ")}]`), stream.words, seq.total, unbroken(`${shown(seq.start)} to ${shown(seq.last)}`), ...(contents.array ? [stream.columns.join(", ")] : [])];
  });
  // A line of the program has an address, which its stage leads to.
  const lines = (content, id) => content.split("\n").map((line, place, all) => html("span", { id: id === "text" ? `line-${place + 1}` : null }, place + 1 < all.length ? `${line}\n` : line));
  const text = (heading, content, id) => html("details", { open: content.split("\n").length <= 48 }, html("summary", {}, html("b", {}, heading), html("span", {}, plural(content.split("\n").length, "line"))), html("pre", { id, tabindex: 0 }, lines(content, id)));
  section.append(
    html("h3", {}, "Streams"), html("div", { id: "streams" }, table(["", "stream", "array", "words a beat", "beats a run", "due in cycles", ...(contents.array ? ["columns of IO tiles"] : [])], rows, [3, 4])),
    html("p", { class: "note" }, "A beat passes in a cycle in which valid and ready are both high. A beat that is not there yet, or finds no room, stalls the whole run."),
    html("div", { class: "columns" },
      text("Loop nest", program.trimEnd(), "text"),
      build.ports ? text(`Ports of ${contents.array ? `the array ${contents.array.name}` : figures.name}`, build.ports, "ports") : ""));
  if (!build.shell) return;
  section.append(html("h3", {}, `Shell ${build.shell.module}`),
    html("p", { class: "note" }, "The module that stands in a system, with buses on both sides: software starts runs by its registers. The window to the configuration of the tiles begins above them."),
    html("div", { class: "columns" }, html("div", {}, registerTable(build.shell.registers)), text(`Ports of ${build.shell.module}`, build.shell.ports, "shell-ports")));
}
