import { describe, expect, test } from "vitest";
import type { Change, ReviewFacts } from "../../src/policy/facts.ts";
import { FINDINGS } from "../../src/policy/finding.ts";
import { findingsOf } from "../../src/policy/findings.ts";
import { protectedGroup } from "../../src/policy/protected-paths.ts";
import { ownFindings } from "../../src/policy/secret-patterns.ts";
import { isSecretPath } from "../../src/policy/secrets.ts";

function change(path: string, more: Partial<Change> = {}): Change {
  return {
    path,
    utf8: "valid",
    kind: "modified",
    oldMode: "100644",
    newMode: "100644",
    addedLines: 1,
    deletedLines: 0,
    content: "text",
    sizeBytes: 100,
    linkTarget: null,
    ...more,
  };
}

function facts(more: Partial<ReviewFacts> = {}): ReviewFacts {
  return {
    changes: [change("src/app.ts")],
    addedLines: [],
    packageFiles: [],
    setupGlobs: [],
    controlPaths: ["guardloop.toml"],
    task: { id: "T1", file: "docs/TASKS.md", atTip: "not-runnable" },
    otherTasksChanged: [],
    agentExit: 0,
    endedWhenDone: null,
    hitMemoryLimit: false,
    processesRefused: 0,
    egressRefused: [],
    flattened: null,
    leftBehind: { total: 0, names: [] },
    otherAuthors: [],
    messages: [{ commit: "a".repeat(40), message: "Do T1" }],
    lastMessage: "as-given",
    metadataChanges: [],
    lfsPointers: [],
    secrets: [],
    secretsInUse: [],
    notScanned: [],
    protectedGlobs: [],
    hookPaths: [],
    collisions: [],
    links: new Map(),
    ...more,
  };
}

function codes(more: Partial<ReviewFacts>): readonly string[] {
  return findingsOf(facts(more)).map((one) => one.code);
}

test("an ordinary change has no finding", () => {
  expect(codes({})).toEqual([]);
});

test("blocking findings come first", () => {
  const found = findingsOf(
    facts({ changes: [change("package.json"), change(".github/workflows/ci.yml")] }),
  );
  expect(found.map((one) => one.severity)).toEqual(["block", "warn"]);
});

test("a file that decides what setup fetches is named, changed or new, and only where there is a setup", () => {
  const changes = [change("src/app.ts"), change("sub/yarn.lock", { kind: "added" })];
  const setupGlobs = ["**/yarn.lock", "**/.npmrc"];
  const found = findingsOf(facts({ changes, setupGlobs }));
  expect(found.find((one) => one.code === "setup-changed")).toMatchObject({
    severity: "warn",
    paths: ["sub/yarn.lock"],
  });
  expect(codes({ changes })).not.toContain("setup-changed");
});

describe("protected paths", () => {
  test.each([
    [".gitattributes", "protected-git"],
    ["sub/.GitModules", "protected-git"],
    [".husky/pre-commit", "protected-git"],
    [".pre-commit-config.yaml", "protected-git"],
    [".github/workflows/x.yml", "protected-ci"],
    [".GITHUB/workflows/x.yml", "protected-ci"],
    ["Jenkinsfile", "protected-ci"],
    [".vscode/tasks.json", "protected-editor"],
    ["app.code-workspace", "protected-editor"],
    [".envrc", "protected-editor"],
    ["CLAUDE.md", "protected-agents"],
    ["docs/AGENTS.md", "protected-agents"],
    [".cLauDe/Settings.locaL.json", "protected-agents"],
    [".mcp.json", "protected-agents"],
    [".env.production", "protected-secrets"],
    ["keys/server.pem", "protected-secrets"],
    ["package-lock.json", "protected-install"],
    ["pyproject.toml", "protected-install"],
    ["crates/x/build.rs", "protected-install"],
    ["Makefile", "protected-build"],
    ["scripts/deploy.sh", "protected-build"],
  ])("%s is %s", (path, code) => {
    expect(protectedGroup(path)?.code).toBe(code);
  });

  test("a decomposed name is the same name", () => {
    expect(protectedGroup("cle\u0301s/a.pem".normalize("NFD"))?.code).toBe("protected-secrets");
  });

  test("a line end in the name does not get a file past the list", () => {
    for (const end of ["\n", "\r", "\u2028"])
      expect(protectedGroup(`.github/workflows/c${end}i.yml`)?.code).toBe("protected-ci");
    expect(isSecretPath("a/.env\n.local")).toBe(true);
  });

  test("ordinary sources are not protected", () => {
    for (const path of [
      "src/app.ts",
      "README.md",
      "docs/env.md",
      "src/github/api.ts",
      "lib/keys.ts",
    ])
      expect(protectedGroup(path), path).toBeUndefined();
  });
});

describe("what each finding is about", () => {
  test.each<[string, Partial<ReviewFacts>]>([
    ["control-file", { changes: [change("GUARDLOOP.toml")] }],
    [
      "symlink-escaping",
      { changes: [change("a", { newMode: "120000", linkTarget: "/etc/passwd" })] },
    ],
    [
      "symlink-escaping",
      { changes: [change("d/a", { newMode: "120000", linkTarget: "../../x" })] },
    ],
    [
      "symlink-escaping",
      { changes: [change("a", { newMode: "120000", linkTarget: ".GIT/config" })] },
    ],
    ["symlink", { changes: [change("d/a", { newMode: "120000", linkTarget: "../x" })] }],
    ["mode-changed", { changes: [change("a", { newMode: "100755" })] }],
    ["binary", { changes: [change("a", { content: "binary" })] }],
    ["large-file", { changes: [change("a", { sizeBytes: 2_000_000 })] }],
    ["large-change", { changes: [change("a", { addedLines: 6_000 })] }],
    ["odd-name", { changes: [change("a\u202Egnp.exe")] }],
    ["odd-name", { changes: [change("dir/CON.txt")] }],
    ["odd-name", { changes: [change("a\\b")] }],
    ["case-collision", { collisions: ["A.txt"] }],
    ["secret-added", { secrets: [{ where: "a:1", what: "a key", certainty: "known" }] }],
    ["secret-suspected", { secrets: [{ where: "a:1", what: "a key", certainty: "suspected" }] }],
    [
      "secret-in-use",
      { secretsInUse: [{ where: "a:1", what: "KEY of .env", certainty: "known" }] },
    ],
    ["secret-scan-incomplete", { notScanned: ["a: 1 of 2 added characters were searched"] }],
    ["protected-policy", { changes: [change("Infra/x")], protectedGlobs: ["infra"] }],
    ["mixed-scripts", { addedLines: [{ path: "a.ts", line: "if (is\u0410dmin) {" }] }],
    ["checks-disabled", { addedLines: [{ path: "a.ts", line: "// eslint-disable-next-line" }] }],
    ["generated", { changes: [change("web/app.min.js", { kind: "added" })] }],
    ["generated", { addedLines: [{ path: "src/app.ts", line: "x".repeat(6_000) }] }],
    ["binary", { changes: [change("lib/a.wasm", { kind: "added" })] }],
    ["bidi-characters", { addedLines: [{ path: "a", line: "if (x\u202E) {" }] }],
    ["invisible-characters", { addedLines: [{ path: "a", line: "na\u200Bme" }] }],
    ["invisible-characters", { addedLines: [{ path: "a", line: "// note\u2028evil()" }] }],
    ["invisible-characters", { addedLines: [{ path: "a", line: "const { a,\u3164} = b" }] }],
    ["control-characters", { addedLines: [{ path: "a", line: "\u001B[8mhidden" }] }],
    [
      "junk",
      {
        changes: Array.from({ length: 20 }, (_, n) =>
          change(`app/node_modules/x/${n}.js`, { kind: "added" }),
        ),
      },
    ],
    [
      "junk",
      { changes: Array.from({ length: 1_001 }, (_, n) => change(`data/${n}`, { kind: "added" })) },
    ],
    ["tests-deleted", { changes: [change("test/cart.test.ts", { kind: "deleted" })] }],
    [
      "tests-shrunk",
      { changes: [change("test/cart.test.ts", { addedLines: 1, deletedLines: 9 })] },
    ],
    [
      "tests-skipped",
      { addedLines: [{ path: "test/cart.test.ts", line: "  it.skip('adds', () => {" }] },
    ],
    ["plan-not-updated", { task: { id: "T1", file: "docs/TASKS.md", atTip: "runnable" } }],
    ["plan-changed-elsewhere", { otherTasksChanged: ["T2"] }],
    ["agent-failed", { agentExit: 1 }],
    ["memory-limit", { hitMemoryLimit: true }],
    ["process-limit", { processesRefused: 2 }],
    [
      "setup-changed",
      { setupGlobs: ["**/package-lock.json"], changes: [change("package-lock.json")] },
    ],
    ["egress-refused", { egressRefused: [{ reason: "No host may be reached.", count: 2 }] }],
    ["did-not-end", { endedWhenDone: "The agent had said that it was done." }],
    ["declared-loss", { flattened: "the history has a merge commit" }],
    ["left-behind", { leftBehind: { total: 3, names: ["a"] } }],
    ["authorship", { otherAuthors: ["abc Linus <l@x>"] }],
    ["metadata-changed", { metadataChanges: ["abc the message was empty"] }],
    ["message-differs", { lastMessage: "differs" }],
    ["meaningful-message", { messages: [{ commit: "a", message: "Do T1\n\nFixes #1" }] }],
    ["lfs-pointer", { lfsPointers: ["logo.png"] }],
    ["no-change", { changes: [] }],
    [
      "package-keys",
      { packageFiles: [{ path: "package.json", before: '{"name":"a"}', after: '{"name":"b"}' }] },
    ],
    [
      "install-scripts",
      {
        packageFiles: [
          { path: "package.json", before: "{}", after: '{"scripts":{"postinstall":"x"}}' },
        ],
      },
    ],
  ])("%s", (code, more) => {
    expect(codes(more)).toContain(code);
  });

  test("every code of the table has a test that raises it", () => {
    const covered = new Set([
      "setup-changed",
      "egress-refused",
      "control-file",
      "symlink-escaping",
      "symlink",
      "mode-changed",
      "binary",
      "large-file",
      "large-change",
      "odd-name",
      "case-collision",
      "secret-added",
      "secret-suspected",
      "secret-in-use",
      "secret-scan-incomplete",
      "mixed-scripts",
      "checks-disabled",
      "generated",
      // Computed when somebody looks; test/policy/judging.test.ts.
      "stale-base",
      "validation-failed",
      "validation-missing",
      "bidi-characters",
      "invisible-characters",
      "control-characters",
      "junk",
      "tests-deleted",
      "tests-shrunk",
      "tests-skipped",
      "plan-not-updated",
      "plan-changed-elsewhere",
      "agent-failed",
      "memory-limit",
      "process-limit",
      "did-not-end",
      "declared-loss",
      "left-behind",
      "authorship",
      "metadata-changed",
      "meaningful-message",
      "message-differs",
      "lfs-pointer",
      "no-change",
      "package-keys",
      "install-scripts",
    ]);
    const others = Object.keys(FINDINGS).filter((code) => !covered.has(code));
    expect(others.every((code) => code.startsWith("protected-"))).toBe(true);
  });
});

describe("lines of a message that mean more than they say", () => {
  const lines = (message: string): readonly string[] =>
    findingsOf(facts({ messages: [{ commit: "0123456789abcdef", message }] })).flatMap(
      (one) => one.paths,
    );

  test.each([
    "Signed-off-by: Ada <ada@example.com>",
    "co-authored-by: Ada <ada@example.com>",
    "Reviewed-by : Ada <ada@example.com>",
    "Change-Id: I0123456789",
    "Claimed-Guardloop-Run: x",
    "This fixes #12",
    "closes: owner/repo#3",
    "Resolved GH-7",
    "Fix https://example.com/a/b/issues/3",
    "Build [skip ci]",
    "[CI SKIP] docs",
    "[no ci]",
    "[skip actions]",
    "skip-checks: true",
    "***NO_CI***",
  ])("%j is one", (line) => {
    expect(lines(`Do T1\n\n${line}\n`)).toEqual([`0123456789ab line 3: ${line}`]);
  });

  test.each([
    "Fix the build",
    "Fixes number 12",
    "See #12",
    "Prefix #12",
    "The CI skips this",
    "by: Ada",
    "Signed off by Ada",
  ])("%j is none", (line) => {
    expect(lines(`Do T1\n\n${line}\n`)).toEqual([]);
  });
});

test("which scripts of a package changed is said by name", () => {
  const before = '{"scripts":{"test":"a","build":"b"},"version":"1"}';
  const after = '{"scripts":{"test":"a","build":"c","prepare":"d"},"version":"2"}';
  const found = findingsOf(facts({ packageFiles: [{ path: "app/package.json", before, after }] }));
  const keys = found.find((one) => one.code === "package-keys");
  expect(keys?.paths).toEqual(["app/package.json: scripts.build, scripts.prepare, version"]);
  expect(found.find((one) => one.code === "install-scripts")?.paths).toEqual([
    "app/package.json: scripts.prepare",
  ]);
});

test("a Windows line ending is not a control character", () => {
  expect(codes({ addedLines: [{ path: "a", line: "text\r" }] })).toEqual([]);
});

test("names and contents of secrets are known, ordinary ones are not", () => {
  for (const path of [
    ".env",
    "a/.ENV.local",
    "id_ed25519",
    ".aws/credentials",
    "x/server.key",
    ".npmrc",
  ])
    expect(isSecretPath(path), path).toBe(true);
  for (const path of ["env.ts", "docs/keys.md", "environment.json"])
    expect(isSecretPath(path), path).toBe(false);
  for (const text of [
    `-----BEGIN OPENSSH PRIVATE KEY-----\n${"b3BlbnNzaC1rZXkt".repeat(5)}`,
    `ghp_${"a".repeat(36)}`,
    `sk-ant-oat01-${"a".repeat(40)}`,
    `AIza${"a".repeat(35)}`,
    '"refresh_token": "0123456789abcdef0123"',
  ])
    expect(ownFindings(text), text).not.toEqual([]);
  expect(ownFindings("const token = process.env.TOKEN;")).toEqual([]);
});

test("a long list of paths is capped, and the rest is counted", () => {
  const changes = Array.from({ length: 30 }, (_, n) => change(`a${n}`, { content: "binary" }));
  const binary = findingsOf(facts({ changes })).find((one) => one.code === "binary");
  expect(binary?.paths).toHaveLength(20);
  expect(binary?.morePaths).toBe(10);
});
