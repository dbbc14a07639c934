import * as fc from "fast-check";
import { expect, test } from "vitest";
import { visible } from "../../src/core/visible.ts";
import { loadSettings } from "../../src/config/load.ts";
import { SETTINGS } from "../../src/config/table.ts";
import { visible as visibleInGuest } from "../../src/guest/say.ts";
import type { Outbox } from "../../src/run/artifacts/outbox.ts";
import { check } from "../../src/run/stages/collect.ts";
import { isRunnable } from "../../src/tasks/plan.ts";
import { specOf } from "../rig/host-stages.ts";
import { NO_SECOND_TRY, fuzzRuns } from "../rig/property.ts";
import { planOf } from "../tasks/plan-rig.ts";

/** Any bytes, and more often those that mean something to a terminal, to Unicode or to a parser. */
const piece = fc.oneof(
  fc.uint8Array({ maxLength: 12 }).map((array) => Buffer.from(array)),
  fc
    .constantFrom(
      "\u001b[31m",
      "\u001b]52;c;eA==\u0007",
      "\u009b2J",
      "\r",
      "\n",
      "\t",
      "\0",
      "\u007f",
      "\b",

      "\u202e",
      "\u2066",
      "\u200b",
      "\u200f",
      "\u061c",
      "\ufeff",
      "\u2028",
      "\u{e0041}",
      "\u{e01ef}",
      "T-1",
      "## T1 — A\n",
      "Status: ready\n",
      "- ",
      "---\n",
      "```\n",
      "é",
      "🎉",
      " ",
      "x",
      "[network]\n",
      "[container]\n",
      "mode = ",
      '"bridge"\n',
      "memory = ",
      '"64g"\n',
      "'''",

      "run = { promote = 'auto' }\n",
      "[limits]\nwall_minutes = 999\n",
      "a.b.c = [[[",
      "inf",
      "1e9",
    )
    .map((text) => Buffer.from(text)),
  // The bytes of half a character.
  fc
    .constantFrom("f09f", "c2", "e280", "eda080", "c080", "ff", "fe")
    .map((hex) => Buffer.from(hex, "hex")),
);
/** Ids that are almost right stand in a plan that is right otherwise. */
const planBytes = fc.oneof(
  fc.array(piece, { maxLength: 25 }).map((pieces) => Buffer.concat(pieces)),
  fc
    .oneof(
      fc.constantFrom("T..1", "T.lock", "T1.", "-T", "T/1", "T@{1", "T".repeat(65), "T~1", "../T"),
      fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 12 }),
    )
    .map((id) => Buffer.from(`## [${id}] A task\n\nStatus: ready\n`)),
);
const bytes = fc.array(piece, { maxLength: 25 }).map((pieces) => Buffer.concat(pieces));

/** What terminals obey, said by Unicode's own properties and not by the list in the code. */
const OBEYED = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\u200b\ufeff\u2060-\u2064\u{e0000}-\u{e007f}]/u;

test("nothing that a terminal obeys is left in text that was made visible", NO_SECOND_TRY, () => {
  fc.assert(
    fc.property(
      fc.oneof(
        bytes.map((one) => one.toString("utf8")),
        fc.string({ unit: "binary" }),
      ),
      (text) => {
        const line = visible(text, "one-line");
        const lines = visible(text, "keep-lines");
        // As bytes on their way to a terminal: a lone half of a pair must not come out as something else.
        const written = Buffer.from(line).toString("utf8");
        expect(written).not.toMatch(OBEYED);
        expect(
          Buffer.from(lines)
            .toString("utf8")
            .replaceAll(/[\n\t]/g, ""),
        ).not.toMatch(OBEYED);
        expect(lines.split("\n").length).toBe(text.split("\n").length);
        if (!OBEYED.test(text) && !/[\u200b-\u200f\u2060-\u206f\u{e0000}-\u{e01ef}]/u.test(text))
          expect(line).toBe(text);
        expect(visibleInGuest(text)).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u);
      },
    ),
    fuzzRuns(10_000),
  );
});

test(
  "whatever the agent wrote as task id and message, it is an offered id and text, or refused",
  NO_SECOND_TRY,
  () => {
    const spec = specOf("1".repeat(40));
    const box = (taskId: Buffer | undefined, commitMessage: Buffer | undefined): Outbox => ({
      taskId,
      commitMessage,
      manifest: undefined,
      patches: [{ name: "0001-x.patch", bytes: Buffer.from("") }],
    });
    const good = Buffer.from("T-1\n");
    const near = fc.oneof(
      bytes,
      bytes.map((one) => Buffer.concat([Buffer.from("T-1"), one])),
      fc.constant(good),
    );
    fc.assert(
      fc.property(near, fc.oneof(bytes, fc.constant(undefined)), (taskId, message) => {
        const read = check(box(taskId, message), spec);
        // There is no manifest, so everything ends in a refusal; which one says how far it came.
        const code = read.ok ? "taken" : read.error.code;
        const isOffered = /^(?:\xef\xbb\xbf)?T-[12](?:\r?\n)?$/.test(taskId.toString("latin1"));
        const text = message?.toString("utf8") ?? "";
        const isText =
          message !== undefined && Buffer.from(text).equals(message) && !text.includes("\0");
        const isMessage =
          isText && text.trim() !== "" && text.replaceAll("\ufeff", "").trim() !== "";
        const afterId =
          message === undefined
            ? "missing-commit-message"
            : isMessage
              ? "bad-manifest"
              : "bad-commit-message";
        expect(code).toBe(isOffered ? afterId : "bad-task-id");
      }),
      fuzzRuns(5000),
    );
  },
);

test(
  "whatever the bytes of a plan, what it offers has an id that can be a branch",
  NO_SECOND_TRY,
  () => {
    fc.assert(
      fc.property(planBytes, (plan) => {
        for (const task of planOf(plan.toString("utf8")).tasks.filter((one) => isRunnable(one)))
          expect(task.id).toMatch(/^(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9._-]{0,63}$(?<!\.|\.lock)/);
      }),
      fuzzRuns(2000),
    );
  },
);

test(
  "whatever a repository's configuration says, it never loosens the boundary by itself",
  NO_SECOND_TRY,
  () => {
    const ceilings = {
      wallMinutes: 60,
      idleMinutes: 15,
      logBytes: 64 * 1024 ** 2,
      memoryBytes: 4 * 2 ** 30,
      cpus: 4,
      pids: 512,
    };
    const value = fc.oneof(
      fc.constantFrom(
        '"bridge"',
        '"none"',
        '"64g"',
        '"1g"',
        "1",
        "999999",
        '["*"]',
        "[]",
        '"auto"',
        '"x"',
        "true",
        "inf",
        "-1",
      ),
      fc.string({ unit: "binary", maxLength: 8 }).map((text) => JSON.stringify(text)),
    );
    const lines = fc
      .array(fc.record({ key: fc.constantFrom(...SETTINGS.map((one) => one.key)), value }), {
        maxLength: 3,
      })
      .map((pairs) => Buffer.from(pairs.map((pair) => `${pair.key} = ${pair.value}\n`).join("")));
    let accepted = 0;
    fc.assert(
      fc.property(fc.oneof(lines, bytes), (text) => {
        const loaded = loadSettings({
          repositoryFile: { path: "guardloop.toml", text: text.toString("utf8") },
          userFile: undefined,
          guard: {},
          flags: {},
          trusted: "no",
        });
        if (!loaded.ok) {
          expect(loaded.error.code).toBe("config-invalid");
          return;
        }
        accepted += 1;
        const { network, container, limits, agent, overlay, run } = loaded.value.settings;
        expect([network.mode, run.promote, overlay.include, agent.passEnv]).toEqual([
          "none",
          "manual",
          [],
          [],
        ]);
        expect(container.image).toBe("guardloop-agent");
        const inForce: Record<string, unknown> = { ...limits, ...container };
        for (const [name, ceiling] of Object.entries(ceilings))
          expect(Number(inForce[name]), name).toBeLessThanOrEqual(ceiling);
      }),
      fuzzRuns(3000),
    );
    if (process.env.FC_PATH === undefined) expect(accepted).toBeGreaterThan(50);
  },
);
