/**
 * What a program calls its tools: the same API is spoken by several, each with names and arguments of its own.
 *
 * @param names of the tools that the request offers; a program that hides them there has `otherwise`.
 */
export function toolsOf(names, otherwise) {
  const own =
    PROGRAMS.find(({ shell, write }) => names.includes(shell) && names.includes(write)) ??
    otherwise;
  return {
    shell: (command) => ({ name: own.shell, input: own.shellInput(command) }),
    write: (file) => ({ name: own.write, input: own.writeInput(file) }),
  };
}

const described = (command) => ({ command, description: "scripted step" });
const withFilePath = ({ path, content }) => ({ file_path: path, content });

export const CODEX = {
  shell: "exec_command",
  shellInput: (cmd) => ({ cmd }),
  write: "apply_patch",
  writeInput: patchThatAdds,
};
export const CLAUDE = {
  shell: "Bash",
  shellInput: described,
  write: "Write",
  writeInput: withFilePath,
};
export const GEMINI = {
  shell: "run_shell_command",
  shellInput: described,
  write: "write_file",
  writeInput: withFilePath,
};
export const OPENCODE = {
  shell: "bash",
  shellInput: described,
  write: "write",
  writeInput: ({ path, content }) => ({ filePath: path, content }),
};
/** What opencode offers to OpenAI's own models. */
const OPENCODE_WITH_PATCHES = {
  ...OPENCODE,
  write: "apply_patch",
  writeInput: (file) => ({ patchText: patchThatAdds(file) }),
};
const PROGRAMS = [CODEX, CLAUDE, GEMINI, OPENCODE, OPENCODE_WITH_PATCHES];

function patchThatAdds({ path, content }) {
  const lines = content.replace(/\n$/, "").split("\n");
  return [
    "*** Begin Patch",
    `*** Add File: ${path}`,
    ...lines.map((line) => `+${line}`),
    "*** End Patch",
    "",
  ].join("\n");
}
