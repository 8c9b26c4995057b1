// @ts-check
// live.js keeps a page up to date, and leads to the search field. The server names the topics that have changed; then this module
// fetches the page's fragment, and changes the elements that differ. It keeps focus, scroll positions,
// open details and typed text. A tab that is hidden has no connection.

const topics = document.body.dataset.topics;
const state = document.getElementById("live-state");

/** How long to wait before a lost connection is opened again, in ms. */
const retryTime = 1000;
/** How long a connection may be lost before other masters are offered, in ms. */
const offerTime = 3000;
/** How long after it was loaded a page is compared with the server, in ms: it may have changed meanwhile. */
const settleTime = 2000;
/** Least time between two fetches, in ms. */
const fetchTime = 1000;

// The fragments come from this origin and from the templates of the page itself.
const policy = window.trustedTypes
  ? window.trustedTypes.createPolicy("hammr", { createHTML: (text) => text })
  : { createHTML: (/** @type {string} */ text) => text };

/** @type {EventSource | null} */
let source = null;
let last = ""; // id of the last event
let tag = ""; // ETag of the fragment that the page shows
let lostAt = 0; // when the connection was lost, 0 if it is open
let fetchedAt = 0;
let timer = 0; // of the next fetch, 0 for none
let fetching = false;
let again = false; // something has changed during the fetch
let opening = 0; // timer of the next connection, 0 for none

function show(/** @type {string} */ text) {
  if (state && state.textContent !== text) state.textContent = text;
  if (state) state.className = text === "live" ? "live" : "muted";
}

function open() {
  clearTimeout(opening);
  opening = 0;
  if (source || document.hidden) return;
  const query = new URLSearchParams({ topics: topics ?? "" });
  if (last) query.set("after", last);
  source = new EventSource(`/api/v1/watch?${query}`);
  source.addEventListener("hello", (e) => arrived(e, tag === "", settleTime));
  source.addEventListener("reset", (e) => arrived(e, true));
  source.addEventListener("change", (e) => arrived(e, true));
  source.addEventListener("error", lost);
}

function close() {
  source?.close();
  source = null;
}

function arrived(/** @type {MessageEvent} */ event, /** @type {boolean} */ changed, delay = 0) {
  last = event.lastEventId;
  lostAt = 0;
  show("live");
  offer();
  if (changed) refreshSoon(delay);
}

// lost opens another connection. The browser would do so too, but not after every kind of error.
function lost() {
  close();
  if (document.hidden) return;
  lostAt ||= Date.now();
  show("reconnecting …");
  offer();
  opening ||= setTimeout(open, retryTime);
}

// offer shows links to the pages of other masters while the connection is lost for long.
function offer() {
  const list = document.getElementById("live-others");
  if (!list) return;
  const wanted = lostAt > 0 && Date.now() - lostAt >= offerTime;
  list.hidden = !wanted;
  for (const item of list.children) {
    if (!wanted || !(item instanceof HTMLElement) || item.firstChild) continue;
    const link = document.createElement("a");
    link.href = item.dataset.page + location.pathname + location.search;
    link.textContent = `This page on ${new URL(link.href).host}`;
    item.append(link);
  }
}

function refreshSoon(delay = 0) {
  if (fetching) again = true;
  else timer ||= setTimeout(refresh, Math.max(delay, fetchedAt + fetchTime - Date.now()));
}

async function refresh() {
  [timer, fetching, fetchedAt] = [0, true, Date.now()];
  try {
    const headers = { "Hammr-Fragment": "1", ...(tag ? { "If-None-Match": tag } : {}) };
    const answer = await fetch(location.pathname + location.search, { headers, cache: "no-store" });
    if (answer.status === 401) location.reload();
    if (answer.redirected || !answer.ok) return;
    const text = await answer.text();
    tag = answer.headers.get("ETag") ?? "";
    apply(new DOMParser().parseFromString(/** @type {string} */ (policy.createHTML(text)), "text/html"));
    document.dispatchEvent(new CustomEvent("hammr:change"));
  } catch {
    // The master is gone: the connection says so.
  } finally {
    fetching = false;
    if (again) refreshSoon();
    again = false;
  }
}

/** Changes main and footer to those of another document. */
function apply(/** @type {Document} */ page) {
  for (const name of ["main", "footer"]) {
    const old = document.querySelector(`body > ${name}`);
    const now = page.querySelector(name);
    if (old && now) morph(old, now);
  }
}

/** Reports whether an element is the user's or a module's: typed text, a selection, a picture. */
function held(/** @type {Element} */ e) {
  if (e.matches("[data-live=keep]")) return true;
  if (e === document.activeElement) return e.matches("input, select, textarea");
  if (e instanceof HTMLInputElement) return e.value !== e.defaultValue || e.checked !== e.defaultChecked;
  if (e instanceof HTMLTextAreaElement) return e.value !== e.defaultValue;
  return e instanceof HTMLSelectElement && [...e.options].some((o) => o.selected !== o.defaultSelected);
}

/** Makes a node like another one, with as few changes as it can. */
function morph(/** @type {Node} */ old, /** @type {Node} */ now) {
  if (old.isEqualNode(now)) return;
  if (old instanceof Element && now instanceof Element && old.nodeName === now.nodeName && old.id === now.id) {
    if (held(old)) return;
    for (const { name } of [...old.attributes]) {
      if (!now.hasAttribute(name) && !(name === "open" && old.matches("details"))) old.removeAttribute(name);
    }
    for (const { name, value } of now.attributes) {
      if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
    morphChildren(old, now);
  } else if (old.nodeType === Node.TEXT_NODE && now.nodeType === Node.TEXT_NODE) {
    old.nodeValue = now.nodeValue;
  } else if (!old.contains(document.activeElement)) {
    /** @type {ChildNode} */ (old).replaceWith(now);
  }
}

/** Finds children by their ids, and the others by their places. */
function morphChildren(/** @type {Element} */ old, /** @type {Element} */ now) {
  let at = old.firstChild;
  for (const want of [...now.childNodes]) {
    let have = at;
    if (want instanceof Element && want.id) {
      have = [...old.children].find((e) => e.id === want.id) ?? null;
      if (!have) {
        old.insertBefore(want, at);
        continue;
      }
      if (have !== at) old.insertBefore(have, at);
    }
    if (!have) {
      old.append(want);
      continue;
    }
    at = have.nextSibling;
    morph(have, want);
  }
  while (at) {
    const next = at.nextSibling;
    if (!at.contains(document.activeElement)) at.remove();
    at = next;
  }
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    close();
    show("paused");
  } else {
    open();
  }
});
if (topics) open();

// The key / or Ctrl-K leads to the search field, as the label of the field says.
const field = document.querySelector(".search input");

addEventListener("keydown", e => {
  const typing = e.target instanceof HTMLElement && (e.target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName));
  const slash = e.key === "/" && !e.ctrlKey && !e.altKey && !e.metaKey && !typing;
  const control = e.key.toLowerCase() === "k" && (e.ctrlKey || e.metaKey) && !e.altKey && !e.shiftKey;
  if (field && (slash || control)) {
    e.preventDefault();
    field.focus();
    field.select();
  }
});
