import type { Settings } from "../config/settings.ts";
import type { Failure } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import { commandChannel } from "../notify/command.ts";
import { postChannel } from "../notify/http-post.ts";
import type { Channel } from "../notify/notification.ts";
import { notifyTarget } from "../notify/target.ts";
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
