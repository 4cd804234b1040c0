// The cases that flipped: what is searched, filtered and drawn.
const pill = (word, colour) => make("span", { class: `pill ${colour}` }, word);

const said = (side, name, passed, [before, after, reason]) => {
  const verdict = passed ? "pass" : "fail";
  return make(
    "td", { class: side },
    make("p", { class: "model" }, make("b", {}, name), pill(verdict, verdict)),
    make("span", { class: "label" }, "reply"), textOf(before),
    make("span", { class: "label" }, "reply to the changed prompt"), textOf(after),
    make("div", { class: "text quiet", dir: "auto" }, reason),
  );
};

const flipBody = (data, place, revealed) => {
  const flip = data.flips[place];
  const textAt = (index) => readable(data.texts[index], revealed);
  const [original, changed, ...replies] = flip.texts.map(textAt);
  const test = data.tests[flip.test];
  return make(
    "tbody", { "data-place": place, tabindex: -1 },
    make(
      "tr", {},
      make(
        "th", { scope: "rowgroup", rowspan: 3, class: "who" },
        make("span", {}, flip.id),
        make("small", {}, flip.number ? `${test} · ${flip.number}` : test),
        make("small", {}, flip.lost ? pill("lost", "fail") : pill("gained", "pass")),
      ),
      cell("original", "prompt", ...pieces(original, flip.parts[0], "del")),
      cell("changed", "prompt, changed", ...pieces(changed, flip.parts[1], "ins")),
    ),
    make(
      "tr", {},
      said("before", data.models[0], flip.lost, replies.slice(0, 3)),
      said("after", data.models[flip.model], !flip.lost, replies.slice(3)),
    ),
    make("tr", {}, make("td", { class: "more", colspan: 2 }, context(flip.context.map(([name, index]) => [name, textAt(index)])))),
  );
};

const startFlips = async () => {
  const data = await unpack(byId("flip-data"));
  const table = byId("rows");
  if (!table) return;
  const status = byId("status");
  const [search, test, model, direction] = ["search", "test", "model", "direction"].map(byId);
  const reveal = byId("reveal"); // There only where it has a use.
  const choices = [search, test, model, direction];
  const searched = data.flips.map((flip) => [plain(flip.id), ...[...flip.texts, ...flip.context.map(([, index]) => index)].map((index) => plain(data.texts[index]))].join("\n"));
  const state = { places: [], page: 0, current: null };

  const draw = () => {
    const from = state.page * PAGE;
    const shown = state.places.slice(from, from + PAGE);
    for (const old of table.querySelectorAll("tbody")) old.remove();
    table.append(...shown.map((place) => flipBody(data, place, reveal?.checked)));
    if (!shown.length) table.append(make("tbody", {}, make("tr", {}, make("td", { colspan: 3, class: "none" }, "No case matches."))));
    status.textContent = shown.length ? `${counted(from + 1)}–${counted(from + shown.length)} of ${counted(state.places.length)}` : "0 cases";
  };

  // What is shown stands in the address, so that it can be sent to somebody else.
  const keep = () => {
    const kept = new URLSearchParams(choices.filter((choice) => choice.value).map((choice) => [choice.id, choice.value]));
    if (state.current !== null) kept.set("case", state.current + 1);
    history.replaceState(null, "", kept.size ? `#flips?${kept}` : "#flips");
  };
  const { drawn, settle, show } = paging(state, table, { draw, keep, whole: byId("flips") });

  const choose = () => {
    const words = wordsOf(search);
    const [wantedTest, wantedModel] = [data.tests.indexOf(test.value), data.models.indexOf(model.value)];
    state.places = [...data.flips.keys()].filter((place) => {
      const flip = data.flips[place];
      return (
        (!test.value || flip.test === wantedTest) &&
        (!model.value || flip.model === wantedModel) &&
        (!direction.value || flip.lost === (direction.value === "lost")) &&
        words.every((word) => searched[place].includes(word))
      );
    });
    if (!settle()) state.current = null;
    drawn();
  };

  const filter = () => {
    state.current = null;
    choose();
    keep();
  };

  // Values that this page does not have are passed over.
  const restore = () => {
    if (!location.hash.startsWith("#flips?")) return false;
    const kept = new URLSearchParams(location.hash.slice("#flips?".length));
    for (const choice of choices) {
      choice.value = kept.get(choice.id) ?? "";
      if (choice.selectedIndex < 0) choice.value = "";
    }
    state.current = placeOf(kept.get("case"), data.flips.length);
    return true;
  };

  whenTyped(search, filter);
  for (const choice of [test, model, direction]) choice.addEventListener("change", filter);
  reveal?.addEventListener("change", drawn);
  addEventListener("hashchange", () => {
    if (!restore()) return;
    choose();
    show();
  });

  showTools();
  const restored = restore();
  choose();
  if (restored) show();
};

startFlips()
  .catch(() => byId("rows").before(make("p", { class: "note", role: "alert" }, "This browser cannot unpack the cases; these are the first ones.")))
  .finally(() => document.documentElement.classList.add("loaded"));
