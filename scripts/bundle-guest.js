// Bundles what runs inside containers, each into one file without dependencies: the image need not be ours.
import { build } from "esbuild";

const bundles = {
  "dist/guest/guest.mjs": "src/guest/main.ts",
  "dist/selftest/probe.mjs": "src/selftest/probe/main.ts",
};

for (const [outfile, entry] of Object.entries(bundles))
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: "node",
    target: "node18",
    format: "esm",
    legalComments: "none",
  });
