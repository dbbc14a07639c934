// Bundles the command line with the packages it uses into dist/bundle/: most of the time until a command works used to go
// into finding and reading some four hundred files, and then into compiling one. So it is CommonJS, which Node can take
// from what it has compiled before (src/cli/code-cache.ts); a lazy import stays lazy, and runs when it is reached.
//
// What package.json calls dependencies stays outside and is installed beside; everything else goes in, with its licence
// in THIRD-PARTY-LICENSES.txt. Names and lines are left as they are, so that a stack trace can be read. See docs/adr/0012.
import { readFile, readdir, rm, writeFile } from "node:fs/promises";
import { join, sep } from "node:path";
import { build } from "esbuild";

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

/** A package that few runs need and that is as large as half of the program is a part of its own. */
const OWN_PART = "undici";

const partsAside = {
  name: "parts-aside",
  setup({ onResolve }) {
    onResolve({ filter: new RegExp(`^${OWN_PART}$`) }, ({ kind }) =>
      kind === "entry-point" ? undefined : { path: `./${OWN_PART}.cjs`, external: true },
    );
  },
};

const { dependencies } = JSON.parse(await readFile("package.json", "utf8"));
// Files that an earlier build has named otherwise would be packed.
await rm(OUT, { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: {
    start: "src/cli/start.ts",
    overview: "src/cli/overview.ts",
    program: "src/cli/whole.ts",
    [OWN_PART]: OWN_PART,
  },
  outdir: OUT,
  outExtension: { ".js": ".cjs" },
  bundle: true,
  platform: "node",
  target: "node20.19",
  format: "cjs",
  // Code that is kept in compiled form cannot import: what is imported when it is needed is run then.
  supported: { "dynamic-import": false },
  define: { "import.meta.dirname": "__dirname" },
  external: Object.keys(dependencies),
  plugins: [withoutLocales, partsAside],
  charset: "ascii",
  legalComments: "none",
  metafile: true,
});
await Promise.all(Object.keys(metafile.outputs).map(asAscii));
await writeFile(join(OUT, "THIRD-PARTY-LICENSES.txt"), await licencesOf(packagesIn(metafile)));

/** The bundler leaves other characters in regular expressions and in comments, and parts are read as ASCII (src/cli/parts.ts). */
async function asAscii(path) {
  const text = await readFile(path, "utf8");
  const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  // Without the flag `u`, this takes each half of a pair for itself.
  await writeFile(path, text.replaceAll(/[^\0-\x7f]/g, escaped));
}

/** Directories of the packages of which something is in the bundle. */
function packagesIn({ outputs }) {
  const inputs = Object.values(outputs).flatMap((output) => Object.keys(output.inputs));
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
