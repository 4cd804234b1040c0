"use strict";
(() => {
  const PAGE = 50;
  const rows = JSON.parse(document.getElementById("island").textContent);
  const table = document.getElementById("rows");
  const status = document.getElementById("status");
  const search = document.getElementById("search");
  const test = document.getElementById("test");
  const outcome = document.getElementById("outcome");
  const controls = document.getElementById("controls"); // There only when there are any.
  const found = { rows, page: 0 };

  // Texts reach the page through text nodes only: nothing in them is ever read as markup.
  const make = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };
  const marked = (segments, tag) => segments.map((text, index) => (index % 2 ? make(tag, {}, text) : text));
  const text = (...parts) => make("div", { class: "text", dir: "auto" }, ...parts);
  const cell = (name, label, ...parts) =>
    make("td", { class: name }, make("span", { class: "label" }, label), text(...parts));

  const details = (pairs) => {
    const items = pairs.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value)));
    return make("details", {}, make("summary", {}, "Details"), make("dl", { class: "list" }, ...items));
  };

  const kind = (row) => [
    make("small", {}, row.number ? `${row.test} · ${row.number}` : row.test),
    ...(row.control ? [make("small", { class: "pill control" }, "control")] : []),
  ];

  const body = (row) =>
    make(
      "tbody", {},
      make(
        "tr", {},
        make("th", { scope: "rowgroup", rowspan: 3, class: "who" }, make("span", {}, row.id), ...kind(row)),
        cell("original", "original", ...marked(row.original, "del")),
        cell("before", "before", row.before),
        make("td", { rowspan: 3, class: "score" }, row.score),
        make("td", { rowspan: 3, class: "what" }, make("span", { class: `pill ${row.outcome}` }, row.outcome), text(row.reason)),
      ),
      make("tr", {}, cell("changed", "changed", ...marked(row.changed, "ins")), cell("after", "after", row.after)),
      make("tr", {}, make("td", { class: "more", colspan: 2 }, details(row.details))),
    );

  const nothing = () =>
    make("tbody", {}, make("tr", {}, make("td", { colspan: 5, class: "none" }, rows.length ? "No sample matches." : "No case was put to the model.")));

  const addMore = () => {
    const long = [...table.querySelectorAll(".text")].filter((node) => node.scrollHeight > node.clientHeight + 2);
    for (const node of long) {
      const button = make("button", { type: "button", class: "unfold", "aria-expanded": "false" }, "more");
      button.addEventListener("click", () => {
        const open = node.classList.toggle("open");
        button.textContent = open ? "less" : "more";
        button.setAttribute("aria-expanded", String(open));
      });
      node.after(button);
    }
  };

  const draw = () => {
    const start = found.page * PAGE;
    const shown = found.rows.slice(start, start + PAGE);
    for (const old of table.querySelectorAll("tbody")) old.remove();
    table.append(...(shown.length ? shown.map(body) : [nothing()]));
    const of = found.rows.length.toLocaleString("en");
    status.textContent = shown.length ? `${(start + 1).toLocaleString("en")}–${(start + shown.length).toLocaleString("en")} of ${of}` : "0 samples";
    for (const button of document.querySelectorAll("[data-step]"))
      button.disabled = button.dataset.step === "1" ? start + PAGE >= found.rows.length : start === 0;
    addMore();
  };

  const texts = new Map();
  const haystack = (row) => {
    if (!texts.has(row)) {
      const parts = [row.id, row.original.join(""), row.changed.join(""), row.before, row.after, row.reason, ...row.details.flat()];
      texts.set(row, parts.join("\n").toLowerCase());
    }
    return texts.get(row);
  };

  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    found.rows = rows.filter(
      (row) =>
        (!row.control || controls.checked) &&
        (!test.value || row.test === test.value) &&
        (!outcome.value || row.outcome === outcome.value) &&
        words.every((word) => haystack(row).includes(word)),
    );
    found.page = 0;
    draw();
  };

  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 150);
  });
  for (const choice of [test, outcome, controls]) choice?.addEventListener("change", filter);
  for (const link of document.querySelectorAll("a[data-test]"))
    link.addEventListener("click", () => {
      test.value = link.dataset.test;
      filter();
    });
  for (const button of document.querySelectorAll("[data-step]"))
    button.addEventListener("click", () => {
      found.page += Number(button.dataset.step);
      draw();
      document.getElementById("samples").scrollIntoView();
    });

  for (const hidden of document.querySelectorAll(".tools, .pages")) hidden.hidden = false;
  document.documentElement.classList.add("scripted");
  filter();
})();
