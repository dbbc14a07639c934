// Makes repositories of any size, the same ones each time: directories of many depths, files of many lengths, and a
// history in which each commit changes a few files.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { git } from "./place.js";

const WORDS =
  "account address amount batch buffer cart change check client close commit config count create cursor customer date delete discount email entry error event fetch field file filter find format group handler header history index input invoice item key label layer limit line link list load locale lock log mail map match merge message method model name node note number offset open option order output owner page parse part path payment plan price process product query queue range rate read record region remove render report request reset result role route rule schema search send session set shop size sort source start state status stock store string sync table target task tax test text time title token total tree type update user validate value version view wait write".split(
    " ",
  );
const FOLDERS =
  "api app assets auth billing cart cli core docs engine forms lib mail models pages search shared store tests ui".split(
    " ",
  );
const SUFFIXES = [".ts", ".ts", ".ts", ".js", ".css", ".md", ".json", ".html", ".sql", ".py"];
const EPOCH = 1_600_000_000;

/** Plain and small; the same numbers for the same seed (mulberry32). */
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** So many commits as a repository of so many files may have. */
export function usualCommits(files) {
  return Math.max(50, Math.min(20_000, Math.round(files * 0.4)));
}

/**
 * A repository with a plan of one ready task.
 *
 * @param {{ path: string, files: number, commits: number }} options
 */
export async function makeRepository(place, { path, files, commits }) {
  mkdirSync(path, { recursive: true });
  git(place, path, ["init", "--quiet", "--initial-branch=main"]);
  const importing = spawn("git", ["fast-import", "--quiet", "--force"], {
    cwd: path,
    env: place.env,
    stdio: ["pipe", "ignore", "inherit"],
  });
  const ended = once(importing, "close");
  for (const chunk of history(files, commits))
    if (!importing.stdin.write(chunk)) await once(importing.stdin, "drain");
  importing.stdin.end();
  const [code] = await ended;
  if (code !== 0) throw new Error(`git fast-import ended with ${code}.`);
  git(place, path, ["reset", "--quiet", "--hard"]);
  // As after a clone: one pack, deltas, a commit graph.
  git(place, path, ["gc", "--quiet"], { stdio: "ignore" });
}

/** The stream of git-fast-import(1). The first commit holds nine tenths of the files, later ones add the others. */
function* history(files, commits) {
  const draw = random(files);
  const paths = Array.from({ length: files - 2 }, (_, index) => pathOf(index, draw));
  const first = Math.ceil(paths.length * 0.9);
  const added = (paths.length - first) / Math.max(1, commits - 1);
  for (let commit = 0; commit < commits; commit += 1) {
    const message = `${sentence(draw)}\n`;
    const who = `Ada <ada@example.invalid> ${EPOCH + commit * 3600} +0000`;
    yield `commit refs/heads/main\nauthor ${who}\ncommitter ${who}\n${data(message)}`;
    if (commit === 0) {
      yield file("docs/TASKS.md", "# Plan\n\n## T1 — Say hello\n\nStatus: ready\n");
      yield file(".gitignore", "node_modules/\ndist/\n");
      for (const path of paths.slice(0, first)) yield file(path, content(draw));
    } else {
      const from = first + Math.round(added * (commit - 1));
      for (const path of paths.slice(from, first + Math.round(added * commit)))
        yield file(path, content(draw));
      const changed = 1 + Math.floor(draw() ** 3 * 8);
      for (let one = 0; one < changed; one += 1)
        yield file(paths[Math.floor(draw() * from)], content(draw));
    }
    yield "\n";
  }
}

function pathOf(index, draw) {
  const depth = 1 + Math.floor(draw() * 4);
  const folders = Array.from({ length: depth }, () => pick(FOLDERS, draw));
  // Some thirty files a directory, whatever the size.
  const area = `part${Math.floor(index / 300)}`;
  return `${area}/${folders.join("/")}/${pick(WORDS, draw)}-${index}${pick(SUFFIXES, draw)}`;
}

/** Most files are short, a few are long: 4 KiB on average. */
function content(draw) {
  const lines = 5 + Math.floor(draw() ** 4 * 500);
  return Array.from({ length: lines }, () => `${sentence(draw)}\n`).join("");
}

function sentence(draw) {
  return Array.from({ length: 3 + Math.floor(draw() * 6) }, () => pick(WORDS, draw)).join(" ");
}

function pick(list, draw) {
  return list[Math.floor(draw() * list.length)];
}

function file(path, text) {
  return `M 100644 inline ${path}\n${data(text)}`;
}

function data(text) {
  return `data ${Buffer.byteLength(text)}\n${text}\n`;
}

/** Ignored files as a package manager leaves them: many, small, deep. */
export function addModules(path, count) {
  const draw = random(count);
  const perPackage = 50;
  for (let index = 0; index < count; index += perPackage) {
    const directory = join(path, "node_modules", `package-${index / perPackage}`);
    for (const folder of ["dist", "dist/esm", "lib", "types"])
      mkdirSync(join(directory, folder), { recursive: true });
    for (let one = 0; one < Math.min(perPackage, count - index); one += 1) {
      const folder = ["dist", "dist/esm", "lib", "types"][one % 4];
      const name = one === 0 ? "package.json" : `${folder}/file-${one}.js`;
      writeFileSync(join(directory, name), sentence(draw).repeat(8));
    }
  }
}

/** A copy to work with: a repository that is somebody's is not touched. */
export function cloneOf(place, source, path) {
  git(place, place.root, ["clone", "--quiet", "--no-local", "--", source, path], {
    stdio: "ignore",
  });
  git(place, path, ["remote", "remove", "origin"]);
  const plan = join(path, "docs/TASKS.md");
  mkdirSync(join(path, "docs"), { recursive: true });
  writeFileSync(plan, "# Plan\n\n## T1 — Say hello\n\nStatus: ready\n");
  git(place, path, ["add", "--force", "docs/TASKS.md"]);
  git(place, path, ["commit", "--quiet", "--no-verify", "--message=A plan for the benchmark"]);
}

export function countsOf(place, path) {
  const files = git(place, path, ["ls-files", "-z"]).split("\0").length - 1;
  const commits = Number(git(place, path, ["rev-list", "--count", "HEAD"]));
  return { files, commits };
}
