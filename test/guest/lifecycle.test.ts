import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { importAsHost } from "./host-import.ts";
import { type Stage, makeStage, put, runGuest } from "./rig.ts";

test("the agent gets its environment, its home files, an identity, no input and the workspace", async () => {
  const stage = makeStage();
  const run = await runGuest(stage, {
    job: {
      agent: {
        argv: [
          "sh",
          "-c",
          `pwd; cat; echo "$MINE"; cat "$HOME/.config/agent.toml"; git config user.name; git config safe.directory`,
        ],
        env: { MINE: "yes" },
        homeFiles: { ".config/agent.toml": "key = 1\n" },
      },
    },
  });
  expect(run.stdout).toBe(`${stage.workspace}\nyes\nkey = 1\nAgent Smith\n${stage.workspace}\n`);
});

test.each([
  { agent: "echo x > x; exit 3", report: { outcome: "exited", exitCode: 3, signal: null } },
  {
    agent: "echo x > x; kill -9 $$",
    report: { outcome: "signalled", exitCode: null, signal: "SIGKILL" },
  },
])(
  "how the agent ended is in the manifest, and its work is exported: $agent",
  async ({ agent, report }) => {
    const stage = makeStage();
    const run = await runGuest(stage, { agent });
    expect(run.code).toBe(0);
    const { manifest } = importAsHost(stage, run);
    expect(manifest.agent).toEqual(report);
    expect(manifest.patches).toHaveLength(1);
  },
);

test.each([["no-such-agent"], ["/etc"]])(
  "an agent that cannot be started is reported: %s",
  async (program) => {
    const stage = makeStage();
    const run = await runGuest(stage, {
      job: { agent: { argv: [program], env: {}, homeFiles: {} } },
    });
    expect(run.code).toBe(71);
    expect(run.output).toContain(`guardloop guest: the agent ${program} could not be started`);
    expect(run.manifest?.agent).toEqual({ outcome: "not-started", exitCode: null, signal: null });
  },
);

/** A zombie that nobody has waited for yet does not run any more. */
function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}

test.each(["SIGTERM", "SIGINT"] as const)(
  "%s ends the agent and its children, and the work is exported",
  async (signal) => {
    const stage = makeStage();
    let isSent = false;
    const run = await runGuest(stage, {
      agent: `echo x > x; (trap "" TERM INT; exec sleep 1000) & echo "child $!"; wait`,
      onOutput: (text, pid) => {
        if (isSent || !/child \d+\n/.test(text)) return;
        isSent = true;
        process.kill(pid, signal);
      },
    });
    expect(run.code).toBe(0);
    const { manifest } = importAsHost(stage, run);
    expect(manifest.agent.outcome).toBe("stopped");
    expect(manifest.patches).toHaveLength(1);
    const child = Number(/child (\d+)/.exec(run.output)?.[1]);
    expect(isRunning(child)).toBe(false);
  },
);

test("an agent that ignores SIGTERM is killed", async () => {
  const stage = makeStage();
  let isSent = false;
  const run = await runGuest(stage, {
    agent: `trap '' TERM; echo x > x; echo ready; while :; do sleep 1000; done`,
    onOutput: (text, pid) => {
      if (isSent || !text.includes("ready")) return;
      isSent = true;
      process.kill(pid, "SIGTERM");
    },
  });
  expect(run.code).toBe(0);
  expect(importAsHost(stage, run).manifest.agent).toEqual({
    outcome: "stopped",
    exitCode: null,
    signal: "SIGKILL",
  });
});

test("a required artifact that is missing or bad is named", async () => {
  const stage = makeStage();
  const run = await runGuest(stage, {
    agent: `rm "$GUARDLOOP_ARTIFACTS/last-commit-message.txt"; printf 'T-1\\nT-2\\n' > "$GUARDLOOP_ARTIFACTS/selected-task-id.txt"`,
  });
  expect(run.code).toBe(71);
  expect(run.output.split("\n").slice(0, 4)).toEqual([
    "guardloop guest: the agent has ended; exporting what it left.",
    "guardloop guest: selected-task-id.txt has more than one line.",
    "guardloop guest: last-commit-message.txt is missing.",
    "guardloop guest: patches is empty: nothing was changed.",
  ]);
  expect(run.manifest?.patches).toEqual([]);
});

test("an artifact that is a symbolic link is not followed", async () => {
  const stage = makeStage();
  const run = await runGuest(stage, {
    agent: `echo x > x; cd "$GUARDLOOP_ARTIFACTS"; rm *; ln -s /etc/hostname selected-task-id.txt; ln -s /etc/hostname last-commit-message.txt`,
  });
  expect(run.code).toBe(71);
  expect(run.output).toContain("selected-task-id.txt is not a regular file.");
  expect(importAsHost(stage, run).manifest.patches[0]?.message).toContain("Work of guardloop run");
});

type Spoil = (stage: Stage) => Partial<Stage["job"]["paths"]>;

function spoiling(files: (stage: Stage) => void): Spoil {
  return (stage) => {
    files(stage);
    return {};
  };
}

test.each<readonly [string, Spoil, string]>([
  ["the prompt is empty", spoiling((s) => writeFileSync(s.job.paths.prompt, " \n")), "is empty"],
  ["the prompt is missing", (s) => ({ prompt: `${s.directory}/nowhere` }), "is missing"],
  [
    "artifacts are there already",
    spoiling((s) => put(s.artifacts, { old: "x" })),
    "is not empty (old)",
  ],
  ["there is no workspace", (s) => ({ workspace: `${s.directory}/nowhere` }), "the workspace"],
  ["there is no base store", (s) => ({ baseStore: `${s.directory}/nowhere` }), "object store"],
  [
    "HOME has a configuration",
    spoiling((s) => put(s.home, { ".gitconfig": "[x]\n" })),
    ".gitconfig",
  ],
])("it refuses before anything is started when %s", async (_, spoil, sentence) => {
  const stage = makeStage();
  const paths = { ...stage.job.paths, ...spoil(stage) };
  const run = await runGuest(stage, {
    agent: `echo ran > "${stage.directory}/ran"`,
    job: { paths },
  });
  expect(run.code).toBe(70);
  expect(run.output).toMatch(/^guardloop guest: .*\n$/);
  expect(run.output).toContain(sentence);
  expect(run.manifest).toBeUndefined();
  expect(existsSync(join(stage.directory, "ran"))).toBe(false);
});

test("it refuses when git is not on PATH, and on a job it does not understand", async () => {
  const stage = makeStage();
  const without = await runGuest(stage, { env: { PATH: "/nonexistent" } });
  expect([without.code, without.output]).toEqual([
    70,
    "guardloop guest: git is not on PATH (/nonexistent): use an image that has Git.\n",
  ]);
  const job = await runGuest(makeStage(), { job: { base: "HEAD" } });
  expect(job.code).toBe(70);
  expect(job.output).toContain("job.json: base is not an object id.");
});

test("mode export runs no agent and exports what lies in the workspace", async () => {
  const stage = makeStage();
  put(stage.workspace, { x: "x\n" });
  put(stage.artifacts, { "last-commit-message.txt": "Salvaged\n" });
  const run = await runGuest(stage, { agent: `echo ran > ran`, job: { mode: "export" } });
  expect([run.code, run.output]).toEqual([0, ""]);
  const { manifest } = importAsHost(stage, run);
  expect(manifest.agent).toEqual({ outcome: "not-run", exitCode: null, signal: null });
  expect(manifest.patches.map((patch) => patch.message)).toEqual(["Salvaged\n"]);
  expect(existsSync(join(stage.workspace, "ran"))).toBe(false);
});

test("an export that is repeated gives the same trees", async () => {
  const stage = makeStage();
  const first = await runGuest(stage, {
    agent: `echo x > x; git add x; git commit -qm X; echo y > y`,
  });
  const again = await runGuest(stage, { job: { mode: "export" } });
  expect(again.code).toBe(0);
  expect(importAsHost(stage, again).manifest.finalTree).toBe(first.manifest?.finalTree);
});

test("an export that fails says so and leaves no manifest", async () => {
  const stage = makeStage();
  const run = await runGuest(stage, {
    agent: `echo x > x; rm -rf "${stage.job.paths.baseStore}/objects/pack" .git/objects`,
  });
  expect(run.code).toBe(72);
  expect(run.output).toContain("guardloop guest: the work could not be exported: git ");
  expect(run.manifest).toBeUndefined();
});

test("nothing is left in the temporary directory", async () => {
  const stage = makeStage();
  await runGuest(stage, { agent: `echo x > x` });
  expect(readdirSync(join(stage.directory, "tmp"))).toEqual([]);
  expect(readFileSync(join(stage.home, ".gitconfig"), "utf8")).toContain("Agent Smith");
});
