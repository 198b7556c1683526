import { globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

// `npm run figures`: how much product there is. A folder may be given, to compare with another clone.
const root = resolve(process.argv[2] ?? '.');
/** What builds and connects the parts of each service, without the tables of routes and metrics. */
const compositionFiles =
  /^services\/[\w-]+\/src\/(?:start|connections|app|worker|start-consumers|pipeline\/(?:build|stages))\.ts$/;

/** The floors of services/api, lowest first. A folder that is not named is a feature. */
const floors = ['http', 'core', 'auth', 'pagination', 'idempotency'];
const topFloor = floors.length + 1;

const files = globSync(['services/*/src/**/*.ts', 'packages/shared/src/**/*.ts'], { cwd: root })
  .filter((file) => !file.endsWith('.test.ts') && !file.includes('/testing/'))
  .sort();
const sources = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));

const codeLines = (source: string) => source.split('\n').filter((line) => !/^\s*(?:$|\/\/|\/\*|\*)/.test(line)).length;
const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

/** Without comments, strings, templates and regular expressions. */
function withoutTexts(source: string): string {
  const texts = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g;
  return source.replace(texts, ' ').replace(/(?<=[(=,:?&|!]\s*)\/(?![*/])(?:\\.|\[[^\]\n]*\]|[^/\\\n])+\/[a-z]*/g, ' ');
}

/** 0, 1, 2, and units of time and size. */
const plain = new Set([0, 1, 2, 24, 60, 1_000, 1_024, 3_600, 60_000, 86_400, 1_000_000, 3_600_000, 86_400_000]);

function countLiterals(source: string): number {
  const literals =
    withoutTexts(source).match(/(?<![\w.$])(?:0x[\da-f_]+|\d[\d_]*(?:\.\d+)?(?:e\d+)?)n?(?![\w$])/gi) ?? [];
  return literals.filter((literal) => !plain.has(Number(literal.replace(/_|n$/g, '')))).length;
}

const floorOf = (file: string) => {
  const folder = /^services\/api\/src\/([^/]+)\//.exec(file)?.[1];
  if (folder === undefined) return topFloor;
  const floor = floors.indexOf(folder);
  return floor === -1 ? floors.length : floor;
};

/** Imports between folders of services/api, and those that lead from a lower floor to a higher one. */
function countImports(): { all: number; upward: number } {
  const pairs = [...sources].flatMap(([file, source]) =>
    file.startsWith('services/api/src/') && !file.includes('/testing/')
      ? [...source.matchAll(/^(?:import|export)\b[^;]*?from '(\.[^']+)';/gm)].map(([, path = '']) => ({
          file,
          target: join(dirname(file), path),
        }))
      : [],
  );
  const folderOf = (file: string) => file.split('/')[3];
  const across = pairs.filter(({ file, target }) => floorOf(file) < topFloor && folderOf(file) !== folderOf(target));
  return { all: across.length, upward: across.filter(({ file, target }) => floorOf(file) < floorOf(target)).length };
}

const composition = [...sources].filter(([file]) => compositionFiles.test(file));
const imports = countImports();
const figures = {
  'product code lines': sum([...sources.values()].map(codeLines)),
  'composition (files, lines)': `${composition.length}, ${sum(composition.map(([, text]) => text.split('\n').length - 1))}`,
  'numeric literals': sum([...sources.values()].map(countLiterals)),
  'imports across folders of services/api': imports.all,
  'of them from a lower floor to a higher one': imports.upward,
};
for (const [name, figure] of Object.entries(figures)) process.stdout.write(`${name}: ${figure}\n`);
