/** Why a part of a log is not there. */
export type Missing =
  | { readonly why: "limit"; readonly bytes: number; readonly limitBytes: number }
  /** The disk could not keep up, and the agent is not made to wait for it. */
  | { readonly why: "slow"; readonly bytes: number }
  | { readonly why: "unwritable"; readonly bytes: number; readonly reason: string };

/** How a log says that something is missing, and finds again where its middle was cut. */
export interface CutMark {
  /** A whole line. */
  readonly line: (missing: Missing) => string;
  /** The line of a cut middle; its first group is the number of bytes. Global, for latin-1 text. */
  readonly cut: RegExp;
}

/** For a log that people read. */
export const TEXT_MARK: CutMark = {
  // Output may stop in the middle of a line; the cut of a middle is made at a line's end where there is one.
  line: (missing) => `${missing.why === "limit" ? "" : "\n"}[guardloop: ${inWords(missing)}]\n`,
  cut: /\[guardloop: (\d+) bytes were cut here, to keep the log within [^\n]*\]\n/g,
};

/** For a log of one JSON object a line. */
export function jsonMark(now: () => Date): CutMark {
  return {
    line({ why, bytes }): string {
      return `${JSON.stringify({ at: now().toISOString(), type: "cut", why, bytes })}\n`;
    },
    cut: JSON_CUT,
  };
}

/** Also for those who only read. */
export const JSON_CUT = /^\{"at":"[^"\n]{1,40}","type":"cut","why":"limit","bytes":(\d+)\}\n/gm;

function inWords(missing: Missing): string {
  const { bytes } = missing;
  switch (missing.why) {
    case "limit": {
      const mebibytes = (missing.limitBytes / 1024 ** 2).toFixed(1).replace(/\.0$/, "");
      return `${bytes} bytes were cut here, to keep the log within ${mebibytes} MiB`;
    }
    case "slow":
      return `${bytes} bytes are missing here: they came faster than the disk could take them`;
    case "unwritable":
      return `${bytes} bytes are missing here: the log could not be written (${missing.reason})`;
  }
}
