import type { Result } from "../core/result.ts";

/** What a person is told without looking: a result is ready, a run failed, or something waits for them. */
export const NOTIFICATION_KINDS = ["ready", "failed", "waiting"] as const;
export type NotificationKind = (typeof NOTIFICATION_KINDS)[number];

/** One notification. All texts are one line, bounded, with steering characters made visible. */
export interface Notification {
  readonly version: 1;
  readonly kind: NotificationKind;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** Name of the repository's directory; never its path, since this may leave the machine. */
  readonly repository: string;
  readonly run: string | null;
  readonly task: string | null;
  readonly branch: string | null;
  /** The failure's code; null when nothing failed. */
  readonly code: string | null;
  /** A few words: `guardloop: T1 is ready`. */
  readonly title: string;
  /** One or two sentences. */
  readonly message: string;
  /** The command to type next. */
  readonly next: string;
}

/**
 * A way to reach a person.
 *
 * `send` may be called several times at once, is bounded in time by itself, never throws, and its error is one
 * sentence that names the way but no secret of it.
 */
export interface Channel {
  readonly name: string;
  readonly send: (notification: Notification) => Promise<Result<void, string>>;
}
