// A box unticked hides all that is marked as its benchmark's, its study's or its strategy's. What is
// hidden stands in the address, #hide=strategy%3Arandom, so that a view can be kept and sent.
const rules = document.head.appendChild(document.createElement("style"));
const boxes = [...document.querySelectorAll("input[data-hides]")];
const name = (box) => encodeURIComponent(`${box.dataset.hides}:${box.value}`);
function read() {
  const hidden = location.hash.startsWith("#hide=") ? location.hash.slice(6).split(",") : [];
  boxes.forEach((box) => { box.checked = !hidden.includes(name(box)); });
  apply();
}
function apply() {
  rules.textContent = boxes
    .filter((box) => !box.checked)
    .map((box) => `[data-${box.dataset.hides}="${CSS.escape(box.value)}"] { display: none !important; }`)
    .join("\n");
}
function keep() {
  const hidden = boxes.filter((box) => !box.checked).map(name);
  history.replaceState(null, "", hidden.length ? `#hide=${hidden.join(",")}` : "#");
  apply();
}
boxes.forEach((box) => box.addEventListener("change", keep));
addEventListener("hashchange", read);
read();
