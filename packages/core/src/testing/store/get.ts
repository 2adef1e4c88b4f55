import { describe, expect, it } from 'vitest';
import type { OpenBench } from './bench.ts';

export function testGet(open: OpenBench): void {
  describe('get', () => {
    it('answers in the order asked, with null for what is not there', async () => {
      const bench = await open();
      const [a, b] = await bench.addMany(2);
      const unknown = bench.make().job;
      const keys = [b!, unknown, a!, b!].map(({ tenant, id }) => ({ tenant, id }));
      expect(await bench.store.get(keys)).toEqual([b, null, a, b]);
      expect(await bench.store.get([])).toEqual([]);
    });

    it('answers copies: what a caller does to its row, the store does not see', async () => {
      const bench = await open();
      const job = await bench.add({ spec: { args: [{ n: 1 }], meta: {} } });
      const copy = await bench.read(job);
      Object.assign(copy, { state: 'completed' });
      copy.spec.args.push('mine');
      expect(await bench.read(job)).toEqual({ ...job, spec: { args: [{ n: 1 }], meta: {} } });
    });
  });
}
