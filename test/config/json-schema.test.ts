import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { jsonSchema } from "../../src/config/json-schema.ts";

const PATH = fileURLToPath(new URL("../../schema/guardloop.schema.json", import.meta.url));

/** To write the file anew: UPDATE_SCHEMA=1 npx vitest run test/config/json-schema.test.ts && npx oxfmt schema */
test("schema/guardloop.schema.json is what the table of settings gives", async () => {
  if (process.env["UPDATE_SCHEMA"] === "1")
    await writeFile(PATH, `${JSON.stringify(jsonSchema(), null, 2)}\n`);
  expect(JSON.parse(await readFile(PATH, "utf8"))).toEqual(jsonSchema());
});

test("the schema refuses unknown sections and keys, and names the choices", () => {
  const schema = jsonSchema();
  expect(schema).toMatchObject({
    additionalProperties: false,
    properties: {
      network: {
        additionalProperties: false,
        properties: {
          mode: { type: "string", enum: ["none", "gateway", "bridge"], default: "none" },
        },
      },
      container: {
        properties: {
          memory: { type: "string", pattern: expect.any(String), default: "4g" },
          pids: { type: "integer", minimum: 16, maximum: 4_194_304 },
        },
      },
      agent: { properties: { pass_env: { type: "array", items: { type: "string" } } } },
    },
  });
});
