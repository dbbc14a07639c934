import { describe, expect, test } from "vitest";
import {
  type MailSizes,
  measureMail,
  refuseMailSizes,
  refuseSeriesSizes,
} from "../../src/run/artifacts/mail-sizes.ts";

const section = (path: string): string =>
  `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+one\n`;

const measure = (text: string): MailSizes => measureMail(Buffer.from(text));

describe("what is counted in a mail", () => {
  test("a path for each section, with or without a line of Git's own", () => {
    expect(measure(section("a") + section("b")).paths).toBe(2);
    expect(measure("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n").paths).toBe(1);
    expect(measure(`${section("a")}--- a/x\n+++ b/x\n--- a/y\n+++ b/y\n`).paths).toBe(3);
  });

  test("the longest line and the added text, to the last byte", () => {
    expect(measure("ab\n+abc\n+++ b/x\n\n+ä")).toMatchObject({
      longestLineBytes: 7,
      addedTextBytes: 4 + 7 + 3,
    });
    expect(measure("")).toEqual({
      paths: 0,
      longestLineBytes: 0,
      addedTextBytes: 0,
      declaredBinaryBytes: 0,
    });
  });

  test("what binary sections declare", () => {
    expect(measure("literal 10\nx\n\ndelta 5\n+literal 7\n").declaredBinaryBytes).toBe(15);
  });
});

describe("limits are named, with both numbers", () => {
  const limits = {
    patchLineBytes: 10,
    patchPaths: 2,
    allPatchPaths: 3,
    allAddedTextBytes: 20,
    allDeclaredBinaryBytes: 30,
  };
  const sizes = (more: Partial<MailSizes>): MailSizes => ({
    paths: 1,
    longestLineBytes: 1,
    addedTextBytes: 1,
    declaredBinaryBytes: 1,
    ...more,
  });

  test.each([
    [{ longestLineBytes: 11 }, "patches/0001-x.patch has a line of 11 bytes; the limit is 10."],
    [{ paths: 3 }, "patches/0001-x.patch touches 3 paths; the limit is 2."],
  ])("of one patch: %j", (more, message) => {
    expect(refuseMailSizes(sizes(more), "0001-x.patch", limits)).toMatchObject({
      error: { code: "bad-patches", message },
    });
  });

  test.each([
    [{ paths: 2 }, "The 2 patches touch 4 paths together; the limit is 3."],
    [{ addedTextBytes: 11 }, "The 2 patches add 22 bytes of text together; the limit is 20."],
    [
      { declaredBinaryBytes: 16 },
      "The 2 patches declare 32 bytes of binary content together; the limit is 30.",
    ],
  ])("of a series: %j", (more, message) => {
    expect(refuseSeriesSizes([sizes(more), sizes(more)], limits)).toMatchObject({
      error: { code: "bad-patches", message },
    });
  });

  test("what just fits is let through", () => {
    const most = { paths: 2, longestLineBytes: 10, addedTextBytes: 20, declaredBinaryBytes: 30 };
    expect(refuseMailSizes(most, "0001-x.patch", limits).ok).toBe(true);
    expect(refuseSeriesSizes([most], limits).ok).toBe(true);
  });
});
