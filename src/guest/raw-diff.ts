import { nulSeparated } from "./nul-separated.ts";

/** A row of `--raw -z` without renames. */
export interface RawChange {
  /** Modes; `NO_MODE` where there is no file. */
  readonly from: string;
  readonly to: string;
  /** Of what is there afterwards, where Git knows it. */
  readonly id: string;
  /** One character a byte. */
  readonly path: string;
}

export const NO_MODE = "000000";

/** Reads what git-diff-tree(1) and git-diff-index(1) print with `-z --raw --no-abbrev --no-renames` as it comes. */
export function rawChanges(onChange: (change: RawChange) => void): (chunk: Buffer) => void {
  let head = "";
  return nulSeparated((field) => {
    if (head === "") head = field;
    else {
      const [from = "", to = "", , id = ""] = head.slice(1).split(" ");
      head = "";
      onChange({ from, to, id, path: field });
    }
  });
}
