import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";

/** What a build is made from. */
const SOURCES = [
  "src",
  "scripts/bundle-guest.js",
  "scripts/bundle-program.js",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "tsconfig.build.json",
];
/** Every build empties the directory it lies in, so it never speaks of another one. */
const STAMP = "dist/bundle/.built-from";

/** Vitest's global set-up: the black-box tests run the built program, so it is built once before them, where it changed. */
export default function build(): void {
  const wanted = execFileSync(process.execPath, ["scripts/fingerprint.js", ...SOURCES], {
    encoding: "utf8",
  });
  if (existsSync(STAMP) && readFileSync(STAMP, "utf8") === wanted) return;
  execFileSync("npm", ["run", "--silent", "build"], { stdio: "inherit" });
  writeFileSync(STAMP, wanted);
}
