import { z } from "zod";
import { setting } from "../setting.ts";
import { emptyOr, oneLine } from "../text-schemas.ts";

export const notifyOn = setting({
  key: "notify.on",
  guard: "GUARD_NOTIFY_ON",
  flag: { name: "--notify-on", takes: "KIND" },
  kind: "list",
  schema: z.array(z.enum(["ready", "failed", "waiting"])),
  expects: "a list of ready, failed and waiting",
  standard: ["ready", "failed", "waiting"],
  description: "What is told: a result is ready, a run failed, several results wait for you.",
  loosening: "never",
});

export const notifyBell = setting({
  key: "notify.bell",
  guard: "GUARD_NOTIFY_BELL",
  flag: { name: "--bell", sets: "on" },
  kind: "text",
  schema: z.enum(["off", "on"]),
  expects: "one of off, on",
  standard: "off",
  description: "Whether the terminal's bell rings, where there is a terminal.",
  loosening: "never",
});

export const notifyCommand = setting({
  key: "notify.command",
  guard: "GUARD_NOTIFY_COMMAND",
  flag: { name: "--notify-command", takes: "PROGRAM" },
  kind: "words",
  schema: z
    .array(z.string().refine((word) => !word.includes("\0")))
    .refine((words) => words[0] === undefined || /^(?:\/|[^/]+$)/.test(words[0]))
    .refine((words) => words[0] !== ""),
  expects: 'a list of words, for example ["notify-send"]: a name on PATH or an absolute path first',
  standard: [],
  description: "A program on your machine: gets title, message, and JSON on standard input.",
  // It runs on the host, outside of every container.
  loosening: { when: "for any value", test: (words) => words.length > 0 },
});

export const notifyUrl = setting({
  key: "notify.url",
  guard: "GUARD_NOTIFY_URL",
  flag: { name: "--notify-url", takes: "URL" },
  kind: "text",
  schema: emptyOr(oneLine(2000).refine((text) => /^(?:https?:\/\/|env:[A-Za-z_])/.test(text))),
  expects: "an address that begins with https:// or http://, or env:NAME",
  standard: "",
  description: "An address that gets an HTTP POST; env:NAME reads it from the environment.",
  // The names of tasks and what failed leave the machine.
  loosening: { when: "for any value", test: (url) => url !== undefined },
  // The path of a webhook's address is its key, and the settings go into the record.
  shown: (written) => withoutPath(String(written)),
});

function withoutPath(url: string): string {
  const origin = /^https?:\/\/[^/?#@]*(?=[/?#]|$)/.exec(url)?.[0];
  if (origin === undefined) return url.startsWith("env:") ? url : url === "" ? "" : "(hidden)";
  return origin === url ? url : `${origin}/…`;
}
