import type { Identity, PatchEntry } from "../../core/artifacts.ts";
import { visible } from "../../core/visible.ts";
import type { Collected } from "../stages/collect.ts";

/** Author dates beyond this are not believed: 2100-01-01 in seconds after the epoch. */
const LATEST_SECONDS = 4_102_444_800;

/** The commit's own message with control characters made visible; the agent's last message where it has none. */
export function importedMessage(entry: PatchEntry, collected: Collected["collected"]): string {
  const own = entry.message.trim() === "" ? collected.message : entry.message;
  return visible(own.replaceAll("\r\n", "\n"), "keep-lines").trim();
}

/** The author as the agent had it, without what Git would refuse or a terminal would obey. */
export function importedAuthor(
  author: Identity,
  known: {
    readonly fallback: { readonly name: string; readonly email: string };
    readonly date: string;
  },
): Identity {
  const [seconds = "", zone = ""] = author.date.split(" ");
  const believable = Number(seconds) >= 0 && Number(seconds) < LATEST_SECONDS && zoneIsReal(zone);
  return {
    name: clean(author.name) || known.fallback.name,
    email: clean(author.email) || known.fallback.email,
    date: believable ? author.date : known.date,
  };
}

function clean(text: string): string {
  return visible(text, "one-line").replaceAll(/[<>]/g, "").trim();
}

function zoneIsReal(zone: string): boolean {
  return /^[+-](0\d|1[0-4])[0-5]\d$/.test(zone);
}
