// The page, put together.

/// A link to a card opens it.
function openTarget() {
  const card = location.hash && document.getElementById(location.hash.slice(1));
  if (card && card.tagName === "DETAILS") { card.open = true; card.scrollIntoView(); }
}

buildSummary();
buildResults();
drawGraph();
buildStages();
buildFloorplan();
buildProgram();
buildTimeline();
buildBuffers();
buildTiles();
hintAtCuts();
document.addEventListener("toggle", hintAtCuts, true);
window.addEventListener("resize", hintAtCuts);
window.addEventListener("hashchange", openTarget);
openTarget();
drawTimeline();
