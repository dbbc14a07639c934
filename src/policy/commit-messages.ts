import { type Finding, finding } from "./finding.ts";

/** A commit's message as it was published, without the trailers that the host added. */
export interface PublishedMessage {
  readonly commit: string;
  readonly message: string;
}

const SHOWN_CHARACTERS = 120;

/**
 * Text that tools act on: sign-offs and reviews that people vouch with, issues that a forge closes on a push, builds
 * that a build server skips, changes that Gerrit joins, and claims in guardloop's own name.
 */
const MEANINGFUL = [
  /^[ \t]*(?:signed-off|co-authored|reviewed|acked|tested|approved|reported|suggested)-by[ \t]*:/i,
  /^[ \t]*(?:change-id|claimed-[a-z-]+)[ \t]*:/i,
  /\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|implement(?:s|ed)?):?\s+(?:[\w.-]+\/[\w.-]+)?(?:#|GH-)\d+/i,
  /\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+https?:\/\/\S+\/(?:issues|pull|merge_requests)\/\d+/i,
  /\[(?:skip[ -](?:ci|actions)|(?:ci|actions)[ -]skip|no[ -]ci)\]/i,
  /^[ \t]*skip-checks[ \t]*:[ \t]*true/i,
  /\*\*\*NO_CI\*\*\*/i,
];

export function messageFindings(messages: readonly PublishedMessage[]): readonly Finding[] {
  const found = messages.flatMap(({ commit, message }) =>
    message
      .split("\n")
      .flatMap((line, index) =>
        MEANINGFUL.some((pattern) => pattern.test(line.slice(0, 4096)))
          ? [`${commit.slice(0, 12)} line ${index + 1}: ${line.trim().slice(0, SHOWN_CHARACTERS)}`]
          : [],
      ),
  );
  return found.length === 0
    ? []
    : [
        finding(
          "meaningful-message",
          "Other tools and people take these lines of commit messages for more than text.",
          found,
        ),
      ];
}
