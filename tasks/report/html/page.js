// The samples: what is searched, filtered, sorted and drawn.
const PAGE = 50;

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

// Passages that only one of both replies came with.
const MARKS = { "passage, original only": "del", "passage, changed only": "ins" };

const details = (texts) => {
  const items = [];
  for (let at = 5; at < texts.length; at += 2) {
    const mark = Object.hasOwn(MARKS, texts[at]) ? MARKS[texts[at]] : null;
    const value = mark ? make(mark, {}, texts[at + 1]) : texts[at + 1];
    items.push(make("div", {}, make("dt", {}, texts[at]), make("dd", { dir: "auto" }, value)));
  }
  return make("details", {}, make("summary", {}, "Details"), make("dl", { class: "list" }, ...items));
};

const who = (row) =>
  make(
    "th", { scope: "rowgroup", rowspan: 3, class: "who" },
    make("span", {}, row.id),
    make("small", {}, row.number ? `${row.test} · ${row.number}` : row.test),
    ...(row.control ? [make("small", { class: "pill control" }, "control")] : []),
  );

const body = (row, revealed, loaded) => {
  const left = loaded ? "This text did not fit on the page." : "…";
  const texts = row.texts ? row.texts.map((text) => readable(text, revealed)) : [left, left, left, left, ""];
  return make(
    "tbody", {},
    make(
      "tr", {},
      who(row),
      cell("original", "prompt", ...pieces(texts[0], row.parts[0], "del")),
      cell("changed", "prompt, changed", ...pieces(texts[1], row.parts[1], "ins")),
      make("td", { rowspan: 3, class: "score" }, row.score),
      make("td", { rowspan: 3, class: "what" }, make("span", { class: `pill ${row.outcome}` }, row.outcome), textOf(texts[4])),
    ),
    make("tr", {}, cell("before", "reply", texts[2]), cell("after", "reply to the changed prompt", texts[3])),
    make("tr", {}, make("td", { class: "more", colspan: 2 }, details(texts))),
  );
};

const nothing = (size) => {
  const told = size ? "No sample matches." : "No case was put to the model.";
  return make("tbody", {}, make("tr", {}, make("td", { colspan: 5, class: "none" }, told)));
};

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

const start = async () => {
  const [table, status] = [byId("rows"), byId("status")];
  const [search, test, outcome, sort] = ["search", "test", "outcome", "sort"].map(byId);
  const [controls, reveal] = [byId("controls"), byId("reveal")]; // There only where they have a use.
  const buttons = [...document.querySelectorAll("[data-page]")];
  const rows = await openRows();
  const found = { places: rows.order("run"), page: 0, loaded: false };
  const last = () => Math.max(Math.ceil(found.places.length / PAGE) - 1, 0);

  const draw = () => {
    const from = found.page * PAGE;
    const shown = [...found.places.subarray(from, from + PAGE)].map(rows.row);
    for (const old of table.querySelectorAll("tbody")) old.remove();
    table.append(...(shown.length ? shown.map((row) => body(row, reveal?.checked, found.loaded)) : [nothing(rows.size)]));
    const range = shown.length ? `${counted(from + 1)}–${counted(from + shown.length)} of ${counted(found.places.length)}` : "0 samples";
    status.textContent = found.loaded || !search.value ? range : `${range}, still reading the texts`;
    // Disabled buttons would lose the focus of who pages by keyboard.
    for (const button of buttons)
      button.setAttribute("aria-disabled", String(["next", "last"].includes(button.dataset.page) ? found.page >= last() : !found.page));
    addMore(table);
  };

  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = words.length ? rows.search(words) : null;
    const [wantedTest, wantedOutcome] = [rows.columns.tests.indexOf(test.value), OUTCOMES.indexOf(outcome.value)];
    const { columns } = rows;
    found.places = rows.order(sort.value).filter(
      (place) =>
        (!columns.control[place] || controls.checked) &&
        (!test.value || columns.test[place] === wantedTest) &&
        (!outcome.value || columns.outcome[place] === wantedOutcome) &&
        (!matches || matches[place]),
    );
    found.page = 0;
    draw();
  };

  const turn = (to) => {
    const pages = { first: 0, previous: found.page - 1, next: found.page + 1, last: last() };
    const page = Math.min(Math.max(pages[to], 0), last());
    if (page === found.page) return;
    found.page = page;
    draw();
    byId("samples").scrollIntoView();
  };

  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 150);
  });
  for (const choice of [test, outcome, sort, controls]) choice?.addEventListener("change", filter);
  reveal?.addEventListener("change", draw);
  for (const link of document.querySelectorAll("a[data-test]"))
    link.addEventListener("click", () => {
      test.value = link.dataset.test;
      outcome.value = link.dataset.outcome ?? "";
      filter();
    });
  for (const button of buttons) button.addEventListener("click", () => turn(button.dataset.page));
  for (const group of document.querySelectorAll(".pages"))
    group.addEventListener("keydown", (event) => {
      const to = { ArrowLeft: "previous", ArrowRight: "next", Home: "first", End: "last" }[event.key];
      if (!to) return;
      event.preventDefault();
      turn(to);
    });

  for (const hidden of document.querySelectorAll(".tools, .pages")) hidden.hidden = false;
  document.documentElement.classList.add("scripted");
  await rows.load((blocks) => {
    if (blocks === 1) filter();
  });
  found.loaded = true;
  // What was found or drawn before the last text was there may lack some.
  if (search.value || !rows.size) filter();
  else if (found.page) draw();
  document.documentElement.classList.add("loaded");
};

// Paper unfolds nothing: what a card tells is printed whole.
addEventListener("beforeprint", () => {
  for (const node of document.querySelectorAll(".folds > details:not([open])")) {
    node.dataset.folded = "";
    node.open = true;
  }
});
addEventListener("afterprint", () => {
  for (const node of document.querySelectorAll("details[data-folded]")) {
    delete node.dataset.folded;
    node.open = false;
  }
});

start().catch(() => {
  const told = "This browser cannot unpack the samples; these are the first ones. All are in results.csv.";
  byId("rows").before(make("p", { class: "note", role: "alert" }, told));
});
