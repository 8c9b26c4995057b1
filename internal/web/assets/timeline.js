// The timeline of a job's attempts on a canvas. The server has drawn the first view as SVG and sends
// the data of each window; this module draws it, and asks for the next window when the user zooms or
// moves. The window and the selected attempt are in the URL, so a reload shows the same.

const box = document.getElementById("timeline");
if (box) start(box);

/** @param {HTMLElement} box the element that has the SVG of the server */
function start(box) {
  const rowHeight = 16, top = 24;
  const digits = "0123456789abcdefghijklmnopqrstuvwxyz";
  const signs = new Map([...document.querySelectorAll("[data-sign]")].map((li) => [li.dataset.sign, li.firstElementChild.textContent]));
  const job = { begin: Number(box.dataset.begin), end: Number(box.dataset.end) };
  const view = { from: Number(box.dataset.from), to: Number(box.dataset.to), by: box.dataset.by, rows: box.dataset.lanes, picked: box.dataset.sel };
  const status = document.getElementById("picked");
  const again = document.getElementById("again");
  const canvas = document.createElement("canvas"), painting = document.createElement("canvas");
  const tip = document.createElement("div");
  let data = null, request = null, timer = 0, drag = null, frame = 0, painted = false;
  let moved = false; // the user has moved the window, and the URL does not have the new one

  canvas.setAttribute("aria-hidden", "true"); // the table has the same
  box.setAttribute("role", "application");
  box.setAttribute("aria-label", "Attempts over time. Arrow keys move the window, plus and minus zoom, 0 shows all, n and p select the next and the previous attempt. The table below has the same.");
  tip.className = "tip-box";
  tip.hidden = true;

  const left = () => (box.clientWidth < 600 ? 84 : 150);
  const width = () => box.clientWidth - left();
  const colours = new Map(); // of the present theme, by custom property
  const probe = document.createElement("span"); // resolves var() and light-dark(), which a canvas does not
  probe.hidden = true;
  document.body.append(probe);
  const colour = (name) => {
    if (!colours.has(name)) {
      probe.style.color = `var(${name})`;
      colours.set(name, getComputedStyle(probe).color);
    }
    return colours.get(name);
  };

  // across returns where a time is in the painting: piece by piece, since folds do not show their duration.
  function across(at) {
    for (const p of data.axis) if (at < p.to) return left() + (p.x + (p.width * Math.max(at - p.from, 0)) / (p.to - p.from)) * width();
    return left() + width();
  }

  const isCurrent = () => view.from === data.from && view.to === data.to;

  // place returns where a time is on the canvas. Until the data of a new window is there, the pieces of
  // the old painting are shown at their places in the new window.
  const place = (at) => (isCurrent() ? across(at) : left() + ((at - view.from) / (view.to - view.from)) * width());

  function timeAt(x) {
    const f = Math.min(Math.max((x - left()) / width(), 0), 1);
    for (const p of data.axis) if (f <= p.x + p.width) return p.from + ((f - p.x) / p.width) * (p.to - p.from);
    return data.to;
  }

  const rowTop = (row) => top + row * rowHeight;
  const spanEnd = (i) => (data.spans.duration[i] < 0 ? Math.max(data.to, job.end) : data.from + data.spans.from[i] + data.spans.duration[i]);

  // redraw draws the next frame. repaint is for other data, sizes, colours or another selection.
  function redraw() {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(draw);
  }

  function repaint() {
    painted = false;
    redraw();
  }

  // prepare sets the size of a canvas and returns its context, empty.
  function prepare(canvas, w, h, ratio) {
    if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
      canvas.width = Math.round(w * ratio);
      canvas.height = Math.round(h * ratio);
    }
    const g = canvas.getContext("2d");
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, w, h);
    g.font = "12px system-ui, sans-serif";
    return g;
  }

  // paint draws the data once. While the user moves the window, frames only copy the painting.
  function paint(w, h, ratio) {
    const g = prepare(painting, w, h, ratio);
    if (data.cells) paintCells(g);
    else paintSpans(g);
    paintArrows(g);
    paintMarks(g);
    painted = true;
  }

  function draw() {
    if (!data) return;
    const ratio = window.devicePixelRatio || 1;
    const w = box.clientWidth, h = top + Math.max(data.shown.length, 1) * rowHeight + 8;
    if (!painted || painting.width !== Math.round(w * ratio)) paint(w, h, ratio);
    const g = prepare(canvas, w, h, ratio);
    canvas.style.width = w + "px";
    canvas.style.height = h + "px";
    drawTimes(g, h);
    g.save();
    g.beginPath();
    g.rect(left(), 0, w - left(), h);
    g.clip();
    if (isCurrent()) g.drawImage(painting, 0, 0, w, h);
    else for (const p of data.axis) copy(g, p, h, ratio);
    g.restore();
    g.fillStyle = colour("--text");
    data.labels.forEach((label, i) => g.fillText(label, 2, rowTop(i) + 12, left() - 8));
  }

  // copy shows a piece of the painting at its place in the present window, if it is there.
  function copy(g, p, h, ratio) {
    const x = place(p.from), end = place(p.to);
    if (end > left() && x < left() + width()) g.drawImage(painting, (left() + p.x * width()) * ratio, 0, p.width * width() * ratio, h * ratio, x, 0, end - x, h);
  }

  function drawTimes(g, h) {
    const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 3e4, 6e4, 12e4, 3e5, 6e5, 18e5, 36e5, 108e5, 216e5, 864e5];
    const most = Math.max(width() / 130, 2);
    const step = steps.find((s) => (view.to - view.from) / s <= most) || 864e5;
    const text = (at) => {
      const iso = new Date(at).toISOString();
      return step >= 864e5 ? iso.slice(0, 10) : step >= 6e4 ? iso.slice(11, 16) : step >= 1e3 ? iso.slice(11, 19) : iso.slice(11, 23);
    };
    let last = -1e9;
    for (let at = Math.ceil(view.from / step) * step; at < view.to; at += step) {
      const x = place(at);
      if (x - last < 70 || data.axis.some((p) => p.fold && at >= p.from && at < p.to)) continue;
      last = x;
      g.fillStyle = colour("--line");
      g.fillRect(x, 18, 1, h);
      g.fillStyle = colour("--muted");
      g.fillText(text(at), x + 3, 13);
    }
    if (!isCurrent()) return;
    for (const p of data.axis.filter((p) => p.fold)) {
      const x = left() + p.x * width();
      g.fillStyle = colour("--bar");
      g.fillRect(x, 0, p.width * width(), h);
      g.fillStyle = colour("--text");
      g.fillText("//", x + (p.width * width()) / 2 - 4, 13);
    }
  }

  // Suspensions are thin, slots that are to be given up have a frame: no state is shown by colour only.
  function paintSpans(g) {
    const s = data.spans;
    for (let i = 0; i < s.row.length; i++) {
      const x = across(data.from + s.from[i]), end = across(spanEnd(i)), state = data.states[s.state[i]], y = rowTop(s.row[i]) + 2;
      const long = Math.max(end - x, 1);
      g.fillStyle = g.strokeStyle = colour("--span-" + state);
      if (state === "suspended") g.fillRect(x, y + 4, long, 4);
      else if (state === "stopping") g.strokeRect(x + 0.5, y + 0.5, Math.max(long - 1, 1), 11);
      else g.fillRect(x, y, long - (long > 3 ? 1 : 0), 12);
      if (data.prefix + s.attempt[i] === view.picked) {
        g.strokeStyle = colour("--text");
        g.lineWidth = 2;
        g.strokeRect(x, y - 1, long, 14);
        g.lineWidth = 1;
      }
      if (long > 90 && state !== "suspended" && state !== "stopping") {
        g.fillStyle = colour("--span-text");
        g.fillText(s.attempt[i], Math.max(x, left()) + 4, y + 10, long - 8);
      }
    }
  }

  // All cells of a layer are one path, in which cells of the same height are one rectangle.
  function paintCells(g) {
    const c = data.cells, n = c.columns;
    const x = Array.from({ length: n + 1 }, (_, i) => across(timeOfCell(i)));
    const bottoms = data.shown.map((_, row) => new Float32Array(n).fill(rowTop(row) + 15));
    for (const [name, rows] of [["--span-finished", c.used], ["--span-failed", c.wasted], ["--span-suspended", c.suspended]]) {
      g.beginPath();
      bottoms.forEach((bottom, row) => {
        for (let i = 0, next = 0; i < n; i = next) {
          next = i + 1;
          while (next < n && rows[row][next] === rows[row][i] && bottom[next] === bottom[i]) next++;
          const height = (digits.indexOf(rows[row][i]) / 35) * 13;
          if (height === 0) continue;
          g.rect(x[i], bottom[i] - height, Math.max(x[next] - x[i], 1), height);
          bottom.fill(bottom[i] - height, i, next);
        }
      });
      g.fillStyle = colour(name);
      g.fill();
    }
  }

  function timeOfCell(i) {
    const f = i / data.cells.columns;
    for (const p of data.axis) if (f < p.x + p.width) return p.from + ((f - p.x) / p.width) * (p.to - p.from);
    return data.to;
  }

  function paintArrows(g) {
    g.strokeStyle = g.fillStyle = colour("--text");
    g.setLineDash([4, 3]);
    for (const a of data.arrows) {
      if (a.sourceRow < 0) continue;
      const x1 = across(a.sourceTime), y1 = rowTop(a.sourceRow) + 8, x2 = across(a.time), y2 = rowTop(a.row) + 8;
      g.beginPath();
      g.moveTo(x1, y1);
      g.bezierCurveTo(x1 + 20, y1, x2 - 20, y2, x2 - 1, y2);
      g.stroke();
      g.beginPath();
      g.moveTo(x2, y2);
      g.lineTo(x2 - 6, y2 - 4);
      g.lineTo(x2 - 6, y2 + 4);
      g.fill();
    }
    g.setLineDash([]);
  }

  function paintMarks(g) {
    g.textAlign = "center";
    g.lineWidth = 3;
    for (const m of data.marks) {
      g.strokeStyle = colour("--card");
      g.fillStyle = colour("--text");
      g.strokeText(signs.get(m.kind) || "•", across(m.at), rowTop(m.row) + 12);
      g.fillText(signs.get(m.kind) || "•", across(m.at), rowTop(m.row) + 12);
    }
    g.lineWidth = 1;
    g.textAlign = "start";
  }

  // load asks for the data of the present window, once the user has not moved it for a moment. A
  // request that is still under way is given up.
  function load() {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      if (moved) remember();
      if (request) request.abort();
      request = new AbortController();
      const q = new URLSearchParams({ by: view.by, px: String(Math.min(Math.max(Math.round(width()), 1), 4000)) });
      if (view.from > job.begin || view.to < job.end) {
        q.set("from", String(view.from));
        q.set("to", String(view.to));
      }
      if (view.rows) q.set("lanes", view.rows);
      try {
        const answer = await fetch(box.dataset.api + "?" + q, { signal: request.signal, headers: { Accept: "application/json" } });
        if (!answer.ok) throw new Error("status " + answer.status);
        data = await answer.json();
        if (!q.has("from")) [job.begin, job.end] = [data.from, data.to]; // a job that runs becomes longer
        view.from = data.from;
        view.to = data.to;
        if (!canvas.isConnected) box.replaceChildren(canvas, tip);
        repaint();
      } catch (err) {
        if (err.name !== "AbortError") status.textContent = "The timeline could not be loaded: " + err.message + ". Load the page again.";
      }
    }, data ? 60 : 0);
  }

  // remember writes window and selection to the URL.
  function remember() {
    moved = false;
    const url = new URL(location.href);
    const set = (name, value) => (value ? url.searchParams.set(name, value) : url.searchParams.delete(name));
    const all = view.from <= job.begin && view.to >= job.end;
    set("from", all ? "" : String(view.from));
    set("to", all ? "" : String(view.to));
    set("lanes", view.rows);
    set("sel", view.picked);
    set("page", "");
    set("done", "");
    history.replaceState(null, "", url);
    again.href = url.pathname + url.search + "#table";
    again.hidden = false;
  }

  function show(from, to) {
    const length = Math.min(Math.max(to - from, 10), job.end - job.begin + 10);
    view.from = Math.round(Math.max(Math.min(from, job.end - length), job.begin, 1));
    view.to = Math.round(view.from + length);
    moved = true;
    redraw();
    load();
  }

  const zoom = (factor, at) => show(at - (at - view.from) * factor, at + (view.to - at) * factor);
  const move = (part) => show(view.from + (view.to - view.from) * part, view.to + (view.to - view.from) * part);
  const middle = () => (view.from + view.to) / 2;

  function fit() {
    view.rows = "";
    show(job.begin, job.end);
  }

  function pick(id, text) {
    view.picked = id;
    status.replaceChildren();
    if (id) {
      const link = document.createElement("a");
      link.className = "mono";
      link.href = "/attempts/" + encodeURIComponent(id);
      link.textContent = id;
      status.append("Selected: ", link, " " + text);
    }
    remember();
    repaint();
  }

  const spanText = (i) => {
    const s = data.spans;
    const length = s.duration[i] < 0 ? "so far" : s.duration[i] + " ms";
    return data.states[s.state[i]] + " on " + s.node[i] + ", from " + new Date(data.from + s.from[i]).toISOString().slice(11, 23) + ", " + length;
  };

  // step selects the next or the previous span.
  function step(by) {
    if (!data || !data.spans || data.spans.row.length === 0) return;
    const n = data.spans.row.length;
    let i = data.spans.attempt.findIndex((a) => data.prefix + a === view.picked);
    i = i < 0 ? (by > 0 ? 0 : n - 1) : (i + by + n) % n;
    pick(data.prefix + data.spans.attempt[i], spanText(i));
  }

  // under returns what is at a point of the canvas: its text, the attempt, and the row.
  function under(x, y) {
    const row = Math.floor((y - top) / rowHeight);
    if (!data || row < 0 || row >= data.shown.length) return null;
    const lines = data.marks.filter((m) => m.row === row && Math.abs(place(m.at) - x) < 7).map((m) => m.attempt + ": " + m.text);
    lines.push(...data.arrows.filter((a) => a.row === row && Math.abs(place(a.time) - x) < 7).map((a) => a.text));
    let found = -1;
    if (data.spans && x >= left()) found = data.spans.row.findIndex((r, i) => r === row && place(data.from + data.spans.from[i]) <= x && place(spanEnd(i)) >= x);
    if (found >= 0) lines.unshift(data.spans.attempt[found] + " " + spanText(found));
    if (data.cells) lines.unshift(data.labels[row]);
    return { row, found, lines };
  }

  canvas.addEventListener("pointermove", (e) => {
    if (drag) {
      const by = ((drag.x - e.offsetX) / width()) * (drag.to - drag.from);
      if (Math.abs(drag.x - e.offsetX) > 3) drag.moved = true;
      if (drag.moved) show(drag.from + by, drag.to + by);
      return;
    }
    const at = under(e.offsetX, e.offsetY);
    tip.hidden = !at || at.lines.length === 0;
    if (tip.hidden) return;
    tip.textContent = at.lines.slice(0, 8).join("\n");
    tip.style.left = Math.min(e.offsetX + 12, Math.max(box.clientWidth - tip.offsetWidth - 8, 0)) + "px";
    tip.style.top = e.offsetY + 14 + "px";
  });
  canvas.addEventListener("pointerleave", () => (tip.hidden = true));
  canvas.addEventListener("pointerdown", (e) => {
    drag = { x: e.offsetX, from: view.from, to: view.to, moved: false };
    canvas.setPointerCapture(e.pointerId);
  });
  canvas.addEventListener("pointercancel", () => (drag = null));
  canvas.addEventListener("pointerup", (e) => {
    const moved = drag && drag.moved;
    drag = null;
    if (moved) return;
    const at = under(e.offsetX, e.offsetY);
    if (at && at.found >= 0) pick(data.prefix + data.spans.attempt[at.found], spanText(at.found));
    else if (at && data.cells) {
      const last = at.row + 1 < data.shown.length ? data.shown[at.row + 1] - 1 : data.shown[at.row] + Math.ceil(data.rows / 64) - 1;
      if (last > data.shown[at.row]) view.rows = data.shown[at.row] + "-" + last;
      zoom(0.25, timeAt(e.offsetX));
    }
  });
  canvas.addEventListener("wheel", (e) => {
    if (!data || !(e.ctrlKey || e.metaKey)) return; // the page scrolls
    e.preventDefault();
    zoom(e.deltaY > 0 ? 1.25 : 0.8, timeAt(e.offsetX));
  }, { passive: false });
  canvas.addEventListener("dblclick", (e) => data && zoom(0.4, timeAt(e.offsetX)));
  box.addEventListener("keydown", (e) => {
    const acts = {
      ArrowLeft: () => move(-0.25), ArrowRight: () => move(0.25), "+": () => zoom(0.5, middle()), "=": () => zoom(0.5, middle()), "-": () => zoom(2, middle()),
      0: fit, Home: fit, n: () => step(1), p: () => step(-1),
      Enter: () => view.picked && location.assign("/attempts/" + encodeURIComponent(view.picked)),
    };
    if (!data || e.ctrlKey || e.metaKey || e.altKey || !acts[e.key]) return;
    e.preventDefault();
    acts[e.key]();
  });

  document.addEventListener("hammr:change", load);

  const moves = document.getElementById("moves");
  const button = (text, act) => {
    const b = document.createElement("button");
    b.type = "button";
    b.className = "quiet";
    b.textContent = text;
    b.addEventListener("click", act);
    return b;
  };
  moves.replaceChildren(button("All", fit), button("Zoom in", () => zoom(0.5, middle())), button("Zoom out", () => zoom(2, middle())), button("Earlier", () => move(-0.5)), button("Later", () => move(0.5)));

  const newColours = () => {
    colours.clear();
    repaint();
  };
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", newColours);
  new ResizeObserver(() => (data ? repaint() : load())).observe(box);
}
