import { type Dispatcher, request } from "undici";
import { z } from "zod";
import { errnoOf } from "../../core/errno.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { RenewedTokens } from "./codex-auth-file.ts";
import { secretIn } from "./secret-text.ts";

/** Where a login is renewed. */
export interface RefreshEndpoint {
  readonly tokenUrl: string;
  /** How connections are made, for example through a proxy; undici's own way where it is missing. */
  readonly dispatcher?: Dispatcher;
}

/** As in codex-rs/login/src/auth/manager.rs: address and client belong to the Codex CLI, whose login it is. */
export const CODEX_REFRESH: RefreshEndpoint = { tokenUrl: "https://auth.openai.com/oauth/token" };
const CLIENT_ID = "app_EMoamEEZ73f0CkXaXp7hrann";

const DEADLINE_MS = 30_000;
const MOST_BYTES = 256 * 1024;

/** `refused`: for good, only a new login helps. `unreachable`: it may be tried again. */
export interface RefreshProblem {
  readonly kind: "refused" | "unreachable";
  /** In words of our own: the answer could quote the token. */
  readonly said: string;
}

const REFUSALS = ["refresh_token_expired", "refresh_token_reused", "refresh_token_invalidated"];

const renewal = z.object({
  access_token: z.string().refine((token) => secretIn(token).ok),
  refresh_token: z.string().min(1).nullish(),
  id_token: z.string().min(1).nullish(),
});

/** Uses the refresh token up for new tokens. Redirects are not followed. Not to be called twice with the same token. */
export async function refreshCodex(
  refreshToken: string,
  endpoint: RefreshEndpoint,
): Promise<Result<RenewedTokens, RefreshProblem>> {
  const answer = await ask(refreshToken, endpoint);
  if (!answer.ok) return err({ kind: "unreachable", said: answer.error });
  const { status, json } = answer.value;
  if (status !== 200) return err(refusalOf(status, json));
  const tokens = renewal.safeParse(json);
  if (!tokens.success)
    return err({ kind: "unreachable", said: "the answer holds no usable tokens" });
  const { access_token: accessToken, refresh_token: next, id_token: idToken } = tokens.data;
  return ok({ accessToken, refreshToken: next ?? undefined, idToken: idToken ?? undefined });
}

interface Answer {
  readonly status: number;
  readonly json: unknown;
}

async function ask(
  refreshToken: string,
  { tokenUrl, dispatcher }: RefreshEndpoint,
): Promise<Result<Answer, string>> {
  try {
    const response = await request(tokenUrl, {
      method: "POST",
      headers: { "content-type": "application/json", "user-agent": "guardloop" },
      body: JSON.stringify({
        client_id: CLIENT_ID,
        grant_type: "refresh_token",
        refresh_token: refreshToken,
      }),
      signal: AbortSignal.timeout(DEADLINE_MS),
      ...(dispatcher === undefined ? {} : { dispatcher }),
    });
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of response.body) {
      const bytes = Buffer.from(chunk);
      size += bytes.length;
      if (size > MOST_BYTES) return err("the answer is too long");
      chunks.push(bytes);
    }
    return ok({ status: response.statusCode, json: parsed(Buffer.concat(chunks)) });
  } catch (error) {
    const timedOut = error instanceof Error && error.name === "TimeoutError";
    return err(timedOut ? "no answer within 30 seconds" : errnoOf(error));
  }
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}

const errorCode = z.union([
  z.object({ error: z.object({ code: z.string() }) }).transform(({ error }) => error.code),
  z.object({ error: z.string() }).transform(({ error }) => error),
  z.object({ code: z.string() }).transform(({ code }) => code),
]);

function refusalOf(status: number, json: unknown): RefreshProblem {
  const code = errorCode.safeParse(json);
  const known = REFUSALS.find((one) => code.success && code.data === one);
  const kind = known !== undefined || status === 400 || status === 401 ? "refused" : "unreachable";
  return { kind, said: known ?? `status ${status}` };
}
