import { engine, silentLogger } from '@waybill/core';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../connect/open-store.ts';
import { tempDatabase } from '../../testing/temp-database.ts';
import { Terminal } from '../testing/terminal.ts';

// fault: a row that the store takes no change of
test.each(['sqlite', 'postgres'])('doctor on the %s store of a server names what that has put off', async (kind) => {
  const terminal = new Terminal(kind === 'postgres' ? await tempDatabase() : undefined);
  terminal.now = Date.now();
  const store = await openStore(terminal.store, { logger: silentLogger });
  const apply = store.apply.bind(store);
  const server = engine({ store, logger: silentLogger });
  onTestFinished(() => server.close());
  const { job } = await server.jobs.enqueue({ type: 'a.b', args: [], options: { scheduled_at: '+PT0.05S' } });
  store.apply = async (changes, options) => {
    if (changes.some((change) => change.job.id === job.id)) throw new Error('This row violates a constraint.');
    return apply(changes, options);
  };
  const maintenance = async () => {
    const { checks } = (await terminal.json('doctor')) as { checks: { name: string }[] };
    return checks.find(({ name }) => name === 'maintenance');
  };
  await expect
    .poll(maintenance, { timeout: 60_000, interval: 250 })
    .toMatchObject({ status: 'warn', message: expect.stringContaining('1 put off, first job ID-1') });
});
