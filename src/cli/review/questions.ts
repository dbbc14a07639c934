import { confirm, isCancel, select, text } from "@clack/prompts";

/**
 * Questions on the terminal. Every answer may be undefined: the person pressed Ctrl-C. Texts handed in are printed as
 * they are, so none of them may come from outside.
 */
export interface Questions {
  readonly choose: <T extends string>(
    question: string,
    answers: Readonly<Record<T, string>>,
    preset: NoInfer<T>,
  ) => Promise<T | undefined>;
  /** No is the answer that a mere Enter gives. */
  readonly agree: (question: string) => Promise<boolean | undefined>;
  /** A text that is not empty. */
  readonly tell: (question: string) => Promise<string | undefined>;
}

/** @param signal aborting it answers like Ctrl-C. */
export function terminalQuestions(signal: AbortSignal): Questions {
  return {
    async choose<T extends string>(
      message: string,
      answers: Readonly<Record<T, string>>,
      initialValue: T,
    ): Promise<T | undefined> {
      const options: { value: string; label: string }[] = Object.entries<string>(answers).map(
        ([value, label]) => ({ value, label }),
      );
      const answer = await select<string>({ message, options, initialValue, signal });
      const isAnswer = (one: string): one is T => Object.hasOwn(answers, one);
      return !isCancel(answer) && isAnswer(answer) ? answer : undefined;
    },
    async agree(message) {
      const answer = await confirm({ message, initialValue: false, signal });
      return isCancel(answer) ? undefined : answer;
    },
    async tell(message) {
      const answer = await text({
        message,
        signal,
        validate: (value) =>
          (value ?? "").trim() === ""
            ? "A few words, please: they are kept in the record."
            : undefined,
      });
      return isCancel(answer) ? undefined : answer.trim();
    },
  };
}
