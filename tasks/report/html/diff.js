// What was changed in a text, as tasks/text/diff.py tells it; a test holds the two against each other.
const MOST_EDITS = 200;
const MOST_STEPS = 1_000_000;
const MOST_WORD_PAIRS = 9;
// Chinese and Japanese put no blanks between words: there each character is a token.
const TOKEN =
  /\s+|[\u2e80-\u9fff\uf900-\ufaff]|(?:(?![\u2e80-\u9fff\uf900-\ufaff])[\p{L}\p{N}_])+|[^\p{L}\p{N}_\s]/gu;
const WORD = /[\p{L}\p{N}_]+/gu;

const sharedHead = (left, right) => {
  const most = Math.min(left.length, right.length);
  let count = 0;
  while (count < most && left[count] === right[count]) count += 1;
  return count;
};

const sharedTail = (left, right) => {
  const most = Math.min(left.length, right.length);
  let count = 0;
  while (count < most && left[left.length - 1 - count] === right[right.length - 1 - count]) count += 1;
  return count;
};

const adds = (reach, diagonal, count) =>
  diagonal === -count || (diagonal !== count && reach.get(diagonal - 1) < reach.get(diagonal + 1));

// How far each diagonal reaches with 0, 1, 2, … edits (Myers 1986); null when that takes too many.
const ways = (left, right) => {
  const reach = new Map([[1, 0]]);
  const reached = [];
  let steps = 0;
  for (let count = 0; count <= Math.min(left.length + right.length, MOST_EDITS); count += 1) {
    reached.push(new Map(reach));
    for (let diagonal = -count; diagonal <= count; diagonal += 2) {
      const start = adds(reach, diagonal, count) ? reach.get(diagonal + 1) : reach.get(diagonal - 1) + 1;
      let x = start;
      while (x < left.length && x - diagonal < right.length && left[x] === right[x - diagonal]) x += 1;
      reach.set(diagonal, x);
      if (x >= left.length && x - diagonal >= right.length) return reached;
      steps += 1 + x - start;
    }
    if (steps > MOST_STEPS) break;
  }
  return null;
};

// Spans [start, end, first, last]: tokens of the original, and those of the changed text that stand there instead.
const spans = (left, right) => {
  const head = sharedHead(left, right);
  const tail = sharedTail(left.slice(head), right.slice(head));
  const own = left.slice(head, left.length - tail);
  const other = right.slice(head, right.length - tail);
  const reached = ways(own, other);
  if (!reached) return [[head, left.length - tail, head, right.length - tail]];
  const found = [];
  let [x, y] = [own.length, other.length];
  for (let count = reached.length - 1; count > 0; count -= 1) {
    const added = adds(reached[count], x - y, count);
    const before = x - y + (added ? 1 : -1);
    x = reached[count].get(before);
    y = x - before;
    found.push([x, x + (added ? 0 : 1), y, y + (added ? 1 : 0)].map((place) => place + head));
  }
  return found.reverse();
};

const places = (tokens) => {
  const found = [0];
  for (const token of tokens) found.push(found.at(-1) + token.length);
  return found;
};

// Neighbours in a line made one where little lies between, at most half of either: such scraps tell nothing.
const joined = (found, original, at, to) => {
  const size = ([start, end, first, last]) => Math.max(at[end] - at[start], to[last] - to[first]);
  const kept = [];
  for (const span of found) {
    const last = kept.at(-1);
    const between = original.slice(at[last ? last[1] : 0], at[span[0]]);
    const blank = between !== "" && !between.trim();
    const little = last && (blank || 2 * between.length <= Math.min(size(last), size(span)));
    if (little && !between.includes("\n")) kept[kept.length - 1] = [last[0], span[1], last[2], span[3]];
    else kept.push(span);
  }
  return kept;
};

// Where words of both begin alike, or one ends in the other: both positions, and the length.
const keptPart = (old, fresh) => {
  const left = [...old.matchAll(WORD)];
  const right = [...fresh.matchAll(WORD)];
  if (!left.length || !right.length || left.length * right.length > MOST_WORD_PAIRS) return null;
  let best = null;
  const take = (there, here, length) => {
    if (!best || length > best[2]) best = [there, here, length];
  };
  for (const a of left)
    for (const b of right) {
      const [one, other] = [a[0], b[0]];
      if (one === other) continue;
      const least = (Math.max(one.length, other.length) + 1) >> 1;
      const shorter = Math.min(one.length, other.length);
      const [head, tail] = [sharedHead(one, other), sharedTail(one, other)];
      if (head >= least && (head >= 3 || head === shorter)) take(a.index, b.index, head);
      if (tail >= least && tail === shorter)
        take(a.index + one.length - tail, b.index + other.length - tail, tail);
    }
  return best;
};

// The edit without the part of a word that it keeps: of "eats" and "does not eat", "eat".
const refined = (start, end, fresh, original) => {
  const old = original.slice(start, end);
  if (old === fresh) return [];
  const kept = keptPart(old, fresh);
  if (!kept) return [[start, end, fresh]];
  const [there, here, length] = kept;
  return [
    ...refined(start, start + there, fresh.slice(0, here), original),
    ...refined(start + there + length, end, fresh.slice(here + length), original),
  ];
};

const edits = (original, changed) => {
  const [left, right] = [original, changed].map((text) => text.match(TOKEN) ?? []);
  const [at, to] = [places(left), places(right)];
  return joined(spans(left, right), original, at, to).flatMap(([start, end, first, last]) =>
    refined(at[start], at[end], changed.slice(to[first], to[last]), original),
  );
};

// Both texts in pieces, shared and own ones in turn; the first is a shared one and may be empty.
const mark = (original, changed) => {
  if (!original || !changed) return [[original], [changed]];
  const [first, second] = [[""], [""]];
  const put = (segments, kept, own) => {
    segments[segments.length - 1] += kept;
    if (own) segments.push(own, "");
  };
  let place = 0;
  for (const [start, end, fresh] of edits(original, changed)) {
    put(first, original.slice(place, start), original.slice(start, end));
    put(second, original.slice(place, start), fresh);
    place = end;
  }
  for (const segments of [first, second]) {
    put(segments, original.slice(place), "");
    if (!segments.at(-1) && segments.length > 1) segments.pop();
  }
  return [first, second];
};
