import type { Budget, TokenUse } from "../../core/egress.ts";
import type { ModelPrice, PriceTable } from "../../core/prices.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { visible } from "../../core/visible.ts";
import type { AdmittedRequest, Asked, LimitSeen, Meter, Used } from "../port.ts";
import { type Amounts, type Ledger, NOTHING, aboutBudget, createLedger } from "./ledger.ts";
import { costOf, priceOf } from "./price-table.ts";

/** What all runs of one `guardloop run` may use together; one object for all of them, also for those at once. */
export interface InvocationMeter {
  readonly ledger: Ledger;
  /** The sentence that says which budget is used up: no further run need be started. */
  exhausted(): string | undefined;
}

export function createInvocationMeter(budget: Budget): InvocationMeter {
  const ledger = createLedger(budget, "invocation");
  return {
    ledger,
    exhausted(): string | undefined {
      const refusal = ledger.refusal();
      return refusal?.kind === "used-up" ? refusal.sentence : undefined;
    },
  };
}

export interface MeterOptions {
  readonly run: Budget;
  readonly invocation: InvocationMeter;
  readonly prices: PriceTable;
  /** Absolute path of the user's own price table, for the sentence about a model without a price. */
  readonly pricesFile: string;
  readonly now?: () => Date;
  /** Called once, with the sentence, when the first request is refused because a budget is used up. */
  readonly onExhausted?: (sentence: string) => void;
}

/** The newest answer that said to come back later. */
export interface LimitState {
  /** How many answers said so. */
  readonly seen: number;
  readonly status: number | null;
  /** Null where none said so, and where the newest does not say when. */
  readonly until: Date | null;
  /** Until then; null also when it is over. */
  readonly waitMs: number | null;
}

export interface RunMeter extends Meter {
  /** For the clocks, and for what the guest asks at `/guardloop/limit`. */
  limitState(): LimitState;
  used(): Amounts;
}

/** What a request sets aside beside its input, so that many at once do not all pass the last token of a budget. */
const USUAL_OUTPUT_TOKENS = 1000;
const USUAL_BYTES_PER_TOKEN = 4;

/**
 * Keeps the budgets of one run and of its invocation. Fail-closed: with a budget of money a model without a price is
 * refused. A budget counts as exhausted when a request had to be refused for it: an agent that has its last answer, and
 * needs no other, is not ended.
 */
export function createMeter(options: MeterOptions): RunMeter {
  const run = createLedger(options.run, "run");
  const ledgers = [run, options.invocation.ledger];
  let exhausted: string | undefined;
  const limits = limitKeeper(options.now ?? (() => new Date()));
  return {
    admit(asked): Result<AdmittedRequest, string> {
      if (exhausted !== undefined) return err(exhausted);
      const refusal = ledgers.map((ledger) => ledger.refusal()).find((one) => one !== undefined);
      if (refusal?.kind === "used-up") {
        exhausted = refusal.sentence;
        options.onExhausted?.(exhausted);
      }
      if (refusal !== undefined) return err(refusal.sentence);
      const price = priceFor(options, asked);
      return price.ok ? ok(admitted(ledgers, asked, pricing(options, price.value))) : price;
    },
    sawLimit: (limit) => limits.add(limit),
    exhausted: () => exhausted,
    limitState: () => limits.state(),
    used: () => run.used(),
  };
}

/** The price of an answer's model, or of the one that was asked for. */
type Pricing = (model: string | null, tokens: TokenUse) => number | null;

function pricing({ prices }: MeterOptions, askedFor: ModelPrice | undefined): Pricing {
  return (model, tokens) => {
    const price = (model === null ? undefined : priceOf(prices, model)) ?? askedFor;
    return price === undefined ? null : costOf(price, tokens);
  };
}

function admitted(ledgers: readonly Ledger[], asked: Asked, priced: Pricing): AdmittedRequest {
  const reserved = reservation(asked, priced);
  for (const ledger of ledgers) ledger.open(reserved);
  let isOver = false;
  const close = (used: Amounts): void => {
    if (isOver) return;
    isOver = true;
    for (const ledger of ledgers) ledger.close(reserved, used);
  };
  return {
    used({ model, tokens }: Used): number | null {
      if (tokens === null) {
        close({ ...NOTHING, requests: 1 });
        return 0;
      }
      const usd = priced(model, tokens);
      close({ requests: 1, inputTokens: tokens.input, outputTokens: tokens.output, usd: usd ?? 0 });
      return usd;
    },
    withdrawn: () => close(NOTHING),
  };
}

/** A request that is not about a model sets nothing aside. */
function reservation({ model, requestBytes }: Asked, priced: Pricing): Amounts {
  if (model === null) return { ...NOTHING, requests: 1 };
  const tokens: TokenUse = {
    input: Math.ceil(requestBytes / USUAL_BYTES_PER_TOKEN),
    cachedInput: 0,
    output: USUAL_OUTPUT_TOKENS,
    counted: "estimated",
  };
  const usd = priced(null, tokens) ?? 0;
  return { requests: 1, inputTokens: tokens.input, outputTokens: tokens.output, usd };
}

/** With a budget of money, everything that can cost some needs a price. */
function priceFor(options: MeterOptions, asked: Asked): Result<ModelPrice | undefined, string> {
  const { model, requestBytes } = asked;
  const price = model === null ? undefined : priceOf(options.prices, model);
  const notKept = moneyNotKept(options);
  if (price !== undefined || notKept === undefined) return ok(price);
  if (model === null)
    return requestBytes === 0
      ? ok(undefined)
      : err(`The request names no model, so nobody knows what it costs. ${notKept}`);
  const name = visible(model.slice(0, 100), "one-line");
  return err(
    `The model ${name} has no price and is not used. ${notKept} Add its price to ${options.pricesFile}.`,
  );
}

/** Undefined without a budget of money. */
function moneyNotKept({ run, invocation }: MeterOptions): string | undefined {
  const says = "could not be kept";
  if (run.usd !== null) return aboutBudget(run, "usd", { scope: "run", says });
  const all = invocation.ledger.budget;
  return all.usd === null ? undefined : aboutBudget(all, "usd", { scope: "invocation", says });
}

function limitKeeper(now: () => Date) {
  let seen = 0;
  let newest: LimitSeen | undefined;
  return {
    add(limit: LimitSeen): void {
      seen += 1;
      newest = limit;
    },
    state(): LimitState {
      const until = newest?.until ?? null;
      const left = until === null ? 0 : until.getTime() - now().getTime();
      return { seen, status: newest?.status ?? null, until, waitMs: left > 0 ? left : null };
    },
  };
}
