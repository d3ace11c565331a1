// The program, its streams, and the ports of the hardware.

function buildProgram() {
  const { program, build, streams, arrays, figures } = contents, section = document.getElementById("program");
  const rows = streams.map(stream => {
    const array = arrays[stream.array], seq = timed(stream.sequence);
    return [stream.direction, code(stream.name), code(`${array.element} [${array.shape.join(", ")}]`), stream.words, seq.total, unbroken(`${shown(seq.start)} to ${shown(seq.last)}`)];
  });
  const text = (heading, content, id) => html("details", { open: content.split("\n").length <= 48 }, html("summary", {}, html("b", {}, heading), html("span", {}, plural(content.split("\n").length, "line"))), html("pre", { id, tabindex: 0 }, content));
  section.append(
    html("h3", {}, "Streams"), html("div", { id: "streams" }, table(["", "stream", "array", "words a beat", "beats a run", "due in cycles"], rows, [3, 4])),
    html("p", { class: "note" }, "A beat passes in a cycle in which valid and ready are both high. A beat that is not there yet, or finds no room, stalls the whole run."),
    html("div", { class: "columns" },
      text("Loop nest", program.trimEnd(), "text"),
      text(`Ports of ${figures.name}`, build.ports, "ports")));
}
