// Bundles the command line with the packages it uses into dist/bundle/: most of the time until a command works used to go
// into finding and reading some four hundred files. A lazy import stays lazy: it becomes a file of its own.
//
// What package.json calls dependencies stays outside and is installed beside; everything else goes in, with its licence
// in THIRD-PARTY-LICENSES.txt. Names and lines are left as they are, so that a stack trace can be read. See docs/adr/0012.
import { readFile, readdir, rm, writeFile } from "node:fs/promises";
import { join, sep } from "node:path";
import { build } from "esbuild";

const OUT = "dist/bundle";

/** Packages that are CommonJS call `require` for Node's own modules, which a module does not have. */
const REQUIRE =
  'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);';

/** Messages in fifty languages, of which guardloop speaks one: they are 360 KB that every start would read. */
const withoutLocales = {
  name: "without-locales",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export {};",
    }));
  },
};

const { dependencies } = JSON.parse(await readFile("package.json", "utf8"));
// Files that an earlier build has named otherwise would be packed.
await rm(OUT, { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: { guardloop: "src/cli/start.ts" },
  outdir: OUT,
  bundle: true,
  splitting: true,
  platform: "node",
  target: "node20.19",
  format: "esm",
  chunkNames: "[name]-[hash]",
  external: Object.keys(dependencies),
  plugins: [withoutLocales],
  banner: { js: REQUIRE },
  legalComments: "none",
  metafile: true,
});
await writeFile(join(OUT, "THIRD-PARTY-LICENSES.txt"), await licencesOf(packagesIn(metafile)));

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
