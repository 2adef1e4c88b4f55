import { expect, it } from 'vitest';
import { OutputTail } from './output-tail.ts';

it('keeps both streams in the order in which they came', () => {
  const tail = new OutputTail();
  tail.add(Buffer.from('out 1\n'), 'stdout');
  tail.add(Buffer.from('err 1\n'), 'stderr');
  tail.add(Buffer.from('out 2\n'), 'stdout');
  expect(tail.text()).toBe('out 1\nerr 1\nout 2\n');
});

it('keeps characters whole that come in pieces, with the other stream between them', () => {
  const tail = new OutputTail();
  const [first, second] = [Buffer.from('€').subarray(0, 1), Buffer.from('€').subarray(1)];
  tail.add(first, 'stdout');
  tail.add(Buffer.from('ü'), 'stderr');
  tail.add(second, 'stdout');
  expect(tail.text()).toBe('ü€');
});

it('shows what is no UTF-8 by a replacement character', () => {
  const tail = new OutputTail();
  tail.add(Buffer.from([0x61, 0xff, 0x62, 0xe2, 0x82]), 'stdout');
  expect(tail.text()).toBe('a\ufffdb\ufffd');
});

it.each([1, 10, 1000, 70_000])('keeps the last 64 KB of chunks of %i characters, and no half character', (size) => {
  const tail = new OutputTail();
  const text = Array.from({ length: 70_000 }, (_, index) => String.fromCodePoint(0x4e00 + (index % 20_000))).join('');
  for (let at = 0; at < text.length; at += size) tail.add(Buffer.from(text.slice(at, at + size)), 'stdout');
  const kept = tail.text();
  expect(text.endsWith(kept)).toBe(true);
  expect(Buffer.byteLength(kept)).toBe(65_535);
});
