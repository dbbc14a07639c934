import { z } from "zod";
import { type AnySetting, SECTIONS, SETTINGS } from "./table.ts";

/**
 * The JSON schema of guardloop.toml for editors (schema/guardloop.schema.json). It lets through a little more than
 * guardloop does: some rules, such as paths that may not lead out of the repository, cannot be said in it.
 */
export function jsonSchema(): Record<string, unknown> {
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "guardloop.toml",
    description: "Settings of guardloop for one repository.",
    type: "object",
    additionalProperties: false,
    properties: Object.fromEntries(
      Object.entries(SECTIONS).map(([section, description]) => [
        section,
        {
          description,
          type: "object",
          additionalProperties: false,
          properties: Object.fromEntries(
            SETTINGS.filter((setting) => setting.section === section).map((setting) => [
              setting.name,
              property(setting),
            ]),
          ),
        },
      ]),
    ),
  };
}

function property(setting: AnySetting): Record<string, unknown> {
  const { $schema: _, ...value } = z.toJSONSchema(setting.schema, {
    io: "input",
    target: "draft-7",
  });
  return { description: setting.description, default: setting.standard, ...value };
}
