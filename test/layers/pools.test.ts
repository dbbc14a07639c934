import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { SnapshotMethod } from "../../src/core/run-spec.ts";
import { openPrincipal } from "../../src/git/principal.ts";
import { provideLayers } from "../../src/run/layers/provide.ts";
import type { RunServices } from "../../src/run/services.ts";
import { type SampleRepository, sampleRepository } from "../lease/sample-repository.ts";
import { CONTAINER_USER } from "../git/container-user.ts";

/** Takes layers as runs do, each with a directory that stands for its snapshot. */
async function layersOf(repository: SampleRepository) {
  const program = "/usr/bin/git";
  const principal = await openPrincipal(program, repository.env, repository.topLevel);
  if (!principal.ok) throw new Error(principal.error.message);
  // Only what the layers need of them.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const services = {
    env: repository.env,
    gitProgram: program,
    principal: principal.value,
    signal: new AbortController().signal,
  } as RunServices;
  const place = join(repository.env.stateDir, "layers", principal.value.repositoryId);
  return {
    place,
    snapshot: (run: string): string => join(repository.home, "runs", run, "workspace"),
    async take(run: string, at: { base: string; kept?: string; method?: SnapshotMethod }) {
      const root = join(repository.home, "runs", run);
      mkdirSync(join(root, "workspace"), { recursive: true });
      const provided = await provideLayers(services, {
        base: at.base,
        kept: at.kept ?? at.base,
        owner: CONTAINER_USER,
        method: at.method ?? "overlay",
        workspace: join(root, "workspace"),
        ownStore: join(root, "base.git"),
      });
      if (!provided.ok) throw new Error(provided.error.message);
      return provided.value.layers;
    },
    /** As everything that removes a run's snapshot does. */
    end: (run: string): void => rmSync(join(repository.home, "runs", run), { recursive: true }),
  };
}

/** Ids of all objects that a container would find, through both stores. */
function objectsIn(...stores: readonly (string | null)[]): readonly string[] {
  const found = stores.flatMap((store) =>
    store === null
      ? []
      : execFileSync(
          "git",
          [`--git-dir=${store}`, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)"],
          { encoding: "utf8", env: { PATH: process.env["PATH"] ?? "" } },
        )
          .trim()
          .split("\n"),
  );
  return [...new Set(found)].toSorted();
}

function reachable(repository: SampleRepository, commit: string): readonly string[] {
  const rows = repository.run(["rev-list", "--objects", commit]).split("\n");
  return rows.map((row) => row.slice(0, 40)).toSorted();
}

const numbersIn = (directory: string): readonly string[] =>
  existsSync(directory) ? readdirSync(directory).toSorted() : [];

describe("the objects of a snapshot", () => {
  test("are those that can be reached from its base, and nothing else", async () => {
    const repository = sampleRepository();
    repository.run(["checkout", "-q", "-b", "secret"]);
    repository.write("secret.txt", "only here\n");
    repository.commit("secret");
    repository.run(["checkout", "-q", "main"]);
    const layers = await layersOf(repository);
    const base = repository.head();
    const { store, seed } = await layers.take("a", { base });
    expect(seed).toBeNull();
    expect(objectsIn(store)).toEqual(reachable(repository, base));
  });

  test("are kept for the repository, and moved on by difference when the branch goes on", async () => {
    const repository = sampleRepository();
    const layers = await layersOf(repository);
    const first = await layers.take("a", { base: repository.head() });
    layers.end("a");
    const packs = () =>
      readdirSync(join(first.store, "objects/pack")).filter((name) => name.endsWith(".pack"));
    expect(packs()).toHaveLength(1);
    repository.write("new.txt", "new\n");
    const base = repository.commit("third");
    const second = await layers.take("b", { base });
    expect(second.store).toBe(first.store);
    expect(packs()).toHaveLength(2);
    expect(objectsIn(second.store)).toEqual(reachable(repository, base));
  });

  test("a store that a snapshot uses does not get more than its base has", async () => {
    const repository = sampleRepository();
    const layers = await layersOf(repository);
    const before = repository.head();
    const first = await layers.take("a", { base: before });
    repository.write("new.txt", "new\n");
    const base = repository.commit("third");
    const second = await layers.take("b", { base });
    expect(second.store).not.toBe(first.store);
    expect(objectsIn(first.store)).toEqual(reachable(repository, before));
    expect(objectsIn(second.store)).toEqual(reachable(repository, base));
  });

  test("going back on the branch does not expose what came after", async () => {
    const repository = sampleRepository();
    const layers = await layersOf(repository);
    await layers.take("a", { base: repository.head() });
    layers.end("a");
    const { store, seed } = await layers.take("b", { base: repository.firstCommit });
    expect(objectsIn(store, seed)).toEqual(reachable(repository, repository.firstCommit));
  });

  test("another branch does not see the first one's", async () => {
    const repository = sampleRepository();
    const layers = await layersOf(repository);
    const main = repository.head();
    repository.run(["checkout", "-q", "-b", "other", repository.firstCommit]);
    repository.write("other.txt", "other\n");
    const other = repository.commit("other");
    for (const base of [main, other, main, other]) {
      const { store, seed } = await layers.take("x", { base });
      expect(objectsIn(store, seed)).toEqual(reachable(repository, base));
      layers.end("x");
    }
    expect(numbersIn(join(layers.place, "stores"))).toEqual(["1", "2"]);
  });

  test("a stacked run gets what is new in a store of its own; the kept one knows no agent's work", async () => {
    const repository = sampleRepository();
    const layers = await layersOf(repository);
    const kept = repository.head();
    repository.run(["checkout", "-q", "--detach"]);
    repository.write("agent.txt", "made\n");
    const base = repository.commit("by an agent");
    const { store, seed } = await layers.take("a", { base, kept });
    expect(seed).not.toBeNull();
    expect(objectsIn(seed)).toEqual(reachable(repository, kept));
    expect(objectsIn(store, seed)).toEqual(reachable(repository, base));
    expect(readFileSync(join(store, "objects/info/alternates"), "utf8")).toBe(
      "/guardloop/seed.git/objects\n",
    );
  });

  test("a base that the branch has not come from takes nothing of the branch with it", async () => {
    const repository = sampleRepository();
    const layers = await layersOf(repository);
    const kept = repository.head();
    await layers.take("a", { base: kept });
    const { store, seed } = await layers.take("b", { base: repository.firstCommit, kept });
    expect(objectsIn(store, seed)).toEqual(reachable(repository, repository.firstCommit));
  });

  test("what a crash left half done is made anew", async () => {
    const repository = sampleRepository();
    const layers = await layersOf(repository);
    const base = repository.head();
    const { store } = await layers.take("a", { base });
    layers.end("a");
    // As while it is filled.
    rmSync(join(layers.place, "stores/1/state.json"));
    rmSync(join(store, "objects/pack"), { recursive: true });
    const again = await layers.take("b", { base });
    expect(objectsIn(again.store)).toEqual(reachable(repository, base));
  });
});

describe("the files under a snapshot", () => {
  const content = (layers: { lower: readonly string[] | null }): string =>
    readFileSync(join(layers.lower?.[0] ?? "", "README.md"), "utf8");

  test("are shared by runs with the same base", async () => {
    const repository = sampleRepository();
    const layers = await layersOf(repository);
    const base = repository.head();
    const [a, b] = await Promise.all([layers.take("a", { base }), layers.take("b", { base })]);
    expect(a.lower).toEqual(b.lower);
    expect(numbersIn(join(layers.place, "trees"))).toEqual(["1"]);
    expect(statSync(join(a.lower?.[0] ?? "", "README.md")).uid).toBe(CONTAINER_USER.uid);
  });

  test("never change while a snapshot uses them; afterwards they move to the next base", async () => {
    const repository = sampleRepository();
    const layers = await layersOf(repository);
    const kept = repository.head();
    const a = await layers.take("a", { base: repository.firstCommit, kept });
    const b = await layers.take("b", { base: kept });
    expect([content(a), content(b)]).toEqual(["one\n", "two\n"]);
    layers.end("a");
    repository.write("README.md", "three\n");
    const c = await layers.take("c", { base: repository.commit("third") });
    expect(c.lower).toEqual(a.lower);
    expect([content(b), content(c)]).toEqual(["two\n", "three\n"]);
  });

  test("a snapshot that was moved aside uses nothing any more", async () => {
    const repository = sampleRepository();
    const layers = await layersOf(repository);
    const a = await layers.take("a", { base: repository.firstCommit, kept: repository.head() });
    rmSync(layers.snapshot("a"), { recursive: true });
    const b = await layers.take("b", { base: repository.head() });
    expect(b.lower).toEqual(a.lower);
  });

  test("where all are in use, the snapshot gets files of its own", async () => {
    const repository = sampleRepository();
    const layers = await layersOf(repository);
    for (let number = 1; number <= 9; number += 1) {
      repository.write("README.md", `${number}\n`);
      const { lower } = await layers.take(`r${number}`, { base: repository.commit(`c${number}`) });
      expect(lower === null).toBe(number === 9);
    }
  });

  test("with the method copy none are kept", async () => {
    const repository = sampleRepository();
    const layers = await layersOf(repository);
    const { lower } = await layers.take("a", { base: repository.head(), method: "copy" });
    expect(lower).toBeNull();
    expect(numbersIn(join(layers.place, "trees"))).toEqual([]);
  });

  test("after a start of the machine they are read once, and made anew where they are damaged", async () => {
    const repository = sampleRepository();
    const layers = await layersOf(repository);
    const base = repository.head();
    const a = await layers.take("a", { base });
    layers.end("a");
    const state = join(layers.place, "trees/1/state.json");
    const earlier = () => {
      const text = readFileSync(state, "utf8");
      writeFileSync(state, text.replace(/"boot":"[^"]*"/, '"boot":"another"'));
    };
    earlier();
    const file = join(a.lower?.[0] ?? "", "src/code.txt");
    const { ino } = statSync(file);
    await layers.take("b", { base });
    layers.end("b");
    expect(statSync(file).ino).toBe(ino);
    earlier();
    writeFileSync(join(a.lower?.[0] ?? "", "README.md"), "");
    const c = await layers.take("c", { base });
    expect(c.lower).toEqual(a.lower);
    expect(content(c)).toBe("two\n");
  });
});
