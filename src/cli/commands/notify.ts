import type { Command } from "commander";
import { basename } from "node:path";
import { EXIT, fail } from "../../core/failures.ts";
import { ok } from "../../core/result.ts";
import { visible } from "../../core/visible.ts";
import type { Notification } from "../../notify/notification.ts";
import { type Context, principalOf } from "../context.ts";
import { type Call, type CommandEnd, type Finish, action, define } from "../define.ts";
import { notifyChannels } from "../notify-channels.ts";
import { green, red } from "../output/text.ts";
import { addSettingOptions, settingFlags } from "../setting-options.ts";
import { settingsHere } from "../settings.ts";

export function notifyCommand(context: Context, finish: Finish): Command {
  const command = define({
    name: "notify",
    description:
      "Sends one notification of kind `waiting` through each of notify.bell, notify.command and notify.url, and says what came of it. A night in which nothing arrives should not be the first try.",
    exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.refused],
    examples: [
      "guardloop notify",
      "guardloop notify --notify-command notify-send",
      "guardloop notify --notify-url env:WEBHOOK --json",
    ],
  });
  addSettingOptions(command, (key) => key.startsWith("notify."));
  return action(command, { context, finish }, perform);
}

async function perform(call: Call): Promise<CommandEnd> {
  const { context } = call;
  const principal = await principalOf(context);
  if (!principal.ok) return principal;
  const resolved = await settingsHere(context, settingFlags(call));
  if (!resolved.ok) return resolved;
  const channels = notifyChannels(context, resolved.value.settings);
  if (!channels.ok) return channels;
  if (channels.value.length === 0)
    return fail("config-invalid", "No notification is configured.", {
      cure: "Set notify.bell, notify.command or notify.url; see docs/notifications.md.",
    });
  const test = testNotification(basename(principal.value.topLevel), context.now());
  const sent = await Promise.all(
    channels.value.map(async ({ name, send }) => ({ name, result: await send(test) })),
  );
  const ways = sent.map(({ name, result }) => ({
    way: name,
    problem: result.ok ? null : result.error,
  }));
  if (call.format === "json") context.output.json({ version: 1, ways });
  else
    context.output.table(
      ways.map(({ way, problem }) => [
        problem === null ? green("sent") : red("failed"),
        problem ?? way,
      ]),
    );
  return ok(ways.every(({ problem }) => problem === null) ? EXIT.done : EXIT.failed);
}

function testNotification(repository: string, now: Date): Notification {
  return {
    version: 1,
    kind: "waiting",
    at: now.toISOString(),
    repository: visible(repository, "one-line"),
    run: null,
    task: null,
    branch: null,
    code: null,
    title: "guardloop: this is a test",
    message: `${visible(repository, "one-line")}: notifications arrive here.`,
    next: "guardloop runs",
  };
}
