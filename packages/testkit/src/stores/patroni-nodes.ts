import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { role } from '../embedded-postgres/data-folder.ts';
import type { GuardedProcess } from '../processes/guarded-process.ts';
import { until } from '../until.ts';
import { type PatroniNode, type PatroniSettings, patroniConfiguration } from './patroni-files.ts';

/** What Patroni says of a server. */
interface Member {
  name: string;
  role: string;
  state: string;
}

/** A failover takes as long as the leader's key lives, and some more on a busy machine. */
const patience = { withinMs: 120_000, everyMs: 200 };

/** The servers of a cluster, and what is done to them. */
export function createNodes(
  nodes: readonly [PatroniNode, PatroniNode],
  settings: PatroniSettings,
  run: (configuration: string) => Promise<GuardedProcess>,
) {
  const running = new Map<string, GuardedProcess>();
  const stopped: number[] = [];
  const start = async (node: PatroniNode) => {
    const file = join(settings.folder, `${node.name}.json`);
    await writeFile(file, patroniConfiguration(node, settings));
    running.set(node.name, await run(file));
  };
  const members = () => firstAnswer(nodes.map(({ restPort }) => `http://127.0.0.1:${restPort}/cluster`));
  const leader = async () => (await members()).find((each) => each.role === 'leader' && each.state === 'running')?.name;
  const untilLeads = (what: string, holds: (name: string | undefined) => boolean) =>
    until(what, leader, { ...patience, holds });
  const nodeOf = (name: string | undefined) => {
    const node = nodes.find((each) => each.name === name);
    if (node === undefined) throw new Error(`There is no server ${name}.`);
    return node;
  };
  const replica = settings.synchronous ? 'sync_standby' : 'replica';
  const follows = async () => (await members()).some((each) => each.role === replica && isUp(each));
  const untilReplicated = async () => void (await until('the other server follows the leader', follows, patience));
  return {
    leader,
    untilReplicated,
    startAll: async () => {
      for (const node of nodes) {
        await start(node);
        await untilLeads('there is a leader', (name) => name !== undefined);
      }
      await untilReplicated();
    },
    killLeader: async () => {
      const { name } = nodeOf(await untilLeads('there is a leader', (each) => each !== undefined));
      running.get(name)?.kill('SIGKILL');
      const pids = [postmasterOf(join(settings.folder, name)), ...stopped.splice(0)];
      for (const pid of pids) signalTo(pid, 'SIGKILL');
      return name;
    },
    restart: (name: string) => start(nodeOf(name)),
    switchOver: async () => {
      const { name, restPort } = nodeOf(await leader());
      const candidate = nodes.find((node) => node.name !== name)?.name;
      await askToSwitchOver(restPort, { leader: name, candidate });
      await untilLeads('the other server is the leader', (each) => each === candidate);
    },
    pauseReplication: async () => {
      const { port } = nodeOf(await leader());
      for (const pid of await senders(port, settings.password)) {
        process.kill(pid, 'SIGSTOP');
        stopped.push(pid);
      }
    },
  };
}

async function askToSwitchOver(restPort: number, question: { leader: string; candidate: string | undefined }) {
  const url = `http://127.0.0.1:${restPort}/switchover`;
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(question) });
  if (!answer.ok) throw new Error(`Patroni did not switch over: ${await answer.text()}`);
}

function isUp({ state }: Member): boolean {
  return state === 'running' || state === 'streaming';
}

async function firstAnswer(urls: readonly string[]): Promise<Member[]> {
  const ask = async (url: string) => (await fetch(url, { signal: AbortSignal.timeout(5_000) })).json();
  const { members } = (await Promise.any(urls.map(ask))) as { members: Member[] };
  return members;
}

/** What sends the log to replicas: stopped, commits go on without them. */
async function senders(port: number, password: string): Promise<number[]> {
  const client = new Client({ host: '127.0.0.1', port, user: role, password, database: 'postgres' });
  await client.connect();
  try {
    const { rows } = await client.query('select pid from pg_stat_replication');
    return rows.map(({ pid }) => pid);
  } finally {
    await client.end();
  }
}

function postmasterOf(folder: string): number | undefined {
  try {
    return Number.parseInt(readFileSync(join(folder, 'postmaster.pid'), 'utf8'), 10);
  } catch {
    return undefined;
  }
}

/** Ends the server on a folder, if one runs, without waiting for clients or for its end. */
export function quitServer(folder: string): void {
  signalTo(postmasterOf(folder), 'SIGQUIT');
}

function signalTo(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined || !(pid > 1)) return;
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}
