import { hostEnvironment } from "../config/environment.ts";
import { isCommand } from "./command-names.ts";
import type { begin as Begin } from "./whole.ts";
import { openParts } from "./parts.ts";

/** Code that was not run for a while is thrown away by V8, and could not be kept any more. */
const KEEP_AFTER_MS = 60_000;

/** Words that are answered without any command, where they stand alone. */
const OVERVIEW = ["--help", "-h", "help", "--version", "-V"];

const [, , wanted = "help", ...others] = process.argv;
const isOverview = OVERVIEW.includes(wanted) && others.length === 0;
const parts = openParts({
  directory: import.meta.dirname,
  entry: isOverview ? "overview" : "program",
  stateDir: hostEnvironment().stateDir,
  command: isOverview ? "help" : isCommand(wanted) ? wanted : undefined,
});
setTimeout(parts.keepCode, KEEP_AFTER_MS).unref();
// The bundler makes the parts out of files that have it.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const { begin } = parts.exports as Program;
void begin().then(parts.keepCode);

interface Program {
  readonly begin: typeof Begin;
}
