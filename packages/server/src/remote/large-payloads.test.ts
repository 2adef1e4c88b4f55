import { engine } from '@waybill/core';
import { memoryStore, TestClock, temporaryBlobs } from '@waybill/core/testing';
import { expect, onTestFinished, test } from 'vitest';
import { type RemoteHarness, remoteHarness } from '../testing/remote-harness.ts';

const LARGE = 'x'.repeat(1024 * 1024);
const SECRET = 'signature=s3cret';

interface Asked {
  url: string;
  headers: Record<string, string>;
}

/** A server whose blobs have addresses, and a client that reaches both. */
async function largeHarness({ away = false } = {}): Promise<RemoteHarness & { asked: Asked[] }> {
  const { blobs, remove } = await temporaryBlobs();
  onTestFinished(remove);
  const asked: Asked[] = [];
  const presign = async (key: string) => `https://blobs.test/${key}?${SECRET}`;
  const clock = new TestClock();
  const waybill = engine({
    store: memoryStore({ clock }),
    blobs: { store: { ...blobs, presign } },
    maintenance: false,
  });
  const server: RemoteHarness = remoteHarness(
    { waybill, clock, maxBodyBytes: 32 * LARGE.length },
    {
      headers: { Authorization: 'Bearer key' },
      fetch: async (url, init) => {
        if (!url.startsWith('https://blobs.test/')) return server.app.request(url, init);
        asked.push({ url, headers: init.headers as Record<string, string> });
        if (away) throw new TypeError(`cannot reach ${url}`);
        return new Response(Buffer.from((await blobs.get(new URL(url).pathname.slice(1)))!));
      },
    },
  );
  return { ...server, asked };
}

const request = { type: 'test.job', args: [LARGE], args_url: 'https://evil.test/' };

test('a job that is read tells addresses in place of what is over 1 MiB; a worker gets it whole', async () => {
  const { post, get, fetched } = await largeHarness();
  const { id } = (await post('/ojs/v1/jobs', request)).body.job;
  const claimed = await fetched();
  expect(claimed.args).toEqual([LARGE]);
  const ack = { job_id: id, lease_token: claimed.lease_token, result: { small: true } };
  expect((await post('/ojs/v1/workers/ack', ack)).body.job.args).toEqual([LARGE]);

  const args_url = expect.stringMatching(`^https://blobs.test/jobs/${id}/args-`);
  const { job } = (await get(`/ojs/v1/jobs/${id}`)).body;
  expect(job).toMatchObject({ args_url, result: { small: true } });
  expect(job).not.toHaveProperty('args');
  expect((await get('/ojs/v1/jobs')).body.jobs).toMatchObject([{ id, args_url }]);
});

test('so does a dead letter', async () => {
  const { post, get, fetched, client } = await largeHarness();
  const { id } = (await post('/ojs/v1/jobs', request)).body.job;
  const { lease_token } = await fetched();
  const error = { code: 'hopeless', message: 'no' };
  await post('/ojs/v1/workers/nack', { job_id: id, lease_token, outcome: 'discarded', dead_letter: true, error });
  expect((await get(`/ojs/v1/dead-letter/${id}`)).body.job).toHaveProperty('args_url');
  expect((await client.deadLetters.get(id)).spec.args).toEqual([LARGE]);
  expect((await client.deadLetters.list({ limit: 10 })).items).toMatchObject([{ spec: { args: [LARGE] } }]);
});

test('the client fetches what it was told an address for, and shows nobody but the server its key', async () => {
  const { client, asked } = await largeHarness();
  const { job } = await client.jobs.enqueue(request);
  expect((await client.jobs.get(job.id)).spec.args).toEqual([LARGE]);
  expect((await client.jobs.list({ limit: 10 })).items[0]!.spec.args).toEqual([LARGE]);
  expect(asked.map(({ url }) => new URL(url).hostname)).toEqual(['blobs.test', 'blobs.test']);
  expect(JSON.stringify(asked.map(({ headers }) => headers))).not.toContain('Bearer');
});

test('an address that does not answer is told of without telling it', async () => {
  const { client, log } = await largeHarness({ away: true });
  const { job } = await client.jobs.enqueue(request);
  const refused = (await client.jobs.get(job.id).catch((error: unknown) => error)) as Error;
  expect(refused).toMatchObject({ code: 'unavailable', retryable: true });
  expect([refused.message, refused.stack, String(refused.cause), JSON.stringify(log)].join()).not.toContain(SECRET);
});
