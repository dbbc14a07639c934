// Bundles what runs by itself, each into one file without dependencies: inside containers, whose image need not be ours,
// and in the background.
import { build } from "esbuild";

const bundles = {
  "dist/guest/guest.mjs": "src/guest/main.ts",
  "dist/selftest/probe.mjs": "src/selftest/probe/main.ts",
  "dist/remover/remover.mjs": "src/remover/main.ts",
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
