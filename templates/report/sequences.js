// Sequences: iterations in the order of time, the innermost loop first, with an affine cycle. The iterations in a
// window of cycles are computed from that; a run of millions of cycles costs what a short one costs.

/// A sequence with what is needed to count in it. `inside[d]` is how many iterations one of loop d contains.
function sequence(names, first, extent, stride, start) {
  let inside = 1;
  const within = extent.map(count => { const before = inside; inside *= count; return before; });
  const last = extent.reduce((cycle, count, level) => cycle + (count - 1) * stride[level], start);
  return { names, first, extent, stride, start, within, total: inside, last };
}

/// A sequence as the contents have it, so many cycles later.
function timed(told, later = 0) {
  return sequence(told.names, told.first, told.extent, told.cycle.stride, told.cycle.start + later);
}

/// The firings of a controller whose time begins in cycle `begin`.
function firings(controller, begin) {
  const names = controller.extent.map((_, level) => `i${level}`);
  const first = controller.extent.map(() => 0);
  return sequence(names, first, controller.extent, controller.cycle.stride, begin + controller.cycle.start);
}

/// How many iterations come in this cycle or before.
function until(seq, cycle) {
  let rest = cycle - seq.start;
  if (rest < 0) return 0;
  let count = 1;
  for (let level = seq.extent.length - 1; level >= 0; level--) {
    if (seq.extent[level] === 1) continue;
    const index = Math.min(Math.floor(rest / seq.stride[level]), seq.extent[level] - 1);
    count += index * seq.within[level];
    rest -= index * seq.stride[level];
  }
  return count;
}

/// The indices of the iteration with this number, counted from 0.
function indices(seq, number) {
  return seq.extent.map((extent, level) => Math.floor(number / seq.within[level]) % extent);
}

/// An affine function of indices.
function affine(start, stride, index) {
  let value = start;
  for (let level = 0; level < index.length; level++) value += stride[level] * index[level];
  return value;
}

/// The iterations in cycles from `from` up to but not `to`, at most so many: their cycles and indices.
function eventsOf(seq, from, to, most = 4096) {
  const found = [];
  const end = Math.min(until(seq, to - 1), until(seq, from - 1) + most);
  for (let number = until(seq, from - 1); number < end; number++) {
    const index = indices(seq, number);
    found.push({ cycle: affine(seq.start, seq.stride, index), index });
  }
  return found;
}

/// The loop variables of an iteration, the outermost first.
function indexText(seq, index) {
  const terms = seq.names.map((name, level) => `${name}=${seq.first[level] + index[level]}`);
  return terms.reverse().join(" ");
}

const modulo = (value, by) => ((value % by) + by) % by;

/// The words in an aggregator in a cycle: those that have come and were not moved out before. `fill` and `empty` are the
/// sequences of its controllers with the addresses of each; an aggregator is emptied by whole rows.
function wordsToMove(buffer, fill, empty, cycle) {
  const rows = buffer.words / buffer.emptied;
  const moved = new Array(rows).fill(-Infinity);
  const came = new Array(buffer.words).fill(null);
  if (empty) {
    const before = until(empty.seq, cycle - 1);
    for (let number = before - 1, known = 0; number >= 0 && known < rows && number >= before - 8 * rows; number--) {
      const index = indices(empty.seq, number);
      const row = modulo(affine(empty.address.start, empty.address.stride, index), rows);
      if (moved[row] === -Infinity) { moved[row] = affine(empty.seq.start, empty.seq.stride, index); known++; }
    }
  }
  const there = until(fill.seq, cycle - buffer.fill_latency);
  for (let number = there - 1, known = 0; number >= 0 && known < buffer.words && number >= there - 4 * buffer.words; number--) {
    const index = indices(fill.seq, number);
    const word = modulo(affine(fill.address.start, fill.address.stride, index), buffer.words);
    if (came[word] === null) { came[word] = affine(fill.seq.start, fill.seq.stride, index); known++; }
  }
  return came.filter((filled, word) => filled !== null && filled >= moved[Math.floor(word / buffer.emptied)]).length;
}

/// The words in a transpose buffer in a cycle that are still to be read before others take their place. A transpose buffer is
/// filled by whole rows. So many reads ahead are looked at.
function wordsToRead(buffer, fill, empty, cycle, ahead) {
  const rows = buffer.words / buffer.filled;
  const arrival = number => {
    const index = indices(fill.seq, number);
    return { row: modulo(affine(fill.address.start, fill.address.stride, index), rows),
      cycle: affine(fill.seq.start, fill.seq.stride, index) + buffer.fill_latency };
  };
  const there = until(fill.seq, cycle - buffer.fill_latency);
  const holds = new Array(rows).fill(false);
  for (let number = there - 1; number >= 0 && number >= there - 8 * rows; number--) holds[arrival(number).row] = true;
  const next = new Array(rows).fill(Infinity);
  for (let number = there; number < fill.seq.total && number < there + 8 * rows; number++) {
    const { row, cycle: at } = arrival(number);
    next[row] = Math.min(next[row], at);
  }
  const wanted = new Set();
  const done = until(empty.seq, cycle - 1);
  for (let number = done; number < empty.seq.total && number < done + ahead; number++) {
    const index = indices(empty.seq, number);
    const at = affine(empty.seq.start, empty.seq.stride, index);
    const word = modulo(affine(empty.address.start, empty.address.stride, index), buffer.words);
    const row = Math.floor(word / buffer.filled);
    if (holds[row] && at < next[row]) wanted.add(word);
    if (wanted.size === buffer.words || next.every(other => other <= at)) break;
  }
  return wanted.size;
}
