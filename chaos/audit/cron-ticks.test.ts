import { beforeEach, describe, expect, it } from 'vitest';
import { cronTicks } from './cron-ticks.ts';
import { Story } from './testing/story.ts';

const MINUTE = 60_000;
let story: Story;
let from: number;

const tick = (time: number, cron = 'chaos-a') =>
  story.job({ type: 'chaos.cron', idempotencyKey: `§cron:${cron}:${time}` });
const runs = (count: number) => Object.assign(story.crons[0]!, { runs: count });

beforeEach(() => {
  story = new Story();
  from = story.now;
  story.crons.push({ name: 'chaos-a', from: from + 20_000, to: from + 3 * MINUTE + 1_000, runs: 2 });
  tick(from + MINUTE);
  tick(from + 2 * MINUTE);
  expect(story.found(cronTicks)).toEqual([]);
});

describe('guarantee 9: finds', () => {
  it('a tick that made no job', () => {
    const [, second] = story.jobs.keys();
    story.jobs.delete(second!);
    runs(1);
    expect(story.found(cronTicks)).toEqual([
      `cron chaos-a did not fire for ${new Date(from + 2 * MINUTE).toISOString()}`,
    ]);
  });

  it('a tick that made two', () => {
    tick(from + MINUTE);
    runs(3);
    expect(story.found(cronTicks)).toEqual([`cron chaos-a fired 2 times for ${new Date(from + MINUTE).toISOString()}`]);
  });

  it('nothing about a tick in the last moment, fired or not', () => {
    tick(from + 3 * MINUTE);
    runs(3);
    expect(story.found(cronTicks)).toEqual([]);
  });

  it('a tick that is none', () => {
    tick(from);
    tick(from + MINUTE + 1);
    runs(4);
    expect(story.found(cronTicks)).toHaveLength(2);
  });

  it('a job of no tick', () => {
    const id = story.job({ type: 'chaos.cron' });
    expect(story.found(cronTicks)).toEqual([`job ${id} was made by no tick, its key is null`]);
  });

  it('a cron that counts otherwise, and a log that does', () => {
    runs(3);
    const event = {
      type: 'cron.triggered',
      tenant: '',
      subject: 'chaos-a',
      source: 'server',
      at: 0,
      data: {},
    } as const;
    story.tell({ ...event, sequence: 1 });
    expect(story.found(cronTicks)).toEqual(['cron chaos-a says 3 runs and has 2 jobs', 'cron chaos-a has 1 events']);
  });
});
