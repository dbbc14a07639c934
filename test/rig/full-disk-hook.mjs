// Loaded into guardloop by `node --import`: files whose names the regular expression FULL_FILES matches are opened on a
// device that takes nothing.
import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";

const full = new RegExp(process.env.FULL_FILES);
const { open } = promises;
promises.open = (path, ...rest) => open(full.test(String(path)) ? "/dev/full" : path, ...rest);
syncBuiltinESMExports();
