import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Script } from "node:vm";
import { type CodeCache, type PartCode, codeCache } from "./code-cache.ts";

/** The parts of the bundled program, each a file of CommonJS in one directory. */
export interface Parts {
  /** What the entry exports. */
  readonly exports: unknown;
  /** Keeps the code that was compiled until now, where that is not known yet and may be kept. May be called again. */
  readonly keepCode: () => void;
}

export interface PartsPlace {
  /** Absolute path of the bundle. */
  readonly directory: string;
  /** The part to begin with; it loads others when it comes to need them. */
  readonly entry: string;
  readonly stateDir: string;
  /** The command that is to run; undefined keeps nothing. */
  readonly command: string | undefined;
}

/** As Node's own loader wraps a file; see https://nodejs.org/api/modules.html#the-module-wrapper */
const WRAPPER = ["(function (exports, require, module, __filename, __dirname) { ", "\n})"] as const;
type Wrapped = (...given: readonly unknown[]) => void;

/** How a part names another one. */
const PART = /^\.\/([\w-]+)\.cjs$/;

/** Native code is in packages that belong to a dependency of ours, and need not lie where ours do. */
const NATIVE = { prefix: "@libsql/", of: "libsql" };

/** A part that was compiled here, not taken from what is kept. */
interface Fresh {
  readonly name: string;
  readonly source: Buffer;
  readonly script: Script;
}

/** Runs a part, and every other one when it is asked for; they are compiled once, and taken from what was kept after that. */
export function openParts({ directory, entry, stateDir, command }: PartsPlace): Parts {
  const loaded = new Map<string, { exports: unknown }>();
  const own = createRequire(join(directory, `${entry}.cjs`));
  const fresh: Fresh[] = [];
  let cache: CodeCache | undefined;
  const require = (wanted: string): unknown => {
    const part = PART.exec(wanted)?.[1];
    if (part !== undefined) return load(part);
    return wanted.startsWith(NATIVE.prefix)
      ? createRequire(own.resolve(NATIVE.of))(wanted)
      : own(wanted);
  };
  const load = (name: string): unknown => {
    const known = loaded.get(name);
    if (known !== undefined) return known.exports;
    const file = join(directory, `${name}.cjs`);
    const source = readFileSync(file);
    if (command !== undefined && name === entry)
      cache = codeCache(stateDir, { command, entry: source });
    const { script, isKnown } = compile(file, source, cache?.read(name, source));
    if (!isKnown) fresh.push({ name, source, script });
    const module: { exports: unknown } = { exports: {} };
    // Before it runs: parts may ask for each other in a circle.
    loaded.set(name, module);
    try {
      // The wrapper is a function of this form.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      (script.runInThisContext() as Wrapped)(module.exports, require, module, file, directory);
    } catch (error) {
      // Whoever asks again is told again why it cannot be loaded.
      loaded.delete(name);
      throw error;
    }
    return module.exports;
  };
  return {
    exports: load(entry),
    keepCode() {
      cache?.add(fresh.splice(0).map(codeOf));
    },
  };
}

function codeOf({ name, source, script }: Fresh): PartCode {
  return { name, source, code: script.createCachedData() };
}

function compile(
  filename: string,
  source: Buffer,
  cachedData: Buffer | undefined,
): { readonly script: Script; readonly isKnown: boolean } {
  // The build writes ASCII alone, and this way of reading it is the quickest.
  const text = WRAPPER.join(source.toString("latin1"));
  const script = new Script(text, {
    filename,
    ...(cachedData === undefined ? {} : { cachedData }),
  });
  return { script, isKnown: cachedData !== undefined && script.cachedDataRejected !== true };
}
