import type { ServerResponse } from 'node:http';
import { type Received, receiver } from './receiver.ts';

export interface FakeSlack {
  /** In place of https://slack.com/api/. */
  api: string;
  /** The address of an incoming webhook. */
  webhookUrl: string;
  got: Received[];
  whenGot(count: number): Promise<void>;
  /** What it answers to the next requests, one after the other; then it takes everything. */
  next: ((response: ServerResponse) => void)[];
}

export const slackSays =
  (status: number, body: object | string, headers: Record<string, string> = {}) =>
  (response: ServerResponse): void =>
    void response
      .writeHead(status, { 'Content-Type': 'application/json', ...headers })
      .end(typeof body === 'string' ? body : JSON.stringify(body));

/** Plays the part of Slack's API that alerts use, on loopback. */
export async function fakeSlack(): Promise<FakeSlack> {
  const made = await receiver();
  const next: FakeSlack['next'] = [];
  let taken = 0;
  made.answer = (response, { path }) => {
    const answer = next.shift();
    if (answer) return answer(response);
    taken += 1;
    if (path.startsWith('/api/')) slackSays(200, { ok: true, channel: 'C1', ts: `17000000.${taken}` })(response);
    else response.writeHead(200).end('ok');
  };
  const { url, got, whenGot } = made;
  return { api: `${url}/api/`, webhookUrl: `${url}/services/T0/B0/hook-secret`, got, whenGot, next };
}
