import { expect, test } from "vitest";
import type { Git } from "../../src/guest/git.ts";
import { readObjects } from "../../src/guest/read-objects.ts";

const ID = "1234567890123456789012345678901234567890";

/** A Git that prints these bytes in pieces of one length, and is ended when its reader has enough. */
function printing(
  output: string,
  pieceBytes: number,
): { readonly git: Git; readonly read: () => number } {
  let at = 0;
  const git: Git = (_args, call) => {
    const { stdout } = call ?? {};
    if (typeof stdout !== "function") throw new Error("its output is read as it comes");
    let code = 0;
    while (at < output.length && code === 0) {
      const piece = Buffer.from(output.slice(at, at + pieceBytes), "latin1");
      at += pieceBytes;
      if (stdout(piece) === "enough") code = 128;
    }
    return Promise.resolve({ code, stdout: Buffer.alloc(0), stderr: "" });
  };
  return { git, read: () => at };
}

function objectRow(content: string): string {
  return `${ID} commit ${content.length}\n${content}\n`;
}

test.each([1, 2, 50, 10_000])("objects arrive whole, in pieces of %i bytes", async (pieceBytes) => {
  const contents = ["one\n", "", "\n\n", `two ${ID} commit 3\n`, "x".repeat(500)];
  const { git } = printing(contents.map((one) => objectRow(one)).join(""), pieceBytes);
  const read = await readObjects(git, Array(contents.length).fill(ID), 500);
  expect(read.map((one) => one?.toString("latin1"))).toEqual(contents);
});

test.each([
  ["too large", objectRow("x".repeat(501))],
  ["missing", `${ID} missing\n`],
  ["no object at all", "y".repeat(5000)],
])("nothing is read behind an object that is %s", async (_, row) => {
  const { git, read } = printing(`${objectRow("one")}${row}${objectRow("z".repeat(400))}`, 20);
  const objects = await readObjects(git, [ID, ID, ID], 500);
  expect(objects.map((one) => one?.toString("latin1"))).toEqual(["one", undefined, undefined]);
  expect(read()).toBeLessThan(300);
});

test("a Git that fails by itself is an error", async () => {
  const git: Git = () =>
    Promise.resolve({ code: 128, stdout: Buffer.alloc(0), stderr: "fatal: no" });
  await expect(readObjects(git, [ID], 500)).rejects.toThrow(
    "git cat-file ended with 128: fatal: no",
  );
});
