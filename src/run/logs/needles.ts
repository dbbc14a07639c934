/** Finds many texts at once, a byte at a time; a state is what of the newest bytes may be the beginning of one. */
export interface Needles {
  readonly start: number;
  /** Looks at every byte, and gives the state behind the last one; told is each place where a needle ends. */
  readonly scan: (
    bytes: Uint8Array,
    state: number,
    onEnded: (needle: number, at: number) => void,
  ) => number;
  /** How many of the newest bytes are the beginning of a needle. */
  readonly depth: (state: number) => number;
}

const ROOT = 0;
const NONE = -1;

/**
 * The automaton of Aho and Corasick (1975): one look at each byte, however many needles there are, and nothing to go
 * back for, so that a needle is found across the borders of chunks.
 *
 * @param needles bytes as latin-1 text; none of them empty.
 */
export function needlesOf(needles: readonly string[]): Needles {
  const trie = trieOf(needles);
  const { atRoot, ended, parents, bytes, depths } = trie;
  const fails: number[] = [ROOT];
  const next = (from: number, byte: number): number => {
    let state = from;
    for (;;) {
      const child = trie.child(state, byte);
      if (child !== NONE) return child;
      if (state === ROOT) return ROOT;
      state = fails[state] ?? ROOT;
    }
  };
  // By depth: what a state falls back to is shallower, and known by then.
  for (const state of inOrderOfDepth(depths)) {
    const parent = parents[state] ?? ROOT;
    const fail = parent === ROOT ? ROOT : next(fails[parent] ?? ROOT, bytes[state] ?? 0);
    fails[state] = fail;
    if (ended[state] === NONE) ended[state] = ended[fail] ?? NONE;
  }
  return {
    start: ROOT,
    scan(text, from, onEnded): number {
      let state = from;
      for (let at = 0; at < text.length; at += 1) {
        // What most of a long text is: a byte with which no needle begins.
        if (state === ROOT && atRoot[text[at] ?? 0] === NONE) continue;
        state = next(state, text[at] ?? 0);
        // The longest one where more than one ends here.
        const needle = ended[state] ?? NONE;
        if (needle !== NONE) onEnded(needle, at);
      }
      return state;
    },
    depth: (state) => depths[state] ?? 0,
  };
}

/** States are numbers; children are lists, since a needle is a long chain for the most part. */
function trieOf(needles: readonly string[]) {
  const atRoot = new Int32Array(256).fill(NONE);
  const firstChild = [NONE];
  const nextSibling = [NONE];
  const bytes = [0];
  const parents = [ROOT];
  const depths = [0];
  const ended = [NONE];
  const child = (state: number, byte: number): number => {
    if (state === ROOT) return atRoot[byte] ?? NONE;
    let one = firstChild[state] ?? NONE;
    while (one !== NONE && bytes[one] !== byte) one = nextSibling[one] ?? NONE;
    return one;
  };
  const addChild = (state: number, byte: number): number => {
    const added = bytes.push(byte) - 1;
    parents.push(state);
    depths.push((depths[state] ?? 0) + 1);
    ended.push(NONE);
    firstChild.push(NONE);
    nextSibling.push(firstChild[state] ?? NONE);
    firstChild[state] = added;
    if (state === ROOT) atRoot[byte] = added;
    return added;
  };
  for (const [index, needle] of needles.entries()) {
    let state = ROOT;
    for (const byte of Buffer.from(needle, "latin1")) {
      const known = child(state, byte);
      state = known === NONE ? addChild(state, byte) : known;
    }
    if (ended[state] === NONE) ended[state] = index;
  }
  return { atRoot, child, bytes, parents, depths, ended };
}

function inOrderOfDepth(depths: readonly number[]): readonly number[] {
  const states = [...depths.keys()].slice(1);
  return states.toSorted((a, b) => (depths[a] ?? 0) - (depths[b] ?? 0));
}
