// Pictures that are larger than their place: moved by dragging, zoomed, and searched.

const LARGEST_ZOOM = 8, SMALLEST_ZOOM = 0.1;

/// Makes a picture in a part that scrolls one that is moved and zoomed. `find` gives the boxes whose names contain a text.
function viewed(part, picture, find) {
  const natural = picture.viewBox.baseVal.width, usual = picture.style.cssText;
  const scale = () => picture.getBoundingClientRect().width / natural;
  /// Larger or smaller around a point of the part, in pixels.
  const zoom = (factor, x = part.clientWidth / 2, y = part.clientHeight / 2) => {
    const before = scale(), after = Math.min(Math.max(before * factor, SMALLEST_ZOOM), LARGEST_ZOOM);
    const [left, top] = [(part.scrollLeft + x) / before, (part.scrollTop + y) / before];
    picture.style.cssText = `display:block;margin:0 auto;height:auto;min-width:0;width:${after * natural}px`;
    part.scrollLeft = left * scale() - x;
    part.scrollTop = top * scale() - y;
    hintAtCuts();
  };
  const whole = () => zoom(Math.min(part.clientWidth / picture.getBoundingClientRect().width, part.clientHeight / picture.getBoundingClientRect().height));
  const reset = () => { picture.style.cssText = usual; hintAtCuts(); };
  let drag = null, moved = false;
  part.addEventListener("pointerdown", event => {
    if (event.button !== 0 || event.pointerType === "touch") return;
    [drag, moved] = [{ x: event.clientX + part.scrollLeft, y: event.clientY + part.scrollTop }, false];
  });
  part.addEventListener("pointermove", event => {
    if (!drag) return;
    const [left, top] = [drag.x - event.clientX, drag.y - event.clientY];
    if (!moved && Math.abs(left - part.scrollLeft) + Math.abs(top - part.scrollTop) < 4) return;
    if (!moved) part.setPointerCapture(event.pointerId);
    moved = true;
    [part.scrollLeft, part.scrollTop] = [left, top];
  });
  ["pointerup", "pointercancel"].forEach(name => part.addEventListener(name, () => { drag = null; }));
  // A box that was only dragged along is not clicked at.
  part.addEventListener("click", event => { if (moved) { event.preventDefault(); event.stopPropagation(); moved = false; } }, true);
  part.addEventListener("dragstart", event => event.preventDefault());
  part.addEventListener("wheel", event => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const { left, top } = part.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY / 300), event.clientX - left, event.clientY - top);
  }, { passive: false });
  part.addEventListener("keydown", event => {
    const actions = { "+": () => zoom(1.5), "=": () => zoom(1.5), "-": () => zoom(1 / 1.5), 0: reset };
    if (!actions[event.key] || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    actions[event.key]();
  });
  const button = (text, title, action) => {
    const made = html("button", { type: "button", title, "aria-label": title }, text);
    made.addEventListener("click", action);
    return made;
  };
  const search = html("input", { type: "search", placeholder: "Find", "aria-label": "Find a box by its name; Enter goes to the next" }), count = html("output", {});
  let place = -1;
  const go = step => {
    const found = search.value.trim() ? find(search.value.trim().toLowerCase()) : [];
    picture.querySelectorAll(".found").forEach(box => box.classList.remove("found"));
    if (!found.length) { count.textContent = search.value.trim() ? "none" : ""; place = -1; return; }
    place = (place + step + found.length) % found.length;
    found.forEach(box => box.classList.add("found"));
    inSight(part, found[place]);
    count.textContent = `${place + 1} of ${found.length}`;
  };
  search.addEventListener("input", () => { place = -1; go(1); });
  search.addEventListener("keydown", event => { if (event.key === "Enter") { event.preventDefault(); go(event.shiftKey ? -1 : 1); } });
  part.before(html("div", { class: "controls" }, button("−", "Zoom out", () => zoom(1 / 1.5)), button("+", "Zoom in", () => zoom(1.5)), button("Whole picture", "Show the whole picture", whole), button("Usual size", "Show the picture in its usual size", reset), search, count));
}

/// Scrolls a part so that a box in it is in its middle.
function inSight(part, box) {
  const own = part.getBoundingClientRect(), { left, top, width, height } = box.getBoundingClientRect();
  part.scrollLeft += left + width / 2 - own.left - own.width / 2;
  part.scrollTop += top + height / 2 - own.top - own.height / 2;
}
