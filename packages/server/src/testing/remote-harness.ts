import { type RemoteOptions, remote } from '@waybill/client/http';
import type { Waybill } from '@waybill/core';
import { onTestFinished } from 'vitest';
import { type Harness, harness } from './harness.ts';

/** `before`: the call never arrives. `after`: it does, and its answer is lost. `cut`: half of the answer comes. */
export type Drop = 'before' | 'after' | 'cut';

export interface RemoteHarness extends Harness {
  client: Waybill;
  /** Calls that were sent, as `POST /path`, repetitions included. */
  sent: string[];
  /** Drops the next calls whose line contains the text, one each. */
  drop(text: string, ...drops: readonly Drop[]): void;
}

/** The remote client on the real app, without sockets. It does not wait before a repetition. */
export function remoteHarness(options: Parameters<typeof harness>[0] = {}, client: RemoteOptions = {}): RemoteHarness {
  const server = harness(options);
  const sent: string[] = [];
  const drops: { text: string; drop: Drop }[] = [];
  const fetch: RemoteOptions['fetch'] = async (url, init) => {
    const line = `${init.method} ${url.replace('http://waybill.test/ojs/v1', '')}`;
    sent.push(line);
    const index = drops.findIndex(({ text }) => line.includes(text));
    const drop = index < 0 ? undefined : drops.splice(index, 1)[0]!.drop;
    if (drop === 'before') throw new TypeError('fetch failed');
    const response = await server.app.request(url, init);
    // A real fetch gives up at once; here the server has finished first, and its answer is as lost.
    init.signal?.throwIfAborted();
    if (drop === 'after') throw new TypeError('fetch failed');
    return drop === 'cut' ? new Response(brokenOff(await response.text()), response) : response;
  };
  const waybill = remote('http://waybill.test/', { fetch, sleep: async () => {}, ...client });
  onTestFinished(() => waybill.close());
  return {
    ...server,
    client: waybill,
    sent,
    drop: (text, ...these) => drops.push(...these.map((drop) => ({ text, drop }))),
  };
}

function brokenOff(text: string): ReadableStream<Uint8Array> {
  let isSent = false;
  return new ReadableStream({
    pull: (controller) => {
      if (isSent) controller.error(new TypeError('terminated'));
      else controller.enqueue(new TextEncoder().encode(text.slice(0, text.length / 2)));
      isSent = true;
    },
  });
}

/** Takes the next `count` of an endless stream. */
export async function take<T>(stream: AsyncIterable<T>, count: number): Promise<T[]> {
  const taken: T[] = [];
  for await (const item of stream) {
    taken.push(item);
    if (taken.length === count) break;
  }
  return taken;
}
