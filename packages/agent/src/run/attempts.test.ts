import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { AgentError } from '../agent-error.ts';
import { attempts, type Retry } from './attempts.ts';
import { defaultVerdict, type ErrorVerdict } from './outside.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const passing = (retryAfterMs?: number): AgentError =>
  new AgentError('api_error', 'No.', { retryable: true, ...(retryAfterMs !== undefined && { retryAfterMs }) });

/** Throws these in turn, and then answers. */
function trying(errors: unknown[], signal = new AbortController().signal) {
  const left = [...errors];
  const retries: Retry[] = [];
  const record = {
    attempts: [],
    describe: () => ({ code: 'x', message: 'y' }),
    retry: (one: Retry) => void retries.push(one),
  };
  const attempt = async (number: number): Promise<unknown> => {
    if (left.length > 0) throw left.shift();
    return number;
  };
  const classify = (error: unknown): ErrorVerdict => defaultVerdict(error);
  const answer = attempts({ signal, classify, attempt, run: { queries: 1 }, record });
  answer.catch(() => {});
  return { answer, retries, record };
}

test('three attempts, with a pause that doubles and up to a second of jitter', async () => {
  const { answer, retries, record } = trying([passing(), passing()]);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await answer).toBe(3);
  const [first, second] = retries.map(({ delayMs }) => delayMs);
  expect([first! >= 1_000 && first! <= 2_000, second! >= 2_000 && second! <= 3_000]).toEqual([true, true]);
  expect(record.attempts).toMatchObject([{ error: { code: 'x' } }, { error: { code: 'x' } }, { error: null }]);
});

test('the third failure is thrown', async () => {
  const last = passing();
  const { answer } = trying([passing(), passing(), last]);
  // Long enough for a fourth one, which there must not be.
  await vi.advanceTimersByTimeAsync(20_000);
  await expect(answer).rejects.toBe(last);
});

test.each([
  ['a failure that no attempt changes', new AgentError('output_invalid', 'No.', { retryable: false })],
  ['one of unknown kind, which the policy of the job decides', new Error('odd')],
  ['one that asks to wait longer than a minute', passing(61_000)],
])('%s is thrown at once', async (_, error) => {
  const { answer, retries } = trying([error]);
  await expect(answer).rejects.toBe(error);
  expect(retries).toEqual([]);
});

test('a pause that was asked for is kept', async () => {
  const { answer, retries } = trying([passing(45_000)]);
  await vi.advanceTimersByTimeAsync(45_000);
  expect(await answer).toBe(2);
  expect(retries[0]!.delayMs).toBe(45_000);
});

test('the end of the run ends the pause', async () => {
  const over = new AbortController();
  const { answer } = trying([passing(45_000)], over.signal);
  await vi.advanceTimersByTimeAsync(10);
  over.abort(new Error('cancelled'));
  await expect(answer).rejects.toThrow('cancelled');
});
