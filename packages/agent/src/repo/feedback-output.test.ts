import { expect, test } from 'vitest';
import { Redactor } from '../security/redactor.ts';
import { FeedbackOutput } from './feedback-output.ts';

const redactor = new Redactor({ MY_TOKEN: 'planted-value-1234' });
const shown = (printed: string, tail = printed): string => {
  const output = new FeedbackOutput();
  output.add(Buffer.from(printed));
  return output.text(tail, redactor);
};

test('short output is whole, without colours and without secrets', () => {
  expect(shown('\u001b[31mfailed\u001b[0m with planted-value-1234\n')).toBe('failed with ***');
});

test('long output keeps its head and its tail, and has at most 3,000 characters', () => {
  const long = `BEGIN ${'x '.repeat(20_000)} END`;
  const text = shown(long);
  expect(text.length).toBeLessThanOrEqual(3_000);
  expect(text).toMatch(/^BEGIN[\s\S]*left out[\s\S]*END$/);
});

test('of output longer than what is kept of its end, the head is kept too', () => {
  const text = shown(`BEGIN ${'y '.repeat(100_000)} END`, `${'y '.repeat(30_000)} END`);
  expect(text.length).toBeLessThanOrEqual(3_000);
  expect(text).toMatch(/^BEGIN[\s\S]*left out[\s\S]*END$/);
});
