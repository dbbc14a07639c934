import { SECTIONS, SETTINGS } from "./table.ts";
import { toToml } from "./written.ts";

const HEAD = `# guardloop.toml: settings of this repository, see docs/configuration.md.
# Every line below shows a default; take the # away and change the value.
# A value marked "needs trust" opens the boundary around the agent: from this file it counts only
# after \`guardloop trust\`, while flags and your own configuration file need no trust.
`;

/** The guardloop.toml that `guardloop init` writes: every setting, commented out, with its default. */
export function initialToml(): string {
  const sections = Object.entries(SECTIONS).map(([section, description]) => {
    const settings = SETTINGS.filter((setting) => setting.section === section).map((setting) => {
      const trust = setting.loosensWhen === null ? "" : ` Needs trust ${setting.loosensWhen}.`;
      const line = `#${setting.name} = ${toToml(setting.standard)}`;
      return `# ${setting.description}${trust}\n${line}\n`;
    });
    return `\n# ${description}\n[${section}]\n${settings.join("")}`;
  });
  return HEAD + sections.join("");
}
