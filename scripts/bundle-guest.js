// Bundles what runs by itself, each into one file without dependencies: inside containers, whose image need not be ours,
// and in the background.
import { rmSync } from "node:fs";
import { build } from "esbuild";

const bundles = {
  // Not a module: Node starts a script in half of the time, and everything waits for the guest.
  "dist/guest/guest.cjs": { entry: "src/guest/main.ts", format: "cjs" },
  "dist/selftest/probe.mjs": { entry: "src/selftest/probe/main.ts", format: "esm" },
  "dist/remover/remover.mjs": { entry: "src/remover/main.ts", format: "esm" },
};

// The whole directory is packed, with whatever an earlier build left in it.
rmSync("dist/guest", { recursive: true, force: true });

for (const [outfile, { entry, format }] of Object.entries(bundles))
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: "node",
    target: "node18",
    format,
    legalComments: "none",
  });
