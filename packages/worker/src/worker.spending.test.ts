import { type SpendCall, type Spending, WaybillError } from '@waybill/core';
import { describe, expect, it } from 'vitest';
import { task } from './task.ts';
import { bench, gate } from './testing/bench.ts';

const PAGES = { unit: 'pages', period: 'total', limit: 10 } as const;
const away = () => new WaybillError('unavailable', 'The server is away.');
const spentOf = (spending: Spending): number[] => spending.budgets.map(({ spent }) => spent);

describe('what a run spends', () => {
  it('counts, call by call, for the tenant and the key, and the handler learns what is left', async () => {
    const { work, add, happened, waybill } = bench();
    await waybill.budgets.set(PAGES);
    await waybill.budgets.set({ ...PAGES, key: 'ada' });
    const read = task('pages.read', {
      run: async (_, { spend }) => {
        const first = await spend({ pages: 4 });
        // Not awaited: they go one after another all the same.
        void spend({ pages: 1 });
        const last = await spend({ pages: 5 }, { key: 'ada' });
        return [spentOf(first), spentOf(last), last.exceeded.map(({ id }) => id)];
      },
    });
    work([read]);
    const job = await add(read);
    expect((await happened(job.id, 'job.completed')).result).toEqual([[4], [10, 5], ['pages:total']]);
  });

  it('is refused where the connection of the worker has no budgets, as questions are', async () => {
    const { jobs, work, add, happened } = bench();
    const codeOf = (error: WaybillError) => error.code;
    const read = task('pages.read', {
      run: async (_, { spend, ask }) => [
        await spend({ pages: 1 }).catch(codeOf),
        await ask({ text: 'Go?' }).catch(codeOf),
      ],
    });
    const { spend: _, ask: __, enqueue: ___, ...few } = jobs;
    work([read], { jobs: few });
    const job = await add(read);
    expect((await happened(job.id, 'job.completed')).result).toEqual(['unsupported', 'unsupported']);
  });

  it('is sent again as it was when its answer is lost, and counts once', async () => {
    const { jobs, work, add, happened, waybill } = bench();
    await waybill.budgets.set(PAGES);
    const calls: SpendCall[] = [];
    const spend = async (call: SpendCall) => {
      calls.push(call);
      const answer = await jobs.spend(call);
      if (calls.length === 1) throw away();
      return answer;
    };
    const read = task('pages.read', {
      run: async (_, context) => {
        const lost = await context.spend({ pages: 4 }).catch((error: WaybillError) => error.code);
        return [lost, spentOf(await context.spend({ pages: 1 }))];
      },
    });
    work([read], { jobs: { ...jobs, spend } });
    const job = await add(read);
    expect((await happened(job.id, 'job.completed')).result).toEqual(['unavailable', [5]]);
    expect(calls.map(({ number, amounts }) => [number, amounts['pages']])).toEqual([
      [1, 4],
      [1, 4],
      [2, 1],
    ]);
  });

  it('arrives before the run is settled, also what nobody waited for', async () => {
    const { jobs, work, add, happened, waybill, logs } = bench();
    await waybill.budgets.set(PAGES);
    let tries = 0;
    const spend = async (call: SpendCall) => {
      tries += 1;
      if (tries === 1) throw away();
      return jobs.spend(call);
    };
    const read = task('pages.read', { run: (_, context) => void context.spend({ pages: 4 }) });
    work([read], { jobs: { ...jobs, spend } });
    const job = await add(read);
    await happened(job.id, 'job.completed');
    expect(await waybill.budgets.get('pages:total')).toMatchObject({ spent: 4 });
    expect(logs.warnings()).toEqual(["What a run of task 'pages.read' has spent could not be counted yet."]);
  });

  it('a mistake is told, and what is spent after it counts', async () => {
    const { work, add, happened, waybill } = bench();
    await waybill.budgets.set(PAGES);
    const read = task('pages.read', {
      run: async (_, { spend }) => {
        const mistake = await spend({ pages: Number.NaN }).catch((error: WaybillError) => error.code);
        return [mistake, spentOf(await spend({ pages: 2 }))];
      },
    });
    work([read]);
    const job = await add(read);
    expect((await happened(job.id, 'job.completed')).result).toEqual(['invalid_request', [2]]);
  });

  it('of a run that is over is refused, and warned of', async () => {
    const { work, add, happened, logs } = bench();
    const go = gate();
    let late: Promise<unknown> | undefined;
    const read = task('pages.read', {
      run: (_, { spend }) => {
        late = go.opened.then(() => spend({ pages: 1 }));
      },
    });
    work([read]);
    const job = await add(read);
    await happened(job.id, 'job.completed');
    go.open();
    await expect(late).rejects.toMatchObject({ code: 'lease_lost' });
    expect(logs.warnings()).toEqual([expect.stringContaining('context.spend() after its run had ended')]);
  });
});
