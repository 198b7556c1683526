import { readFileSync } from 'node:fs';

export interface Instruction {
  keyword: string;
  /** The text after the keyword, on one line, with the values of the build arguments. */
  text: string;
}

export interface Stage {
  name: string;
  /** An image, or the name of an earlier stage. */
  from: string;
  instructions: Instruction[];
}

/** Reads a Dockerfile into its stages. Understands only the part of the format that our Dockerfile uses. */
export function readDockerfile(file: string): Stage[] {
  const stages: Stage[] = [];
  const variables = new Map<string, string>();
  for (const line of joinedLines(readFileSync(file, 'utf8'))) {
    const [, keyword = '', written = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    const text = written.replace(/\$\{(\w+)\}/g, (whole, name: string) => variables.get(name) ?? whole);
    const stage = stages.at(-1);
    if (keyword === 'ARG') {
      const [name = '', value = ''] = text.split('=');
      variables.set(name, value);
    } else if (keyword === 'FROM') {
      const [from = '', , name = ''] = text.split(/\s+/);
      stages.push({ name, from, instructions: [] });
    } else if (keyword !== '' && stage) stage.instructions.push({ keyword, text });
    else throw new Error(`Cannot read this line of the Dockerfile: ${line}`);
  }
  return stages;
}

/** The instructions of a stage, after those of the stages on which it is built. */
export function history(stages: readonly Stage[], target: string): Instruction[] {
  const stage = stages.find(({ name }) => name === target);
  return stage ? [...history(stages, stage.from), ...stage.instructions] : [];
}

/** The text of the last instruction with this keyword, which is the one in force. */
export function effective(stages: readonly Stage[], target: string, keyword: string): string | undefined {
  return history(stages, target).findLast((instruction) => instruction.keyword === keyword)?.text;
}

export interface Copy {
  /** The stage from which the files are copied; undefined is the build's context. */
  from: string | undefined;
  sources: string[];
  destination: string;
}

export function copies(instructions: readonly Instruction[]): Copy[] {
  return instructions.filter(({ keyword }) => keyword === 'COPY').map(({ text }) => readCopy(text));
}

export function readCopy(text: string): Copy {
  const words = text.split(/\s+/);
  const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length);
  const paths = words.filter((word) => !word.startsWith('--'));
  return { from, sources: paths.slice(0, -1), destination: paths.at(-1) ?? '' };
}

/** The paths of the build's context that reach the image, directly or through other stages. */
export function contextPaths(stages: readonly Stage[], target: string): string[] {
  return copies(history(stages, target)).flatMap(({ from, sources }) =>
    from === undefined ? sources : contextPaths(stages, from),
  );
}

function joinedLines(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('#'))
    .join('\n')
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '');
}
