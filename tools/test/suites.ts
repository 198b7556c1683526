import { readFileSync } from 'node:fs';
import { isToolchainName, type ToolchainName } from '@enterprise-api/testkit';

/** Whether a test file uses Redis: not at all; besides PostgreSQL, as the second queue backend; always. */
export type RedisUse = 'none' | 'also' | 'only';

/** A test file, and the programs that it needs besides PostgreSQL. */
export interface Suite {
  readonly file: string;
  readonly redis: RedisUse;
  /** Whether it starts nginx and Caddy. */
  readonly ingress: boolean;
  /** Whether it starts a PgBouncer. */
  readonly pooler: boolean;
  /** Whether it starts a browser. */
  readonly browser: boolean;
  /** Whether it builds manifests with kubectl. */
  readonly kubectl: boolean;
  /** Whether it runs promtool. */
  readonly promtool: boolean;
  /** What it uses of other languages. */
  readonly toolchains: readonly ToolchainName[];
}

/** Reads what these test files need. Unit tests need nothing, whatever names they mention. */
export function readSuites(files: readonly string[]): Suite[] {
  return files.map((file) => {
    const source = needPostgres([file]) ? readFileSync(file, 'utf8') : '';
    const [redis, ingress, browser] = [redisUse(source), usesIngress(source), usesBrowser(source)];
    const [pooler, kubectl, promtool] = [usesPooler(source), usesKubectl(source), usesPromtool(source)];
    return { file, redis, ingress, pooler, browser, kubectl, promtool, toolchains: usedToolchains(source) };
  });
}

/**
 * Read from the file's text, because a naming convention can be forgotten: a suite for both queue backends calls
 * `queueBackends`, a suite that needs a Redis uses `createTestRedis`, `startRedis` or a helper like `startRedisCluster`, which it
 * may also hand to `it.each` without calling it.
 */
export function redisUse(source: string): RedisUse {
  if (/\b(createTestRedis|startRedis\w*)\b/.test(source)) return 'only';
  return /\bqueueBackends\(/.test(source) ? 'also' : 'none';
}

/** A suite that needs nginx and Caddy calls `startIngress`, or a helper like `openIngressStage`, which does. */
export function usesIngress(source: string): boolean {
  return /\b(start|open)Ingress\w*\(/.test(source);
}

/** A suite that needs PgBouncer calls `startPgBouncer`, or opens a stage that is `pooled`. */
export function usesPooler(source: string): boolean {
  return /\bstartPgBouncer\(|\bpooled: true\b/.test(source);
}

/** A suite that needs Chromium calls `startBrowser`, or a helper like `openBrowserStage`, which does. */
export function usesBrowser(source: string): boolean {
  return /\b(start|open)Browser\w*\(/.test(source);
}

/** A suite that builds manifests calls `buildKustomization`, or the helper `buildOverlay`, which does. */
export function usesKubectl(source: string): boolean {
  return /\bbuild(Kustomization|Overlay)\(/.test(source);
}

/** A suite that runs promtool calls `runPromtool`; one that starts Prometheus, of the same package, `startPrometheus`. */
export function usesPromtool(source: string): boolean {
  return /\b(runPromtool|startPrometheus)\(/.test(source);
}

/** A suite that uses a program of another language calls `requireToolchain`. */
export function usedToolchains(source: string): ToolchainName[] {
  return [...source.matchAll(/\brequireToolchain\('(\w+)'\)/g)].flatMap(([, name = '']) =>
    isToolchainName(name) ? [name] : [],
  );
}

/** Whether any of these files needs PostgreSQL. Unit tests need nothing but Node. */
export function needPostgres(files: readonly string[]): boolean {
  return files.some((file) => /\.integration\.test\.ts$|\/tests\//.test(file));
}
