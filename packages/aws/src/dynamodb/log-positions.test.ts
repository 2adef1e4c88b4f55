import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { aJob } from '@waybill/core/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Client } from './sdk.ts';
import { canRun, useLocalDynamo } from './testing/bench.ts';
import { checkLog } from './testing/crash.ts';

describe.skipIf(!canRun)('the positions of the log (skipped: needs Java 17)', () => {
  const local = useLocalDynamo();

  /** A store that counts how often the one item is written that all positions come from. */
  async function counted() {
    let draws = 0;
    const send = (...args: Parameters<Client['send']>) => {
      const [command] = args;
      if (command instanceof UpdateItemCommand && command.input.Key?.['pk']?.S === 'LOG') draws += 1;
      return local.client().send(...args);
    };
    const opened = await local.open({ client: { send } as Client });
    onTestFinished(opened.close);
    return { store: opened.store, draws: () => draws };
  }

  it('B16: calls of the same moment draw their positions together, and the log is as it was', async () => {
    const { store, draws } = await counted();
    const jobs = Array.from({ length: 100 }, () => aJob());
    const answers = await Promise.all(jobs.map((job) => store.insert([{ jobs: [job] }])));
    expect(answers.flat().every(({ status }) => status === 'inserted')).toBe(true);
    expect(draws()).toBeLessThanOrEqual(10);
    const events = await checkLog(store);
    expect(new Set(events.map(({ jobId }) => jobId))).toEqual(new Set(jobs.map(({ job }) => job.id)));
    expect(await store.events.end()).toBe('101');
  });

  it('calls one after the other draw one each', async () => {
    const { store, draws } = await counted();
    for (let calls = 1; calls <= 3; calls++) {
      await store.insert([{ jobs: [aJob()] }]);
      expect(draws()).toBe(calls);
    }
  });
});
