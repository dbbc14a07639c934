import { readFile } from "node:fs/promises";
import { StringDecoder } from "node:string_decoder";
import type { Command } from "commander";
import { EXIT } from "../../core/failures.ts";
import { ok } from "../../core/result.ts";
import { TEXT_MARK } from "../../run/logs/cut-mark.ts";
import { logFollower } from "../../run/logs/log-follower.ts";
import { type RunPaths, runPaths } from "../../run/paths.ts";
import type { Context } from "../context.ts";
import { type Call, type CommandEnd, type Finish, action, define } from "../define.ts";
import { followRun, isRunning } from "../follow-run.ts";
import { refuseRemovedRecord } from "../output/record-removed.ts";
import { type WithRun, withRun } from "../with-run.ts";
import { printEgress } from "./logs-egress.ts";

export function logsCommand(context: Context, finish: Finish): Command {
  const command = define({
    name: "logs",
    description:
      "Prints the output of the guest and the agent, with control characters made visible. --raw prints the bytes as they came; on a terminal they are made visible all the same. --events prints what guardloop understood of the agent's event stream, one JSON object a line. --egress prints the requests that went through the gateway, and those that it refused.",
    exits: [EXIT.done, EXIT.usage, EXIT.refused],
    examples: [
      "guardloop logs @last",
      "guardloop logs @last --follow",
      "guardloop logs @last --events",
      "guardloop logs @last --raw",
      "guardloop logs @last --egress",
    ],
  })
    .argument("<run>", "id, unique prefix, or @last")
    .option("-f, --follow", "go on until the run has ended")
    .option("--raw", "print the bytes as they are, into a pipe or a file")
    .option("--events", "print the agent's events instead")
    .option("--egress", "print what went through the gateway instead, one request a line")
    .option("--validation", "print the output of the validation commands instead")
    .option("--setup", "print the output of the setup commands instead");
  return action(command, { context, finish }, perform);
}

async function perform(call: Call): Promise<CommandEnd> {
  return withRun(call, async (at) => {
    const there = refuseRemovedRecord(at.run);
    if (!there.ok) return there;
    const paths = runPaths(call.context.env.stateDir, at.run.id);
    if (call.options.egress === true) await printEgress(call, paths.egress, at);
    else if (call.options.events === true || call.format === "json") await printEvents(call, paths);
    else await printLog(call, paths, at);
    return ok(EXIT.done);
  });
}

function wantedLog({ options }: Call, paths: RunPaths): string {
  if (options.validation === true) return paths.validationLog;
  return options.setup === true ? paths.setupLog : paths.agentLog;
}

/** Each line of our own events file is printed again as JSON, so that it is escaped like everything else. */
async function printEvents({ context: { output } }: Call, paths: RunPaths): Promise<void> {
  const text = await readFile(paths.agentEvents, "utf8").catch(() => "");
  for (const line of text.split("\n")) {
    if (line === "") continue;
    try {
      output.json({ version: 1, event: JSON.parse(line) });
    } catch {
      // The last line may be half written while the run goes on.
    }
  }
}

async function printLog(call: Call, paths: RunPaths, at: WithRun): Promise<void> {
  const { output } = call.context;
  const file = wantedLog(call, paths);
  const decoder = new StringDecoder("utf8");
  const isRaw = call.options.raw === true && output.goesTo === "elsewhere";
  await using log = logFollower(file, TEXT_MARK.cut);
  let isEmpty = true;
  let rest = "";
  const more = async (): Promise<void> => {
    for await (const chunk of log.more()) {
      isEmpty = false;
      if (isRaw) {
        output.bytes(chunk);
        continue;
      }
      const lines = (rest + decoder.write(chunk)).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) output.result(line.replace(/\r$/, ""));
    }
  };
  await followRun(call, at, more);
  if (rest !== "") output.result(rest);
  if (isEmpty) output.progress(`Run ${at.run.id} has no output${isRunning(at) ? " yet" : ""}.`);
}
