import { CONTRACT } from "./prompt.ts";

/** What an agent is told that ended without its artifacts; the contract in the words of the default prompt. Pure. */
export function reminderPrompt(place: {
  readonly artifacts: string;
  readonly workspace: string;
}): string {
  return `You have ended, and not everything that your task needs is there. Nothing is lost: your work in ${place.workspace} is
as you left it. Complete the task if it is not complete; then, or if it is, do what was asked for at its end:

${CONTRACT.replaceAll("{{artifacts}}", place.artifacts)}
Then stop. You are reminded only this once.
`;
}

/** What an agent is told that was ended by a rate limit of the model API, when the limit is over. */
export function afterLimitPrompt(place: { readonly artifacts: string }): string {
  return `The model API's rate limit interrupted you; it is over. Go on with your task where you were. When it is complete:

${CONTRACT.replaceAll("{{artifacts}}", place.artifacts)}
Then stop.
`;
}
