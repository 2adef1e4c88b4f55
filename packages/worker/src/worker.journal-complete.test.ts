import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Jobs, WaybillError } from '@waybill/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { TaskContext } from './context.ts';
import { BATCH_MS } from './journal/run-journal.ts';
import { task } from './task.ts';
import { type Bench, bench, gate } from './testing/bench.ts';
import { AWAY, appending, dropsTold, entriesOf, passing, text } from './testing/journal-bench.ts';

const within = { query: async () => ({ rows: [] }) };

/** A server that shares transactions, as far as a worker can tell: each is committed when `committed` resolves. */
const sharing = (jobs: Jobs, committed: () => Promise<void> = async () => {}): Jobs => ({
  ...jobs,
  settle: async ({ within: shared, ...call }) => {
    if (shared) await committed();
    return jobs.settle(call);
  },
});

async function ran(parts: Bench, run: (input: unknown, context: TaskContext) => unknown, jobs = sharing(parts.jobs)) {
  const shipping = task('order.ship', { retry: { max_attempts: 1 }, run });
  const { told, middleware } = dropsTold();
  const worker = parts.work([shipping], { jobs, middleware: middleware.slice(1) });
  return { job: await parts.add(shipping), worker, told };
}

describe('a run that its handler has completed in a transaction', () => {
  it('has stored what it said before, goes on, and what it says later only reaches the logger', async () => {
    const parts = bench();
    const completed = gate<AbortSignal>();
    const go = gate();
    const { job, worker, told } = await ran(parts, async (_, { log, output, emit, complete, signal }) => {
      log('before');
      void emit('step.done', 1, { critical: true });
      const result = await complete('shipped', { within });
      log('after');
      output('after');
      await emit('step.done', 2);
      completed.open(signal);
      await go.opened;
      log('at last');
      return result;
    });
    const signal = await completed.opened;
    await parts.clock.advance(2 * BATCH_MS);
    await parts.happened(job.id, 'job.completed');
    expect(signal.aborted).toBe(false);
    go.open();
    await passing(parts, 100, worker.drain());
    expect(signal.aborted).toBe(false);
    expect((await entriesOf(parts, job.id)).map(text)).toEqual([{ message: 'before', fields: {} }, 1]);
    expect([worker.said, told]).toEqual([{ stored: 2, dropped: 0 }, {}]);
    const heard = parts.logs.lines.filter(({ level }) => level === 'info').map(({ message }) => message);
    expect(heard).toEqual(expect.arrayContaining(['before', 'after', 'at last']));
    expect(parts.logs.warnings()).toEqual([
      "Task 'order.ship' called context.output() after context.complete(); the journal does not keep it.",
    ]);
    expect(parts.settled.at(-1)).toEqual({ kind: 'completed', result: 'shipped' });
  });

  // fault: an entry is said while the transaction holds the row of the job
  it('says nothing to the server from the call of complete on', async () => {
    const parts = bench();
    const commits = gate();
    const commit = gate();
    const { calls, jobs } = appending(parts, () => undefined);
    const shared = sharing(jobs, async () => {
      commits.open();
      await commit.opened;
    });
    const { job, worker } = await ran(
      parts,
      async (_, { log, complete }) => {
        const completing = complete('shipped', { within });
        await commits.opened;
        log('meanwhile');
        return completing;
      },
      shared,
    );
    await commits.opened;
    await parts.clock.advance(2 * BATCH_MS);
    commit.open();
    await parts.happened(job.id, 'job.completed');
    await passing(parts, 100, worker.drain());
    expect([calls, parts.logs.warnings()]).toEqual([[], []]);
  });

  it('cannot say anything critical any more, and hears so', async () => {
    const parts = bench();
    const heard = gate<unknown>();
    const { job } = await ran(parts, async (_, { emit, complete }) => {
      const result = await complete('shipped', { within });
      void emit('process.ended', { code: 0 });
      await emit('step.done', 1, { critical: true }).catch(heard.open);
      return result;
    });
    expect(await heard.opened).toMatchObject({ code: 'invalid_request' });
    expect((await parts.happened(job.id, 'job.completed')).result).toBe('shipped');
  });
});

describe('a run whose completion in a transaction fails', () => {
  it('goes on to speak', async () => {
    const parts = bench();
    const jobs = sharing(parts.jobs, () => Promise.reject(new WaybillError('unavailable', 'The connection is gone.')));
    const failing = async (_: unknown, { log, output, complete }: TaskContext) => {
      log('before');
      await complete('shipped', { within }).catch(() => output('failed'));
      return 'otherwise';
    };
    const { job } = await ran(parts, failing, jobs);
    expect((await parts.happened(job.id, 'job.completed')).result).toBe('otherwise');
    expect((await entriesOf(parts, job.id)).map(text)).toEqual([{ message: 'before', fields: {} }, 'failed']);
    expect(parts.logs.warnings()).toEqual([]);
  });

  // fault: the server takes no entries, and the outbox keeps them
  it('is not completed while a critical entry is in the outbox only', async () => {
    const parts = bench();
    const folder = await mkdtemp(path.join(tmpdir(), 'waybill-outbox-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const { jobs } = appending(parts, () => Promise.reject(AWAY()));
    const kept = gate();
    const refused = gate<unknown>();
    const shipping = task('order.ship', {
      ...{ outbox: folder, journal: { flushMs: 2_000 }, retry: { max_attempts: 1 } },
      run: async (_, { emit, complete }) => {
        await emit('step.done', 1, { critical: true });
        kept.open();
        await complete('shipped', { within }).catch((error: unknown) => {
          refused.open(error);
          throw error;
        });
      },
    });
    parts.work([shipping], { jobs: sharing(jobs) });
    const job = await parts.add(shipping);
    await kept.opened;
    expect(await passing(parts, 100, refused.opened)).toMatchObject({ code: 'unavailable' });
    await passing(parts, 100, parts.happened(job.id, 'job.discarded'));
    expect(parts.settled.map(({ kind }) => kind)).toEqual(['failed']);
    expect(await readdir(folder)).not.toEqual([]);
  });
});
