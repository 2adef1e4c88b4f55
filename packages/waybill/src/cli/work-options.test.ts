import { expect, test } from 'vitest';
import { agentConsumer } from '../agent-consumer/preset.ts';
import type { Context } from './context.ts';
import { checkWorkOptions, readWorkOptions } from './work-options.ts';

test.each([
  ['4s', { graceMs: 500, isolated: { stopMs: 2_000 } }],
  ['2s', { graceMs: 0, isolated: { stopMs: 500 } }],
  ['5m', { graceMs: 296_500, isolated: { stopMs: 2_000 } }],
])('--stop-within %s leaves time to end what runs, and to hand it back', (within, options) => {
  expect(checkWorkOptions({ 'stop-within': within })).toEqual(options);
});

test('the preset says how long a stop takes, and flags beat it', () => {
  const preset = agentConsumer({ MAX_CONCURRENT_CLAUDE: '5' });
  const read = (values: Parameters<typeof readWorkOptions>[0]) =>
    readWorkOptions(values, [], { config: undefined, preset } as Context);
  expect(read({})).toMatchObject({
    ...{ graceMs: 500, leaseMs: 45_000, heartbeatMs: 20_000, waitMs: 20_000 },
    isolated: { concurrency: 5, stopMs: 2_000, label: expect.any(Function) },
  });
  expect(read({ processes: '2', 'stop-within': '10s', grace: '1s' })).toMatchObject({
    ...{ graceMs: 1_000, isolated: { concurrency: 2, stopMs: 2_000, label: expect.any(Function) } },
  });
});
