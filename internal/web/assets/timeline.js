// The timeline of a job's attempts. The server draws each window as SVG; this module asks for the next one when the user zooms
// or moves, and shows what is under the pointer. The window and the selected attempt are in the URL, so a reload shows the same.

const box = document.getElementById("timeline");
if (box) start(box);

/** @param {HTMLElement} box the element that has the SVG */
function start(box) {
  const status = document.getElementById("picked"), tip = document.createElement("div");
  /** The window that the picture has: as data attributes of the SVG, texts. */
  const shown = () => box.querySelector("svg").dataset;
  const number = (name) => Number(shown()[name]);
  const view = { from: number("from"), to: number("to"), rows: box.dataset.lanes, picked: box.dataset.sel };
  let request = null, timer = 0, drag = null, width = 0;
  let moved = false; // the user has moved the window, and the URL does not have the new one

  box.setAttribute("role", "application");
  box.setAttribute("aria-label", "Attempts over time. Arrow keys move the window, plus and minus zoom, 0 shows all, n and p select the next and the previous attempt. The table below has the same.");
  tip.className = "tip-box";
  tip.hidden = true;
  document.body.append(tip);

  const place = (e) => e.clientX - box.querySelector("svg").getBoundingClientRect().left - number("left");

  // timeAt returns the time at a place, piece by piece, since folds do not show their duration.
  function timeAt(x) {
    const part = Math.min(Math.max(x / number("width"), 0), 1);
    for (const p of JSON.parse(shown().axis)) if (part <= p.x + p.width) return p.from + ((part - p.x) / p.width) * (p.to - p.from);
    return number("to");
  }

  // load asks for the present window, once the user has not moved it for a moment. A request that is
  // still under way is given up. Its answer is a document, which needs no policy of trusted types.
  function load() {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (moved) remember();
      request?.abort();
      request = new XMLHttpRequest();
      const query = new URLSearchParams(location.search);
      query.set("px", String(Math.min(Math.max(Math.round(width), 1), 4000)));
      request.open("GET", `${location.pathname}?${query}`);
      request.setRequestHeader("Hammr-Fragment", "1");
      request.responseType = "document";
      request.onload = swap;
      request.onerror = () => failed("the server does not answer");
      request.send();
    }, box.querySelector("svg.still") ? 0 : 60);
  }

  const failed = (why) => (status.textContent = `The timeline could not be loaded: ${why}. Load the page again.`);

  function swap() {
    const page = request.status === 200 ? request.response : null;
    if (!page?.getElementById("timeline")) return failed("status " + request.status);
    for (const id of ["signs", "timeline", "items"]) document.getElementById(id).replaceChildren(...page.getElementById(id).childNodes);
    if (!moved) [view.from, view.to] = [number("from"), number("to")];
    stretch();
  }

  // stretch shows the picture at its place in the present window until that one is drawn.
  function stretch() {
    const scale = (number("to") - number("from")) / (view.to - view.from);
    const x = ((number("from") - view.from) / (view.to - view.from)) * number("width");
    box.querySelector("svg svg > g").setAttribute("transform", `translate(${x} 0) scale(${scale} 1)`);
  }

  // remember writes window and selection to the URL.
  function remember() {
    moved = false;
    const url = new URL(location.href);
    const all = view.from <= number("begin") && view.to >= number("end");
    const values = { from: all ? "" : view.from, to: all ? "" : view.to, lanes: view.rows, sel: view.picked, page: "", done: "" };
    for (const [name, value] of Object.entries(values)) value ? url.searchParams.set(name, value) : url.searchParams.delete(name);
    history.replaceState(null, "", url);
  }

  function show(from, to) {
    const begin = number("begin"), end = number("end"), length = Math.min(Math.max(to - from, 10), end - begin + 10);
    view.from = Math.round(Math.max(Math.min(from, end - length), begin, 1));
    view.to = Math.round(view.from + length);
    moved = true;
    stretch();
    load();
  }

  const zoom = (factor, at = (view.from + view.to) / 2) => show(at - (at - view.from) * factor, at + (view.to - at) * factor);
  const move = (part) => show(view.from + (view.to - view.from) * part, view.to + (view.to - view.from) * part);

  function fit() {
    view.rows = "";
    show(number("begin"), number("end"));
  }

  const idOf = (span) => shown().prefix + span.dataset.tip.split(" ", 1)[0];

  function pick(span) {
    view.picked = idOf(span);
    const link = document.createElement("a");
    link.className = "mono";
    link.href = "/attempts/" + encodeURIComponent(view.picked);
    link.textContent = view.picked;
    status.replaceChildren("Selected: ", link, span.dataset.tip.slice(span.dataset.tip.indexOf(" ")));
    remember();
    load();
  }

  // step selects the next or the previous span.
  function step(by) {
    const spans = [...box.querySelectorAll(".span[data-tip]")], n = spans.length;
    const at = spans.findIndex((span) => idOf(span) === view.picked);
    if (n) pick(spans[at < 0 ? (by > 0 ? 0 : n - 1) : (at + by + n) % n]);
  }

  /** Returns the elements with a text at a point, the uppermost first. */
  const under = (e) => document.elementsFromPoint(e.clientX, e.clientY).filter((each) => box.contains(each) && each.dataset.tip);

  box.addEventListener("pointermove", (e) => {
    if (drag) {
      const by = ((drag.x - place(e)) / number("width")) * (drag.to - drag.from);
      drag.moved ||= Math.abs(drag.x - place(e)) > 3;
      if (drag.moved) show(drag.from + by, drag.to + by);
      return;
    }
    const lines = under(e).map((each) => each.dataset.tip);
    tip.hidden = lines.length === 0;
    tip.textContent = lines.slice(0, 8).join("\n");
    tip.style.left = Math.max(Math.min(e.pageX + 12, document.documentElement.clientWidth - tip.offsetWidth - 8), 0) + "px";
    tip.style.top = e.pageY + 14 + "px";
  });
  box.addEventListener("pointerleave", () => (tip.hidden = true));
  box.addEventListener("pointerdown", (e) => {
    if (place(e) < 0) return;
    drag = { x: place(e), from: view.from, to: view.to, moved: false };
    box.setPointerCapture(e.pointerId);
  });
  box.addEventListener("pointercancel", () => (drag = null));
  box.addEventListener("pointerup", (e) => {
    const clicked = drag && !drag.moved;
    drag = null;
    if (!clicked) return;
    const span = under(e).find((each) => each.matches(".span")), row = under(e).find((each) => each.matches(".row"));
    if (span) return pick(span);
    if (!row) return;
    view.rows = row.dataset.rows || view.rows;
    zoom(0.25, timeAt(place(e)));
  });
  box.addEventListener("wheel", (e) => {
    if (!(e.ctrlKey || e.metaKey)) return; // the page scrolls
    e.preventDefault();
    zoom(e.deltaY > 0 ? 1.25 : 0.8, timeAt(place(e)));
  }, { passive: false });
  box.addEventListener("dblclick", (e) => zoom(0.4, timeAt(place(e))));
  box.addEventListener("keydown", (e) => {
    const acts = {
      ArrowLeft: () => move(-0.25), ArrowRight: () => move(0.25), "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2),
      0: fit, Home: fit, n: () => step(1), p: () => step(-1),
      Enter: () => view.picked && location.assign("/attempts/" + encodeURIComponent(view.picked)),
    };
    if (e.ctrlKey || e.metaKey || e.altKey || !acts[e.key]) return;
    e.preventDefault();
    acts[e.key]();
  });

  document.addEventListener("hammr:change", load);

  const button = (text, act) => {
    const b = document.createElement("button");
    b.type = "button";
    b.className = "quiet";
    b.textContent = text;
    b.addEventListener("click", act);
    return b;
  };
  document.getElementById("moves").replaceChildren(button("All", fit), button("Zoom in", () => zoom(0.5)), button("Zoom out", () => zoom(2)), button("Earlier", () => move(-0.5)), button("Later", () => move(0.5)));

  new ResizeObserver(() => {
    if (width === box.clientWidth) return;
    width = box.clientWidth;
    load();
  }).observe(box);
}
