import { chmod } from "node:fs/promises";
import type { Server } from "node:net";
import { errnoOf } from "../core/errno.ts";
import { type Result, err, ok } from "../core/result.ts";

/**
 * Listens on a Unix socket. Connecting takes write permission on its file, and the container's user is another than ours:
 * the directory keeps the other users of the host out.
 *
 * @returns the system's name of the problem; the server is closed then.
 */
export async function listenOnSocket(server: Server, path: string): Promise<Result<void, string>> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(path, () => {
        server.off("error", reject);
        resolve();
      });
    });
    await chmod(path, 0o666);
    return ok(undefined);
  } catch (error) {
    server.close();
    return err(errnoOf(error));
  }
}
