import { hostEnvironment } from "../config/environment.ts";
import { isCommand } from "./command-names.ts";
import type { begin as Begin } from "./main.ts";
import { openParts } from "./parts.ts";

/** Code that was not run for a while is thrown away by V8, and could not be kept any more. */
const KEEP_AFTER_MS = 60_000;

/** Words that are answered without any command. */
const HELP = ["--help", "-h", "help", "--version", "-V"];

const [, , wanted = "help"] = process.argv;
const parts = openParts({
  directory: import.meta.dirname,
  stateDir: hostEnvironment().stateDir,
  command: HELP.includes(wanted) ? "help" : isCommand(wanted) ? wanted : undefined,
});
let isKept = false;
const keep = (): void => {
  if (!isKept) parts.keepCode();
  isKept = true;
};
setTimeout(keep, KEEP_AFTER_MS).unref();
// The bundler makes this part out of that file.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const { begin } = parts.load("program") as Program;
void begin().then(keep);

interface Program {
  readonly begin: typeof Begin;
}
