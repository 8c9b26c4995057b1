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
