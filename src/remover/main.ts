// Removes what other commands have put into the trash of a state directory. Started detached by them, bundled into one
// file so that it starts fast; it may be killed at any time, and the next one goes on. Ends when the trash is empty, or at
// once while another one is at work. Arguments: the state directory, and the host's name as locks have it.
import { constants, setPriority } from "node:os";
import { errnoOf } from "../core/errno.ts";
import { emptyTrash } from "../files/trash.ts";
import { ownerOf } from "../process/owner.ts";

const [stateDir, host] = process.argv.slice(2);

try {
  setPriority(constants.priority.PRIORITY_LOW);
} catch {
  // It is slower for others then, and no less right.
}

if (stateDir === undefined || host === undefined)
  throw new Error("The remover is told the state directory and the host's name.");
try {
  await emptyTrash(stateDir, ownerOf(process.pid, host));
} catch (error) {
  // The state directory itself is gone, and the trash with it.
  if (errnoOf(error) !== "ENOENT") throw error;
}
