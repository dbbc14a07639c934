import type { Budget } from "../../core/egress.ts";

/** An amount of each kind that a budget can be of. */
export type Amounts = Readonly<Record<keyof Budget, number>>;

export const NOTHING: Amounts = { requests: 0, inputTokens: 0, outputTokens: 0, usd: 0 };

/** Why no request may be sent. `under-way`: those that are may use up the rest, so it can be asked again. */
export interface Refusal {
  readonly kind: "used-up" | "under-way";
  /** One sentence that names the budget and its setting. */
  readonly sentence: string;
}

/** What one budget has been used for; of a run, or shared by all runs of an invocation. */
export interface Ledger {
  readonly budget: Budget;
  /** Whether one more request may be sent; undefined when it may. */
  refusal(): Refusal | undefined;
  /** Counts one request and sets aside what it will probably use. */
  open(reserved: Amounts): void;
  /** Puts what it used in place of what was set aside; `requests` 0 takes the request itself back. */
  close(reserved: Amounts, used: Amounts): void;
  used(): Amounts;
}

type Kind = keyof Budget;
/** The order in which a refusal names them. */
const KINDS = ["requests", "inputTokens", "outputTokens", "usd"] as const;

const WORDS: Readonly<Record<Kind, { readonly name: string; readonly setting: string }>> = {
  requests: { name: "requests", setting: "requests" },
  inputTokens: { name: "input tokens", setting: "input_tokens" },
  outputTokens: { name: "output tokens", setting: "output_tokens" },
  usd: { name: "US dollars", setting: "usd" },
};

const SCOPES = {
  run: { words: "this run", prefix: "budget." },
  invocation: { words: "all runs together", prefix: "budget.all_" },
} as const;

export type Scope = keyof typeof SCOPES;

export function createLedger(budget: Budget, scope: Scope): Ledger {
  let used = NOTHING;
  let reserved = NOTHING;
  let under = 0;
  const first = (isOver: (kind: Kind, limit: number) => boolean): Kind | undefined =>
    KINDS.find((kind) => {
      const limit = budget[kind];
      return limit !== null && isOver(kind, limit);
    });
  return {
    budget,
    refusal(): Refusal | undefined {
      const over = first((kind, limit) => used[kind] >= limit);
      if (over !== undefined)
        return {
          kind: "used-up",
          sentence: aboutBudget(budget, over, { scope, says: "is used up" }),
        };
      const near = first((kind, limit) => used[kind] + reserved[kind] >= limit);
      if (near === undefined) return undefined;
      const says = "may be used up by the requests under way; ask again when they are answered";
      return { kind: "under-way", sentence: aboutBudget(budget, near, { scope, says }) };
    },
    open(set): void {
      under += 1;
      used = { ...used, requests: used.requests + 1 };
      reserved = sum(reserved, { ...set, requests: 0 });
    },
    close(set, really): void {
      under -= 1;
      // Sums of fractions leave crumbs.
      reserved = under === 0 ? NOTHING : sum(reserved, scaled({ ...set, requests: 0 }, -1));
      used = sum(used, { ...counted(really), requests: really.requests === 0 ? -1 : 0 });
    },
    used: () => used,
  };
}

/** `The budget of 200000 output tokens for this run is used up (budget.output_tokens).` */
export function aboutBudget(
  budget: Budget,
  kind: Kind,
  { scope, says }: { readonly scope: Scope; readonly says: string },
): string {
  const { words, prefix } = SCOPES[scope];
  const { name, setting } = WORDS[kind];
  return `The budget of ${budget[kind] ?? 0} ${name} for ${words} ${says} (${prefix}${setting}).`;
}

/** A number that is none, which no comparison would ever stop, counts as without end. */
function counted(amounts: Amounts): Amounts {
  return mapped((kind) => (amounts[kind] >= 0 ? amounts[kind] : Number.POSITIVE_INFINITY));
}

function sum(a: Amounts, b: Amounts): Amounts {
  return mapped((kind) => a[kind] + b[kind]);
}

function scaled(amounts: Amounts, factor: number): Amounts {
  return mapped((kind) => amounts[kind] * factor);
}

function mapped(of: (kind: Kind) => number): Amounts {
  return {
    requests: of("requests"),
    inputTokens: of("inputTokens"),
    outputTokens: of("outputTokens"),
    usd: of("usd"),
  };
}
