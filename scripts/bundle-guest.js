// Bundles the guest into one file without dependencies: it is mounted into containers whose image is not ours.
import { build } from "esbuild";

await build({
  entryPoints: ["src/guest/main.ts"],
  outfile: "dist/guest/guest.mjs",
  bundle: true,
  platform: "node",
  target: "node18",
  format: "esm",
  legalComments: "none",
});
