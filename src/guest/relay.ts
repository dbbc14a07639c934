import { type Socket, connect, createServer } from "node:net";
import type { RelayPlace } from "./relay-arguments.ts";

/** Of one relay at a time. Programs keep a handful; more of them is a program gone wild, and is not let in. */
const MAX_CONNECTIONS = 256;

/**
 * Passes connections to 127.0.0.1 on to a Unix socket: programs want an address with a host and a port. It is the whole of
 * a process, which ends with an error when the port cannot be had.
 *
 * @param onListening called when the port takes connections.
 */
export function runRelay({ port, socket }: RelayPlace, onListening: () => void): void {
  const server = createServer({ allowHalfOpen: true }, (client) => {
    join(client, connect({ path: socket, allowHalfOpen: true }));
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.listen(port, "127.0.0.1", onListening);
}

/** Each direction ends by itself, and a slow reader is waited for. What breaks one side breaks the other. */
function join(client: Socket, upstream: Socket): void {
  client.setNoDelay(true);
  client.on("error", () => upstream.destroy());
  upstream.on("error", () => client.destroy());
  client.pipe(upstream);
  upstream.pipe(client);
}
