import { describe, expect, it, onTestFinished } from 'vitest';
import type { JournalStore } from '../store/journal.ts';
import { testEngine } from '../testing/index.ts';
import type { FollowJobQuery } from '../waybill.ts';
import type { NewEntry } from './entry.ts';

const step = (sequence: number): NewEntry => ({ sequence, type: 'step', data: sequence });
const metric = (sequence: number): NewEntry => ({ sequence, type: 'metric', data: sequence });

/** A follower that looks again and again would keep the process from everything else, and the test from its end. */
function boundReads(journal: JournalStore): void {
  let left = 100;
  const { read } = journal;
  journal.read = (asked) => {
    left -= 1;
    if (left < 0) throw new Error('The journal is read again and again.');
    return read.call(journal, asked);
  };
}

async function started() {
  const made = testEngine();
  boundReads(made.store.journal!);
  const id = await made.enqueue({ retry: { max_attempts: 2 } });
  const lease = await made.claimOne({ workerId: 'w1' });
  const enough = new AbortController();
  onTestFinished(() => enough.abort());
  const follow = (query: Omit<FollowJobQuery, 'signal'>) => {
    const live = Promise.withResolvers<void>();
    const got: [number, number][] = [];
    const read = async () => {
      const all = { ...query, signal: enough.signal, onLive: () => live.resolve() };
      for await (const said of made.waybill.jobs.follow(id, all))
        if (said.kind === 'entry') got.push([said.entry.run, said.entry.sequence]);
      return got;
    };
    const all = read();
    all.catch(live.reject);
    return { live: live.promise, all };
  };
  return { ...made, id, held: { id, leaseToken: lease.token }, follow };
}

const FILTERS: [string, Omit<FollowJobQuery, 'signal'>][] = [
  ['types', { types: ['metric'] }],
  ['the run and a later sequence', { run: 1, fromSequence: 4 }],
  ['a later time', { fromTime: 10 ** 14 }],
];

describe('a follower that wants none of what there is', () => {
  it.each(FILTERS)('waits beside one who has read it all, and does not look again and again: %s', async (_, query) => {
    const { waybill, held, follow } = await started();
    await waybill.jobs.append({ ...held, entries: [step(1), step(2), step(3)] });
    const everything = follow({});
    await everything.live;
    const picky = follow(query);
    await picky.live;
    await waybill.jobs.append({ ...held, entries: [{ ...metric(4), at: 2 * 10 ** 14 }] });
    await waybill.jobs.settle({ ...held, outcome: { kind: 'completed', result: null } });
    expect(await picky.all).toEqual([[1, 4]]);
    expect(await everything.all).toEqual([1, 2, 3, 4].map((sequence) => [1, sequence]));
  });

  it('waits for the end of the job when the next run speaks already', async () => {
    const { waybill, clock, id, held, follow } = await started();
    await waybill.jobs.append({ ...held, entries: [step(1)] });
    await clock.advance(400_000);
    const [next] = await waybill.jobs.claim({ queues: ['default'] });
    const second = { id, leaseToken: next!.token };
    await waybill.jobs.append({ ...second, entries: [step(1), step(2)] });
    const everything = follow({});
    await everything.live;
    const first = follow({ run: 1 });
    await first.live;
    await waybill.jobs.append({ ...second, entries: [step(3)] });
    await waybill.jobs.settle({ ...second, outcome: { kind: 'completed', result: null } });
    expect(await first.all).toEqual([[1, 1]]);
    const all = [[1, 1], ...[1, 2, 3].map((sequence) => [2, sequence])];
    expect(await everything.all).toEqual(all);
  });
});
