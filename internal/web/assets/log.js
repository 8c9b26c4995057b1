// Follows a log: asks for what was added to it and appends that as text nodes, so that a log cannot be
// HTML.
const log = document.querySelector("pre[data-more]");
const text = log.querySelector("code");
const place = document.querySelector("#log-place");
const keep = 2 << 20; // characters on the page; older ones are removed
const keepNodes = 10000; // the same for answers
const pause = 1000; // ms between questions
let next = Number(log.dataset.next);
let shown = text.textContent.length;

const format = n => String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");

// append adds a text at the end, and removes the first ones if there are too many characters.
function append(added) {
  text.querySelector(":scope > .muted")?.remove(); // the note that nothing is there
  text.append(added);
  shown += added.length;
  while ((shown > keep || text.childNodes.length > keepNodes) && text.childNodes.length > 1) {
    shown -= text.firstChild.textContent.length;
    text.firstChild.remove();
  }
}

// ask asks for what follows. It returns after how many ms to ask again, -1 for never.
async function ask() {
  if (document.hidden) {
    return pause;
  }
  const answer = await fetch(log.dataset.more + "&from=" + next);
  if (!answer.ok) {
    place.textContent = answer.status === 401 ? "The session has ended; sign in again." : "The log cannot be read now (" + answer.status + ").";
    return answer.status >= 500 || answer.status === 429 ? 5 * pause : -1;
  }
  const doc = await answer.json();
  if (doc.next < next) { // the tasknode has dropped lines between the first and the last ones
    append("[… some lines are left out here …]\n");
  }
  if (doc.text) {
    append(doc.text);
  }
  next = doc.next;
  place.textContent = "Followed to byte " + format(next) + " of " + format(doc.size) + (doc.complete ? "." : " so far.");
  if (next < doc.size) {
    return 0;
  }
  return doc.complete ? -1 : pause;
}

async function follow() {
  let wait = 5 * pause;
  try {
    wait = await ask();
  } catch {
    place.textContent = "The server does not answer; trying again.";
  }
  if (wait >= 0) {
    setTimeout(follow, wait);
  }
}

follow();
