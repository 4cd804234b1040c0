// A picture of the verdict and the clearest failure, drawn from what the page shows, and so masked as that is.
const CARD = { width: 1200, height: 630, left: 64, line: 1.35 };
const DRAWN = "http://www.w3.org/2000/svg";

const drawn = (tag, attributes, text = "") => {
  const node = document.createElementNS(DRAWN, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(text);
  return node;
};

// Lines of at most so many characters; what is beyond the last one is cut.
const wrapped = (text, most, lines) => {
  const rows = [""];
  for (const word of text.trim().split(/\s+/)) {
    const longer = `${rows.at(-1)} ${word}`.trim();
    if (longer.length <= most) rows[rows.length - 1] = longer;
    else rows.push([...word].slice(0, most).join(""));
  }
  const filled = rows.filter(Boolean);
  return filled.length > lines ? [...filled.slice(0, lines - 1), `${filled[lines - 1]} …`] : filled;
};

const cardLines = () => {
  const text = (selector, inside = document) => inside.querySelector(selector)?.textContent.trim() ?? "";
  const verdict = text("h1 .badge");
  const facts = [...document.querySelectorAll(".run > :not(.all) dd")].map((node) => node.textContent.trim());
  const lines = [
    { text: `${verdict[0].toUpperCase()}${verdict.slice(1)}: ${text("h1 .why")}`, size: 44, weight: 700, fill: `--${verdict}`, most: 1 },
    { text: text(".because"), size: 26, most: 2 },
    { text: facts.join(" · "), size: 20, fill: "--quiet", most: 1, after: 24 },
  ];
  // A test that decided comes before others that have a failure too.
  const heroes = [...document.querySelectorAll(".hero:has(.asked-twice)")];
  const hero = heroes.find((one) => one.querySelector(`.pill.${verdict}`)) ?? heroes[0];
  if (!hero) return lines;
  lines.push({ text: `${text("h3 a", hero)}: ${text(".happened", hero)}`, size: 26, weight: 600, most: 2, after: 10 });
  for (const part of hero.querySelectorAll(".asked-twice > div")) {
    lines.push({ text: text("dt", part), size: 16, fill: "--quiet", most: 1, after: -4 });
    lines.push({ text: text("dd", part) || "–", size: 22, most: part.matches(".reply") ? 1 : 2, after: 4 });
  }
  return lines;
};

const shareCard = () => {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const { width, height, left } = CARD;
  const svg = drawn("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "font-family": "system-ui, sans-serif" });
  svg.append(drawn("rect", { width, height, fill: colour("--paper") }));
  let y = 24;
  for (const { text, size, weight = 400, fill = "--ink", most, after = 0 } of cardLines()) {
    for (const line of wrapped(text, Math.floor((width - 2 * left) / (size * (weight > 400 ? 0.65 : 0.58))), most)) {
      y += size * CARD.line;
      svg.append(drawn("text", { x: left, y: Math.round(y), "font-size": size, "font-weight": weight, fill: colour(fill) }, line));
    }
    y += after;
  }
  svg.append(drawn("text", { x: left, y: height - 28, "font-size": 18, fill: colour("--quiet") }, "Contrapose report"));
  return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(svg))}`;
};

const asPng = async (url) => {
  const image = new Image();
  image.src = url;
  await image.decode();
  const canvas = make("canvas", CARD);
  canvas.getContext("2d").drawImage(image, 0, 0);
  return canvas.toDataURL("image/png");
};

for (const button of document.querySelectorAll("[data-share]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const kind = button.dataset.share;
    const url = shareCard();
    make("a", { href: kind === "png" ? await asPng(url) : url, download: `contrapose.${kind}` }).click();
  });
}
