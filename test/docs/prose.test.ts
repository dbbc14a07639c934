import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { runArguments } from "../../src/engine/posture.ts";
import { parseTaskPlan, planPathMatches } from "../../src/tasks/plan.ts";
import { SETTINGS } from "../../src/config/table.ts";
import {
  type ProjectDocument,
  ROOT,
  allDocuments,
  brokenLinks,
  nodesOf,
  readDocument,
} from "./documents.ts";

const documents = allDocuments();

describe("commands in the documents", () => {
  let flags: ReadonlyMap<string, readonly string[]> = new Map();
  beforeAll(async () => {
    flags = await flagsByCommand();
  });

  test("the command line was read", () => {
    expect(flags.size).toBeGreaterThan(15);
    expect(flags.get("run")).toContain("--max-tasks");
  });

  test.each(documents.map((document) => [document.name, document] as const))(
    "%s names only commands and flags that exist",
    (_, document) => {
      expect(callsIn(document).filter((call) => !exists(call))).toEqual([]);
    },
  );

  test("a command or a flag that does not exist is noticed", () => {
    const wrong = ["guardloop fly", "guardloop run --fly", "guardloop image fly"];
    expect(wrong.filter((call) => exists(call))).toEqual([]);
    expect(exists("guardloop logs RUN -f")).toBe(true);
  });

  test("the README shows the commands of the whole way", () => {
    const shown = new Set(callsIn(readDocument("README.md")).map((call) => call.split(" ")[1]));
    for (const verb of ["init", "doctor", "tasks", "run", "review", "promote", "rollback"])
      expect(shown).toContain(verb);
  });

  test("flags that stand alone are flags of a command or of the container", () => {
    const known = new Set([...[...flags.values()].flat(), ...containerFlags()]);
    const unknown = documents
      .filter((document) => !/^docs\/(adr|TASKS|artifacts)/.test(document.name))
      .flatMap((document) =>
        nodesOf(document.tree, "inlineCode")
          .map((node) => /^(--[a-z][a-z-]*)/.exec(node.value)?.[1])
          .filter((flag) => flag !== undefined && !known.has(flag))
          .map((flag) => `${document.name}: ${flag ?? ""}`),
      );
    expect(unknown).toEqual([]);
  });

  function exists(call: string): boolean {
    const [, verb = "", ...rest] = call.split(" ");
    const command = verb === "image" ? `image ${rest[0] ?? ""}`.trim() : verb;
    const known = flags.get(command);
    if (known === undefined) return false;
    return rest.filter((word) => /^--?[a-z]/.test(word)).every((flag) => known.includes(flag));
  }
});

/** Every command with the flags that its help shows. */
async function flagsByCommand(): Promise<ReadonlyMap<string, readonly string[]>> {
  const help = await helpOf([]);
  const verbs = [...help.matchAll(/^ {2}([a-z]+) /gm)].map((match) => match[1] ?? "");
  const commands = verbs.filter((verb) => verb !== "help").map((verb) => [verb]);
  const found = [...commands, ["image", "build"]].map(async (command) => {
    const options = [...(await helpOf(command)).matchAll(/^ {2}(?:(-\w), )?(--[a-z-]+)/gm)];
    const flags = options.flatMap(([, short, long = ""]) => [long, ...(short ? [short] : [])]);
    return [command.join(" "), flags] as const;
  });
  return new Map(await Promise.all(found));
}

async function helpOf(command: readonly string[]): Promise<string> {
  const args = [join(ROOT, "bin/guardloop.js"), ...command, "--help"];
  return (await promisify(execFile)(process.execPath, args)).stdout;
}

test("every relative link leads to a file of the project, and to a heading that is there", () => {
  expect(brokenLinks(documents)).toEqual([]);
});

test("a link that leads nowhere is noticed", () => {
  const document = readDocument("README.md");
  const tree = { type: "link" as const, url: "docs/no-such.md", children: [] };
  const anchor = { type: "link" as const, url: "docs/json.md#no-such", children: [] };
  expect(
    brokenLinks([{ ...document, tree: { type: "root", children: [tree, anchor] } }]),
  ).toHaveLength(2);
});

test("scripts the documents name are there", () => {
  const named = documents.flatMap((document) =>
    [...document.text.matchAll(/(?<![\w/])\.\/((?:scripts|bin)\/[a-z-]+)/g)].map(
      (match) => [document.name, match[1] ?? ""] as const,
    ),
  );
  const own = named.filter(([name]) => !/agents|configuration/.test(name));
  expect(own.length).toBeGreaterThan(3);
  const missing = own.filter(([, script]) => {
    const stat = statSync(join(ROOT, script), { throwIfNoEntry: false });
    return stat === undefined || (script.startsWith("scripts/") && (stat.mode & 0o111) === 0);
  });
  expect(missing).toEqual([]);
});

test("GUARD_ variables in the documents are settings", () => {
  const names = new Set<string>(SETTINGS.map((setting) => setting.guard));
  for (const document of documents)
    for (const name of document.text.match(/\bGUARD_[A-Z_]*[A-Z]\b/g) ?? [])
      expect(names.has(name), `${document.name}: ${name}`).toBe(true);
});

test("the documents speak of no machine but the reader's", () => {
  const foreign = [
    /(?<![\w.~/-])\/(?:work|root|tmp\/[a-z])\b(?!space)/,
    /\/home\/[a-z]/,
    /\b(?:registry|proxy|mirror)\.[a-z]/i,
    /npmjs|debian\.org|pypi\.org|\.internal\b|localhost:\d|127\.0\.0\.1:\d/i,
  ];
  /** Names that mean the same on every machine of a kind. */
  const everywhere = /\b(?:metadata\.google|instance-data\.ec2|host\.docker)\.internal\b/g;
  for (const document of documents) {
    const text = document.text.replaceAll(everywhere, "");
    for (const pattern of foreign)
      expect(pattern.exec(text)?.[0], `${document.name}: ${pattern}`).toBeUndefined();
  }
});

describe("docs/TASKS.md", () => {
  const { text } = readDocument("docs/TASKS.md");
  const plan = parseTaskPlan([{ path: "docs/TASKS.md", text }], {
    runnable: ["ready", "planned"],
  });

  test("is where guardloop looks for a plan, and is read without a complaint", () => {
    const standard = SETTINGS.find((setting) => setting.key === "plan.paths")?.standard;
    expect(planPathMatches(standard as readonly string[])("docs/TASKS.md")).toBe(true);
    expect(plan.diagnostics).toEqual([]);
  });

  test("has every heading of a task as a task, each with a completion signal", () => {
    const headings = [...text.matchAll(/^## (T\d+) /gm)].map((match) => match[1]);
    expect(plan.tasks.map((task) => task.id)).toEqual(headings);
    expect(plan.tasks.filter((task) => task.acceptance.length === 0)).toEqual([]);
  });

  test("has tasks that can be run, and tasks that wait for others", () => {
    const runnable = plan.tasks.filter((task) => task.notRunnable === null);
    expect(runnable.length).toBeGreaterThan(0);
    expect(runnable.length).toBeLessThan(plan.tasks.length);
  });
});

/** Calls of guardloop in code, as words; what the agent's program gets is cut off. */
function callsIn(document: ProjectDocument): readonly string[] {
  const code = [...nodesOf(document.tree, "code"), ...nodesOf(document.tree, "inlineCode")];
  return code
    .flatMap((node) => node.value.split("\n"))
    .flatMap((line) => [
      ...line.matchAll(/(?:^\s*|\$ |: +|&& |\w=\S+ )(guardloop [a-z][^|;&)#]*)/g),
    ])
    .map((match) => match[1]?.split(" -- ")[0]?.trim().replaceAll(/ +/g, " ") ?? "")
    .filter((call) => /^guardloop [a-z]+(?:\s|$)/.test(call));
}

function containerFlags(): readonly string[] {
  const spec = {
    name: "n",
    image: "image",
    setup: { runtime: "runsc", userNamespace: "keep-id", openFiles: 1, processes: 1 },
    labels: { a: "b" },
    user: { uid: 1, gid: 1 },
    // More flags than without one.
    network: "bridge",
    memoryBytes: 1,
    cpus: 1,
    pids: 1,
    tmpBytes: 1,
    homeBytes: 1,
    mounts: [{ role: "job", source: "/a", target: "/b", access: "ro" }],
    env: { A: "b" },
    passEnv: [],
    workdir: "/",
    argv: ["node"],
  } as const;
  return (["docker", "podman"] as const).flatMap((kind) =>
    runArguments(kind, spec).map((argument) => argument.split("=")[0] ?? ""),
  );
}
