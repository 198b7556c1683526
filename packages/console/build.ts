import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'esbuild';

// Builds the pages into dist/: index.html, and assets/ with hashed names, each file also as .br and .gz.
// With --check it also fails when the pages became too large.

const folder = fileURLToPath(new URL('.', import.meta.url));
const dist = join(folder, 'dist');
const limits = { firstLoad: 60_000, all: 100_000 };

const { outputFiles, metafile } = await build({
  absWorkingDir: folder,
  entryPoints: { console: 'src/main.tsx', reload: 'src/reload.ts', style: 'src/style.css', icon: 'src/icon.svg' },
  loader: { '.svg': 'copy' },
  outdir: 'dist/assets',
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  assetNames: '[name]-[hash]',
  bundle: true,
  format: 'esm',
  splitting: true,
  minify: true,
  target: ['chrome120', 'firefox121', 'safari17'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  define: { 'process.env.NODE_ENV': '"production"' },
  metafile: true,
  write: false,
  logLevel: 'warning',
});

const names = ['src/main.tsx', 'src/reload.ts', 'src/style.css', 'src/icon.svg'].map((source) => {
  const found = Object.entries(metafile.outputs).find(
    ([, { entryPoint, inputs }]) => (entryPoint ?? Object.keys(inputs)[0]) === source,
  );
  return basename(found?.[0] as string);
});
const [script = '', reload = '', style = '', icon = ''] = names;
const page = readFileSync(join(folder, 'src/index.html'), 'utf8')
  .replace('main.tsx', script)
  .replace('reload.ts', reload)
  .replace('style.css', style)
  .replace('icon.svg', icon);

// Two builds at once write the same files. The page comes last: a reader never sees one without its files.
mkdirSync(join(dist, 'assets'), { recursive: true });
const files = outputFiles.map(({ path, contents }) => ({ path, contents }));
const sizes = new Map<string, number>();
for (const { path, contents } of [...files, { path: join(dist, 'index.html'), contents: Buffer.from(page) }]) {
  const zipped = gzipSync(contents, { level: 9 });
  sizes.set(basename(path), zipped.length);
  writeFileSync(path, contents);
  writeFileSync(`${path}.gz`, zipped);
  writeFileSync(`${path}.br`, brotliCompressSync(contents, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
}
for (const name of readdirSync(join(dist, 'assets')))
  if (!sizes.has(name.replace(/\.(br|gz)$/, ''))) rmSync(join(dist, 'assets', name), { force: true });

const all = [...sizes.values()].reduce((sum, size) => sum + size, 0);
const firstLoad = sizeOf(new Set(['index.html', ...names]));
const kb = (bytes: number) => `${(bytes / 1000).toFixed(1)} KB`;
console.log(`console: first load ${kb(firstLoad)}, all ${kb(all)} (gzip)`);
if (process.argv.includes('--check') && (firstLoad > limits.firstLoad || all > limits.all)) {
  console.error(`The console may have ${kb(limits.firstLoad)} at the first load and ${kb(limits.all)} in all.`);
  process.exitCode = 1;
}

/** The size of these files, and of those that they import at once. The first page draws plots. */
function sizeOf(loaded: Set<string>): number {
  for (const name of loaded)
    for (const { kind, path } of metafile.outputs[`dist/assets/${name}`]?.imports ?? [])
      if (kind === 'import-statement' || path.includes('uPlot')) loaded.add(basename(path));
  return [...loaded].reduce((sum, name) => sum + (sizes.get(name) ?? 0), 0);
}
