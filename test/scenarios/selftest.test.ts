import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { LIST } from "../../src/selftest/attacks.ts";
import { POSTURE } from "../../src/selftest/posture.ts";
import {
  type CallOptions,
  type Ended,
  type World,
  checkoutDigest,
  makeWorld,
} from "../rig/world.ts";

interface Reported {
  readonly attacks: readonly {
    readonly name: string;
    readonly verdict: string;
    readonly seen: string;
  }[];
  readonly failure: string | null;
  readonly image: { readonly name: string };
}

async function selftest(
  world: World,
  flags: readonly string[] = [],
  options: CallOptions = {},
): Promise<Ended & { readonly report: Reported; readonly named: (verdict: string) => string[] }> {
  const ended = await world.guardloop(["selftest", "--json", ...flags], options);
  if (ended.stdout === "") throw new Error(ended.stderr);
  const report = JSON.parse(ended.stdout) as Reported;
  const named = (verdict: string): string[] =>
    (report.attacks ?? []).filter((one) => one.verdict === verdict).map((one) => one.name);
  return { ...ended, report, named };
}

const only = (names: readonly string[]): string[] => names.flatMap((name) => ["--only", name]);
const seenAt = (report: Reported, name: string): string | undefined =>
  report.attacks.find((one) => one.name === name)?.seen;

/** A selftest leaves of itself the empty directory that it lay in. */
function left(world: World): readonly string[] {
  const directory = join(world.state, "selftest");
  const found = existsSync(directory) ? readdirSync(directory) : [];
  const containers = join(world.bin, "containers");
  if (existsSync(containers)) found.push(...readdirSync(containers));
  return found;
}

describe("a selftest on a real engine", () => {
  test("holds, with the user's own limits, and touches neither repository nor history", async () => {
    using world = makeWorld("docker");
    // The user's own hooks and filters are no reason for the boundary to look broken.
    mkdirSync(join(world.root, "hooks"));
    writeFileSync(join(world.root, "hooks/post-checkout"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    writeFileSync(
      join(world.root, "home/.gitconfig"),
      `[core]\n\thooksPath = ${world.root}/hooks\n\tautocrlf = true\n[commit]\n\tgpgSign = true\n`,
    );
    const before = checkoutDigest(world);
    const ended = await selftest(world, ["--memory", "1500m", "--pids", "300"]);
    expect(ended.report.attacks.filter((one) => one.verdict !== "held")).toEqual([]);
    expect(ended.report.attacks.map((one) => one.name)).toEqual(LIST.map((one) => one.name));
    expect(ended.code).toBe(0);
    expect(ended.report.failure).toBeNull();
    expect(seenAt(ended.report, "memory")).toContain(String(1500 * 2 ** 20));
    expect(seenAt(ended.report, "pids")).toContain("300");
    expect(seenAt(ended.report, "delete-everything")).toMatch(/^nothing outside was hit/);
    expect(checkoutDigest(world)).toBe(before);
    expect(left(world)).toEqual([]);
    expect(existsSync(join(world.state, "history.db"))).toBe(false);
    expect(existsSync(join(world.state, "runs"))).toBe(false);
  }, 480_000);

  test("says that a network which the settings open was not looked at", async () => {
    using world = makeWorld("docker");
    const names = ["network", "outside", "lookup", "capabilities", "nothing-left"];
    const ended = await selftest(world, ["--network", "bridge", ...only(names)]);
    expect(ended.named("skipped").toSorted()).toEqual(["lookup", "network", "outside"]);
    expect(ended.named("held")).toEqual(["capabilities", "nothing-left"]);
    expect(ended.code).toBe(0);
  });
});

/** Attacks of which each wrapper below is to fail exactly some. */
const WATCHED = POSTURE.map((part) => part.name).concat(
  "lookup host-variable host-file memory-hog fork-bomb full-tmp".split(" "),
);

/** Puts a `docker` first on PATH that changes the arguments of \`docker run\` with a shell script and calls the real one. */
function wrapDocker(world: World, edit: string): void {
  const real = execFileSync("sh", ["-c", "command -v docker"], { encoding: "utf8" }).trim();
  const path = join(world.bin, "docker");
  writeFileSync(
    path,
    `#!/bin/sh
[ "$1" = run ] || exec '${real}' "$@"
shift
for one; do
  shift
  case $one in
${edit}
    *) set -- "$@" "$one" ;;
  esac
done
exec '${real}' run "$@"
`,
  );
  chmodSync(path, 0o755);
}

const dropped = (...patterns: readonly string[]): string => `    ${patterns.join("|")}) ;;`;
const added = (flag: string): string => `    --rm) set -- "$@" --rm ${flag} ;;`;

describe("a real engine behind a wrapper that weakens it", () => {
  test.each([
    ["drops --cap-drop", dropped("--cap-drop=*"), ["capabilities"]],
    ["drops --security-opt", dropped("--security-opt=*"), ["no-new-privileges", "setuid"]],
    ["drops --read-only", dropped("--read-only"), ["mounts", "writable"]],
    ["drops --pids-limit", dropped("--pids-limit=*"), ["fork-bomb", "pids"]],
    ["drops --memory", dropped("--memory=*", "--memory-swap=*"), ["memory", "memory-hog"]],
    [
      "drops the limit of /tmp",
      `    --tmpfs=/tmp:*) set -- "$@" --tmpfs=/tmp:rw,exec,nosuid,nodev,mode=1777 ;;`,
      ["full-tmp", "mounts"],
    ],
    [
      "passes a variable of the host's",
      added("--env=GUARDLOOP_SELFTEST_CANARY"),
      ["host-variable"],
    ],
  ])("that %s: exactly the attacks fail that this flag is against", async (_, edit, expected) => {
    using world = makeWorld("docker");
    wrapDocker(world, edit);
    const ended = await selftest(world, only(WATCHED));
    expect(ended.named("failed").toSorted()).toEqual(expected);
    expect(ended.report.failure).toBe("selftest-failed");
    expect(ended.code).toBe(1);
    expect(left(world)).toEqual([]);
  });

  test("that gives it a network: the attacks on it fail, and nobody is contacted", async () => {
    using world = makeWorld("docker");
    const network = `guardloop-selftest-${process.pid}`;
    execFileSync("docker", ["network", "create", "--internal", network], { stdio: "ignore" });
    try {
      wrapDocker(world, `    none) set -- "$@" ${network} ;;`);
      const ended = await selftest(world, only(WATCHED));
      expect(ended.named("failed").toSorted()).toEqual(["lookup", "network", "outside"]);
      expect(seenAt(ended.report, "outside")).toContain("1.1.1.1:443 not tried");
    } finally {
      execFileSync("docker", ["network", "rm", network], { stdio: "ignore" });
    }
  });

  test("that mounts a directory of the host's for writing: it is named, and nothing in it is deleted", async () => {
    using world = makeWorld("docker");
    const precious = join(world.root, "precious");
    mkdirSync(precious);
    writeFileSync(join(precious, "work.txt"), "years of work\n");
    // Anybody could delete it.
    for (const path of [precious, join(precious, "work.txt")]) chmodSync(path, 0o777);
    wrapDocker(world, added(`--volume='${precious}:/precious'`));
    const ended = await selftest(world, only(["mounts", "writable", "delete-everything"]));
    expect(ended.named("failed").toSorted()).toEqual(["mounts", "writable"]);
    expect(seenAt(ended.report, "mounts")).toContain("/precious bind rw");
    expect(ended.named("skipped")).toEqual(["delete-everything"]);
    expect(seenAt(ended.report, "delete-everything")).toContain("/precious is mounted for writing");
    expect(readFileSync(join(precious, "work.txt"), "utf8")).toBe("years of work\n");
  });
});

describe("an engine that isolates nothing", () => {
  test("fails what is directed at the container, holds what the host does by itself, and deletes nothing", async () => {
    using world = makeWorld();
    world.faults({ processesStay: true });
    const before = checkoutDigest(world);
    // What the host does by itself is tried one by one below, and all of it on the real engine above.
    const names = LIST.filter(({ boundary }) => !/artifacts|patches/.test(boundary));
    const ended = await selftest(world, only(names.map(({ name }) => name)));
    const failed = new Set(ended.named("failed"));
    const mustFail =
      "capabilities no-new-privileges seccomp hostname init processes writable mounts memory pids host-variable host-file memory-hog fork-bomb full-tmp left-behind".split(
        " ",
      );
    expect(mustFail.filter((name) => !failed.has(name))).toEqual([]);
    expect(ended.named("skipped")).toContain("delete-everything");
    const others = names.filter(({ boundary }) => boundary === "repository");
    expect(others.map(({ name }) => name).filter((name) => failed.has(name))).toEqual([]);
    expect(ended.report.failure).toBe("selftest-failed");
    expect(ended.code).toBe(1);
    expect(checkoutDigest(world)).toBe(before);
    expect(left(world)).toEqual([]);
  });

  test("is said to a person with what was seen, by name, and with what it does not prove", async () => {
    using world = makeWorld();
    const names = ["capabilities", "message-nul", "delete-everything"];
    const ended = await world.guardloop(["selftest", ...only(names)]);
    expect(ended.stdout).toMatch(/^FAILED {2}capabilities +CapEff \w+, CapBnd \w+$/m);
    expect(ended.stdout).toMatch(/^ok {6}message-nul +refused: .*NUL byte\.$/m);
    expect(ended.stdout).toMatch(/^skipped delete-everything +.*deleting would hit the host$/m);
    expect(ended.stdout).toMatch(
      /^1 of 2 held on docker 20\.10\.24, image guardloop-agent \(sha256/m,
    );
    expect(ended.stdout).toMatch(/does not show that an agent stays inside that attacks/);
    expect(ended.stderr).toMatch(
      /did not hold against 1 attack on docker .*: capabilities\.\n.*\[selftest-failed\]/,
    );
    expect(ended.code).toBe(1);
  });
});

test("an attack for which the image lacks a program is skipped, and not counted as held", async () => {
  using world = makeWorld();
  const tools = join(world.root, "tools");
  mkdirSync(tools);
  for (const tool of ["sh", "git", "node", "rm"])
    symlinkSync(
      execFileSync("sh", ["-c", `command -v ${tool}`], { encoding: "utf8" }).trim(),
      join(tools, tool),
    );
  const ended = await selftest(world, only(["task-id-fifo", "message-missing"]), {
    env: { PATH: `${world.bin}:${tools}` },
  });
  expect(ended.named("skipped")).toEqual(["task-id-fifo"]);
  expect(seenAt(ended.report, "task-id-fifo")).toBe("the image has no mkfifo");
  expect(ended.named("held")).toEqual(["message-missing"]);
  expect(ended.code).toBe(0);
});

describe("results that were tampered with on their way", () => {
  test.each([
    ["a commit that lost its bytes", { editPatch: { from: "\r\n", to: "\n" } }, "line-ends"],
    ["an import that finds no patch", { removeArtifacts: ["patches"] }, "evil-merge"],
    ["a refusal for another reason", { removeArtifacts: ["manifest.json"] }, "gitlink"],
    [
      "a task id that came from elsewhere",
      { writeArtifacts: { "selected-task-id.txt": "T1\n" } },
      "task-id-path",
    ],
    ["a container that stays", { containerStays: true, removeRefused: true }, "message-nul"],
  ])("%s: the attack fails", async (_, faults, name) => {
    using world = makeWorld();
    world.faults(faults);
    const ended = await selftest(world, only([name]));
    expect(ended.named("failed")).toEqual([name]);
    expect(ended.code).toBe(1);
  });

  test("a program of the agent's that runs on the host, and text of another file that gets in, count against the run", async () => {
    using world = makeWorld();
    const at = `root=\${WORKSPACE%/state/runs/*}`;
    world.faults({
      afterScript: `${at}; touch "$root/marker"; cp "$root/secret.txt" manifest.json`,
    });
    const names = ["message-nul", "nothing-ran", "secret-kept", "checkout-untouched"];
    const ended = await selftest(world, only(names));
    expect(ended.named("failed")).toEqual(["message-nul", "nothing-ran", "secret-kept"]);
    expect(ended.named("held")).toEqual(["checkout-untouched"]);
  });

  test("a checkout that changed, counts against the run", async () => {
    using world = makeWorld();
    world.faults({ afterScript: `echo x >> "\${WORKSPACE%/state/runs/*}/repository/src/app.txt"` });
    const ended = await selftest(world, only(["task-id-missing", "checkout-untouched"]));
    expect(ended.named("failed")).toEqual(["task-id-missing", "checkout-untouched"]);
  });
});

async function until(isSo: () => boolean): Promise<void> {
  for (let attempt = 0; attempt < 2_000 && !isSo(); attempt += 1) await delay(25);
  if (!isSo()) throw new Error("it did not come to that");
}

/** Whether an agent of a selftest works now. */
function isRunning(world: World): boolean {
  const containers = join(world.bin, "containers");
  return existsSync(containers) && readdirSync(containers).length > 0;
}

describe("a selftest that does not come to its end", () => {
  test("removes everything when it is interrupted", async () => {
    using world = makeWorld();
    let pid = 0;
    const call = world.guardloop(["selftest", "--only", "endless"], {
      onStart: (id) => (pid = id),
    });
    await until(() => isRunning(world));
    process.kill(pid, "SIGINT");
    const ended = await call;
    expect(ended.code).toBe(130);
    expect(ended.stderr).toContain("The selftest was interrupted; what it had made is removed.");
    expect(left(world)).toEqual([]);
  });

  test("is cleaned up after by the next one when it was killed", async () => {
    using world = makeWorld();
    let pid = 0;
    const call = world.guardloop(["selftest", "--only", "endless"], {
      onStart: (id) => (pid = id),
    });
    await until(() => isRunning(world));
    process.kill(pid, "SIGKILL");
    await call;
    expect(left(world).length).toBeGreaterThan(2);
    expect(statSync(join(world.state, "selftest")).mode & 0o777).toBe(0o700);
    expect((await selftest(world, only(["message-nul"]))).code).toBe(0);
    expect(left(world)).toEqual([]);
  });

  test("leaves one that is at work alone", async () => {
    using world = makeWorld();
    let pid = 0;
    const call = world.guardloop(["selftest", "--only", "endless"], {
      onStart: (id) => (pid = id),
    });
    await until(() => isRunning(world));
    const other = await selftest(world, only(["message-nul"]));
    expect(other.code).toBe(0);
    expect(left(world).some((name) => name.endsWith(".json"))).toBe(true);
    expect(pid).toBeGreaterThan(0);
    expect((await call).code).toBe(0);
    expect(left(world)).toEqual([]);
  });
});

describe("the command line of the selftest", () => {
  test("lists what it would try, and tries nothing", async () => {
    using world = makeWorld();
    const ended = await world.guardloop(["selftest", "--list"], { cwd: world.root });
    for (const { name, tries } of LIST)
      expect(ended.stdout).toMatch(new RegExp(`^${name} .*${tries.slice(0, 20)}`, "m"));
    expect(ended.code).toBe(0);
    expect(world.dockerCalls()).toEqual([]);
  });

  test("works outside of a repository", async () => {
    using world = makeWorld();
    const ended = await selftest(world, only(["message-nul"]), { cwd: world.root });
    expect([ended.code, ended.named("held")]).toEqual([0, ["message-nul"]]);
  });

  test.each([
    [["--only", "flying"], {}, 2, "usage", 'no attack named "flying"'],
    [["--memory", "much"], {}, 2, "config-invalid", "--memory"],
    [[], { imageMissing: true }, 3, "image-missing", "guardloop-agent is not in Docker"],
    [[], { daemonGone: true }, 3, "engine-unavailable", "does not answer"],
  ])("%s with %o: exit %i, %s", async (flags, faults, status, code, says) => {
    using world = makeWorld();
    world.faults(faults);
    const ended = await world.guardloop(["selftest", "--json", ...flags]);
    expect(ended.code).toBe(status);
    const { error } = JSON.parse(ended.stdout) as { error: { code: string; message: string } };
    expect(error.code).toBe(code);
    expect(error.message).toContain(says);
    expect(left(world)).toEqual([]);
  });

  test("names of attacks are there once, and none is a name of nothing", () => {
    const names = LIST.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name))).toEqual([]);
  });
});
