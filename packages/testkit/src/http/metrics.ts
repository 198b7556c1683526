import { sendRequest } from './http-request.ts';

/**
 * The value of a metric of a running process: the sum of its series.
 *
 * @param url the listener that serves `/metrics`
 * @param label narrows the series, for example `by="job"`
 */
export async function readMetric(url: string, name: string, label = ''): Promise<number> {
  const { text } = await sendRequest({ method: 'GET', url: `${url}/metrics` });
  const isSeries = (line: string) => /^[ {]/.test(line.slice(name.length)) && line.includes(label);
  const series = text.split('\n').filter((line) => line.startsWith(name) && isSeries(line));
  return series.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}
