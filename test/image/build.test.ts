import { cp, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { agentAdapter } from "../../src/agents/registry.ts";
import { imageDir, stageOfPrograms } from "./scripted-programs.ts";

const isRoot = process.getuid?.() === 0;

describe("where a registry answers", () => {
  test("the image is built on the base image with pinned agents, and says what it is made of", async () => {
    await using stage = await stageOfPrograms();
    await stage.set("registry");

    const built = await stage.build();

    expect(built).toMatchObject({
      ok: true,
      value: {
        outcome: "built",
        source: "registry",
        labels: { "guardloop.image.source": "registry", "guardloop.image.agents": "codex,claude" },
      },
    });
    expect(built).toMatchObject({
      value: {
        labels: {
          "guardloop.image.versions": expect.stringMatching(/^codex=[\d.]+,claude=[\d.]+$/),
          "guardloop.image.base": "node:22-bookworm-slim",
        },
      },
    });
    const build = (await stage.calls()).find((call) => call.startsWith("docker build"));
    expect(build).toContain("BASE=node:22-bookworm-slim");
    expect(build).toMatch(
      / CODEX=@openai\/codex@[\d.]+ .*CLAUDE=@anthropic-ai\/claude-code@[\d.]+ /,
    );
    expect(build).toMatch(/ GEMINI= .*OPENCODE= /);
    expect(build).toMatch(/DEBIAN_PACKAGES=.*\bgit\b/);
  });

  test("a second build does nothing, whatever the order in which the agents are named", async () => {
    await using stage = await stageOfPrograms();
    await stage.set("registry");
    await stage.build({ agents: ["codex", "claude"] });

    const second = await stage.build({ agents: ["claude", "codex"] });

    expect(second).toMatchObject({
      ok: true,
      value: { outcome: "up-to-date", source: "registry" },
    });
    expect((await stage.calls()).filter((call) => call.startsWith("docker build"))).toHaveLength(1);
  });

  test.for([
    ["other agents are wanted", { agents: ["codex"] }],
    ["a rebuild is asked for", { rebuild: "always" }],
  ] as const)("it is built again when %s", async ([, changes]) => {
    await using stage = await stageOfPrograms();
    await stage.set("registry");
    await stage.build();
    expect(await stage.build(changes)).toMatchObject({ ok: true, value: { outcome: "built" } });
  });

  test.for([
    ["removed when nothing else names it", [], 1],
    ["kept when the user gave it a name", ["mine:1"], 0],
  ] as const)("the image before is %s", async ([, names, removals]) => {
    await using stage = await stageOfPrograms();
    await stage.set("registry");
    const old = {
      Id: "sha256:old",
      Size: 7,
      RepoTags: names,
      Config: { Labels: { "guardloop.image.inputs": "of another time" } },
    };
    for (const name of ["guardloop-agent", "sha256:old"])
      await writeFile(join(stage.stage, "images", name), JSON.stringify(old));

    expect(await stage.build()).toMatchObject({ ok: true, value: { outcome: "built" } });

    const calls = await stage.calls();
    expect(calls.filter((call) => call === "docker image rm sha256:old")).toHaveLength(removals);
  });

  test("it is built again when one letter in the image directory has changed", async () => {
    await using stage = await stageOfPrograms();
    await stage.set("registry");
    await stage.build();
    const changed = join(stage.stage, "image");
    await cp(imageDir, changed, { recursive: true });
    expect(await stage.build({ imageDir: changed })).toMatchObject({
      value: { outcome: "up-to-date" },
    });

    const dockerfile = join(changed, "Dockerfile");
    await writeFile(dockerfile, (await readFile(dockerfile, "utf8")).replace("bash", "dash"));

    expect(await stage.build({ imageDir: changed })).toMatchObject({ value: { outcome: "built" } });
  });

  test("a build that fails says so with the program's last lines and leaves nothing behind", async () => {
    await using stage = await stageOfPrograms();
    await stage.set("registry");
    await stage.set("build-fails");

    const failed = await stage.build();

    expect(failed).toMatchObject({ ok: false, error: { code: "image-build-failed" } });
    expect(failed.ok ? [] : failed.error.details).toContain("apt-get: no space left");
    expect(await readdir(join(stage.stage, "work"))).toEqual([]);
  });
});

describe("where no registry answers", () => {
  test("asking for the registry is refused, naming the base image and the reason", async () => {
    await using stage = await stageOfPrograms();
    const refused = await stage.build({ source: "registry" });
    expect(refused).toMatchObject({ ok: false, error: { code: "image-build-failed" } });
    expect(refused.ok ? "" : refused.error.message).toMatch(/node:22-bookworm-slim.*no such host/);
  });

  test.runIf(isRoot)("root gets it from Debian packages, and is told", async () => {
    await using stage = await stageOfPrograms();

    const built = await stage.build();

    expect(built).toMatchObject({
      value: { source: "debian", labels: { "guardloop.image.source": "debian" } },
    });
    expect(stage.progress.join("\n")).toContain("No image registry answers (no such host)");
    const calls = (await stage.calls()).join("\n");
    expect(calls).toMatch(/debootstrap --variant=minbase --include=\S*\bgit\b\S* bookworm /);
    expect(calls).toMatch(/npm install .*@openai\/codex@[\d.]+/);
    expect(calls).toMatch(/npm install .*@anthropic-ai\/claude-code@[\d.]+/);
    expect(built).toMatchObject({
      value: { labels: { "guardloop.image.base": "guardloop-base@sha256:new" } },
    });
    expect(calls).toMatch(/docker build --force-rm --tag guardloop-agent --network none /);
    expect(await stage.build()).toMatchObject({ value: { outcome: "up-to-date" } });
  });

  test.runIf(isRoot)(
    "that image is small, has its mount points, and nothing of the host",
    async () => {
      await using stage = await stageOfPrograms();
      await stage.build();
      const archive = await stage.read("archive");
      expect(archive).toMatch(/^drwxr-xr-x 1000\/1000 .* \.\/guardloop\/$/m);
      expect(archive).toMatch(/^drwxr-xr-x 1000\/1000 .* \.\/workspace\/$/m);
      expect(archive).toMatch(/^drwxrwxrwt 0\/0 .* \.\/tmp\/$/m);
      expect(archive).toContain("./usr/local/bin/node");
      expect(archive).toContain("./usr/share/doc/git/copyright");
      expect(archive).not.toMatch(/etc\/hostname|lists\/index|changelog|node-linux/);
      expect(await readdir(join(stage.stage, "work"))).toEqual([]);
    },
  );

  test.runIf(isRoot)("one more agent needs no new Debian", async () => {
    await using stage = await stageOfPrograms();
    await stage.build({ agents: ["codex"] });

    const more = await stage.build({ agents: ["codex", "opencode"] });

    expect(more).toMatchObject({
      value: { outcome: "built", labels: { "guardloop.image.agents": "codex,opencode" } },
    });
    const calls = await stage.calls();
    expect(calls.filter((call) => call.startsWith("debootstrap"))).toHaveLength(1);
    expect(calls.filter((call) => call.startsWith("docker import"))).toHaveLength(1);
  });

  test.skipIf(isRoot)("an ordinary user is told that root is needed", async () => {
    await using stage = await stageOfPrograms();
    const refused = await stage.build();
    expect(refused.ok ? "" : refused.error.message).toContain("needs root");
    expect((await stage.calls()).join("\n")).not.toContain("debootstrap");
  });
});

describe("when no agents are named", () => {
  test("the image gets all of them", async () => {
    await using stage = await stageOfPrograms();
    await stage.set("registry");
    const built = await stage.build({ agents: "default" });
    expect(built).toMatchObject({
      value: { labels: { "guardloop.image.agents": "codex,claude,gemini,opencode" } },
    });
  });

  test("it gets none, with a note, when npm does not answer", async () => {
    await using stage = await stageOfPrograms();
    await stage.set("registry");
    await stage.set("npm-down");
    const built = await stage.build({ agents: "default" });
    expect(built).toMatchObject({ value: { labels: { "guardloop.image.agents": "none" } } });
    expect(stage.progress.join("\n")).toContain("The npm registry does not answer");
  });

  test("a current image keeps the agents it was built with", async () => {
    await using stage = await stageOfPrograms();
    await stage.set("registry");
    await stage.build({ agents: ["codex"] });
    expect(await stage.build({ agents: "default" })).toMatchObject({
      value: { outcome: "up-to-date", labels: { "guardloop.image.agents": "codex" } },
    });
  });
});

describe("on an image of the user's", () => {
  const MINE = { Id: "sha256:mine", Size: 7, Config: { Labels: {} } };
  /** @param has what a look into the image finds. */
  async function withImage(stage: Awaited<ReturnType<typeof stageOfPrograms>>, has: string) {
    await writeFile(join(stage.stage, "images", "mine:1"), JSON.stringify(MINE));
    await writeFile(join(stage.stage, "has"), has);
  }

  test("the agents are added to what it has, and a second build does nothing", async () => {
    await using stage = await stageOfPrograms();
    await withImage(stage, "node=v20.1.0\ngit=git version 2.40\n");

    const built = await stage.build({ from: "mine:1" });

    expect(built).toMatchObject({
      value: {
        source: "image",
        labels: {
          "guardloop.image.source": "image",
          "guardloop.image.base": "mine:1@sha256:mine",
          "guardloop.image.agents": "codex,claude",
        },
      },
    });
    expect(await stage.read("Dockerfile")).toBe(
      [
        "FROM mine:1",
        "USER root",
        "COPY codex/ /",
        "COPY claude/ /",
        "COPY --chown=1000:1000 points/ /",
        "ENV LANG=C.UTF-8",
        "WORKDIR /workspace",
        "ENTRYPOINT []",
        'CMD ["sh"]',
        "",
      ].join("\n"),
    );
    const calls = (await stage.calls()).join("\n");
    expect(calls).not.toMatch(/docker pull|debootstrap/);
    expect(await stage.build({ from: "mine:1" })).toMatchObject({
      value: { outcome: "up-to-date", source: "image" },
    });
    expect(await stage.build({ source: "debian" })).not.toMatchObject({
      value: { outcome: "up-to-date" },
    });
  });

  test("Git and Node are added where they are missing", async () => {
    await using stage = await stageOfPrograms();
    await withImage(stage, "apt=yes\n");

    expect(await stage.build({ from: "mine:1" })).toMatchObject({ value: { outcome: "built" } });

    const dockerfile = await stage.read("Dockerfile");
    expect(dockerfile).toContain("RUN apt-get update");
    expect(dockerfile).toContain("COPY layers-node/ /\nCOPY codex/ /");
    const build = (await stage.calls()).find((call) => call.startsWith("docker build"));
    expect(build).not.toContain("--network none");
  });

  test.for([
    ["no Git, and no apt-get", "node=v20.1.0\n", /mine:1 has neither Git nor apt-get/],
    ["a Node that is too old", "node=v16.2.0\ngit=x\n", /mine:1 has Node 16, and 18 or newer/],
    ["musl", "node=v22.0.0\ngit=x\nmusl=yes\n", /made with musl.*or --agent none/],
  ] as const)("one with %s is refused in a sentence", async ([, has, message]) => {
    await using stage = await stageOfPrograms();
    await withImage(stage, has);

    const refused = await stage.build({ from: "mine:1" });

    expect(refused).toMatchObject({ ok: false, error: { code: "image-unsuitable" } });
    expect(refused.ok ? "" : refused.error.message).toMatch(message);
    expect((await stage.calls()).join("\n")).not.toContain("docker build");
  });

  test("Node 18 is too old for gemini alone", async () => {
    await using stage = await stageOfPrograms();
    await withImage(stage, "node=v18.2.0\ngit=x\n");

    expect(await stage.build({ from: "mine:1" })).toMatchObject({ value: { outcome: "built" } });
    const refused = await stage.build({ from: "mine:1", agents: ["codex", "gemini"] });
    expect(refused.ok ? "" : refused.error.message).toMatch(/20 or newer is needed for gemini/);
  });

  test("one that is nowhere is said to be nowhere", async () => {
    await using stage = await stageOfPrograms();
    const refused = await stage.build({ from: "none:1" });
    expect(refused.ok ? "" : refused.error.message).toMatch(/none:1 cannot be had: no such host/);
  });
});

test("the settings file of the image has all that the adapter's has", async () => {
  const image = JSON.parse(await readFile(join(imageDir, "gemini-settings.json"), "utf8"));
  const { homeFiles } = agentAdapter("gemini").launch({
    promptPath: "/p",
    prompt: "x",
    model: undefined,
    extraArgs: [],
  });
  expect(image).toMatchObject(JSON.parse(homeFiles[".gemini/settings.json"] ?? ""));
});

test("an engine that does not answer is not taken for a missing image", async () => {
  await using stage = await stageOfPrograms();
  await stage.set("engine-down");
  expect(await stage.build()).toMatchObject({ ok: false, error: { code: "engine-unavailable" } });
});
