import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { EXIT, FAILURES } from "../../src/core/failures.ts";
import { DOCKER_SETUP, type EngineSetup } from "../../src/core/run-spec.ts";
import { RUN_STATES, mayBecome } from "../../src/core/run-state.ts";
import { STAGES } from "../../src/core/stage-name.ts";
import type { ContainerSpec } from "../../src/engine/port.ts";
import { runArguments } from "../../src/engine/posture.ts";
import { FINDINGS } from "../../src/policy/finding.ts";
import { renderPrompt } from "../../src/run/choice/prompt.ts";
import { PROTECTED } from "../../src/policy/protected-paths.ts";
import { TASK_STATUSES } from "../../src/tasks/task.ts";
import { normaliseStatus } from "../../src/tasks/status.ts";
import { ROOT, codesIn, nodesOf, readDocument, tableWith, tablesOf } from "./documents.ts";

describe("docs/failures.md", () => {
  const document = readDocument("docs/failures.md");

  test("has every failure of the code with its exit status, meaning and cure, and no other", () => {
    const code = Object.entries(FAILURES).map(([name, { exit, meaning, cure }]) => [
      `\`${name}\``,
      String(exit),
      bare(meaning),
      bare(cure),
    ]);
    const documented = tableWith(document, "code").rows.map(([name, exit, meaning, cure]) => [
      name,
      exit,
      bare(meaning ?? ""),
      bare(cure ?? ""),
    ]);
    expect(documented.toSorted(byFirst)).toEqual(code.toSorted(byFirst));
  });

  test("groups exactly the exit statuses that a failure can have", () => {
    const used = new Set(Object.values(FAILURES).map((one) => String(one.exit)));
    expect(tableWith(document, "exit status").rows.map(([status]) => status)).toEqual(
      [...used].toSorted((a, b) => Number(a) - Number(b)),
    );
  });
});

describe("docs/findings.md", () => {
  const document = readDocument("docs/findings.md");

  test("has every finding of the code with its severity, and no other", () => {
    const documented = tableWith(document, "code").rows.map(([code, severity]) => [code, severity]);
    expect(documented.toSorted(byFirst)).toEqual(
      Object.entries(FINDINGS)
        .map(([code, severity]) => [`\`${code}\``, severity])
        .toSorted(byFirst),
    );
  });

  test("names the groups of protected paths in the order in which they are tried", () => {
    const documented = tableWith(document, "code").rows.map(([code = ""]) => code);
    expect(documented.filter((code) => code.startsWith("`protected-"))).toEqual(
      // What policy protects comes in addition, whatever group a path is of.
      [...PROTECTED.map((group) => `\`${group.code}\``), "`protected-policy`"],
    );
  });

  test("accepts only findings that exist", () => {
    const accepted = [...document.text.matchAll(/--accept ([a-z-]+)/g)].map((match) => match[1]);
    expect(accepted.length).toBeGreaterThan(0);
    expect(accepted.filter((code) => !Object.hasOwn(FINDINGS, code ?? ""))).toEqual([]);
  });
});

describe("ARCHITECTURE.md", () => {
  const document = readDocument("ARCHITECTURE.md");

  test("has the stages in the order of the flow", () => {
    expect(tableWith(document, "stage").rows.map(([stage]) => stage)).toEqual(
      STAGES.map((stage) => `\`${stage}\``),
    );
    expect(document.text).toContain(STAGES.join(" -> "));
  });

  test("has every state with the states it can become", () => {
    expect(tableWith(document, "from").rows).toEqual(
      [...RUN_STATES]
        .map((from) => [from, RUN_STATES.filter((to) => mayBecome(from, to))] as const)
        .map(([from, next]) => [`\`${from}\``, next.map((to) => `\`${to}\``).join(", ")])
        .toSorted((a, b) => orderOf(a[0]) - orderOf(b[0])),
    );
    function orderOf(state = ""): number {
      return tableWith(document, "from").rows.findIndex(([name]) => name === state);
    }
  });

  test("has every folder of the source, and names no other", () => {
    const folders = readdirSync(join(ROOT, "src")).map((name) => `src/${name}/`);
    const documented = tableWith(document, "folder").rows.flatMap(([cell = ""]) => codesIn(cell));
    expect(documented.filter((name) => name.startsWith("src/")).toSorted()).toEqual(
      folders.toSorted(),
    );
  });
});

describe("docs/threat-model.md", () => {
  test("explains every flag the container is started with, and no other", () => {
    const withNetwork = (network: ContainerSpec["network"]): ContainerSpec => ({
      name: "n",
      image: "image",
      setup: DOCKER_SETUP,
      labels: { a: "b" },
      user: { uid: 1, gid: 1 },
      network,
      memoryBytes: 1,
      cpus: 1,
      pids: 1,
      tmpBytes: 1,
      homeBytes: 1,
      mounts: [{ role: "job", source: "/a", target: "/b", access: "ro" }],
      env: { A: "b" },
      passEnv: ["C"],
      workdir: "/",
      argv: ["node"],
    });
    const flags = (["none", "bridge"] as const)
      .flatMap((network) => runArguments("docker", withNetwork(network)))
      .filter((argument) => argument.startsWith("--"))
      .map((argument) => `\`${argument.split("=")[0] ?? ""}\``);
    const table = tableWith(readDocument("docs/threat-model.md"), "flag");
    expect(table.rows.map(([flag = ""]) => flag).toSorted()).toEqual(
      [...new Set(flags)].toSorted(),
    );
    expect(table.rows.filter(([, , because]) => because === "")).toEqual([]);
  });
});

describe("docs/engines.md", () => {
  test("explains every flag that Podman is told otherwise than Docker, and no other", () => {
    const spec = (setup: EngineSetup): ContainerSpec => ({
      name: "n",
      image: "image",
      setup,
      labels: {},
      user: { uid: 1, gid: 1 },
      network: "none",
      memoryBytes: 1,
      cpus: 1,
      pids: 1,
      tmpBytes: 1,
      homeBytes: 1,
      mounts: [],
      env: {},
      passEnv: [],
      workdir: "/",
      argv: ["node"],
    });
    const docker = new Set(runArguments("docker", spec(DOCKER_SETUP)));
    const podman = runArguments(
      "podman",
      spec({ ...DOCKER_SETUP, userNamespace: "keep-id", processes: 1 }),
    );
    const otherwise = podman
      .filter((argument) => !docker.has(argument))
      .map((argument) => `\`${argument.split("=")[0] ?? ""}\``);
    const table = tableWith(readDocument("docs/engines.md"), "flag");
    expect(table.rows.map(([flag = ""]) => flag).toSorted()).toEqual(
      [...new Set(otherwise)].toSorted(),
    );
  });
});

describe("docs/operator-contract.md", () => {
  const document = readDocument("docs/operator-contract.md");

  test("has every exit status, and no other", () => {
    expect(tableWith(document, "status").rows.map(([status]) => status)).toEqual(
      Object.values(EXIT).map(String),
    );
  });

  test("has every mark of a prompt template, and no other", () => {
    const refused = renderPrompt({
      template: { path: "prompt.md", text: "{{tasks}} {{no-such-mark}}" },
      offered: [],
      artifacts: "/a",
      workspace: "/w",
      network: "none",
    });
    const said = refused.ok ? "" : (refused.error.message.split("known are")[1] ?? "");
    expect(tableWith(document, "mark").rows.map(([mark = ""]) => codesIn(mark)[0])).toEqual(
      said.match(/\{\{[a-z]+\}\}/g),
    );
  });

  test("has the words of a status, each with what the parser makes of it", () => {
    const rows = tableWith(document, "it means").rows;
    expect(rows.map(([status]) => status)).toEqual(TASK_STATUSES.map((one) => `\`${one}\``));
    for (const [status = "", words = ""] of rows) {
      if (status === "`unknown`") continue;
      for (const word of words.split(", "))
        expect([word, `\`${normaliseStatus(word)}\``]).toEqual([word, status]);
    }
  });
});

test("a document the code points to exists, and so does the section it names", () => {
  const pointers = sources().flatMap(({ name, text }) =>
    [
      ...text.matchAll(
        /((?:docs\/)?[A-Za-z-]+\.md)(?:, (?:section )?([A-Z][a-z]+(?: [a-z]+)*))?[."*]/g,
      ),
    ].map((match) => ({ name, document: match[1] ?? "", section: match[2] })),
  );
  const ours = pointers.filter(
    ({ document }) => document.startsWith("docs/") || /^[A-Z]+\.md$/.test(document),
  );
  expect(ours.filter((one) => one.section !== undefined).length).toBeGreaterThanOrEqual(4);
  for (const { name, document, section } of ours) {
    if (/TASKS\.md$|^CLAUDE|^AGENTS/.test(document)) continue;
    const headings = nodesOf(readDocument(document).tree, "heading");
    if (section === undefined) continue;
    expect(
      headings.some((heading) => JSON.stringify(heading).includes(`"value":"${section}"`)),
      `${name} points to ${document}, section ${section}`,
    ).toBe(true);
  }
});

test("every table has as many cells in each row as it has heads", () => {
  for (const name of ["docs/failures.md", "docs/findings.md", "docs/json.md", "README.md"])
    for (const table of tablesOf(readDocument(name)))
      for (const row of table.rows) expect(row).toHaveLength(table.head.length);
});

function sources(): readonly { readonly name: string; readonly text: string }[] {
  return readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => ({ name, text: readFileSync(join(ROOT, "src", name), "utf8") }));
}

function bare(text: string): string {
  return text.replaceAll("`", "");
}

function byFirst(a: readonly unknown[], b: readonly unknown[]): number {
  return String(a[0]).localeCompare(String(b[0]));
}
