import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { Manifest } from "../../src/core/artifacts.ts";
import { type Received, STARTED_SECONDS, receive } from "../rig/host-stages.ts";
import { DECLARED, PRELUDE, SAME } from "./fidelity-cases.ts";
import { type RunOptions, type Stage, git, gitBytes, makeStage, runGuest } from "./rig.ts";

// What an agent may do with Git, exported by the guest and imported with the host's own stages. A case ends in one of
// three ways: the same trees, messages and authors; refused with a reason; or a loss that is said. Never otherwise.

interface CommitFacts {
  readonly tree: string;
  readonly author: string;
  readonly message: string;
  /** Names of its headers, in order. */
  readonly headers: string;
}

/** The commits of a range, the oldest first. */
function commitsOf(repository: string, range: string): readonly CommitFacts[] {
  const ids = git(repository, ["rev-list", "--reverse", "--topo-order", range]);
  return ids
    .split("\n")
    .filter(Boolean)
    .map((id) => {
      const raw = gitBytes(repository, ["cat-file", "commit", id]).toString("latin1");
      const [headers, message] = splitAt(raw, "\n\n");
      const encoding = /^encoding (.+)$/m.exec(headers)?.[1] ?? "utf8";
      return {
        tree: /^tree (.+)$/m.exec(headers)?.[1] ?? "",
        headers: headers.replaceAll(/^(\S+) .*$/gm, "$1").replaceAll("\n", " "),
        author: /^author (.+)$/m.exec(headers)?.[1] ?? "",
        message: new TextDecoder(encoding).decode(Buffer.from(message, "latin1")),
      };
    });
}

function splitAt(text: string, mark: string): readonly [string, string] {
  const at = text.indexOf(mark);
  return [text.slice(0, at), text.slice(at + mark.length)];
}

/** A message as it arrives: trimmed, and without the trailers that the import adds. */
function ownPart(message: string): string {
  const own = /^([^]*?)\n+Guardloop-Run: \S+\nGuardloop-Task: \S+\n$/.exec(message)?.[1];
  return own ?? `no trailers: ${message}`;
}

async function exportAndReceive(stage: Stage, agent: string, job: RunOptions["job"] = {}) {
  const run = await runGuest(stage, { agent: `${PRELUDE}\n${agent}`, job });
  expect([run.code, run.manifest?.agent.exitCode]).toEqual([0, 0]);
  const stateDir = join(stage.directory, "state");
  mkdirSync(stateDir);
  const side = { topLevel: stage.user, outbox: stage.artifacts, base: stage.base, stateDir };
  return { manifest: manifestOf(run), received: await receive(side) };
}

function manifestOf(run: { readonly manifest: Manifest | undefined; readonly output: string }) {
  if (run.manifest === undefined) throw new Error(run.output);
  return run.manifest;
}

function published(received: Received): { readonly branch: string; readonly remarks: string } {
  if (!received.ok) throw new Error(`${received.error.code}: ${received.error.message}`);
  const { branch, remarks } = received.value.imported;
  return { branch, remarks: remarks.join("\n") };
}

describe.each([
  ["with an index of all files", "base.index"],
  ["with one of those that change", "none"],
])("a history without merges arrives commit by commit, checked %s", (_way, baseIndex) => {
  let stage: Stage;
  let arrived: readonly CommitFacts[] = [];
  let made: readonly CommitFacts[] = [];
  const firstOf: number[] = [];
  let branch = "";
  let said: readonly string[] = [];

  beforeAll(async () => {
    // What a user may have set, and what must not matter.
    stage = makeStage({
      prepare: (user) => {
        for (const setting of [
          "apply.whitespace fix",
          "mailinfo.scissors true",
          "commit.gpgSign true",
        ])
          git(user, ["config", "--local", ...setting.split(" ")]);
        git(user, ["config", "core.autocrlf", "false"]);
        git(user, ["config", "commit.gpgSign", "false"]);
      },
    });
    git(stage.user, ["config", "commit.gpgSign", "true"]);
    git(stage.user, ["config", "core.autocrlf", "true"]);
    const scripts = SAME.map(
      ({ script }, index) => `( ${script}\n)\ngit rev-list --count HEAD > ../count-${index}`,
    );
    const paths = { ...stage.job.paths, baseIndex: join(stage.directory, baseIndex) };
    const script = scripts.join("\n");
    const { received, manifest } = await exportAndReceive(stage, script, { paths });
    const { remarks, ...rest } = published(received);
    branch = rest.branch;
    said = [manifest.history.kind, remarks];
    arrived = commitsOf(stage.user, `${stage.base}..${branch}`);
    made = commitsOf(stage.workspace, `${stage.base}..HEAD`);
    firstOf.push(0);
    for (const index of SAME.keys())
      firstOf.push(Number(readFileSync(join(stage.directory, `count-${index}`), "utf8")) - 1);
  });

  test("E3 every commit is made anew, with the headers of an ordinary one and guardloop as committer", () => {
    expect(new Set(arrived.map((one) => one.headers))).toEqual(
      new Set(["tree parent author committer"]),
    );
    const who = git(stage.user, ["log", "--format=%cn <%ce> %ct", `${stage.base}..${branch}`]);
    expect(new Set(who.split("\n"))).toEqual(
      new Set([`guardloop <guardloop@guardloop.invalid> ${STARTED_SECONDS}`]),
    );
  });

  test("none more and none less", () => {
    expect(said).toEqual(["linear", ""]);
    expect(made.length).toBeGreaterThanOrEqual(SAME.length);
    expect(arrived.map((one) => one.tree)).toEqual(made.map((one) => one.tree));
  });

  test.each(SAME.map((one, index) => [one.name, one, index] as const))(
    "%s: the same",
    (_, { message, author }, index) => {
      const [from, to] = [firstOf[index], firstOf[index + 1]];
      const own = made.slice(from, to);
      expect(own.length).toBeGreaterThan(0);
      expect(
        arrived
          .slice(from, to)
          .map((one) => ({ tree: one.tree, author: one.author, message: ownPart(one.message) })),
      ).toEqual(
        own.map((one) => ({
          tree: one.tree,
          author:
            author?.date === undefined ? one.author : one.author.replace(/\d+ \S+$/, author.date),
          message: message ?? one.message.trim(),
        })),
      );
    },
  );
});

describe("what patches cannot say arrives as one commit, and the loss is said", () => {
  test.each(DECLARED.map((one) => [one.name, one] as const))(
    "%s: a declared loss",
    async (_, { script, reason, files }) => {
      const stage = makeStage();
      const { manifest, received } = await exportAndReceive(stage, script);
      const { branch, remarks } = published(received);
      const said = manifest.history.kind === "flattened" ? manifest.history.reason : "linear";
      expect(said).toEqual(typeof reason === "string" ? reason : expect.stringMatching(reason));
      expect(remarks).toContain(`History was flattened into one patch: ${said}`);
      const [commit, ...more] = commitsOf(stage.user, `${stage.base}..${branch}`);
      expect(more).toEqual([]);
      expect(ownPart(commit?.message ?? "")).toBe("Do the task\n\nAs asked.");
      if (files === undefined)
        expect(commit?.tree).toBe(git(stage.workspace, ["rev-parse", "HEAD^{tree}"]));
      else
        expect(git(stage.user, ["ls-tree", "-r", "--name-only", branch]).split("\n")).toEqual(
          files,
        );
    },
  );
});

test.each([
  ["a line end", String.raw`a\nb`],
  ["a tab", String.raw`a\tb`],
  ["an escape", String.raw`a\033[31m`],
])("24b a name with %s: refused by name, or the same", async (_, name) => {
  const stage = makeStage();
  const { received } = await exportAndReceive(stage, `echo x > "$(printf '${name}')"; commit X`);
  if (received.ok)
    expect(git(stage.user, ["rev-parse", `${received.value.imported.branch}^{tree}`])).toBe(
      git(stage.workspace, ["rev-parse", "HEAD^{tree}"]),
    );
  else
    expect(received.error).toMatchObject({
      code: "import-refused",
      message: expect.stringContaining("control character"),
    });
});
