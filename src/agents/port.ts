import type { AgentName } from "../core/agent-name.ts";
import type { ProviderName } from "../core/network.ts";

/** What an agent's event stream is turned into, for the log and for people. */
export type AgentEvent =
  | { readonly type: "session"; readonly id: string; readonly model: string | null }
  | { readonly type: "message"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  /** A shell command, or another tool of the agent: its name and what it was called with. */
  | { readonly type: "command"; readonly command: string }
  /** The exit code is null where the agent does not tell it. */
  | { readonly type: "command-result"; readonly exitCode: number | null; readonly output: string }
  /** As the agent tells it: `change` is usually add, update or delete. The truth is in the snapshot. */
  | { readonly type: "file-change"; readonly path: string; readonly change: string }
  /** As the agent reports it at the end of a turn. `inputTokens` includes `cachedInputTokens`. */
  | {
      readonly type: "usage";
      readonly inputTokens: number;
      readonly cachedInputTokens: number;
      readonly outputTokens: number;
      readonly costUsd: number | null;
    }
  /** `cause`, where it is sure: the model API's limit or overload, or that it refused the credential. */
  | {
      readonly type: "error";
      readonly text: string;
      readonly cause?: "rate-limit" | "authentication";
    }
  /** A line that is not an event the adapter knows, as it came. */
  | { readonly type: "output"; readonly text: string };

/** The gateway, as the agent sees it in its container. */
export interface ModelApi {
  readonly provider: ProviderName;
  /** Scheme, host and port: `http://127.0.0.1:41080`. The upstream's own paths below its base address follow. */
  readonly origin: string;
  /** Stands in for the key, which never enters the container. */
  readonly placeholderKey: string;
}

export interface LaunchRequest {
  /** Path of the prompt file in the container. */
  readonly promptPath: string;
  /** The prompt's text, for agents that take it as an argument or on standard input. */
  readonly prompt: string;
  readonly model: string | undefined;
  /** In the network mode `gateway`; undefined in the others. */
  readonly modelApi?: ModelApi | undefined;
  /** Tools that the provider runs on its side and the gateway lets through, by their names; the agent is told of no other. */
  readonly serverTools?: readonly string[];
  /** What follows `--`: the command of `--agent command`, or extra arguments for the others. */
  readonly extraArgs: readonly string[];
}

/** How an agent is started in the container. No secret is in it. */
export interface Launch {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Files below HOME written before the start: relative path to content. */
  readonly homeFiles: Readonly<Record<string, string>>;
  /** Why its own sandbox is off, in one sentence for the record; missing where the program has none. */
  readonly innerSandbox?: string;
}

export interface AgentAdapter {
  readonly name: AgentName;
  /** `hosted`: needs a model API, so it is refused on network `none`. */
  readonly kind: "local" | "hosted";
  /**
   * `environment`: it hides the user's own Git configuration from the commands it runs, so that they need the identity in
   * their environment. Missing: the configuration in its home does.
   */
  readonly gitIdentity?: "environment";
  /** Model APIs it can work with through the gateway, the usual one first; empty for a local agent. */
  readonly providers: readonly ProviderName[];
  /** Variables a hosted agent commonly needs; named in the message that refuses it without them. */
  readonly credentialNames: readonly string[];
  /** Prints the program's version in its first line and ends, in the container. Empty where there is no such call. */
  readonly versionArgv: readonly string[];
  launch(request: LaunchRequest): Launch;
  /**
   * The argv that goes on with the newest session of this home, with `request.prompt` as the next message; missing where
   * the agent cannot resume. Environment and home files stay those of `launch`.
   */
  resume?(request: LaunchRequest): readonly string[];
  /** A parser with its own state: one line of standard output in, events out. Never throws. */
  parser(): (line: string) => readonly AgentEvent[];
}
