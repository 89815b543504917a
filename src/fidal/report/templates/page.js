// A box unticked hides all that is marked as its study's or its strategy's.
const rules = document.head.appendChild(document.createElement("style"));
const boxes = [...document.querySelectorAll("input[data-hides]")];
function apply() {
  rules.textContent = boxes
    .filter((box) => !box.checked)
    .map((box) => `[data-${box.dataset.hides}="${CSS.escape(box.value)}"] { display: none !important; }`)
    .join("\n");
}
boxes.forEach((box) => box.addEventListener("change", apply));
apply();
