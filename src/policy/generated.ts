import picomatch from "picomatch";
import { once } from "../core/once.ts";
import type { AddedLine, Change } from "./facts.ts";
import { type Finding, finding } from "./finding.ts";

const generatedNames = once(() =>
  picomatch(["**/*.min.{js,cjs,mjs,css}", "**/*.bundle.js", "**/*.{js,css}.map"], {
    dot: true,
    flags: "is",
  }),
);
const archives = once(() =>
  picomatch(
    [
      "**/*.{zip,tar,tgz,gz,bz2,xz,zst,7z,rar,jar,war,ear,whl,egg,gem,crate,nupkg,deb,rpm,apk,iso,wasm}",
      "**/*.{exe,dll,so,dylib,node,class,pyc}",
    ],
    { dot: true, flags: "is" },
  ),
);
/** Nobody writes such a line, and nobody reads it in a diff. */
const LONG_LINE_CHARS = 5_000;

/** Archives and programs by their names: whatever Git takes them for, they cannot be reviewed. */
export function isOpaque(path: string): boolean {
  return archives()(path.normalize("NFC"));
}

/** Text that a program made and that a reviewer cannot read: minified files, source maps, endless lines. */
export function generatedFindings(
  changes: readonly Change[],
  lines: readonly AddedLine[],
): readonly Finding[] {
  const readable = changes.filter(
    (change) => change.kind !== "deleted" && change.content === "text" && !isOpaque(change.path),
  );
  const isGeneratedName = generatedNames();
  const endless = new Set(
    lines.filter((one) => one.line.length > LONG_LINE_CHARS).map((one) => one.path),
  );
  const paths = readable
    .map((change) => change.path)
    .filter((path) => isGeneratedName(path.normalize("NFC")) || endless.has(path));
  return paths.length === 0
    ? []
    : [finding("generated", "Minified or generated text cannot be read in a diff.", paths)];
}
