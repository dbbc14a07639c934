import { existsSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { mkdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { AGENT_COMMIT, ending, refuse, show } from "../rig/lifecycle.ts";
import { GOOD_AGENT, type World, makeWorld } from "../rig/world.ts";

interface Entry {
  readonly path: string;
  readonly from: string;
  readonly rule: string;
}

interface SnapshotManifest {
  readonly version: number;
  readonly copied: readonly Entry[];
  readonly keptOut: readonly Entry[];
}

const IGNORED = ".env*\ncache/\n*.key\nnode_modules/\n";

/** Lists everything it can see, except Git's own files, into a file of the branch. */
const LISTING = `${GOOD_AGENT}
find . -name .git -prune -o ! -type d -print | sort > "$TMPDIR/seen.$$"; cp "$TMPDIR/seen.$$" seen.txt
`;

async function ready(world: World, flags: readonly string[] = [], script = LISTING) {
  const ended = await world.run(script, flags);
  expect(ending(ended)).toBe("exit 0");
  const { run } = await show(world);
  const record = join(world.state, "runs", run.id);
  const manifest = JSON.parse(
    readFileSync(join(record, "snapshot-manifest.json"), "utf8"),
  ) as SnapshotManifest;
  const inBranch = world.git("ls-tree", "-r", "--name-only", run.branch ?? "").split("\n");
  const seen = inBranch.includes("seen.txt")
    ? world.git("show", `${run.branch}:seen.txt`).split("\n")
    : [];
  return { run, manifest, inBranch, seen };
}

/** A world with ignore rules and a leased worktree that the pool keeps for the next run. */
async function worldWithPool(engine: "scripted" | "docker" = "scripted") {
  const world = makeWorld(engine);
  world.write(".gitignore", IGNORED);
  world.commit("Ignore");
  await ready(world, [], GOOD_AGENT);
  const pool = join(world.state, "worktrees");
  const id = readdirSync(pool)[0] ?? "";
  const leased = join(pool, id, "1", "shop");
  expect(existsSync(join(leased, ".git"))).toBe(true);
  const put = (root: string, path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  return {
    world,
    leased,
    putInLease: (path: string, text: string) => put(leased, path, text),
    put: (path: string, text: string) => put(world.repo, path, text),
  };
}

describe.each(["scripted", "docker"] as const)("by default, on the %s engine", (engine) => {
  test("no .env reaches the container, and the manifest names each with its place", async () => {
    const { world, leased, put, putInLease } = await worldWithPool(engine);
    using _ = world;
    putInLease(".env", "LEASED_SECRET=1\n");
    put(".env", "PRINCIPAL_SECRET=1\n");
    put("node_modules/left-pad/index.js", "x\n");
    const script = `${LISTING}\ngrep -rl SECRET . > found.txt || true`;
    const { run, manifest, seen } = await ready(world, [], script);
    expect(seen.filter((path) => path.includes(".env"))).toEqual([]);
    expect(world.git("show", `${run.branch}:found.txt`)).toBe("");
    expect(manifest.copied).toEqual([]);
    const secret = { path: ".env", rule: "looks like a secret by its name" };
    expect(manifest.keptOut).toContainEqual({ ...secret, from: leased });
    expect(manifest.keptOut).toContainEqual({ ...secret, from: world.repo });
    expect(manifest.keptOut).toContainEqual({
      path: "node_modules/",
      from: world.repo,
      rule: "no rule lets it in",
    });
    // The pool kept it, and nobody lost it.
    expect(readFileSync(join(leased, ".env"), "utf8")).toBe("LEASED_SECRET=1\n");
  });
});

describe("a rule", () => {
  test("lets an ignored file in, from the lease before the checkout, and never into the branch", async () => {
    const { world, leased, put, putInLease } = await worldWithPool();
    using _ = world;
    putInLease("cache/index.bin", "from the lease\n");
    put("cache/index.bin", "from the checkout\n");
    put("cache/deep/er/more.bin", "more\n");
    const script = `${LISTING}\ncat cache/index.bin cache/deep/er/more.bin > got.txt; git add -A; git status --short > status.txt`;
    const { run, manifest, inBranch, seen } = await ready(world, ["--overlay", "cache/**"], script);
    expect(seen).toContain("./cache/index.bin");
    expect(world.git("show", `${run.branch}:got.txt`)).toBe("from the lease\nmore");
    expect(manifest.copied).toEqual([
      { path: "cache/index.bin", from: leased, rule: "cache/**" },
      { path: "cache/deep/er/more.bin", from: world.repo, rule: "cache/**" },
    ]);
    expect(manifest.keptOut).toContainEqual({
      path: "cache/index.bin",
      from: world.repo,
      rule: "came from another work tree already",
    });
    expect(inBranch.filter((path) => path.startsWith("cache"))).toEqual([]);
  });

  test("with a wildcard lets no secret in: not by name, not by content", async () => {
    const { world, put } = await worldWithPool();
    using _ = world;
    const key = ["-----BEGIN RSA", "PRIVATE", "KEY-----\n"].join(" ");
    put("cache/fine.txt", "fine\n");
    put("cache/.env.local", "A=1\n");
    put("cache/server.KEY", "x\n");
    put("cache/.aws/config", "x\n");
    put("cache/innocent.txt", `text\n${key}`);
    const { manifest, seen } = await ready(world, ["--overlay", "**"]);
    expect(seen.filter((path) => path.startsWith("./cache"))).toEqual(["./cache/fine.txt"]);
    const why = Object.fromEntries(manifest.keptOut.map((one) => [one.path, one.rule]));
    expect(why["cache/innocent.txt"]).toBe("holds what looks like a private key");
    for (const path of ["cache/.env.local", "cache/server.KEY", "cache/.aws/config"])
      expect([path, why[path]]).toEqual([path, "looks like a secret by its name"]);
  });

  test("that names one file literally lets even a secret in, and only that one", async () => {
    const { world, put } = await worldWithPool();
    using _ = world;
    put(".env", "A=1\n");
    put(".env.local", "B=2\n");
    const { manifest, seen, inBranch } = await ready(world, ["--overlay", ".env"]);
    expect(seen).toContain("./.env");
    expect(seen).not.toContain("./.env.local");
    expect(manifest.copied).toEqual([{ path: ".env", from: world.repo, rule: ".env" }]);
    expect(inBranch).not.toContain(".env");
  });

  test("follows no symbolic link", async () => {
    const { world, put } = await worldWithPool();
    using _ = world;
    const outside = join(world.root, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "private.txt"), "private\n");
    put("cache/real.txt", "real\n");
    symlinkSync(join(outside, "private.txt"), join(world.repo, "cache/file-link"));
    symlinkSync(outside, join(world.repo, "cache/directory-link"));
    const flags = ["cache/**", "cache/file-link", "cache/directory-link/private.txt"];
    const { manifest, seen } = await ready(
      world,
      flags.flatMap((glob) => ["--overlay", glob]),
    );
    expect(seen.filter((path) => path.startsWith("./cache"))).toEqual(["./cache/real.txt"]);
    const links = manifest.keptOut.filter((one) => one.path.endsWith("-link"));
    expect(links.map((one) => one.rule)).toEqual([
      "is not a regular file",
      "is not a regular file",
    ]);
  });

  test("lets files in that only the clone ignores, with any name, and the agent's own commit has none", async () => {
    using world = makeWorld();
    world.write(".git/info/exclude", "cache/\n");
    const names = ["!bang", "#hash", "st*r", "trailing ", "[x]", "ü", "back\\slash", "-dash"];
    for (const name of names) world.write(`cache/${name}`, "x\n");
    const script = `${LISTING}\ngit add -A; ${AGENT_COMMIT}`;
    const { seen, inBranch, manifest } = await ready(world, ["--overlay", "cache/**"], script);
    expect(manifest.copied).toHaveLength(names.length);
    expect(seen.filter((path) => path.startsWith("./cache"))).toHaveLength(names.length);
    expect(inBranch.filter((path) => path.includes("cache"))).toEqual([]);
  });

  test("that points out of the repository is a mistake on the command line", async () => {
    using world = makeWorld();
    for (const glob of ["../**", "/etc/**", "cache/../../x"]) {
      const args = ["run", "--agent", "command", "--overlay", glob, "--", "true"];
      const said = await refuse(world, args, { code: "config-invalid", status: 2 });
      expect(said.message).toContain("--overlay");
    }
  });

  test("in the repository's own file needs trust", async () => {
    using world = makeWorld();
    world.write(".gitignore", IGNORED);
    world.write("guardloop.toml", '[overlay]\ninclude = [".env"]\n');
    world.commit("Wants the .env");
    world.write(".env", "A=1\n");
    const { manifest, seen } = await ready(world);
    expect(seen).not.toContain("./.env");
    expect(manifest.copied).toEqual([]);
  });
});

describe("in a stack, where the base is an agent's branch", () => {
  const stack = (world: World, first: string) => {
    const counter = join(world.root, "counter");
    return world.run(`${GOOD_AGENT}\nif [ ! -e ${counter} ]; then : > ${counter}\n${first}\nfi`, [
      "--max-tasks",
      "2",
      "--overlay",
      "cache/**",
    ]);
  };
  const COMMIT = "git -c user.name=A -c user.email=a@b.invalid commit -q -m Part";

  test("a file that the branch has already is not overlaid", async () => {
    using world = makeWorld();
    world.write(".gitignore", "cache/x\n");
    world.commit("Ignore");
    world.write("cache/x", "mine\n");
    const ended = await stack(
      world,
      `rm -rf cache; mkdir cache; echo theirs > cache/x; git add -A; git add -f cache/x; ${COMMIT}`,
    );
    expect(ending(ended)).toBe("exit 0");
    const { run } = await show(world);
    expect(run.task).toBe("T2");
    expect(world.git("show", `${run.branch}:cache/x`)).toBe("theirs");
    expect(readFileSync(join(world.repo, "cache/x"), "utf8")).toBe("mine\n");
  });

  test("a link that the branch has in a directory's place is not written through", async () => {
    using world = makeWorld();
    world.write(".gitignore", "/cache/x\n");
    world.commit("Ignore");
    world.write("cache/x", "mine\n");
    const ended = await stack(world, `rm -rf cache; ln -s src cache; git add -A; ${COMMIT}`);
    expect(ending(ended)).toBe("exit 0");
    const { run } = await show(world);
    expect(run.task).toBe("T2");
    expect(world.git("ls-tree", "-r", "--name-only", run.branch ?? "").split("\n")).not.toContain(
      "src/x",
    );
    const manifest = JSON.parse(
      readFileSync(join(world.state, "runs", run.id, "snapshot-manifest.json"), "utf8"),
    ) as SnapshotManifest;
    expect(manifest.copied).toEqual([]);
    rmSync(join(world.root, "counter"));
  });
});
