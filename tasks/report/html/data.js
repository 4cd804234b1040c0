// The rows of the page: columns for all of them, and texts in blocks that are unpacked one after the other.
const unpack = async (element) => {
  const packed = Uint8Array.fromBase64
    ? Uint8Array.fromBase64(element.textContent)
    : Uint8Array.from(atob(element.textContent), (sign) => sign.charCodeAt(0));
  element.remove();
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
};

// A text is a string, or pieces in which every second one is a word that is masked unless words are revealed.
const masked = (word) => {
  const [first, ...rest] = word;
  return first + rest.join("").replace(/\S/gu, "*");
};
const readable = (text, revealed) =>
  typeof text === "string" ? text : text.map((piece, index) => (index % 2 && !revealed ? masked(piece) : piece)).join("");
const plain = (text) => (typeof text === "string" ? text : text.join("")).toLowerCase();

const REST = 50; // Milliseconds of unpacking in a row.

const OUTCOMES = ["fail", "error", "unscored", "wrong before", "pass"];

// One long string is searched far faster than thousands of short ones; `ends` tells where each of them ends in it.
const searchable = (texts) => {
  const ends = new Uint32Array(texts.length);
  let end = -1;
  texts.forEach((text, at) => {
    end += text.length + 1;
    ends[at] = end;
  });
  return { joined: texts.join("\n"), ends };
};

// Which of the texts hold the word, null if none; a word has no blank in it, so that it never spans two of them.
const hits = ({ joined, ends }, word) => {
  let place = joined.indexOf(word);
  if (place < 0) return null;
  const hit = new Uint8Array(ends.length);
  for (let at = 0; place >= 0; place = joined.indexOf(word, ends[at])) {
    while (ends[at] <= place) at += 1;
    hit[at] = 1;
  }
  return hit;
};

// Five texts, then names and texts of details: names are not searched.
const told = (indices, hit) => {
  for (let at = 0; at < indices.length; at += at < 4 ? 1 : 2) if (hit[indices[at]]) return true;
  return false;
};

const openRows = async () => {
  const columns = await unpack(document.getElementById("columns"));
  const size = columns.id.length;
  for (const name of ["outcome", "control"]) columns[name] = Uint8Array.from(columns[name], Number);
  const blocks = [];
  const orders = new Map();
  const numbers = columns.score.map((text) => (text ? Number(text.replaceAll(",", "")) : NaN));

  const sorted = (compare) => Uint32Array.from({ length: size }, (_, place) => place).sort(compare);
  // Numbers within ids count as numbers: 2 stands before 10.
  let keys = null;
  const byKey = (a, b) => {
    keys ??= columns.id.map((id) => id.toLowerCase().replace(/\d+/g, (digits) => digits.padStart(12, "0")));
    return keys[a] === keys[b] ? a - b : keys[a] < keys[b] ? -1 : 1;
  };
  // Rows without a score stand last in both directions.
  const byScore = (sign) => (a, b) => {
    const [one, other] = [numbers[a], numbers[b]];
    if (Number.isNaN(one) || Number.isNaN(other)) return Number.isNaN(one) - Number.isNaN(other) || a - b;
    return sign * (one - other) || a - b;
  };
  const SORTS = {
    run: (a, b) => a - b,
    id: byKey,
    low: byScore(1),
    high: byScore(-1),
    outcome: (a, b) => columns.outcome[a] - columns.outcome[b] || a - b,
  };
  const order = (name) => {
    if (!orders.has(name)) orders.set(name, sorted(SORTS[name]));
    return orders.get(name);
  };

  const load = async (tell) => {
    let rested = performance.now();
    const packed = [...document.querySelectorAll("script.texts")];
    let next = packed.length ? unpack(packed[0]) : null;
    for (let at = 0; at < packed.length; at += 1) {
      const { texts, rows, parts, frames, framed } = await next;
      // The next block is unpacked while this one is made ready.
      next = at + 1 < packed.length ? unpack(packed[at + 1]) : null;
      const first = blocks.length * columns.block;
      blocks.push({ texts, rows, parts, frames, framed, ...searchable([...texts.map(plain), ...columns.id.slice(first, first + rows.length).map(plain)]) });
      tell(blocks.length);
      // Now and then the page answers to what its reader does.
      if (performance.now() - rested < REST) continue;
      await new Promise((done) => setTimeout(done));
      rested = performance.now();
    }
  };

  const row = (place) => {
    const block = blocks[Math.floor(place / columns.block)];
    const found = block?.rows[place % columns.block];
    const texts = found ? found.map((index, at) => (at >= 5 && at % 2 ? columns.names[index] : block.texts[index])) : null;
    return {
      place,
      id: columns.id[place],
      test: columns.tests[columns.test[place]],
      number: columns.number[place],
      outcome: OUTCOMES[columns.outcome[place]],
      control: columns.control[place] === 1,
      score: columns.score[place],
      texts,
      // A prompt is the text between what stands before and after it, or a text of its own.
      sent: block?.frames[block.framed[place % columns.block]]?.map((side, at) =>
        (side.length > 1 ? [side[0], found[at], side[1]] : side).map((index) => block.texts[index])),
      parts: block?.parts[place % columns.block] ?? [[Infinity], [Infinity]],
    };
  };

  // Marks rows in which every word occurs, in their texts or in their ids.
  const search = (words) => {
    const matches = new Uint8Array(size).fill(1);
    for (const word of words)
      for (const [number, block] of blocks.entries()) {
        const start = number * columns.block;
        const own = matches.subarray(start, start + block.rows.length);
        const hit = own.includes(1) ? hits(block, word) : null;
        if (hit) block.rows.forEach((indices, at) => {
          if (own[at] && !hit[block.texts.length + at] && !told(indices, hit)) own[at] = 0;
        });
        else own.fill(0);
      }
    // Of rows whose texts are not here the ids are.
    for (let place = blocks.length * columns.block; place < size; place += 1)
      matches[place] = words.every((word) => plain(columns.id[place]).includes(word));
    return matches;
  };

  return { columns, size, load, order, row, search };
};
