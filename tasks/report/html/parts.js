// What every page with samples is drawn from.
// Texts reach the page through text nodes only: nothing in them is ever read as markup.
const make = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
};
const byId = (id) => document.getElementById(id);
const counted = (number) => number.toLocaleString("en");

// Pieces of the given sizes, in characters; every second one is what this text has of its own.
const pieces = (text, sizes, tag) => {
  const characters = [...text];
  let place = 0;
  return sizes.map((size, index) => {
    const piece = characters.slice(place, (place += size)).join("");
    return index % 2 ? make(tag, {}, piece) : piece;
  });
};
const textOf = (...parts) => make("div", { class: "text", dir: "auto" }, ...parts);
const cell = (name, label, ...parts) =>
  make("td", { class: name }, make("span", { class: "label" }, label), textOf(...parts));

const context = (items) =>
  make("dl", { class: "context" }, ...items.map(([name, text]) => make("div", {}, make("dt", {}, name), make("dd", { class: "text", dir: "auto" }, text))));

const addMore = (table) => {
  for (const node of [...table.querySelectorAll(".text")].filter((each) => each.scrollHeight > each.clientHeight + 2)) {
    const button = make("button", { type: "button", class: "unfold", "aria-expanded": "false" }, "more");
    button.addEventListener("click", () => {
      const open = node.classList.toggle("open");
      button.textContent = open ? "less" : "more";
      button.setAttribute("aria-expanded", String(open));
    });
    node.after(button);
  }
};
