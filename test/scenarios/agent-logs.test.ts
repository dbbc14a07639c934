import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { filesWith } from "../rig/hosted-agent/run-hosted.ts";
import { succeed } from "../rig/lifecycle.ts";
import { fullFiles, GOOD_AGENT, type World, leftovers, makeWorld, runsOf } from "../rig/world.ts";

const KEY = "tok/4711+abcdefgh";
const MIB = 1024 ** 2;
/** Prints numbered lines, about three times what one mebibyte takes. */
const TALKATIVE = `awk 'BEGIN { for (i = 0; i < 60000; i++) printf "line %d %s\\n", i, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" }'`;

async function recordOf(world: World): Promise<string> {
  const [run] = await runsOf(world);
  return join(world.state, "runs", run?.id ?? "");
}

describe("what an agent prints", () => {
  test("is kept within its limit: its beginning and its end, with a mark where it was cut", async () => {
    using world = makeWorld();
    const ended = await world.run(`echo first; ${TALKATIVE}; echo last; ${GOOD_AGENT}`, [
      "--log-size",
      "1m",
    ]);
    expect(ended.code).toBe(0);
    const record = await recordOf(world);
    for (const file of ["agent.log", "agent.jsonl"])
      expect(statSync(join(record, file)).size).toBeLessThanOrEqual(MIB);
    const log = (await succeed(world, ["logs", "@last"])).stdout;
    expect(log).toMatch(/^first\nline 0 x+\n/m);
    expect(log).toMatch(/\nline 59999 x+\nlast\n/);
    expect(log).toMatch(/\n\[guardloop: \d+ bytes were cut here, to keep the log within 1 MiB\]\n/);
    const events = readFileSync(join(record, "agent.jsonl"), "utf8").trimEnd().split("\n");
    const types = events.map((line) => (JSON.parse(line) as { type: string }).type);
    expect(types.filter((type) => type === "cut")).toHaveLength(1);
    expect(types.at(-1)).toBe("output");
    const shown = (await succeed(world, ["show", "@last"])).stdout;
    expect(shown).toMatch(/^Log +\S+ MiB were cut out of the middle/m);
  });

  test("does not matter where the disk takes none of it: the run goes on and says so", async () => {
    using world = makeWorld();
    const env = fullFiles(String.raw`/agent\.(?:log|jsonl)$`);
    const ended = await world.run(`${TALKATIVE}; ${GOOD_AGENT}`, [], { env });
    expect(ended.code).toBe(0);
    expect(ended.stderr.match(/log of the agent cannot be written \(ENOSPC\)/g)).toHaveLength(1);
    expect((await runsOf(world))[0]?.state).toBe("ready");
    const shown = (await succeed(world, ["show", "@last"])).stdout;
    expect(shown).toMatch(/^Log +\S+ MiB could not be written \(ENOSPC\)/m);
    expect(leftovers(world)).toEqual([]);
  });
});

describe("the value of a passed variable", () => {
  const SAYS_IT = `
    printf 'half %s' "$(printf %s "$TOKEN" | cut -c1-9)"; sleep 0.2; printf '%s\\n' "$(printf %s "$TOKEN" | cut -c10-)"
    echo "whole $TOKEN" >&2
    printf 'basic %s\\n' "$(printf 'user:%s' "$TOKEN" | base64)"
    printf 'address https://u:%s@host/\\n' "$(printf %s "$TOKEN" | sed 's,/,%2F,; s,+,%2B,')"`;
  const FORMS = [KEY, "tok%2F4711%2Babcdefgh", "dG9rLzQ3MTErYWJj", "47MTErYWJjZGVmZ2"];

  test.each(["scripted", "docker"] as const)(
    "is written down nowhere and shown nowhere, however it is printed (%s)",
    async (engine) => {
      using world = makeWorld(engine);
      const ended = await world.run(
        `${SAYS_IT}; ${GOOD_AGENT}`,
        ["--pass-env", "TOKEN", "--json"],
        { env: { TOKEN: KEY } },
      );
      expect(ended.code).toBe(0);
      const seen = [ended, ...(await Promise.all(READERS.map((args) => world.guardloop(args))))];
      const text = seen.map((one) => one.stdout + one.stderr).join("\n");
      for (const form of FORMS) {
        expect(text).not.toContain(form);
        expect(filesWith(world, form)).toEqual([]);
      }
      const log = readFileSync(join(await recordOf(world), "agent.log"), "utf8");
      // A line of standard error may come in the middle of one of standard output.
      expect(log).toMatch(/half (?:whole )?\[redacted: TOKEN of the environment\]/);
      expect(log.match(/\[redacted: TOKEN of the environment\]/g)).toHaveLength(2);
      expect(log).toContain("[redacted: TOKEN of the environment, percent-encoded]@host/");
      expect(log).toContain("[redacted: TOKEN of the environment, in base64]");
      expect(leftovers(world)).toEqual([]);
    },
  );

  test("is not in the failure of a run, in its record or in what a validation prints", async () => {
    using world = makeWorld();
    const env = { TOKEN: KEY };
    const pass = ["--pass-env", "TOKEN"];
    const bad = await world.run(
      `echo "$TOKEN" > "$GUARDLOOP_ARTIFACTS/selected-task-id.txt"; echo x > x.txt`,
      pass,
      { env },
    );
    expect(bad.code).toBe(4);
    expect(bad.stderr).toContain('says "[redacted: TOKEN of the environment]"');
    expect((await runsOf(world))[0]?.failure?.message).not.toContain(KEY);
    const validated = await world.run(
      GOOD_AGENT,
      [...pass, "--validate", `say: echo tok; printf 'it is tok/4711+'; echo abcdefgh`],
      { env },
    );
    expect(validated.code).toBe(0);
    const said = await succeed(world, ["logs", "@last", "--validation"]);
    expect(said.stdout).toContain("\nit is [redacted: TOKEN of the environment]\n");
  });

  test("that is hidden from the stream by an escape of JSON is not in the agent's events", async () => {
    using world = makeWorld();
    const codex = String.raw`printf '%s\n' '{"type":"item.completed","item":{"type":"agent_message","text":"it is tok\u002f4711+abcdefgh"}}'`;
    execFileSync(
      "sh",
      [
        "-c",
        `printf '%s\\n' '#!/bin/sh' > ${world.bin}/codex; cat >> ${world.bin}/codex; chmod +x ${world.bin}/codex`,
      ],
      { input: `${codex}\n${GOOD_AGENT}` },
    );
    const ended = await world.guardloop(
      ["run", "--agent", "codex", "--network", "bridge", "--pass-env", "OPENAI_API_KEY"],
      { env: { OPENAI_API_KEY: KEY } },
    );
    expect(ended.code).toBe(0);
    const events = (await succeed(world, ["logs", "@last", "--events"])).stdout;
    expect(events).toContain('"text":"it is [redacted: OPENAI_API_KEY of the environment]"');
  });
});

/** Everything that shows what an agent said. */
const READERS = [
  ["logs", "@last"],
  ["logs", "@last", "--raw"],
  ["logs", "@last", "--events"],
  ["watch", "@last"],
  ["watch", "@last", "--json"],
  ["show", "@last", "--json"],
];
