import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";

const BIN = join(import.meta.dirname, "../../bin/guardloop.js");
const root = mkdtempSync(join(tmpdir(), "guardloop-places-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe("guardloop says in words what is wrong with where it is", () => {
  test.each(["runs", "--help", "run --agent command -- true"])(
    "in a directory that is gone: guardloop %s",
    (words) => {
      const gone = join(root, "gone");
      mkdirSync(gone);
      const script = `cd "$1" && rmdir "$1" && exec "$2" "$3" ${words}`;
      const ended = spawnSync("sh", ["-c", script, "sh", gone, process.execPath, BIN], {
        encoding: "utf8",
        env: { PATH: process.env.PATH ?? "", HOME: root },
      });
      expect(ended.stderr).toContain("The directory that guardloop was called in is not there");
      expect(ended.stderr).not.toContain("    at ");
      expect(ended.status).toBe(2);
    },
  );

  test("where its state cannot be looked at, help is there all the same", () => {
    const loop = join(root, "loop");
    symlinkSync("loop", loop);
    const said = execFileSync(process.execPath, [BIN, "runs", "--help"], {
      encoding: "utf8",
      cwd: "/",
      env: { PATH: process.env.PATH ?? "", HOME: root, XDG_STATE_HOME: loop },
    });
    expect(said).toContain("guardloop runs");
  });
});
