import { expect, it } from 'vitest';
import { LineReader } from './line-reader.ts';

function read(maxBytes: number, chunks: readonly (string | Buffer)[]): (string | null)[] {
  const heard: (string | null)[] = [];
  const reader = new LineReader(
    maxBytes,
    (line) => heard.push(line),
    () => heard.push(null),
  );
  for (const chunk of chunks) reader.add(Buffer.from(chunk));
  reader.finish();
  return heard;
}

it('cuts lines, wherever the chunks end', () => {
  expect(read(100, ['a\nb', 'c\n', '\n', 'd\ne'])).toEqual(['a', 'bc', '', 'd', 'e']);
  expect(read(100, ['a\n'])).toEqual(['a']);
  expect(read(100, [])).toEqual([]);
});

it('keeps characters whole that come byte by byte', () => {
  const bytes = [...Buffer.from('ü😀\n')].map((byte) => Buffer.from([byte]));
  expect(read(100, bytes)).toEqual(['ü😀']);
});

it('tells once of a line that is too long, and reads nothing after it', () => {
  expect(read(3, ['abc\n', 'ab', 'cd', '\nefg\n', 'h\n'])).toEqual(['abc', null]);
  expect(read(3, ['abcd\nefg\n'])).toEqual([null]);
});

it('reads a line of 16 MB in small pieces in less than quadratic time', () => {
  const piece = Buffer.alloc(100, 'x');
  const started = performance.now();
  const [line] = read(16_000_000, new Array(160_000).fill(piece));
  expect(line).toHaveLength(16_000_000);
  // Copying the line for each piece would move more than a terabyte.
  expect(performance.now() - started).toBeLessThan(20_000);
});
