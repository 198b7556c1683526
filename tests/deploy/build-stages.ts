import { execFile } from 'node:child_process';
import { cpSync, linkSync, mkdirSync, mkdtempSync, readFileSync, statSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, delimiter, join, matchesGlob, relative } from 'node:path';
import { promisify } from 'node:util';
import { type Copy, effective, type Instruction, readCopy, type Stage } from './dockerfile.ts';

const execute = promisify(execFile);

/** The stages of a Dockerfile, executed by this machine: what `docker build` would put into each image. */
export interface BuiltStages extends AsyncDisposable {
  /** Executes a stage, after those it needs, each once. Returns the folder that stands for the root of its image. */
  build(stage: string): Promise<string>;
  /** The PATH of a process in an image. Node.js is the one that runs the tests. */
  readonly path: string;
}

/**
 * Executes stages without Docker, each in an empty folder that stands for its root: COPY copies, RUN runs in its working
 * directory, with absolute paths led into the folder. Only what the base image would bring is this machine's: its
 * shell and its tools.
 *
 * @param project the folder that is the build's context
 */
export async function buildStages(project: string, stages: readonly Stage[]): Promise<BuiltStages> {
  const home = mkdtempSync(join(tmpdir(), 'enterprise-api-image-'));
  // The user of an image must be able to pass.
  await execute('chmod', ['755', home]);
  const programs = join(home, 'programs');
  await provideNode(programs);
  const builder = { home, project, stages, programs, built: new Map<string, Promise<string>>() };
  return {
    build: async (stage) => {
      const root = await build(builder, stage);
      await withoutWritePermission(root);
      return root;
    },
    path: [programs, '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter),
    [Symbol.asyncDispose]: async () => {
      if (!isRoot) await execute('chmod', ['-R', 'u+w', home]);
      await execute('rm', ['-rf', home]);
    },
  };
}

/** Whether the processes of an image can be another user's than its files, as they are in a container. */
export const isRoot = process.getuid?.() === 0;

interface Builder {
  home: string;
  project: string;
  stages: readonly Stage[];
  programs: string;
  built: Map<string, Promise<string>>;
}

/** The user of an image may be unable to reach this project's Node.js, so it gets a name in a folder that it can. */
async function provideNode(programs: string): Promise<void> {
  mkdirSync(programs, { mode: 0o755 });
  const node = join(programs, 'node');
  try {
    linkSync(process.execPath, node);
  } catch {
    await copyFile(process.execPath, node);
  }
}

function build(builder: Builder, name: string): Promise<string> {
  const known = builder.built.get(name);
  if (known) return known;
  const started = executeStage(builder, name);
  builder.built.set(name, started);
  return started;
}

async function executeStage(builder: Builder, name: string): Promise<string> {
  const stage = builder.stages.find((each) => each.name === name);
  if (stage === undefined) throw new Error(`The Dockerfile has no stage ${name}.`);
  const root = join(builder.home, name);
  mkdirSync(root, { mode: 0o755 });
  if (builder.stages.some((each) => each.name === stage.from))
    await execute('cp', ['-a', `${await build(builder, stage.from)}/.`, root]);
  const workdir = join(root, effective(builder.stages, name, 'WORKDIR') ?? '/');
  mkdirSync(workdir, { recursive: true });
  for (const instruction of stage.instructions) await apply(builder, { root, workdir, instruction });
  return root;
}

interface Step {
  root: string;
  workdir: string;
  instruction: Instruction;
}

async function apply(builder: Builder, step: Step): Promise<void> {
  const { keyword, text } = step.instruction;
  if (keyword === 'COPY') await copy(builder, step, readCopy(text));
  if (keyword === 'RUN') await run(builder, step);
}

async function copy(builder: Builder, { workdir }: Step, { from, sources, destination }: Copy): Promise<void> {
  const origin = from === undefined ? builder.project : await build(builder, from);
  const excluded = from === undefined ? readExcluded(builder.project) : () => false;
  const target = join(workdir, destination);
  for (const source of sources) {
    const path = join(origin, source);
    const isFile = statSync(path).isFile();
    const into = isFile && (destination.endsWith('/') || sources.length > 1) ? join(target, basename(source)) : target;
    const filter = (file: string) => !excluded(relative(builder.project, file));
    if (from === undefined) cpSync(path, into, { recursive: true, filter });
    // cpSync would make the links to the workspace packages absolute. Hard links: there are tens of thousands of files.
    else await execute('sh', ['-c', 'mkdir -p "$2" && cp -alf "$1"/. "$2"', 'copy', path, into]);
  }
}

function readExcluded(project: string): (file: string) => boolean {
  const lines = readFileSync(join(project, '.dockerignore'), 'utf8').split('\n');
  const patterns = lines.filter((line) => /^[^#!]/.test(line) && line !== '*');
  return (file) => patterns.some((pattern) => matchesGlob(file, pattern));
}

async function run(builder: Builder, { root, workdir, instruction }: Step): Promise<void> {
  const path = [builder.programs, process.env.PATH].join(delimiter);
  const inherited = Object.entries(process.env).filter(([name]) => !name.toLowerCase().startsWith('npm_'));
  const env = {
    ...Object.fromEntries(inherited),
    NODE_ENV: 'production',
    PATH: path,
    npm_config_prefer_offline: 'true',
  };
  const failed = (error: Error & { stderr?: string }) => {
    throw new Error(`RUN ${instruction.text}\n${error.message}\n${error.stderr}`);
  };
  await execute('sh', ['-ec', withinRoot(root, instruction.text)], { cwd: workdir, env }).catch(failed);
}

/** The command with its absolute paths below `root`, and the owner left out that only root can give. */
export function withinRoot(root: string, command: string): string {
  const within = command.replace(/(?<![\w.@$*}/-])\/(?!dev\/null\b)(?=[\w*])/g, `${root}/`);
  return isRoot ? within : within.replace(/--(owner|group)=\d+ /g, '');
}

/** Files of another user cannot be written anyway. */
async function withoutWritePermission(root: string): Promise<void> {
  if (!isRoot) await execute('chmod', ['-R', 'a-w', root]);
}
