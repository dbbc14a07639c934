/** Trailers of an imported commit that say which run it came from. */
export function ownTrailers(runId: string, taskId: string): readonly string[] {
  return [`Guardloop-Run: ${runId}`, `Guardloop-Task: ${taskId}`];
}

/** A published message without what the host added; nobody else's lines begin like that, see `importedMessage`. */
export function withoutOwnTrailers(message: string): string {
  const ours = /(?:^|\n)(?:(?:Guardloop-Run|Guardloop-Task|Original-Author): [^\n]*\n?)+$/;
  return message.trimEnd().replace(ours, "").trimEnd();
}
