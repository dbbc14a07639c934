import { expect, test } from "vitest";
import { initialToml } from "../../src/config/initial-toml.ts";
import { SETTINGS } from "../../src/config/table.ts";
import { loaded } from "./load-rig.ts";

/** A setting has no space behind its #; a sentence has one. */
function uncommented(): string {
  return initialToml().replaceAll(/^#(?=\w)/gm, "");
}

test("the initial file changes nothing and gives no notice", () => {
  const resolved = loaded({ repository: initialToml() });
  expect(resolved.settings).toEqual(loaded({}).settings);
  expect(resolved.origins.every(({ origin }) => origin === "default")).toBe(true);
  expect(resolved.notices).toEqual([]);
});

test("with every line uncommented it sets every setting, to its default, without need of trust", () => {
  const resolved = loaded({ repository: uncommented() });
  expect(resolved.settings).toEqual(loaded({}).settings);
  expect(resolved.origins.filter(({ origin }) => origin !== "repository file")).toEqual([]);
  expect(resolved.origins).toHaveLength(SETTINGS.length);
  expect(resolved.notices).toEqual([]);
});

test("every setting is described, and its lines fit on a screen", () => {
  const text = initialToml();
  for (const setting of SETTINGS) expect(text).toContain(`# ${setting.description}`);
  const long = text.split("\n").filter((line) => line.length > 120);
  expect(long).toEqual([]);
});
