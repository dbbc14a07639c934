import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { SETTINGS } from "../../src/config/table.ts";
import { toToml } from "../../src/config/written.ts";

const document = await readFile(new URL("../../docs/configuration.md", import.meta.url), "utf8");

/** Rows of the tables of settings, cell by cell, without the padding. */
function rows(): readonly (readonly string[])[] {
  return document
    .split("\n")
    .filter((line) => /^\| `[a-z_]+\.[a-z_]+`/.test(line))
    .map((line) =>
      line
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim()),
    );
}

test("docs/configuration.md has a row for every setting that says what the table says, and no other", () => {
  const expected = SETTINGS.map((setting) => [
    `\`${setting.key}\``,
    `\`${toToml(setting.standard)}\``,
    `\`${setting.guard}\``,
    `\`${"sets" in setting.flag ? setting.flag.name : `${setting.flag.name} ${setting.flag.takes}`}\``,
    setting.loosensWhen ?? "no",
    setting.description,
  ]);
  expect(rows()).toEqual(expected);
});

test("every GUARD_ name the document mentions is a setting", () => {
  const names: readonly string[] = SETTINGS.map((setting) => setting.guard);
  const mentioned = new Set(document.match(/\bGUARD_[A-Z_]*[A-Z]\b/g));
  expect([...mentioned].filter((name) => !names.includes(name))).toEqual([]);
  expect(mentioned.size).toBe(names.length);
});
