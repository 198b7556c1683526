import { queueBackends, type ServiceProcess, testEvent, until } from '@enterprise-api/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { openTestStage, type TestStage } from './stage.ts';

/** 600 kB: more than a pipe and the buffers around it hold, and no more lines than the testkit keeps. */
const lineCount = 1_800;

describe.each(queueBackends().filter(({ name }) => name === 'redis'))(
  'a service whose log output is not read, on $name',
  (backend) => {
    let stage: TestStage;

    beforeAll(async () => {
      stage = await openTestStage(backend);
    });
    afterEach(() => stage.stopServices());
    afterAll(() => stage.close());

    /** Sends SIGTERM, waits for the exit while the output is still not read, then reads the rest of it. */
    const stopUnread = async (service: ServiceProcess) => {
      service.kill('SIGTERM');
      await until('the end of the process', () => isAlive(service.pid), { holds: (alive) => !alive });
      service.resumeOutput();
      return service.exited;
    };

    it('API: answers all requests, and ends with 0 on SIGTERM', async () => {
      const api = await stage.startApi({ LOG_LEVEL: 'info' });
      api.pauseOutput();
      for (let sent = 0; sent < lineCount; sent += 100) {
        const answers = Array.from({ length: 100 }, () => fetch(`${api.url}/v1/me`).then(({ status }) => status));
        const statuses = await Promise.all(answers);
        expect(statuses.filter((status) => status !== 401 && status !== 429)).toEqual([]);
      }
      expect(await stopUnread(api)).toEqual({ code: 0, signal: null });
    });

    it('worker: delivers everything, and loses no line once its output is read again', async () => {
      // On a busy machine an attempt must not run out of time: it would be made, and logged, twice.
      const worker = await stage.startWorker({ LOG_LEVEL: 'info', WEBHOOK_TIMEOUT_MS: '20000' });
      const { organizationId } = await stage.subscribe();
      worker.pauseOutput();
      for (let sent = 0; sent < lineCount; sent += 600) {
        await stage.producer.emit(Array.from({ length: 600 }, () => testEvent(organizationId)));
      }
      await stage.untilDeliveries(
        organizationId,
        (rows) => rows.length === lineCount && rows.every(({ status }) => status === 'succeeded'),
        60_000,
      );
      const metrics = await fetch(`${worker.url}/metrics`).then((answer) => answer.text());
      expect(metrics).toContain('log_lines_dropped_total{service="webhook-worker"} 0');
      worker.resumeOutput();
      const exit = await worker.stop();
      const logs = worker.logs();
      expect(logs.filter(({ msg }) => msg === 'attempt')).toHaveLength(lineCount);
      expect([exit.code, logs.at(-1)]).toMatchObject([0, { msg: 'stopped' }]);
    });
  },
);

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
