import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, readdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../docs/documents.ts";
import { GOOD_AGENT, type World, makeWorld } from "../rig/world.ts";

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
}

/** What an installation would put in place: the files of the package, and beside it what it depends on. */
function installed(world: World): string {
  const place = join(world.root, "installed/node_modules/guardloop");
  const packed = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  const [{ files }] = JSON.parse(packed) as [{ readonly files: readonly { path: string }[] }];
  for (const { path } of files) {
    mkdirSync(dirname(join(place, path)), { recursive: true });
    cpSync(join(ROOT, path), join(place, path));
  }
  const { dependencies } = JSON.parse(
    readFileSync(join(place, "package.json"), "utf8"),
  ) as Manifest;
  for (const name of Object.keys(dependencies))
    symlinkSync(join(ROOT, "node_modules", name), join(dirname(place), name));
  return place;
}

test("what is installed needs nothing beside it but the dependencies that it names", () => {
  using world = makeWorld();
  const place = installed(world);
  const guardloop = (...args: readonly string[]): string =>
    execFileSync(process.execPath, [join(place, "bin/guardloop.js"), ...args], {
      cwd: world.repo,
      env: world.env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  expect(guardloop("--help")).toContain("promote");
  // Every command is loaded where the first word is none.
  expect(guardloop("help", "promote")).toContain("guardloop promote");
  const words = ["run", "--agent", "command", "--", "sh", "-c"];
  guardloop(...words, `${GOOD_AGENT}\necho 'key = "AKIAIOSFODNN7EXAMPL5"' > "key.txt"`);
  expect(guardloop("runs")).toContain("ready");
  // The rules of the scanner for secrets are loaded one by one.
  expect(guardloop("review", "@last", "--json")).toContain('"secret-');
  guardloop("config", "--json");
});

test("the licences of what is bundled go with it", () => {
  const bundle = join(ROOT, "dist/bundle");
  const texts = readdirSync(bundle)
    .filter((name) => name.endsWith(".cjs"))
    .map((name) => readFileSync(join(bundle, name), "utf8"));
  // The bundler writes before each file where it came from.
  const from = texts.flatMap((text) => [
    ...text.matchAll(/^\/\/ .*node_modules\/((?:@[^/\n]+\/)?[^/\n]+)\//gm),
  ]);
  const names = new Set(from.map(([, name]) => name));
  const licences = readFileSync(join(bundle, "THIRD-PARTY-LICENSES.txt"), "utf8");
  expect([...names].filter((name) => !licences.includes(`\n${name} `))).toEqual([]);
  expect(names).toContain("zod");
  // As which it is read.
  expect(texts.filter((text) => /[^\0-\x7f]/.test(text))).toEqual([]);
});
