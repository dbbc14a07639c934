import { mkdtempSync, rmSync } from "node:fs";
import { type IncomingMessage, type RequestListener, createServer, request } from "node:http";
import { type AddressInfo, type Socket, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProxySettings } from "../../src/core/environment.ts";
import type { EgressEntry } from "../../src/core/egress.ts";
import type { ProviderName } from "../../src/core/network.ts";
import { type Result, err, ok } from "../../src/core/result.ts";
import type { GatewayLimits } from "../../src/gateway/limits.ts";
import { openModelGateway } from "../../src/gateway/model-gateway.ts";
import type {
  Asked,
  Credential,
  CredentialValue,
  LimitSeen,
  Meter,
  OpenGateway,
  Used,
} from "../../src/gateway/port.ts";

export const SECRET = "real-secret-5f0c2e";
export const NO_PROXY: ProxySettings = {
  httpsProxy: undefined,
  httpProxy: undefined,
  noProxy: "",
  caFiles: [],
};

export function directory(): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), "gg-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** A server that a test scripts, and what came to it. */
export async function upstream(answer: RequestListener) {
  const received: Received[] = [];
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      received.push({
        method: incoming.method ?? "",
        url: incoming.url ?? "",
        headers: incoming.headers,
        body: Buffer.concat(chunks).toString(),
      });
      answer(incoming, response);
    });
    incoming.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    received,
    port,
    address: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose](): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function answering(json: unknown, status = 200): RequestListener {
  return (_request, response) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(json));
  };
}

/** The frames are written one by one, as they are. */
export function streaming(...frames: readonly (string | Buffer)[]): RequestListener {
  return (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const frame of frames) response.write(frame);
    response.end();
  };
}

/** A meter that says yes until it is told otherwise, and what it was told. */
export function meter() {
  const asked: Asked[] = [];
  const used: Used[] = [];
  const limits: LimitSeen[] = [];
  let withdrawn = 0;
  const state = {
    refusal: undefined as string | undefined,
    exhausted: undefined as string | undefined,
  };
  const port: Meter = {
    admit: (one): ReturnType<Meter["admit"]> => {
      if (state.refusal !== undefined) return err(state.refusal);
      asked.push(one);
      return ok({
        used: (use) => {
          used.push(use);
          return use.tokens === null ? null : 0.25;
        },
        withdrawn: () => void (withdrawn += 1),
      });
    },
    sawLimit: (limit) => void limits.push(limit),
    exhausted: () => state.exhausted,
  };
  return { port, asked, used, limits, state, withdrawn: () => withdrawn };
}

export function credential(value: Result<CredentialValue, string> = ok(keyOf(SECRET))): Credential {
  return { shown: "env:TEST", value: () => Promise.resolve(value), secrets: () => [SECRET] };
}

function keyOf(secret: string): CredentialValue {
  return { kind: "key", secret, headers: {} };
}

export interface GatewayRig extends AsyncDisposable {
  readonly gateway: OpenGateway;
  readonly socketPath: string;
  readonly entries: readonly EgressEntry[];
  readonly meter: ReturnType<typeof meter>;
  /** Resolves with the entries when there are so many. */
  readonly recorded: (count: number) => Promise<readonly EgressEntry[]>;
}

export interface RigOptions {
  readonly provider?: ProviderName;
  readonly serverTools?: readonly string[];
  readonly maxRequestBytes?: number;
  readonly credential?: Credential | undefined;
  readonly proxy?: ProxySettings;
  readonly limits?: Partial<GatewayLimits>;
  readonly now?: () => Date;
}

/** @param address base address of the upstream. */
export async function gateway(address: string, options: RigOptions = {}): Promise<GatewayRig> {
  const place = directory();
  const entries: EgressEntry[] = [];
  const waiting: (() => void)[] = [];
  const counted = meter();
  const opened = await openModelGateway({
    spec: {
      provider: options.provider ?? "openai",
      upstream: address,
      serverTools: options.serverTools ?? [],
      maxRequestBytes: options.maxRequestBytes ?? 1024 * 1024,
    },
    directory: place.path,
    credential: "credential" in options ? options.credential : credential(),
    meter: counted.port,
    sink: {
      add: (entry) => {
        entries.push(entry);
        for (const look of waiting) look();
      },
    },
    proxy: options.proxy ?? NO_PROXY,
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    ...(options.now === undefined ? {} : { now: options.now }),
  });
  if (!opened.ok) throw new Error(opened.error.message);
  return {
    gateway: opened.value,
    socketPath: opened.value.socketPath,
    entries,
    meter: counted,
    recorded: (count) =>
      new Promise((resolve) => {
        const look = (): void => void (entries.length >= count && resolve(entries));
        waiting.push(look);
        look();
      }),
    async [Symbol.asyncDispose](): Promise<void> {
      await opened.value[Symbol.asyncDispose]();
      place[Symbol.dispose]();
    },
  };
}

export interface Call {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface Got {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** A request as a client behind the relay makes it. */
export function ask(socketPath: string, call: Call = {}): Promise<Got> {
  const { method = "POST", path = "/v1/responses", headers = {} } = call;
  const body = call.body ?? (method === "POST" ? "{}" : undefined);
  return new Promise((resolve, reject) => {
    const host = "127.0.0.1:41080";
    const isSized = body !== undefined && headers["transfer-encoding"] === undefined;
    const length = !isSized ? {} : { "content-length": Buffer.byteLength(body) };
    const sent = request(
      { socketPath, method, path, headers: { host, ...length, ...headers }, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks).toString(),
          }),
        );
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

/** The sentence of an answer of the gateway's own. */
export function sentence(got: Pick<Got, "body">): string {
  return (JSON.parse(got.body) as { error: { message: string } }).error.message;
}

/** Sends bytes as they are and gives what came back until the connection's end. */
export function raw(socketPath: string, bytes: string | Buffer): Promise<string> {
  return new Promise((resolve) => {
    const socket: Socket = connect(socketPath);
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(Buffer.concat(chunks).toString("latin1")));
    socket.write(bytes);
  });
}

/** Something that one side of a test waits for and the other side says. */
export function signal(): { readonly given: Promise<void>; readonly give: () => void } {
  let give: () => void = () => undefined;
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { given, give: () => give() };
}
