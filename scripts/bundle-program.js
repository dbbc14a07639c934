// Bundles the command line with the packages it uses into dist/bundle/: most of the time until a command works used to go
// into finding and reading some four hundred files, and then into compiling one. So it is CommonJS, which Node can take
// from what it has compiled before (src/cli/code-cache.ts); a lazy import stays lazy, and runs when it is reached.
//
// The native code of what package.json calls dependencies stays outside and is installed beside; everything else goes in,
// with its licence in THIRD-PARTY-LICENSES.txt. Names and lines are left as they are, so that a stack trace can be read. See docs/adr/0012.
import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { build, transform } from "esbuild";

const OUT = "dist/bundle";

/** Messages in fifty languages, of which guardloop speaks one: they are 360 KB that every start would read. */
const withoutLocales = {
  name: "without-locales",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export {};",
    }));
  },
};

/**
 * The database library has its native code in a package for each platform, which stays outside, and asks Node for a whole
 * report about the process to learn which of them it needs. That costs more than everything else about opening the
 * history; where the C library is the usual one, what it asks second says the same at once (libsql/index.js).
 */
const quickNative = {
  name: "quick-native",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^@libsql\// }, ({ path }) => ({ path, external: true }));
    onLoad({ filter: /[\\/]@neon-rs[\\/]load[\\/]dist[\\/]index\.js$/ }, async ({ path }) => ({
      contents: `${await readFile(path, "utf8")}
        exports.currentTarget = () =>
          process.platform === "linux" && /^(?:x64|arm64)$/.test(process.arch) &&
          require("detect-libc").familySync() === "glibc" ? \`linux-\${process.arch}-gnu\` : currentTarget();`,
      resolveDir: dirname(path),
    }));
  },
};

/**
 * Every import of something that is loaded when it is needed makes parts of the program: one for each set of modules that
 * the same imports reach. Many small ones take longer to load than they save, so commands that are rarely called are one
 * part, in which each still runs only when it is reached.
 */
const fewParts = {
  name: "few-parts",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]other-commands\.ts$/ }, async ({ path }) => ({
      contents: (await readFile(path, "utf8")).replaceAll(/\bawait import\(/g, "require("),
      loader: "ts",
    }));
  },
};

/** Settings of every bundle. */
const COMMON = {
  outdir: OUT,
  bundle: true,
  platform: "node",
  target: "node20.19",
  define: { "import.meta.dirname": "__dirname" },
  charset: "ascii",
  legalComments: "none",
  metafile: true,
  write: false,
};

// Files that an earlier build has named otherwise would be packed.
await rm(OUT, { recursive: true, force: true });
await mkdir(OUT, { recursive: true });
const [start, parts] = await Promise.all([
  build({ ...COMMON, entryPoints: { start: "src/cli/start.ts" }, format: "cjs" }),
  build({
    ...COMMON,
    entryPoints: { overview: "src/cli/overview.ts", program: "src/cli/whole.ts" },
    // Only what is an ES module can be taken apart.
    format: "esm",
    splitting: true,
    plugins: [withoutLocales, quickNative, fewParts],
  }),
]);
for (const { path, text } of start.outputFiles) await write(path, text);
for (const { path, text } of parts.outputFiles) await write(path, await asCommonJs(text));
const packages = packagesIn([start.metafile, parts.metafile]);
await writeFile(join(OUT, "THIRD-PARTY-LICENSES.txt"), await licencesOf(packages));

/** Parts name each other by their files. */
async function asCommonJs(text) {
  const { code } = await transform(
    // The bundler's words about where something came from, which it would leave out.
    text.replaceAll(/^\/\/ (?=\S+$)/gm, "//! "),
    {
      format: "cjs",
      platform: "node",
      target: "node20.19",
      // Code that is kept in compiled form cannot import: what is imported when it is needed is run then.
      supported: { "dynamic-import": false },
      charset: "ascii",
      legalComments: "inline",
    },
  );
  // Parts take from each other what is there under its own name: copies that other makers of modules need cost time.
  return code
    .replaceAll(/\bmodule\.exports = __toCommonJS\((\w+)\);/g, "module.exports = $1;")
    .replaceAll(/__toESM\(require\("(\.\/[\w-]+\.js)"\)\)/g, 'require("$1")')
    .replaceAll(/^\/\/! /gm, "// ")
    .replaceAll(/\brequire\("\.\/([\w-]+)\.js"\)/g, 'require("./$1.cjs")');
}

/** The bundler leaves other characters in regular expressions and in comments, and parts are read as ASCII (src/cli/parts.ts). */
function write(path, text) {
  const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  // Without the flag `u`, this takes each half of a pair for itself.
  return writeFile(path.replace(/\.js$/, ".cjs"), text.replaceAll(/[^\0-\x7f]/g, escaped));
}

/** Directories of the packages of which something is in the bundle. */
function packagesIn(metafiles) {
  const outputs = metafiles.flatMap((one) => Object.values(one.outputs));
  const inputs = outputs.flatMap((output) => Object.keys(output.inputs));
  const directories = inputs.map(
    (input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input.replaceAll(sep, "/"))?.[0],
  );
  return [...new Set(directories)].filter((one) => one !== undefined);
}

async function licencesOf(directories) {
  const sorted = directories.toSorted((a, b) => (a < b ? -1 : 1));
  const texts = await Promise.all(sorted.map(licenceOf));
  return `guardloop's program contains these packages.\n\n${texts.join("\n")}`;
}

async function licenceOf(directory) {
  const { name, version, license, licenses } = JSON.parse(
    await readFile(join(directory, "package.json"), "utf8"),
  );
  const text = (await licenceFile(directory)) ?? (await licenceInReadme(directory));
  if (text === undefined) throw new Error(`${name} says nowhere under which licence it may go on.`);
  const kind = license ?? licenses.map((one) => one.type).join(" or ");
  return `${"-".repeat(80)}\n${name} ${version} (${kind})\n\n${text.trim()}\n`;
}

async function licenceFile(directory) {
  const file = (await readdir(directory)).find((one) =>
    /^(?:licen[cs]e|copying)(?:\.|$)/i.test(one),
  );
  return file === undefined ? undefined : readFile(join(directory, file), "utf8");
}

/** From the heading that speaks of the licence on. */
async function licenceInReadme(directory) {
  const file = (await readdir(directory)).find((one) => /^readme(?:\.|$)/i.test(one));
  const text = file === undefined ? "" : await readFile(join(directory, file), "utf8");
  return /^(?:#+ *licen[cs]e|licen[cs]e\n[=-]+)[^]*/im.exec(text)?.[0];
}
