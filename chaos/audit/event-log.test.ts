import type { LoggedEvent } from '@waybill/core';
import { beforeEach, describe, expect, it } from 'vitest';
import { eventLog } from './event-log.ts';
import { Story } from './testing/story.ts';

let story: Story;
let id: string;
beforeEach(() => {
  story = new Story();
  id = story.job();
  story.begin(id);
  story.end(id);
  expect(story.found(eventLog)).toEqual([]);
});

/** For what is about the log itself. */
const nobodyFollowed = (): void => {
  story.followed = [];
  story.now = -1;
};

describe('guarantee 4: finds', () => {
  it('an event that is missing', () => {
    story.log.splice(1, 1);
    nobodyFollowed();
    expect(story.found(eventLog)).toEqual([
      `job ${id}, server: event 3 follows event 1`,
      `job ${id} has version 3 and 2 events`,
    ]);
  });

  it('an event that comes twice', () => {
    story.tell(story.log[1]!);
    expect(story.found(eventLog)).toContain(`job ${id}, server: event 2 follows event 3`);
  });

  it('events in another order', () => {
    story.log.reverse();
    expect(story.found(eventLog)).toContain(`job ${id}, server: event 2 follows event 3`);
  });

  it('a gap in what a run reports, and in the events of a subject', () => {
    story.tell({ ...story.log[1]!, type: 'job.progress', source: 'worker', sequence: 2 } as never);
    const cron = { type: 'cron.triggered', tenant: '', subject: 'chaos-a', source: 'server', at: 0, data: {} } as const;
    story.tell({ ...cron, sequence: 1 }, { ...cron, sequence: 3 });
    nobodyFollowed();
    expect(story.found(eventLog)).toEqual([
      `job ${id}, worker: event 2 follows event 0`,
      'cron chaos-a, server: event 3 follows event 1',
    ]);
  });

  it('what a follower was not told, was told twice, or was told alone', () => {
    const [first, second, third] = story.log as [LoggedEvent, LoggedEvent, LoggedEvent];
    story.followed = [first, third];
    expect(story.found(eventLog)).toEqual([`to a follower, job ${id}, server: event 3 follows event 1`]);
    story.followed = [first, second];
    expect(story.found(eventLog)).toEqual([`job ${id}, server: event 3 was not told to a follower`]);
    story.followed = [first, second, second, third];
    expect(story.found(eventLog)).toContain(`to a follower, job ${id}, server: event 2 follows event 2`);
    story.followed = [first, second, third, { ...third, sequence: 4 }];
    expect(story.found(eventLog)).toEqual([`job ${id}, server: event 4 was told to a follower, the log has 3`]);
  });

  it('nothing about what has just happened and is not told yet', () => {
    story.followed = story.log.slice(0, 2);
    story.now = story.log[1]!.at;
    expect(story.found(eventLog)).toEqual([]);
  });

  it('a second end', () => {
    story.plant(id, 'job.cancelled', 1);
    const ends = 'job.completed,job.cancelled';
    expect(story.found(eventLog)).toEqual([`job ${id} has the ends ${ends}, its last event is job.cancelled`]);
  });

  it('an end that is told and not in the row, and the other way round', () => {
    story.row(id, { state: 'discarded' });
    expect(story.found(eventLog)).toEqual([
      `the log says that job ${id} is completed, and its row that it is discarded`,
    ]);
    story.row(id, { version: 2 });
    story.log.pop();
    expect(story.found(eventLog)).toEqual([`job ${id} has the ends , its last event is job.started`]);
  });

  it('rows and events that are not of each other', () => {
    const other = story.job();
    story.log.pop();
    story.jobs.delete(id);
    expect(story.found(eventLog)).toEqual([
      `the log tells of job ${id}, and there is no row`,
      `job ${other} has a row, and the log does not tell of it`,
    ]);
  });
});
