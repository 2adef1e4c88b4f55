import { expect, onTestFinished, test, vi } from 'vitest';
import { WaybillError } from './errors.ts';
import { lineLogger } from './stderr-logger.ts';

function book() {
  const lines: string[] = [];
  const time = { now: Date.UTC(2030, 0, 1) };
  const logger = lineLogger({ write: (text) => lines.push(text), now: () => time.now });
  return { lines, time, logger };
}

test('D2: warnings and errors are one line each, with what the message does not tell yet; the rest is silent', () => {
  const { lines, logger } = book();
  logger.debug({}, 'no');
  logger.info({}, 'no');
  logger.warn(
    { job: 'j-1', task: 'a.b', run: 2, args: 'secret', payload: 'secret', details: { deep: 1 } },
    'Job j-1 failed.',
  );
  logger.error({ err: new WaybillError('unavailable', 'Away.') }, 'A sweep failed.');
  expect(lines).toEqual([
    '2030-01-01T00:00:00.000Z WARN  waybill: Job j-1 failed. task=a.b run=2',
    '2030-01-01T00:00:00.000Z ERROR waybill: A sweep failed. WaybillError: Away. (unavailable)',
  ]);
});

test('D2: an error that explains nothing comes with its stack and its cause', () => {
  const { lines, logger } = book();
  logger.error({ err: new TypeError('x is not a function', { cause: new Error('deep') }) }, 'Unexpected.');
  expect(lines[0]).toMatch(
    /Unexpected\. TypeError: x is not a function; caused by Error: deep\n {4}at .*stderr-logger\.test/,
  );
});

test('D2: a failure as it is stored is told where the message does not tell it', () => {
  const { lines, logger } = book();
  const error = { code: 'handler_error', message: 'no luck' };
  logger.warn({ error, err: new WaybillError('lease_lost', 'Too late.') }, 'The failed run came too late.');
  logger.warn({ error }, 'Job j-1 failed: no luck.');
  expect(lines.map((line) => line.slice(40))).toEqual([
    'The failed run came too late. reason=no luck WaybillError: Too late. (lease_lost)',
    'Job j-1 failed: no luck.',
  ]);
});

test('D2: what producers put into a message cannot steer a terminal or make up lines', () => {
  const { lines, logger } = book();
  logger.warn({ task: 'a\u001b[2J' }, 'one\r\n2030 ERROR two\u001b]0;x\u0007');
  expect(lines[0]).toBe('2030-01-01T00:00:00.000Z WARN  waybill: one 2030 ERROR two ]0;x  task=a [2J');
});

test('D2: what is counted as left out cannot steer a terminal either', () => {
  const { lines, time, logger } = book();
  for (let n = 0; n < 12; n += 1) logger.warn({ task: 'a.b' }, 'no\u001b[2J\nERROR forged');
  time.now += 2_000;
  logger.warn({ task: 'a.b' }, 'later');
  expect(lines.find((line) => line.includes('left out'))).toContain('2 more lines left out like: no [2J ERROR forged');
});

test('D2: a flood is cut short by task and in all, and what was left out is counted', () => {
  const { lines, time, logger } = book();
  for (let job = 0; job < 1_000; job += 1) logger.warn({ task: 'a.b' }, `Job ${job} failed.`);
  for (let task = 0; task < 1_000; task += 1) logger.warn({ task: `t${task}` }, 'Another failed.');
  expect(lines).toHaveLength(50);
  expect(lines.filter((line) => line.includes('Another failed.'))).toHaveLength(40);
  time.now += 1_000;
  logger.warn({ task: 'a.b' }, 'Job 1000 failed.');
  expect(lines.slice(50).map((line) => line.slice(25))).toEqual([
    'WARN  waybill: 990 more lines left out like: Job 10 failed.',
    'WARN  waybill: 960 more lines left out like: Another failed.',
    'WARN  waybill: Job 1000 failed. task=a.b',
  ]);
});

test('D2: the count is told without another line, by a timer that keeps no process alive', () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { lines, logger } = book();
  for (let job = 0; job < 12; job += 1) logger.warn({ task: 'a.b' }, 'Failed.');
  expect(lines).toHaveLength(10);
  vi.advanceTimersByTime(1_000);
  expect(lines[10]).toContain('2 more lines left out like: Failed.');
});
