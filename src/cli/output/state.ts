import type { RunState } from "../../core/run-state.ts";
import { type Segment, cyan, dim, green, red, yellow } from "./text.ts";

const PAINT: Readonly<Record<RunState, (text: string) => Segment>> = {
  running: cyan,
  ready: green,
  failed: red,
  interrupted: yellow,
  promoted: green,
  discarded: dim,
  "rolled-back": yellow,
};

export function stateText(state: RunState): Segment {
  return PAINT[state](state);
}
