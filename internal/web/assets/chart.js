// Shows the figures of the interval under the pointer on charts over time. They are those of the table
// below the chart, so this module has no data of its own.

const space = "http://www.w3.org/2000/svg";
const tip = document.createElement("div");
tip.className = "tip-box";
tip.setAttribute("aria-hidden", "true"); // the table has the same
const line = document.createElementNS(space, "path");
line.setAttribute("class", "cursor");

function hide() {
  tip.remove();
  line.remove();
}

// rowAt returns the row of the table whose interval has a time, null if the chart has a gap there.
function rowAt(figure, at) {
  const rows = figure.querySelector("tbody").rows;
  let low = 0, high = rows.length; // the row is before high
  const start = (i) => Date.parse(rows[i].querySelector("time").dateTime);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (start(middle) <= at) low = middle + 1;
    else high = middle;
  }
  return low > 0 && at - start(low - 1) < Number(figure.dataset.step) ? rows[low - 1] : null;
}

document.addEventListener("pointermove", (e) => {
  const figure = e.target.closest?.("figure.chart"), svg = e.target.closest?.("svg");
  if (!figure || !svg) return hide();
  const d = figure.dataset, box = svg.getBoundingClientRect();
  const x = ((e.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
  const part = (x - d.left) / (d.right - d.left);
  const row = part >= 0 && part <= 1 ? rowAt(figure, Number(d.from) + part * (d.to - d.from)) : null;
  if (!row) return hide();
  const heads = figure.querySelectorAll("thead th");
  tip.textContent = [...row.cells].map((cell, i) => (i ? heads[i].textContent + ": " : "") + cell.textContent).join("\n");
  line.setAttribute("d", `M${x} ${d.top}V${d.bottom}`);
  svg.append(line);
  const area = figure.getBoundingClientRect();
  figure.append(tip);
  tip.style.left = Math.max(0, Math.min(e.clientX - area.left + 14, area.width - tip.offsetWidth)) + "px";
  tip.style.top = e.clientY - area.top + 14 + "px";
});
document.addEventListener("pointerleave", hide);

for (const box of document.querySelectorAll(".chart > .scroll")) box.scrollLeft = box.scrollWidth; // the latest figures are on the right
