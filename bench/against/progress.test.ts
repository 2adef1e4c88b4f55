import { expect, test } from 'vitest';
import { Progress, secondsLeft, toldLeft } from './progress.ts';

test('the time left is told by the runs that ended, of each workload its own', () => {
  const unknown = { taken: [], left: 4 };
  expect(secondsLeft([unknown])).toBeUndefined();
  expect(secondsLeft([{ taken: [2, 4], left: 2 }])).toBe(6);
  expect(
    secondsLeft([
      { taken: [2, 4], left: 0 },
      { taken: [20], left: 1 },
    ]),
  ).toBe(20);
  expect(secondsLeft([{ taken: [2, 4], left: 2 }, unknown])).toBe(6 + 12);
});

test('seconds become minutes when there are many', () => {
  expect([undefined, 12.1, 600].map(toldLeft)).toEqual(['', ' (about 13 s left)', ' (about 10 min left)']);
});

test.each([
  { isTTY: false, written: ['drain: round 1 of 1\n'] },
  {
    isTTY: true,
    written: ['\r\x1b[Kdrain: round 1 of 1, this', expect.stringMatching(/, main \(about \d+ s left\)$/)],
  },
])('a terminal shows each run, a file each round: %j', async ({ isTTY, written }) => {
  const lines: string[] = [];
  const out = { isTTY, write: (line: string) => lines.push(line) } as unknown as NodeJS.WriteStream;
  const progress = new Progress(['drain'], 1, out);
  await progress.run('drain', 0, 'this', async () => {});
  await progress.run('drain', 0, 'main', async () => {});
  expect(lines).toEqual(written);
});
