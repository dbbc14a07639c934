import { expect, test } from "vitest";
import { readDevcontainer } from "../../src/engine/image/devcontainer.ts";

const PATH = ".devcontainer/devcontainer.json";

test("an image is taken from a file with comments and commas too many", () => {
  const text = `// A comment
{
  /* "image": "not-this" */
  "name": "A // name, with } and ]",
  "image": "mcr.microsoft.com/devcontainers/base:bookworm", // the base
  "features": { "ghcr.io/devcontainers/features/node:1": {}, },
  "postCreateCommand": "npm ci",
}
`;

  expect(readDevcontainer(text, PATH)).toEqual({
    ok: true,
    value: {
      kind: "image",
      image: "mcr.microsoft.com/devcontainers/base:bookworm",
      ignored: ["features", "postCreateCommand"],
    },
  });
});

test.each([
  [PATH, "Dockerfile", undefined, ".devcontainer/Dockerfile", ".devcontainer"],
  [PATH, "../docker/Dockerfile", "..", "docker/Dockerfile", "."],
  [".devcontainer.json", "Dockerfile", undefined, "Dockerfile", "."],
])(
  "in %s a Dockerfile %s with the context %s is %s in %s",
  (path, dockerfile, context, file, at) => {
    const build = { dockerfile, context, args: { VARIANT: "bookworm" }, target: "dev" };

    expect(readDevcontainer(JSON.stringify({ build }), path)).toEqual({
      ok: true,
      value: {
        kind: "dockerfile",
        dockerfile: file,
        context: at,
        target: "dev",
        args: { VARIANT: "bookworm" },
        ignored: [],
      },
    });
  },
);

test.each([
  ["{", /not a JSON object/],
  ["[]", /not a JSON object/],
  ['{"name":"x"}', /neither an image nor a Dockerfile/],
  ['{"image":"--privileged"}', /not a plain name/],
  ['{"image":"a:${localEnv:TAG}"}', /not a plain name/],
  ['{"dockerComposeFile":"compose.yml","service":"app"}', /Docker Compose/],
  ['{"build":{"dockerfile":"../../elsewhere"}}', /outside of the repository/],
  ['{"build":{"dockerfile":"/etc/passwd"}}', /outside of the repository/],
  ['{"build":{"dockerfile":"Dockerfile","context":"../.."}}', /outside of the repository/],
  ['{"build":{"dockerfile":"Dockerfile","args":{"A B":"x"}}}', /build\.args/],
  ['{"build":{"dockerfile":"Dockerfile","target":"--x"}}', /build\.target/],
])("%s is refused", (text, problem) => {
  const read = readDevcontainer(text, PATH);
  expect(read.ok ? "" : read.error).toMatch(problem);
});
