// The samples: what is searched, filtered, sorted and drawn.
// Passages that only one of both replies came with.
const MARKS = { "passage, original only": "del", "passage, changed only": "ins" };

// Names and texts beside prompts and replies: those that people read with them, or the others.
const beside = (texts, open, wanted) => {
  const items = [];
  for (let at = 5; at < texts.length; at += 2) if (open.includes(texts[at]) === wanted) items.push([texts[at], texts[at + 1]]);
  return items;
};

const details = (named) => {
  const items = [];
  for (const [name, text] of named) {
    const mark = Object.hasOwn(MARKS, name) ? MARKS[name] : null;
    const value = mark ? make(mark, {}, text) : text;
    items.push(make("div", {}, make("dt", {}, name), make("dd", { dir: "auto" }, value)));
  }
  return make("details", {}, make("summary", {}, "Details"), make("dl", { class: "list" }, ...items));
};

// Exactly what the model was sent: the messages before every prompt, then both prompts.
const sent = (row, before, revealed) => {
  if (!row.sent) return [];
  const prompts = row.sent.map((pieces) => pieces.map((piece) => readable(piece, revealed)).join(""));
  const first = before.map(([role, text]) => [role, readable(text, revealed)]);
  const [original, changed] = prompts;
  return [
    make(
      "details", { class: "sent" }, make("summary", {}, "What was sent"),
      ...(first.length ? [context(first)] : []),
      context([["user", original], ["user, changed", changed]]),
    ),
  ];
};

const who = (row) =>
  make(
    "th", { scope: "rowgroup", rowspan: 3, class: "who" },
    make("span", {}, row.id),
    make("small", {}, row.number ? `${row.test} · ${row.number}` : row.test),
    ...(row.control ? [make("small", { class: "pill control" }, "control")] : []),
  );

// A fence longer than every run of backticks in the text: nothing in it ends the fence, and nothing is read as markup.
const fenced = (text) => {
  const fence = "`".repeat(Math.max(3, ...(text.match(/`+/g) ?? []).map((run) => run.length + 1)));
  return `${fence}\n${text}\n${fence}`;
};
const markdownOf = (row, texts, open) =>
  [
    ["sample", [row.test, row.id, row.number, row.outcome].filter(Boolean).join(" · ")],
    ["prompt", texts[0]], ["reply", texts[2]], ["prompt, changed", texts[1]], ["reply to the changed prompt", texts[3]],
    ...beside(texts, open, true), ["why", texts[4]],
  ].filter(([, text]) => text).map(([name, text]) => `**${name}**\n\n${fenced(text)}`).join("\n\n");

const copy = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make("textarea", { readonly: "" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
};
const copying = (text) => {
  const button = make("button", { type: "button", class: "unfold copy" }, "Copy as Markdown");
  button.addEventListener("click", async () => {
    await copy(text);
    button.textContent = "Copied";
  });
  return button;
};

// What `contrapose shrink` found of a case, from its section of the page.
const shortest = (row) =>
  [...document.querySelectorAll("#shortest article")]
    .filter(({ dataset: own }) => !row.control && own.test === row.test && own.sample === row.id && own.number === row.number)
    .map((article) => article.cloneNode(true));

const body = (row, revealed, loaded, { open, before }) => {
  const left = loaded ? "This text did not fit on the page." : "…";
  const texts = row.texts ? row.texts.map((text) => readable(text, revealed)) : [left, left, left, left, ""];
  return make(
    "tbody", { "data-place": row.place, tabindex: -1 },
    make(
      "tr", {},
      who(row),
      cell("original", "prompt", ...pieces(texts[0], row.parts[0], "del")),
      cell("changed", "prompt, changed", ...pieces(texts[1], row.parts[1], "ins")),
      make("td", { rowspan: 3, class: "score" }, row.score),
      make("td", { rowspan: 3, class: "what" }, make("span", { class: `pill ${row.outcome}` }, row.outcome), textOf(texts[4])),
    ),
    make("tr", {}, cell("before", "reply", texts[2]), cell("after", "reply to the changed prompt", texts[3])),
    make("tr", {}, make("td", { class: "more", colspan: 2 }, context(beside(texts, open, true)), ...shortest(row), details(beside(texts, open, false)), ...sent(row, before, revealed), copying(markdownOf(row, texts, open)))),
  );
};

const nothing = (size) => {
  const told = size ? "No sample matches." : "No case was put to the model.";
  return make("tbody", {}, make("tr", {}, make("td", { colspan: 5, class: "none" }, told)));
};

const start = async () => {
  const [table, status] = [byId("rows"), byId("status")];
  const [search, test, outcome, sort] = ["search", "test", "outcome", "sort"].map(byId);
  const [controls, reveal] = [byId("controls"), byId("reveal")]; // There only where they have a use.
  const rows = await openRows();
  const found = { places: rows.order(sort.value), page: 0, loaded: false, current: null };

  const draw = () => {
    const from = found.page * PAGE;
    const shown = [...found.places.subarray(from, from + PAGE)].map(rows.row);
    for (const old of table.querySelectorAll("tbody")) old.remove();
    table.append(...(shown.length ? shown.map((row) => body(row, reveal?.checked, found.loaded, rows.columns)) : [nothing(rows.size)]));
    const range = shown.length ? `${counted(from + 1)}–${counted(from + shown.length)} of ${counted(found.places.length)}` : "0 samples";
    status.textContent = found.loaded || !search.value ? range : `${range}, still reading the texts`;
  };

  // What is shown stands in the address, so that it can be sent to somebody else.
  const keep = () => {
    const state = new URLSearchParams();
    for (const choice of [search, test, outcome, sort])
      if (choice.value !== (choice === sort ? "outcome" : "")) state.set(choice.id, choice.value);
    if (controls?.checked) state.set("controls", "1");
    if (found.current !== null) state.set("sample", found.current + 1);
    history.replaceState(null, "", state.size ? `#samples?${state}` : "#samples");
  };
  const { drawn, settle, show } = paging(found, table, { draw, keep, whole: byId("samples") });

  const choose = () => {
    const words = wordsOf(search);
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
    if (!settle() && found.loaded) found.current = null;
    drawn();
  };

  const filter = () => {
    found.current = null;
    choose();
    keep();
  };

  // Values that this page does not have are passed over.
  const restore = () => {
    if (!location.hash.startsWith("#samples?")) return false;
    const state = new URLSearchParams(location.hash.slice("#samples?".length));
    search.value = state.get("search") ?? "";
    for (const [choice, otherwise] of [[test, ""], [outcome, ""], [sort, "outcome"]]) {
      choice.value = state.get(choice.id) ?? otherwise;
      if (choice.selectedIndex < 0) choice.value = otherwise;
    }
    if (controls) controls.checked = state.has("controls");
    found.current = placeOf(state.get("sample"), rows.size);
    return true;
  };

  whenTyped(search, filter);
  for (const choice of [test, outcome, sort, controls]) choice?.addEventListener("change", filter);
  reveal?.addEventListener("change", drawn);
  for (const link of document.querySelectorAll("a[data-test]"))
    link.addEventListener("click", (event) => {
      event.preventDefault();
      test.value = link.dataset.test;
      outcome.value = link.dataset.outcome ?? "";
      filter();
      byId("samples").focus();
    });
  addEventListener("hashchange", () => {
    if (!restore()) return;
    choose();
    show();
  });

  showTools();
  const restored = restore();
  await rows.load((blocks) => {
    if (blocks === 1) choose();
  });
  found.loaded = true;
  // What was found or drawn before the last text was there may lack some.
  if (search.value || !rows.size || restored) choose();
  else drawn();
  if (restored) show();
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
