// A list that is shown a page at a time, and moved through by buttons and keys.
const PAGE = 50;

// The state has the places of all items that match, the page that is shown, and the place of the current item, or null.
// What is passed draws that state, keeps it in the address, and says what the list as a whole is.
const paging = (state, table, { draw, keep, whole }) => {
  const buttons = [...document.querySelectorAll("[data-page]")];
  const last = () => Math.max(Math.ceil(state.places.length / PAGE) - 1, 0);
  const node = () => table.querySelector(".current");

  const drawn = () => {
    draw();
    // Disabled buttons would lose the focus of who pages by keyboard.
    for (const button of buttons)
      button.setAttribute("aria-disabled", String(["next", "last"].includes(button.dataset.page) ? state.page >= last() : !state.page));
    addMore(table);
    table.querySelector(`[data-place="${state.current}"]`)?.classList.add("current");
  };

  const show = () => {
    node()?.focus({ preventScroll: true });
    (node() ?? whole).scrollIntoView({ block: node() ? "nearest" : "start" });
  };

  // The page of the current item, the first where it is not there.
  const settle = () => {
    const place = state.current === null ? 0 : state.places.indexOf(state.current);
    state.page = Math.floor(Math.max(place, 0) / PAGE);
    return place >= 0;
  };

  const step = (by) => {
    const from = state.current === null ? state.page * PAGE - (by > 0 ? 1 : 0) : state.places.indexOf(state.current);
    const to = Math.min(Math.max(from + by, 0), state.places.length - 1);
    if (to < 0) return;
    state.current = state.places[to];
    state.page = Math.floor(to / PAGE);
    drawn();
    keep();
    show();
  };

  const turn = (to) => {
    const pages = { first: 0, previous: state.page - 1, next: state.page + 1, last: last() };
    const page = Math.min(Math.max(pages[to], 0), last());
    if (page === state.page) return;
    state.page = page;
    state.current = null;
    drawn();
    keep();
    whole.scrollIntoView();
  };

  addEventListener("keydown", (event) => {
    const by = { j: 1, k: -1 }[event.key];
    if (!by || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    step(by);
  });
  for (const button of buttons) button.addEventListener("click", () => turn(button.dataset.page));
  for (const group of document.querySelectorAll(".pages"))
    group.addEventListener("keydown", (event) => {
      const to = { ArrowLeft: "previous", ArrowRight: "next", Home: "first", End: "last" }[event.key];
      if (!to) return;
      event.preventDefault();
      turn(to);
    });
  return { drawn, settle, show };
};

// The place that an address names, counted from 1; null where there is none such.
const placeOf = (text, size) => {
  const place = Number(text) - 1;
  return Number.isInteger(place) && place >= 0 && place < size ? place : null;
};

// Calls when nobody has typed for a moment.
const whenTyped = (field, call) => {
  let waiting = 0;
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(call, 150);
  });
};

const wordsOf = (field) => field.value.toLowerCase().split(/\s+/).filter(Boolean);

const showTools = () => {
  for (const hidden of document.querySelectorAll(".tools, .pages, .keys")) hidden.hidden = false;
  document.documentElement.classList.add("scripted");
};
