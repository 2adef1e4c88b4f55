import path from 'node:path';
import { silentLogger } from '@waybill/core';
import { createApp, serve } from '@waybill/server';
import { task } from '@waybill/worker';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { folder } from '../cli/testing/terminal.ts';
import { type Connection, connect } from './connect.ts';

const double = task('double.one', { input: z.number(), run: (n, { job }) => ({ doubled: n * 2, whose: job.tenant }) });

/** Connections to one store, each of a tenant of its own. */
type Open = (tenant?: string) => Promise<Connection>;

async function opened(address: string, tenant: string | undefined): Promise<Connection> {
  const waybill = await connect(address, { logger: silentLogger, ...(tenant !== undefined && { tenant }) });
  onTestFinished(() => waybill.close());
  return waybill;
}

async function embedded(): Promise<Open> {
  const address = `sqlite:${path.join(folder(), 'jobs.db')}`;
  return (tenant) => opened(address, tenant);
}

async function overHttp(): Promise<Open> {
  const engine = await opened('sqlite::memory:', undefined);
  const server = await serve(createApp({ waybill: engine, version: 'test' }), { port: 0, graceMs: 100 });
  onTestFinished(() => server.close());
  return (tenant) => opened(server.url, tenant);
}

const idsOf = async ({ jobs }: Connection): Promise<string[]> =>
  (await jobs.list({ limit: 10 })).items.map(({ id }) => id).sort();

describe.each([
  ['embedded', embedded],
  ['over HTTP', overHttp],
])('connections of several tenants, %s', (_, begin) => {
  it('enqueue, work and wait for their own', async () => {
    const open = await begin();
    const [acme, beta] = [await open('acme'), await open('beta')];
    const worker = acme.work([double]);
    const one = await acme.enqueue(double, 21);
    const others = await acme.enqueueMany(double, [1, 2]);
    const theirs = await beta.enqueue(double, 4);
    expect(one.job.tenant).toBe('acme');
    expect(await acme.wait(one)).toEqual({ doubled: 42, whose: 'acme' });
    expect(await acme.wait(one.id)).toEqual({ doubled: 42, whose: 'acme' });
    expect(await Promise.all(others.map((job) => acme.wait(job)))).toMatchObject([{ doubled: 2 }, { doubled: 4 }]);
    await worker.stop();
    expect(await idsOf(acme)).toEqual([one, ...others].map(({ id }) => id).sort());
    expect(await idsOf(beta)).toEqual([theirs.id]);
    expect(await beta.jobs.get(theirs.id)).toMatchObject({ tenant: 'beta', state: 'available' });
    await expect(beta.wait(one.id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('A20: wait finds the job of a tenant, from a connection of another one too', async () => {
    const open = await begin();
    const plain = await open();
    const enqueued = await plain.enqueue(double, 3, { tenant: 'acme' });
    const waits = [
      plain.wait(enqueued),
      plain.wait(enqueued.id, { tenant: 'acme' }),
      (await open('acme')).wait(enqueued),
    ];
    plain.work([double], { tenant: 'acme' });
    expect(await Promise.all(waits)).toEqual(Array(3).fill({ doubled: 6, whose: 'acme' }));
    await expect(plain.wait(enqueued.id)).rejects.toMatchObject({ code: 'not_found' });
    await expect((await open('beta')).wait(enqueued, { tenant: 'beta' })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('A20: an absent tenant is that of the connection, in the log as everywhere', async () => {
    const open = await begin();
    const [plain, acme] = [await open(), await open('acme')];
    const [ours, theirs] = [await plain.enqueue(double, 1), await acme.enqueue(double, 1)];
    const told = async ({ events }: Connection, tenant?: string) =>
      (await events.read({ filter: tenant === undefined ? {} : { tenant }, limit: 10 })).events.map(
        ({ tenant: whose, jobId }) => [whose, jobId],
      );
    expect(await told(plain)).toEqual([['', ours.id]]);
    expect(await told(acme)).toEqual([['acme', theirs.id]]);
    expect(await told(acme, '')).toEqual([['', ours.id]]);
    expect(await told(plain, 'acme')).toEqual([['acme', theirs.id]]);
  });

  it('close as others do', async () => {
    const acme = await (await begin())('acme');
    await acme.enqueue(double, 1);
    await acme.close();
    await expect(acme.enqueue(double, 1)).rejects.toThrow();
  });
});
