/** What stands in the record of a request of which nothing went either way, and which used nothing. */
export const NOTHING_SENT = {
  requestBytes: 0,
  responseBytes: 0,
  model: null,
  tokens: null,
  costUsd: null,
  firstByteMs: null,
} as const;
