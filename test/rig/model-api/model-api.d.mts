/** What the model says and does in answer to one request; at most one of `run` and `write`. */
export interface ModelStep {
  readonly think?: string;
  readonly say?: string;
  /** A shell command for the agent's shell tool (`exec_command`, `Bash`, `run_shell_command`, `bash`). */
  readonly run?: string;
  /** A new file for the agent's editing tool (`apply_patch`, `Write`, `write_file`, `write`); an absolute path. */
  readonly write?: { readonly path: string; readonly content: string };
  /** Refuse the request with this HTTP status; `say` is the message. */
  readonly status?: number;
  /** With `status`: further headers of the answer, for example `retry-after`. */
  readonly headers?: Readonly<Record<string, string>>;
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
  /** The `x-api-key` or `x-goog-api-key` header. */
  readonly apiKey: string | null;
  /** True for an attempt to open a WebSocket, which is always refused. */
  readonly upgrade: boolean;
  /** The JSON body; null when there is none. */
  readonly body: unknown;
}

export interface ModelApi {
  readonly port: number;
  /** Scheme, host and port; each API's own paths follow. */
  readonly url: string;
  readonly requests: readonly SeenRequest[];
  close(): Promise<void>;
}

/**
 * Starts the scripted model API, all of it streaming: `POST …/responses` and `…/chat/completions` (OpenAI), `…/messages`
 * (Anthropic), `…/models/NAME:streamGenerateContent` (Gemini). A request gets the step after those that it shows to be
 * answered: it carries a tool result for each, or its words where it was words alone (which must differ from step to
 * step); the last step when there are no more. One that offers no tools gets the text `ok`. No credential is checked.
 */
export function startModelApi(options: {
  readonly steps: readonly ModelStep[];
  /** 0, the default, takes a free one. */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  readonly onRequest?: (request: SeenRequest) => void;
}): Promise<ModelApi>;
