import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { HOOKS, PROGRAM_KEYS, plantedPrograms } from "../../src/selftest/planted-programs.ts";
import { SECRET, expectSecretKept } from "../rig/hostile.ts";
import {
  GOOD_AGENT,
  type World,
  checkoutDigest,
  leftovers,
  makeWorld,
  runsOf,
} from "../rig/world.ts";

describe("a snapshot's .git full of programs", () => {
  test("runs none of them: not on the host, not in the guest's export", async () => {
    using world = makeWorld("docker");
    const before = checkoutDigest(world);
    const marker = join(world.root, "marker");
    // Where the host would find the program, if it looked.
    const evil = join(world.state, "runs/$GUARDLOOP_RUN_ID/workspace/.git/evil");
    const ended = await world.run(`${GOOD_AGENT}\n${plantedPrograms({ marker, evil })}`);
    expect(ended.stderr).toContain("ready");
    expect(ended.code).toBe(0);
    expect((await world.guardloop(["review", "@last"])).code).toBe(0);
    expect(existsSync(marker)).toBe(false);
    const [run] = await runsOf(world);
    expect(readFileSync(join(world.state, "runs", run?.id ?? "", "agent.log"), "utf8")).not.toMatch(
      "MARKER-RAN",
    );
    expect(world.git("ls-tree", "-r", "--name-only", run?.branch ?? "").split("\n")).toEqual([
      "T1.txt",
      "docs/TASKS.md",
      "src/app.txt",
    ]);
    expect(checkoutDigest(world, /^refs\/heads\/agent\//)).toBe(before);
    expect(leftovers(world)).toEqual([]);
  });

  test("is what it seems to be: Git on the host would have run them", () => {
    using world = makeWorld();
    const marker = join(world.root, "marker");
    execFileSync("sh", ["-ec", plantedPrograms({ marker, evil: join(world.repo, ".git/evil") })], {
      cwd: world.repo,
    });
    for (const command of ["ls-files -m", "diff", "log -p"])
      try {
        execFileSync("git", command.split(" "), { cwd: world.repo, env: world.env, stdio: "pipe" });
      } catch {
        // Whether the command ends well does not matter.
      }
    expect(existsSync(marker)).toBe(true);
  });
});

/** A repository of the user's, beside the principal checkout, with a secret in it. */
function secretRepository(world: World): { readonly path: string; readonly commit: string } {
  const path = join(world.root, "private");
  mkdirSync(path);
  const git = (...args: readonly string[]): string =>
    execFileSync("git", args, { cwd: path, env: world.env, encoding: "utf8" }).trim();
  git("init", "-q", "-b", "main");
  writeFileSync(join(path, "secret.txt"), `${SECRET}\n`);
  git("add", "-A");
  git("commit", "-q", "-m", SECRET);
  return { path, commit: git("rev-parse", "HEAD") };
}

const DETOURS: Readonly<Record<string, string>> = {
  "a .git file": 'rm -rf .git; echo "gitdir: $PRIVATE/.git" > .git',
  "a link in the place of .git": 'rm -rf .git; ln -s "$PRIVATE/.git" .git',
  "a link in the place of HEAD": 'rm .git/HEAD; ln -s "$PRIVATE/.git/refs/heads/main" .git/HEAD',
  "a commondir": 'echo "$PRIVATE/.git" > .git/commondir; echo "$COMMIT" > .git/HEAD',
  alternates:
    'echo "$PRIVATE/.git/objects" >> .git/objects/info/alternates; echo "$COMMIT" > .git/HEAD',
  "a link in the place of the objects":
    'rm -rf .git/objects; ln -s "$PRIVATE/.git/objects" .git/objects; echo "$COMMIT" > .git/HEAD',
};

describe.each([
  ["docker", Object.keys(DETOURS)],
  // Here the guest runs on the host and could see the other repository: it must not look.
  ["scripted", ["a .git file", "a link in the place of .git", "a link in the place of HEAD"]],
] as const)("a snapshot that points at another repository, on the %s engine", (engine, detours) => {
  test.each(detours)("%s: the other repository's content does not arrive", async (detour) => {
    using world = makeWorld(engine);
    const other = secretRepository(world);
    const before = checkoutDigest(world);
    const ended = await world.run(
      `${GOOD_AGENT}\nPRIVATE='${other.path}'; COMMIT=${other.commit}\n${DETOURS[detour]}`,
    );
    expect(ended.code).toBe(0);
    const [run] = await runsOf(world);
    expect(world.git("show", `${run?.branch}:T1.txt`)).toBe("work on T1");
    expectSecretKept(world);
    expect(checkoutDigest(world, /^refs\/heads\/agent\//)).toBe(before);
    expect(leftovers(world)).toEqual([]);
  });
});

/** Makes the principal checkout one whose every hook, filter and helper leaves a marker. */
function boobyTrap(world: World, hooksPath: string): { marker: string; filtered: string } {
  const marker = join(world.root, "marker");
  const filtered = join(world.root, "filtered");
  /** One program a key, so that the marker says which key ran. */
  const trap = (key: string): string => {
    const path = join(world.root, `trap-${key}`);
    writeFileSync(path, `#!/bin/sh\necho "${key} $*" >> '${marker}'\ncat\n`);
    chmodSync(path, 0o755);
    return path;
  };
  world.write(".gitattributes", "*.dat filter=x diff=x merge=x\n");
  world.write("data.dat", "data\n");
  if (hooksPath === ".husky")
    for (const hook of HOOKS) {
      world.write(`.husky/${hook}`, `#!/bin/sh\necho ${hook} >> '${marker}'\n`);
      chmodSync(join(world.repo, ".husky", hook), 0o755);
    }
  world.commit("Set a trap");
  if (hooksPath !== ".husky")
    for (const hook of HOOKS) {
      world.write(`.git/hooks/${hook}`, `#!/bin/sh\necho ${hook} >> '${marker}'\n`);
      chmodSync(join(world.repo, ".git/hooks", hook), 0o755);
    }
  const filter = join(world.root, "filter");
  writeFileSync(filter, `#!/bin/sh\nexec tee -a '${filtered}'\n`);
  chmodSync(filter, 0o755);
  const own = PROGRAM_KEYS.replaceAll(/(\w+) = EVIL/g, (_, key: string) => `${key} = ${trap(key)}`)
    .replaceAll("SHELL", `echo shell >> '${marker}'`)
    .replace(/\tprocess = .*\n/, "")
    .replaceAll(/(clean|smudge) = .*/g, `$1 = ${filter}`)
    .replace("hooksPath = .git/hooks", `hooksPath = ${hooksPath}`)
    .replace(/\[include\][^[]*\[extensions\][^]*/, "");
  writeFileSync(
    join(world.repo, ".git/config"),
    `${readFileSync(join(world.repo, ".git/config"), "utf8")}${own}
[commit]
	gpgSign = true
[core]
	autocrlf = true
[apply]
	whitespace = fix
[mailinfo]
	scissors = true
[diff]
	noprefix = true
	mnemonicPrefix = true
[color]
	ui = always
[status]
	showUntrackedFiles = no
[core]
	quotePath = false
`,
  );
  // Files that are older than the index are clean without looking into them, which would be the user's own filter.
  execFileSync(
    "sh",
    ["-ec", "find . -path ./.git -prune -o -type f -exec touch -d '1 hour ago' {} +"],
    {
      cwd: world.repo,
    },
  );
  world.git(
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "update-index",
    "-q",
    "--really-refresh",
  );
  return { marker, filtered };
}

describe("a principal checkout full of the user's own hooks and helpers", () => {
  test.each([".git/hooks", ".husky"])(
    "in %s: a whole run changes nothing but the one ref and starts none of them",
    async (hooksPath) => {
      using world = makeWorld();
      const { marker, filtered } = boobyTrap(world, hooksPath);
      const before = checkoutDigest(world);
      rmSync(marker, { force: true });
      const ended = await world.run(`${GOOD_AGENT}
printf 'one\\r\\ntwo  \\n' > mixed.txt
echo AGENT-CONTENT | tee agent.dat > data.dat
printf 'Do T1\\n\\n-- >8 --\\nafter the scissors\\n' > "$GUARDLOOP_ARTIFACTS/last-commit-message.txt"`);
      expect(ended.stderr).toContain("ready");
      expect(ended.code).toBe(0);
      for (const command of ["review", "show", "logs"])
        expect((await world.guardloop([command, "@last"])).code).toBe(0);
      const [run] = await runsOf(world);
      const ran = existsSync(marker) ? readFileSync(marker, "utf8") : "";
      expect(ran).toBe("");
      // The user's own filter may see what the user has committed (a lease is checked out with it), and no more.
      expect(existsSync(filtered) ? readFileSync(filtered, "utf8") : "").not.toContain("AGENT");
      expect(world.git("show", "--no-ext-diff", `${run?.branch}:agent.dat`)).toBe("AGENT-CONTENT");
      expect(checkoutDigest(world, /^refs\/heads\/agent\//)).toBe(before);
      const refs = world.git("for-each-ref", "--format=%(refname)").split("\n");
      expect(refs).toEqual([`refs/heads/${run?.branch}`, "refs/heads/main"]);
      expect(world.git("cat-file", "blob", `${run?.branch}:mixed.txt`)).toBe("one\r\ntwo");
      expect(
        world.git("log", "-1", "--no-show-signature", "--format=%B", run?.branch ?? ""),
      ).toMatch(/^Do T1\n\n-- >8 --\nafter the scissors\n/);
    },
  );

  test("putting commits together for a rebase, a squash or a revert starts none of them", async () => {
    using world = makeWorld();
    const { marker, filtered } = boobyTrap(world, ".git/hooks");
    const quiet = ["core.hooksPath=/dev/null", "core.fsmonitor=false", "commit.gpgSign=false"];
    const flags = quiet.flatMap((setting) => ["-c", setting]);
    const agent = `${GOOD_AGENT}\nprintf 'data\\nAGENT-CONTENT\\n' > data.dat`;
    expect((await world.run(agent)).code).toBe(0);
    world.write("mine.dat", "mine\n");
    world.git(...flags, "add", "mine.dat");
    world.git(...flags, "commit", "-q", "-m", "Mine");
    rmSync(marker, { force: true });
    for (const flag of ["--rebase", "--squash"]) {
      const dry = await world.guardloop(["promote", "@last", flag, "--dry-run"]);
      expect([flag, dry.code, dry.stderr]).toEqual([flag, 0, ""]);
    }
    expect(readFileSync(filtered, "utf8")).not.toContain("AGENT");
    for (const words of ["promote @last --rebase", "rollback @last --revert"]) {
      const ended = await world.guardloop(words.split(" "));
      expect([words, ended.code, ended.stderr]).toEqual([words, 0, ""]);
    }
    expect(existsSync(marker) ? readFileSync(marker, "utf8") : "").toBe("");
    // What lands is checked out with the user's own filters; not before that.
    expect(readFileSync(filtered, "utf8")).toContain("AGENT");
  });
});
