import type { Command } from "commander";
import { trust } from "../../config/trust.ts";
import { REPOSITORY_FILE } from "../../config/user-file.ts";
import { EXIT, fail } from "../../core/failures.ts";
import { ok } from "../../core/result.ts";
import { readHead } from "../../git/principal.ts";
import { type Context, principalOf } from "../context.ts";
import { type Call, type CommandEnd, type Finish, action, define } from "../define.ts";
import { green } from "../output/text.ts";
import { repositoryFileAt } from "../settings.ts";

export function trustCommand(context: Context, finish: Finish): Command {
  const command = define({
    name: "trust",
    description:
      "Shows the committed guardloop.toml and remembers exactly this text as trusted. Any later change of the file ends the trust.",
    exits: [EXIT.done, EXIT.usage, EXIT.refused],
    examples: ["guardloop trust"],
  });
  return action(command, { context, finish }, perform);
}

async function perform(call: Call): Promise<CommandEnd> {
  const { context } = call;
  const principal = await principalOf(context);
  if (!principal.ok) return principal;
  const head = await readHead(principal.value);
  if (!head.ok) return head;
  const file = await repositoryFileAt(principal.value, head.value.commit);
  if (!file.ok) return file;
  if (file.value === undefined)
    return fail("config-invalid", `The last commit has no ${REPOSITORY_FILE} to trust.`, {
      cure: "Write one with `guardloop init` and commit it.",
    });
  const remembered = await trust(
    context.env.stateDir,
    principal.value.repositoryId,
    file.value.text,
  );
  if (!remembered.ok) return remembered;
  if (call.format === "json") {
    context.output.json({
      version: 1,
      trusted: { path: file.value.path, commit: head.value.commit },
    });
    return ok(EXIT.done);
  }
  context.output.result(file.value.text.trimEnd());
  context.output.result(green(`Trusted: ${file.value.path} as shown above, until it changes.`));
  return ok(EXIT.done);
}
