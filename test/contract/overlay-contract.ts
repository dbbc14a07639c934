import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { type Client, type Layers, UID, makeLayers } from "./overlay-rig.ts";

/** What the layers of a snapshot rest on, wherever an engine can mount them. */
export function overlayContract(
  name: string,
  engine: "scripted" | "real",
  client: () => Client,
): void {
  describe(`overlay mounts in ${name}`, () => {
    content(client);
    index(client);
    paths(client);
    endings(client, engine === "real" ? [...ENDINGS, OUT_OF_MEMORY] : ENDINGS);
  });
}

const CLEAN = { ok: true, value: { exitCode: 0, outOfMemory: false, gone: "proven" } };

function content(client: () => Client): void {
  test("what is written, changed, moved and deleted is above, and nothing below has changed", async () => {
    using layers = makeLayers(client());
    await layers.run("true");
    const before = layers.below();
    const { end, said } = await layers.run(`
      cat both kept; id -u; stat -c %u:%h kept
      echo more >> kept; mv moved elsewhere; rm -r gone; chmod 600 both; ln both linked-too; echo new > new`);
    expect({ end, said }).toEqual({
      end: CLEAN,
      said: `of the first\nof the second\n${UID}\n${UID}:2\n`,
    });
    const above = (path: string) => lstatSync(join(layers.root, "upper", path));
    expect(readFileSync(join(layers.root, "upper/kept"), "utf8")).toBe("of the second\nmore\n");
    expect(readFileSync(join(layers.root, "upper/new"), "utf8")).toBe("new\n");
    expect(above("kept")).toMatchObject({ uid: UID });
    expect([above("kept").mode & 0o777, above("both").mode & 0o777]).toEqual([0o640, 0o600]);
    expect(above("both")).toMatchObject({ nlink: 2, ino: above("linked-too").ino });
    expect([above("gone"), above("moved")].map((one) => one.isCharacterDevice())).toEqual([
      true,
      true,
    ]);
    expect(layers.below()).toBe(before);
  });

  test("a directory from below is renamed as one, which some programs take for granted", async () => {
    using layers = makeLayers(client());
    const { end, said } = await layers.run(
      `node -e 'require("fs").renameSync("moved", "elsewhere")'; cat elsewhere/file; ls`,
    );
    expect(said).toBe("of the first\nboth\nelsewhere\ngone\nkept\nlinked\n");
    expect(end).toEqual(CLEAN);
  });

  test("a second container over the same layers sees what the first one left", async () => {
    using layers = makeLayers(client());
    await layers.run("mv moved elsewhere; rm -r gone; echo new > new; echo of nobody > both");
    const { said } = await layers.run("ls; cat both elsewhere/file new");
    expect(said).toBe("both\nelsewhere\nkept\nlinked\nnew\nof nobody\nof the first\nnew\n");
  });
}

function index(client: () => Client): void {
  test("Git in the container finds every file as the host's index has it, and reads none again", async () => {
    using layers = makeLayers(client());
    const work = join(layers.root, "first");
    const git = (...args: readonly string[]) =>
      execFileSync("git", ["-c", "safe.directory=*", ...args], { cwd: work, encoding: "utf8" });
    git("init", "-q");
    git("config", "user.name", "Ada");
    git("config", "user.email", "ada@example.com");
    await layers.run("true");
    git("add", "-A");
    git("commit", "-q", "-m", "Start");
    git("update-index", "--refresh");
    // diff-files trusts the index alone: whatever it would have to read it names.
    const { said } = await layers.run("git diff-files; git status --porcelain; stat -c %i both");
    expect(said).toBe(`?? gone/\n?? kept\n?? linked\n${statSync(join(work, "both")).ino}\n`);
    const { said: changed } = await layers.run("echo x >> both; git diff-files --name-only");
    expect(changed).toBe("both\n");
  });
}

function paths(client: () => Client): void {
  test.each([" with a space", "-with-ä", "-with=", "-with-100%", "-with-'", "-with-$HOME", "-{a}"])(
    "layers in a directory whose name ends in %j are mounted",
    async (suffix) => {
      using layers = makeLayers(client(), suffix);
      const { end, said } = await layers.run("cat both; echo new > new");
      expect({ end, said }).toEqual({ end: CLEAN, said: "of the first\n" });
      expect(existsSync(join(layers.root, "upper/new"))).toBe(true);
    },
  );

  test.each([":", ",", '"', "\\", "\n"])(
    "layers in a directory whose name ends in %j are refused by name",
    async (suffix) => {
      using layers = makeLayers(client(), suffix);
      const { end } = await layers.run("true");
      expect(end).toMatchObject({ ok: false, error: { code: "container-failed" } });
      expect(JSON.stringify(end)).toContain("an overlay mount cannot name");
    },
  );
}

type Ending = readonly [string, string, (layers: Layers) => Promise<unknown>];

const byItself = async (): Promise<void> => {};
const ENDINGS: readonly Ending[] = [
  ["ends by itself", "touch ready", byItself],
  [
    "is killed",
    "touch ready; sleep 60",
    ({ engine, spec }) => engine.signal(spec("").name, "KILL"),
  ],
  [
    "is removed by recovery",
    "touch ready; sleep 60",
    ({ engine, spec }) => engine.remove(spec("").name),
  ],
];
/** Never where nothing limits it: a scripted engine has no limits, and it would take all that the machine has. */
const OUT_OF_MEMORY: Ending = [
  "runs out of memory",
  `touch ready; exec node -e 'const all = []; for (;;) all.push(Buffer.alloc(1e7, 1))'`,
  byItself,
];

function endings(client: () => Client, all: readonly Ending[]): void {
  test.each(all)(
    "of a container that %s neither volume nor mount is left",
    async (_, script, finish) => {
      using layers = makeLayers(client());
      const running = layers.run(script);
      for (let attempt = 0; !existsSync(join(layers.root, "upper/ready")); attempt += 1) {
        if (attempt > 600) throw new Error("the container never started");
        await delay(50);
      }
      await finish(layers);
      await running;
      expect(await layers.engine.exists(layers.spec("").name)).toEqual({ ok: true, value: false });
      expect(layers.volumes()).toEqual([]);
      expect(layers.mounts()).toEqual([]);
    },
  );
}
