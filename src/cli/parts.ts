import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Script } from "node:vm";
import { codeCache } from "./code-cache.ts";

/** The parts of the bundled program, each a file of CommonJS in one directory. */
export interface Parts {
  /** What a part exports. It runs when it is asked for the first time. */
  load(name: string): unknown;
  /** Keeps the code that was compiled until now, where that is not known yet and may be kept. */
  keepCode(): void;
}

export interface PartsPlace {
  /** Absolute path of the bundle. */
  readonly directory: string;
  readonly stateDir: string;
  /** The command that is to run; undefined keeps nothing. */
  readonly command: string | undefined;
}

interface Loaded {
  readonly exports: object;
  readonly keepCode: () => void;
}

/** As Node's own loader wraps a file; see https://nodejs.org/api/modules.html#the-module-wrapper */
const WRAPPER = ["(function (exports, require, module, __filename, __dirname) { ", "\n})"] as const;
type Wrapped = (...given: readonly unknown[]) => void;

/** Parts that are compiled once, and taken from what was kept after that. */
export function openParts(place: PartsPlace): Parts {
  const loaded = new Map<string, Loaded>();
  const load = (name: string): unknown => {
    const known = loaded.get(name);
    if (known !== undefined) return known.exports;
    const file = join(place.directory, `${name}.cjs`);
    const { run, keepCode } = compile(file, name, place);
    const module = { exports: {} };
    const own = createRequire(file);
    const require = (wanted: string): unknown => {
      const part = /^\.\/(\w+)\.cjs$/.exec(wanted)?.[1];
      return part === undefined ? own(wanted) : load(part);
    };
    run(module.exports, require, module, file, place.directory);
    loaded.set(name, { exports: module.exports, keepCode });
    return module.exports;
  };
  return {
    load,
    keepCode() {
      for (const one of loaded.values()) one.keepCode();
    },
  };
}

function compile(
  file: string,
  name: string,
  { stateDir, command }: PartsPlace,
): { readonly run: Wrapped; readonly keepCode: () => void } {
  const source = readFileSync(file);
  const cache = command === undefined ? undefined : codeCache(stateDir, `${name}-${command}`);
  const cachedData = cache?.read(source);
  // The build writes ASCII alone, and this way of reading it is the quickest.
  const text = WRAPPER.join(source.toString("latin1"));
  const script = new Script(text, {
    filename: file,
    ...(cachedData === undefined ? {} : { cachedData }),
  });
  const isKnown = cachedData !== undefined && script.cachedDataRejected !== true;
  return {
    // The wrapper is a function of this form.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    run: script.runInThisContext() as Wrapped,
    keepCode() {
      if (!isKnown) cache?.write(source, script.createCachedData());
    },
  };
}
