// Loaded into guardloop by `node --import`, so that the product has no switches for tests of its own.
//
//   CLOCK_FILE   a file with a number of milliseconds by which the system's clock is wrong, looked up at every reading;
//                monotonic time goes on as ever, as it does when somebody sets a clock
//   HURRY        monotonic time goes so many times faster, and timers of ten seconds up to an hour run out so many times
//                sooner: the deadlines of calls, and not the short pauses between them
//
// Programs that guardloop starts are not touched: it builds their environment.
import { readFileSync } from "node:fs";

const { CLOCK_FILE: clockFile, HURRY: hurry } = process.env;

if (clockFile !== undefined) {
  const SystemDate = globalThis.Date;
  const aheadMs = () => {
    try {
      return Number(readFileSync(clockFile, "utf8"));
    } catch {
      return 0;
    }
  };
  globalThis.Date = class Date extends SystemDate {
    constructor(...args) {
      if (args.length === 0) super(SystemDate.now() + aheadMs());
      else super(...args);
    }
    static now() {
      return SystemDate.now() + aheadMs();
    }
  };
}

if (hurry !== undefined) {
  const plain = globalThis.setTimeout;
  const hurried = (act, delayMs, ...args) => {
    const isDeadline = delayMs >= 10_000 && delayMs <= 3_600_000;
    return plain(act, isDeadline ? delayMs / Number(hurry) : delayMs, ...args);
  };
  globalThis.setTimeout = Object.assign(hurried, plain);
  const monotonic = performance.now.bind(performance);
  performance.now = () => monotonic() * Number(hurry);
}
