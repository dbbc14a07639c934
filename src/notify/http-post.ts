import { setTimeout as delay } from "node:timers/promises";
import { type Result, err, ok } from "../core/result.ts";
import type { Channel, Notification } from "./notification.ts";

const ATTEMPT_MS = 10_000;
/** Before the second and the third attempt; a night's notification is worth two more tries. */
const WAITS_MS = [1_000, 4_000] as const;

/**
 * An HTTP POST of the notification as JSON. Its `text` is title and message together, which is what chat services'
 * incoming webhooks show. Redirects are not followed: they would send it to an address that nobody configured.
 * Refused connections and the answers 429 and 5xx are tried three times. Proxy variables are not honoured.
 *
 * @param url without user name and password. Its path is often the secret of the webhook and is in no message.
 */
export function postChannel(url: URL): Channel {
  const name = `notify.url (${url.host})`;
  return {
    name,
    async send(notification) {
      let problem = await attempt(url, notification);
      for (const waitMs of WAITS_MS) {
        if (problem === undefined || problem.again === "no") break;
        await delay(waitMs);
        problem = await attempt(url, notification);
      }
      return problem === undefined ? ok(undefined) : err(`${name} ${problem.said}.`);
    },
  };
}

interface Problem {
  /** Completes the sentence. */
  readonly said: string;
  readonly again: "yes" | "no";
}

async function attempt(url: URL, notification: Notification): Promise<Problem | undefined> {
  const answered = await post(url, notification);
  if (!answered.ok) return { said: `could not be reached (${answered.error})`, again: "yes" };
  const status = answered.value;
  if (status >= 200 && status < 300) return undefined;
  if (status >= 300 && status < 400)
    return { said: `answered with a redirect (${status}), which is not followed`, again: "no" };
  const again = status === 429 || status >= 500 ? "yes" : "no";
  return { said: `answered with status ${status}`, again };
}

async function post(url: URL, notification: Notification): Promise<Result<number, string>> {
  const text = `${notification.title}: ${notification.message} ${notification.next}`;
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", "user-agent": "guardloop" },
      body: JSON.stringify({ ...notification, text }),
      redirect: "manual",
      signal: AbortSignal.timeout(ATTEMPT_MS),
    });
    // Nothing in the answer is of interest, and it may be endless.
    await response.body?.cancel();
    return ok(response.status);
  } catch (error) {
    return err(reasonOf(error));
  }
}

/** Node's fetch says "fetch failed" and puts the reason into the cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "no answer";
  if (error.name === "TimeoutError") return `no answer within ${ATTEMPT_MS / 1000} seconds`;
  const { cause } = error;
  if (cause instanceof Error && "code" in cause && typeof cause.code === "string")
    return cause.code;
  return error.name;
}
