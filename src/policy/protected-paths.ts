import picomatch from "picomatch";
import { once } from "../core/once.ts";
import type { FindingCode } from "./finding.ts";

interface Group {
  readonly code: FindingCode;
  readonly why: string;
  readonly globs: string[];
}

/**
 * Paths that act on the host after a promotion: on checkout, on opening the directory, on install, in CI, or by
 * instructing people and agents. Compared in NFC without regard to case, since file systems and tools differ in both.
 */
export const PROTECTED: readonly Group[] = [
  {
    code: "protected-git",
    why: "Git runs or obeys these files on checkout, commit or fetch.",
    globs: [
      "**/.git{attributes,modules,config,ignore}",
      "**/.lfsconfig",
      "{.husky,.githooks}/**",
      "**/{lefthook,.lefthook}*.{yml,yaml,toml,json}",
      "**/.pre-commit-{config,hooks}.yaml",
      "**/.overcommit.yml",
      "**/{.lintstagedrc*,lint-staged.config.*}",
      "**/.{lefthook,git-hooks,githooks,husky}/**",
      "**/.simple-git-hooks.*",
    ],
  },
  {
    code: "protected-ci",
    why: "A build server runs these files with its own credentials.",
    globs: [
      ".github/**",
      "**/action.{yml,yaml}",
      "**/.gitlab-ci*.{yml,yaml}",
      ".gitlab/**",
      "{.circleci,.buildkite,.woodpecker,.azure-pipelines,.azuredevops,.jenkins,.tekton,.forgejo,.gitea}/**",
      "{azure-pipelines*,.travis,bitbucket-pipelines,.drone,.woodpecker,cloudbuild,appveyor,.appveyor,.mergify}.{yml,yaml}",
      "**/Jenkinsfile*",
      "**/{renovate.json*,.renovaterc*,dependabot.yml}",
      "**/CODEOWNERS",
    ],
  },
  {
    code: "protected-editor",
    why: "Editors and shells run or obey these files when the directory is opened.",
    globs: [
      "**/{.vscode,.idea,.fleet,.zed,.devcontainer}/**",
      "**/*.code-workspace",
      "**/{.vim*,.exrc,.nvim*,.nvimrc,.dir-locals.el,.envrc,.editorconfig}",
      "**/{.vim,.nvim}/**",
      "**/{.mise*.toml,mise*.toml,.sdkmanrc,.java-version,.go-version,.terraform-version,.tool-versions,.nvmrc,.node-version,.python-version,.ruby-version}",
      "**/{devcontainer.json,.gitpod.yml,.gitpod.Dockerfile,.replit,flake.nix,shell.nix,devbox.json,devenv.nix}",
      "**/.{bashrc,bash_profile,bash_login,bash_logout,bash_aliases,profile,zshrc,zprofile,zshenv,zlogin,inputrc,ripgreprc,tmux.conf,gdbinit,lldbinit}",
    ],
  },
  {
    code: "protected-agents",
    why: "Agents on the host take these files as instructions or configuration.",
    globs: [
      "**/{AGENTS,CLAUDE,CLAUDE.local,GEMINI,SKILL}.md",
      "**/{.claude,.codex,.agents,.gemini,.cursor,.windsurf,.roo,.continue,.opencode,.kiro,.junie,.clinerules,.aider,.amazonq,.augment,.goose,.trae}/**",
      "**/.github/{agents,hooks,instructions,prompts,chatmodes,copilot-*}{,/**}",
      "**/{.claude.json,.mcp.json,.cursorrules,.windsurfrules,.clinerules*,.aider*}",
      "**/opencode.json*",
      "**/*.instructions.md",
      "**/.{gemini,cursor,claude,codex,aider,cline,roo,codeium,aiexclude}ignore",
      "**/{.aiexclude,.rules,.goosehints}",
    ],
  },
  {
    code: "protected-secrets",
    why: "These files hold credentials, or look like it.",
    globs: [
      "**/.env*",
      "**/{.netrc,_netrc,.pypirc,.git-credentials,.pgpass,.htpasswd,.vault-token,kubeconfig}",
      "**/{.aws,.ssh,.gnupg,.kube}/**",
      "**/.docker/config.json",
      "**/*.{pem,key,p12,pfx,jks,keystore,kdbx,ppk}",
      "**/id_{rsa,dsa,ecdsa,ed25519}*",
    ],
  },
  {
    code: "protected-install",
    why: "Package managers and compilers run these files or what they name.",
    globs: [
      "**/{package.json,package-lock.json,npm-shrinkwrap.json,yarn.lock,pnpm-lock.yaml,bun.lock,bun.lockb,deno.json,deno.jsonc,deno.lock}",
      "**/{.npmrc,.yarnrc*,.pnp.*,.pnpmfile.*,pnpm-workspace.yaml,bunfig.toml,binding.gyp}",
      "**/.yarn/**",
      "{patches,vendor}/**",
      "**/{setup.py,pyproject.toml,setup.cfg,requirements*.txt,constraints*.txt,Pipfile*,poetry.lock,uv.lock,pdm.lock,hatch.toml,environment.{yml,yaml}}",
      "**/{sitecustomize.py,conftest.py,tox.ini,noxfile.py}",
      "**/*.pth",
      "**/{Cargo.toml,Cargo.lock,build.rs,rust-toolchain*,go.mod,go.sum,tools.go}",
      "**/{.cargo,.bundle}/**",
      "**/{Gemfile*,composer.json,composer.lock,pom.xml,mvnw*,gradlew*,nuget.config,packages.lock.json,global.json,Directory.{Build,Packages}.*,mix.exs,mix.lock,stack.yaml,stack.yaml.lock,CMakeLists.txt,Package.swift,Podfile*,pubspec.{yaml,lock}}",
      "**/*.{gemspec,gradle,gradle.kts,csproj,fsproj,vbproj,vcxproj,proj,props,targets,cabal,cmake}",
      "**/gradle.properties",
      "**/{.mvn,gradle/wrapper}/**",
    ],
  },
  {
    code: "protected-build",
    why: "Usual build and test commands run these files.",
    globs: [
      "**/{Makefile,justfile,Earthfile,Vagrantfile,Procfile,Tiltfile,Rakefile,Dangerfile*,Brewfile,Snakefile,SConstruct,meson.build,.dockerignore,BUILD.bazel,MODULE.bazel,WORKSPACE}",
      "**/*.mk",
      "{scripts,bin,ansible,helm,charts,terraform,infra}/**",
      "**/{ansible,helm}/**",
      "**/Taskfile.{yml,yaml}",
      "**/{Dockerfile,Containerfile,docker-compose,compose}*",
      "**/*.{sh,bash,zsh,ps1,psm1,bat,cmd,tf,tfvars,bzl}",
      "**/{eslint,jest,vitest,babel,webpack,vite,rollup,next,tailwind,prettier,stylelint,svelte,astro,nuxt,postcss,esbuild,tsup,playwright,cypress,karma,metro,commitlint,knip,drizzle}.config.{js,cjs,mjs,ts,mts,cts}",
      "**/{.eslintrc,.mocharc,.babelrc,.prettierrc,.stylelintrc,.golangci,.goreleaser,.rubocop,.bazelrc,.flake8,.pylintrc,.swcrc,.nycrc,.checkov,.vale.ini,.mega-linter}*",
      "**/{mypy.ini,pytest.ini,mkdocs.yml,build.xml,phpunit.xml*,phpstan.neon*,sonar-project.properties,tsconfig*.json}",
    ],
  },
];

/** Regardless of case, and with names that hold line ends: without the flag `s` those would match no glob. */
export const ANY_NAME = { dot: true, flags: "is" };

const matchers = once(() =>
  PROTECTED.map((group) => ({ group, matches: picomatch(group.globs, ANY_NAME) })),
);

/** The first group that a path belongs to, or undefined. */
export function protectedGroup(path: string): Group | undefined {
  const normal = path.normalize("NFC");
  return matchers().find(({ matches }) => matches(normal))?.group;
}
