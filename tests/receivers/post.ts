import { Agent, request } from 'node:https';

export interface PostAnswer {
  status: number | undefined;
  /** Whether the request went over a connection that was kept since an earlier one. */
  overKeptConnection: boolean;
}

/** Posts over one connection, which it keeps for as long as the other side does. */
export function createPoster(ca: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca });
  return {
    post: (url: string, body: string, headers: Record<string, string>) =>
      new Promise<PostAnswer>((resolve, reject) => {
        const options = { method: 'POST', agent, headers: { 'content-type': 'application/json', ...headers } };
        const sent = request(url, options, (answer) => {
          answer
            .resume()
            .on('end', () => resolve({ status: answer.statusCode, overKeptConnection: sent.reusedSocket }));
        });
        sent.on('error', reject).end(body);
      }),
    close: () => agent.destroy(),
  };
}
