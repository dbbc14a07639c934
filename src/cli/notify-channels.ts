import type { Settings } from "../config/settings.ts";
import type { Failure } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import { commandChannel } from "../notify/command.ts";
import { postChannel } from "../notify/http-post.ts";
import type { History } from "../history/port.ts";
import type { Channel } from "../notify/notification.ts";
import { notifyTarget } from "../notify/target.ts";
import type { Progress } from "../run/services.ts";
import { type Notifier, notifier } from "../run/watching/notifier.ts";
import type { Context } from "./context.ts";

/** The ways that the settings name. A wrong address is refused here, before a night begins in which nobody is told. */
export function notifyChannels(
  context: Context,
  { notify }: Settings,
): Result<readonly Channel[], Failure> {
  const channels: Channel[] = [];
  const { output, env } = context;
  if (notify.bell === "on")
    channels.push({
      name: "notify.bell",
      async send() {
        output.bell();
        return ok(undefined);
      },
    });
  const [program, ...args] = notify.command;
  if (program !== undefined) {
    const base = { PATH: env.path, HOME: env.home, USER: env.user, ...env.desktop };
    channels.push(commandChannel([program, ...args], { base, cwd: env.home }));
  }
  if (notify.url !== undefined) {
    const target = notifyTarget(notify.url, env.read);
    if (!target.ok) return target;
    channels.push(postChannel(target.value));
  }
  return ok(channels);
}

/** Whoever is to be told; what did not arrive is a note among the others. */
export function notifierFor(
  context: Context,
  at: { readonly history: History; readonly settings: Settings },
  report: (progress: Progress) => void,
): Result<Notifier, Failure> {
  const channels = notifyChannels(context, at.settings);
  if (!channels.ok) return channels;
  const request = {
    channels: channels.value,
    kinds: at.settings.notify.on,
    history: at.history,
    stateDir: context.env.stateDir,
    now: context.now,
    signal: context.interrupt,
    onProblem: (text: string) => report({ type: "notice", runId: null, text }),
  };
  return ok(notifier(request));
}
