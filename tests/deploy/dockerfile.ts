import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFolder } from '@enterprise-api/testkit';

const text = readFileSync(join(projectFolder, 'Dockerfile'), 'utf8')
  .replace(/^#.*\n/gm, '')
  .replace(/\\\n\s*/g, '');
const stages = new Map(
  text
    .split(/^FROM /m)
    .slice(1)
    .map((stage) => {
      const [head = '', ...lines] = stage.split('\n').filter((line) => line !== '');
      const [from = '', , name = ''] = head.split(' ');
      return [name, { from, lines }];
    }),
);

export const stageNames = [...stages.keys()];

/** Returns the lines that build a stage: first the base image, then the stages that it begins from, then its own lines. */
export function linesOf(stage: string): string[] {
  const { from, lines } = stages.get(stage) ?? {};
  if (from === undefined || lines === undefined) throw new Error(`The Dockerfile has no stage ${stage}.`);
  return [...(stages.has(from) ? linesOf(from) : [`FROM ${from}`]), ...lines];
}

/** The text of the last line with this keyword, which is the one in force. */
export function inForce(stage: string, keyword: string): string | undefined {
  return linesOf(stage)
    .findLast((line) => line.startsWith(`${keyword} `))
    ?.slice(keyword.length + 1);
}
