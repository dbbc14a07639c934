import { redactionsOf } from "../export/redact.ts";
import type { SecretInUse } from "../review/secrets-in-use.ts";
import { type CleanStream, type Redactor, redactorOf } from "./redactor.ts";

/**
 * A redactor whose values may become more while it is at work, since a login is renewed: `secrets` is asked each time.
 * Its list may only grow. Streams that are under way look for the new values too.
 */
export function growingRedactor(secrets: () => readonly SecretInUse[]): Redactor {
  let known = -1;
  let newest = redactorOf([]);
  const current = (): Redactor => {
    const now = secrets();
    if (now.length === known) return newest;
    known = now.length;
    newest = redactorOf(redactionsOf(now));
    return newest;
  };
  return {
    stream: () => growingStream(current),
    text: (text) => current().text(text),
    data: (data) => current().data(data),
  };
}

function growingStream(current: () => Redactor): CleanStream {
  let from = current();
  let stream = from.stream();
  return {
    add(chunk): Buffer {
      const now = current();
      if (now === from) return stream.add(chunk);
      // What the old one kept back may be the beginning of a new value as well.
      const rest = stream.rest();
      from = now;
      stream = now.stream();
      return stream.add(Buffer.concat([rest, chunk]));
    },
    end: () => stream.end(),
    rest: () => stream.rest(),
  };
}
