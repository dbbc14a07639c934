import { expect, test } from "vitest";
import { SECTIONS, SETTINGS } from "../../src/config/table.ts";

test("keys, GUARD_ names and flags are each given once", () => {
  for (const names of [
    SETTINGS.map((setting) => setting.key),
    SETTINGS.map((setting) => setting.guard),
    SETTINGS.map((setting) => setting.flag.name),
  ])
    expect(new Set(names).size).toBe(SETTINGS.length);
});

test("settings of a section stand together, in the sections' order", () => {
  const sections = SETTINGS.map((setting) => setting.section);
  const order = Object.keys(SECTIONS);
  expect([...new Set(sections)]).toEqual(order);
  expect(sections).toEqual(sections.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)));
});

test("no default loosens the boundary", () => {
  expect(SETTINGS.filter((setting) => setting.loosens(setting.standard))).toEqual([]);
});
