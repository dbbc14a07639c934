export interface RelayPlace {
  /** On 127.0.0.1. */
  readonly port: number;
  /** Absolute path of the Unix socket that is mounted. */
  readonly socket: string;
}

/** The command line of a relay: `node guest.cjs relay PORT SOCKET`. */
export function relayArguments({ port, socket }: RelayPlace): readonly string[] {
  return ["relay", String(port), socket];
}

/** What a command line asks for; undefined where it is not one of a relay. */
export function askedRelay(words: readonly string[]): RelayPlace | undefined {
  const [verb, port = "", socket = ""] = words;
  return verb === "relay" ? { port: Number(port), socket } : undefined;
}
