/** What the model says and does in answer to one request; at most one of `run` and `write`. */
export interface ModelStep {
  readonly think?: string;
  readonly say?: string;
  /** A shell command for the agent's shell tool (`exec_command`, `Bash`). */
  readonly run?: string;
  /** A new file for the agent's editing tool (`apply_patch`, `Write`); an absolute path. */
  readonly write?: { readonly path: string; readonly content: string };
  /** Refuse the request with this HTTP status; `say` is the message. */
  readonly status?: number;
  /** Never answer. */
  readonly hang?: true;
  /** Break the connection after the first event. */
  readonly cut?: true;
}

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  /** The `authorization` header. */
  readonly authorization: string | null;
  /** The `x-api-key` header. */
  readonly apiKey: string | null;
  /** True for an attempt to open a WebSocket, which is always refused. */
  readonly upgrade: boolean;
  /** The JSON body; null when there is none. */
  readonly body: unknown;
}

export interface ModelApi {
  readonly port: number;
  readonly requests: readonly SeenRequest[];
  close(): Promise<void>;
}

/**
 * Starts the scripted model API: `POST …/responses` (OpenAI) and `POST …/messages` (Anthropic), both streaming.
 * A request that carries N tool results gets step N, the last step when there are fewer; one that offers
 * no tools gets the text `ok`. No credential is checked.
 */
export function startModelApi(options: {
  readonly steps: readonly ModelStep[];
  /** 0, the default, takes a free one. */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  readonly onRequest?: (request: SeenRequest) => void;
}): Promise<ModelApi>;
