/* oxlint-disable max-lines -- one table of everything; splitting it would hide that it is whole */
/** What the process says to its caller; see docs/failures.md. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  refused: 3,
  resultRefused: 4,
  interrupted: 130,
} as const;
export type ExitStatus = (typeof EXIT)[keyof typeof EXIT];

export interface FailureKind {
  readonly exit: ExitStatus;
  /** One line for the table in docs/failures.md. */
  readonly meaning: string;
  /** What the person does next, when the failure itself brings nothing more exact. */
  readonly cure: string;
  /**
   * `surroundings`: says nothing about the task, so it does not count towards giving the task up. Nothing that is
   * refused or interrupted does (exit 2, 3 and 130); of the others those that are marked.
   */
  readonly blame?: "surroundings";
}

/**
 * The one table of everything that can go wrong on purpose: failure code to exit status and help.
 * docs/failures.md is tested against it, in both directions.
 */
export const FAILURES = {
  // Usage and configuration: nothing was looked at yet.
  usage: {
    exit: 2,
    meaning: "The command line cannot be understood.",
    cure: "Run the command with --help.",
  },
  "config-invalid": {
    exit: 2,
    meaning: "A configuration file or value is wrong.",
    cure: "Correct the named line, or run `guardloop config`.",
  },
  "agent-not-configured": {
    exit: 2,
    meaning: "No agent was named.",
    cure: "Pass --agent codex, --agent claude, or --agent command -- PROGRAM ARGS.",
  },
  "unknown-run": {
    exit: 2,
    meaning: "No run has that id, or several begin with it.",
    cure: "Run `guardloop runs` for the ids.",
  },
  "archive-unreadable": {
    exit: 2,
    meaning: "The file is not an archive that `guardloop export` wrote, or it is damaged.",
    cure: "Name the .tar.gz file; export the run again if it is damaged.",
  },
  "not-in-this-state": {
    exit: 2,
    meaning: "The run is in a state in which this cannot be done.",
    cure: "Run `guardloop show RUN`.",
  },
  // Refused before anything was created.
  "not-a-repository": {
    exit: 3,
    meaning: "The directory is not inside a Git working tree.",
    cure: "Change to your repository, or run `git init` and commit.",
  },
  "no-commit": {
    exit: 3,
    meaning: "The repository has no commit yet.",
    cure: "Commit something first.",
  },
  "dirty-checkout": {
    exit: 3,
    meaning: "The principal checkout has changes that are not committed.",
    cure: "Commit, stash or ignore the listed files.",
  },
  "detached-head": {
    exit: 3,
    meaning: "The principal checkout is not on a branch.",
    cure: "Check out the branch that runs should land on.",
  },
  "operation-under-way": {
    exit: 3,
    meaning: "A merge, rebase, am, cherry-pick, revert or bisect is not finished.",
    cure: "Finish or abort it first.",
  },
  "unsupported-repository": {
    exit: 3,
    meaning: "The repository uses something guardloop does not handle yet.",
    cure: "See docs/operator-contract.md, section Repositories.",
  },
  "agent-branch-blocked": {
    exit: 3,
    meaning: "A branch named `agent` leaves no room for branches below `agent/`.",
    cure: "Rename it: git branch -m agent agent-old.",
  },
  "no-task-plan": {
    exit: 3,
    meaning: "The base commit has no task plan.",
    cure: "Run `guardloop init`, or name the plan with --plan.",
  },
  "no-runnable-task": {
    exit: 3,
    meaning: "The plan has no task that can be run now.",
    cure: "Set a task's status to `ready`, or finish its dependencies.",
  },
  "tool-missing": {
    exit: 3,
    meaning: "A program that is needed is not on PATH.",
    cure: "Install it, then run `guardloop doctor`.",
  },
  "tool-unsupported": {
    exit: 3,
    meaning: "A program that is needed has a version that is not supported.",
    cure: "Install a supported version, then run `guardloop doctor`.",
  },
  "engine-unavailable": {
    exit: 3,
    meaning: "No container engine answers.",
    cure: "Start Docker (for example `systemctl start docker`), or install Podman; then run `guardloop doctor`.",
  },
  "engine-unsupported": {
    exit: 3,
    meaning: "The container engine is set up in a way that is not supported yet.",
    cure: "See docs/engines.md, section What is refused.",
  },
  "snapshot-method-unavailable": {
    exit: 3,
    meaning: "The way of making snapshots that was asked for does not work on this host.",
    cure: "Set snapshot.method to auto, or leave out --snapshot-method: then the quickest way that works is taken.",
  },
  "image-missing": {
    exit: 3,
    meaning: "The agent image is not there.",
    cure: "Run `guardloop image build`.",
  },
  "image-build-failed": {
    exit: 1,
    meaning: "The agent image could not be built.",
    cure: "See the message, then run `guardloop image build` again.",
  },
  "image-unsuitable": {
    exit: 3,
    meaning: "The image lacks something the guest needs.",
    cure: "Use an image with Git and Node 18 or newer, or run `guardloop image build`.",
  },
  "network-required": {
    exit: 3,
    meaning: "A hosted agent was asked to run without a network.",
    cure: "Pass --network gateway, or --network bridge and --pass-env NAME, or use a local --agent command.",
  },
  "credential-missing": {
    exit: 3,
    meaning: "A credential that the run needs could not be read from where it was said to be.",
    cure: "Set the named variable or file, or name another place; see docs/credentials.md.",
  },
  "disk-low": {
    exit: 3,
    meaning: "Too little space is free for another run.",
    cure: "Free some (`guardloop gc` says what guardloop can give back), or lower disk.free_floor.",
  },
  "record-removed": {
    exit: 2,
    meaning: "The record of the run was removed, since it was older than retention.record_days.",
    cure: "See what is still known with `guardloop show RUN`.",
  },
  "repository-busy": {
    exit: 3,
    meaning: "Another guardloop command is changing this repository.",
    cure: "Wait for it to end, then try again.",
  },
  "tasks-claimed": {
    exit: 3,
    meaning: "Every task that could be run is being done by a run that is running.",
    cure: "Wait for that run, or pass --independent to both: then each run is given one task.",
  },
  "unknown-task": {
    exit: 2,
    meaning: "The plan has no task with that id.",
    cure: "Run `guardloop tasks` for the ids.",
  },
  "owner-gone": {
    exit: 3,
    meaning: "The process that owned the run is gone; nobody is there to stop or to watch.",
    cure: "Run `guardloop recover` in the run's repository.",
  },
  "owner-out-of-reach": {
    exit: 3,
    meaning: "The run's process is on another host, belongs to another user, or cannot be proven.",
    cure: "Run the command where the run was started, as the same user.",
  },
  "state-unusable": {
    exit: 3,
    meaning: "The state directory or its database cannot be used.",
    cure: "See the message; `guardloop doctor` checks the state directory.",
  },
  "history-damaged": {
    exit: 3,
    meaning: "The database of runs is damaged; it was left as it is.",
    cure: "Run `guardloop recover`: it keeps the damaged file aside and rebuilds what the disk still tells.",
  },
  "history-busy": {
    exit: 3,
    meaning: "Another program holds the database of runs and does not let go of it.",
    cure: "End the program that has history.db open, then run `guardloop recover`.",
  },
  // The run failed.
  "disk-full": {
    exit: 1,
    meaning: "A disk or quota is full.",
    cure: "Free some space, then run `guardloop recover`.",
  },
  "lease-lost": {
    exit: 1,
    meaning: "Somebody else took the run's lease back while the run had it.",
    cure: "Run the task again; see who calls `treehouse return` or removes lease records.",
  },
  "lease-failed": {
    exit: 1,
    meaning: "No worktree could be leased, or it was not as promised.",
    cure: "Run `guardloop doctor`.",
    blame: "surroundings",
  },
  "snapshot-failed": {
    exit: 1,
    meaning: "The snapshot could not be made.",
    cure: "See the message; check free disk space.",
    blame: "surroundings",
  },
  "setup-failed": {
    exit: 1,
    meaning: "A setup command failed, or its result could not be kept.",
    cure: "Read `guardloop logs RUN --setup`, then correct setup.commands or setup.allow_hosts.",
    blame: "surroundings",
  },
  "gateway-failed": {
    exit: 1,
    meaning: "The gateway to the model API, or the proxy to allowed hosts, could not be opened.",
    cure: "Run `guardloop doctor`.",
    blame: "surroundings",
  },
  "container-failed": {
    exit: 1,
    meaning: "The container could not be started or watched.",
    cure: "Run `guardloop doctor`.",
    blame: "surroundings",
  },
  "container-survived": {
    exit: 1,
    meaning: "The container could not be proven gone, so nothing of it was read.",
    cure: "Remove the named container, then run `guardloop recover`.",
    blame: "surroundings",
  },
  "guest-refused": {
    exit: 1,
    meaning: "The guest found its surroundings not as agreed and did not start the agent.",
    cure: "Run `guardloop logs RUN`.",
    blame: "surroundings",
  },
  "agent-not-started": {
    exit: 1,
    meaning: "The agent program could not be started in the container.",
    cure: "Check that the program is in the image, then see `guardloop logs RUN`.",
    blame: "surroundings",
  },
  "agent-wall-limit": {
    exit: 1,
    meaning: "The agent ran longer than its wall-clock limit and was ended.",
    cure: "Raise limits.wall_minutes, or make the task smaller.",
  },
  "agent-idle-limit": {
    exit: 1,
    meaning: "The agent printed nothing for longer than its idle limit and was ended.",
    cure: "Raise limits.idle_minutes, or look at `guardloop logs RUN`.",
  },
  "agent-completion-limit": {
    exit: 1,
    meaning: "The agent was done, and the export of its work did not end in time.",
    cure: "Raise limits.completion_minutes, or look at `guardloop logs RUN`.",
  },
  "disk-limit": {
    exit: 1,
    meaning: "The snapshot outgrew its limit on the disk, and the agent was ended.",
    cure: "Raise limits.disk or limits.files, or look at `guardloop logs RUN` for what wrote so much.",
  },
  "budget-exhausted": {
    exit: 1,
    meaning: "A budget was used up, and the agent was ended.",
    cure: "Raise the named budget, or split the task.",
    blame: "surroundings",
  },
  "model-unauthenticated": {
    exit: 1,
    meaning: "The model API refused the credential, and the agent could not do its work.",
    cure: "Renew the credential, then run the task again; `guardloop doctor` tries it.",
    blame: "surroundings",
  },
  "model-rate-limited": {
    exit: 1,
    meaning: "The model API's rate limit or overload ended the agent's work.",
    cure: "Run the task again later, or pass --wait-for-limit.",
    blame: "surroundings",
  },
  "model-unreachable": {
    exit: 1,
    meaning: "The model API could not be reached, and the agent could not do its work.",
    cure: "Look at `guardloop logs RUN --egress`, then try `guardloop doctor`.",
    blame: "surroundings",
  },
  "agent-out-of-memory": {
    exit: 1,
    meaning: "The container hit its memory limit.",
    cure: "Raise container.memory.",
  },
  "agent-killed": {
    exit: 1,
    meaning:
      "The container was killed, and not by guardloop: at its memory limit, or from outside.",
    cure: "Raise container.memory, or look who killed it.",
  },
  "still-ending": {
    exit: 1,
    meaning: "The run was told to stop and has not ended yet.",
    cure: "Wait, or run `guardloop stop RUN --now`.",
  },
  "release-failed": {
    exit: 1,
    meaning: "The lease could not be returned or the snapshot not removed.",
    cure: "Run `guardloop recover`.",
    blame: "surroundings",
  },
  "selftest-failed": {
    exit: 1,
    meaning: "An attack of the selftest did not hold: the boundary is not what is promised here.",
    cure: "Run no agent on this engine and image until the named lines hold.",
  },
  "git-failed": {
    exit: 1,
    meaning: "A Git command failed in a way that was not foreseen.",
    cure: "See the message.",
    blame: "surroundings",
  },
  "promote-refused": {
    exit: 3,
    meaning: "The run cannot be promoted now; nothing was changed.",
    cure: "See the message.",
  },
  "rollback-refused": {
    exit: 3,
    meaning: "The promotion cannot be undone safely; nothing was changed.",
    cure: "See the message.",
  },
  // The result was refused.
  "missing-task-id": {
    exit: 4,
    meaning: "The agent did not leave selected-task-id.txt.",
    cure: "See `guardloop logs RUN`.",
  },
  "bad-task-id": {
    exit: 4,
    meaning: "selected-task-id.txt does not name one of the offered tasks.",
    cure: "See `guardloop logs RUN`.",
  },
  "missing-commit-message": {
    exit: 4,
    meaning: "The agent did not leave last-commit-message.txt.",
    cure: "See `guardloop logs RUN`.",
  },
  "bad-commit-message": {
    exit: 4,
    meaning: "last-commit-message.txt is empty or is not plain UTF-8 text.",
    cure: "See `guardloop logs RUN`.",
  },
  "missing-patches": {
    exit: 4,
    meaning: "The run left no patch: the agent changed nothing, or the export failed.",
    cure: "See `guardloop logs RUN`.",
  },
  "bad-patches": {
    exit: 4,
    meaning: "The patch directory or a patch file is not as agreed.",
    cure: "Look at the run record; nothing was imported.",
  },
  "bad-manifest": {
    exit: 4,
    meaning: "manifest.json is missing or is not as agreed.",
    cure: "Look at the run record; nothing was imported.",
  },
  "import-refused": {
    exit: 4,
    meaning: "A patch could not be applied to the run's base; nothing was published.",
    cure: "The patches are kept in the run record.",
  },
  "import-mismatch": {
    exit: 4,
    meaning: "The imported tree is not the tree the agent had; nothing was published.",
    cure: "The patches are kept in the run record.",
  },
  "validation-failed": {
    exit: 4,
    meaning: "A validation command did not pass on the imported tree.",
    cure: "Run `guardloop logs RUN --validation` to see why.",
  },
  "branch-exists": {
    exit: 4,
    meaning: "The agent branch exists already with another commit; it was not overwritten.",
    cure: "Rename or delete that branch.",
    blame: "surroundings",
  },
  "archive-mismatch": {
    exit: 4,
    meaning: "An exported archive does not agree with its provenance, or with the repository.",
    cure: "Do not rely on it; export the run again.",
  },
  // Interrupted.
  interrupted: {
    exit: 130,
    meaning: "The run was interrupted, or its owner died.",
    cure: "Run `guardloop recover`, then start again.",
  },
} as const satisfies Record<string, FailureKind>;
