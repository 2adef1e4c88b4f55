import { expect, it } from 'vitest';
import type { Evidence } from '../evidence/evidence.ts';
import { audit, violationsIn } from './audit.ts';
import { Story } from './testing/story.ts';

/** Everything that may happen to jobs, and that no check may take offence at. */
function eventful(): Evidence {
  const story = new Story();
  const [plain, lost, failed, cancelled] = [story.job(), story.job(), story.job(), story.job()];
  story.begin(plain);
  story.end(plain);
  // A worker is killed, another one takes over.
  story.begin(lost, 'worker-2#1');
  story.endings.push({
    life: 'worker-2#1',
    how: 'killed',
    code: null,
    signal: 'SIGKILL',
    wasReady: true,
    at: story.now,
  });
  story.expire(lost);
  story.begin(lost);
  story.end(lost);
  // A worker was paused and comes back too late.
  const late = story.job();
  story.begin(late, 'worker-3#1');
  story.expire(late);
  story.begin(late);
  story.note({ kind: 'end', id: late, run: 1 }, 'worker-3#1');
  story.note(
    { kind: 'settled', id: late, run: 1, outcome: 'completed', answer: 'lease_lost', again: false },
    'worker-3#1',
  );
  story.end(late);
  // A first attempt fails.
  story.begin(failed);
  story.end(failed, 'failed');
  story.pass(60_000);
  story.change(failed, { do: 'tick' });
  story.begin(failed);
  story.end(failed);
  // Cancelled under its worker's hands.
  story.begin(cancelled);
  story.change(cancelled, { do: 'cancel' });
  story.note({ kind: 'cancelled', id: cancelled, state: 'cancelled' }, 'producer-1#1');
  story.endings.push({ life: 'worker-1#1', how: 'terminated', code: 0, signal: null, wasReady: true, at: story.now });
  story.isOrderExact = false;
  return story.evidence;
}

it('a run in which only allowed things happened has no violation, and all of it was looked at', () => {
  const rows = audit(eventful());
  expect(rows.flatMap(({ finding }) => finding?.violations ?? [])).toEqual([]);
  expect(violationsIn(rows)).toBe(0);
  expect(
    Object.fromEntries(rows.map(({ guarantee, finding }) => [guarantee ?? 'rest', finding?.checked])),
  ).toMatchObject({ 1: 5, 2: 8, 3: 7, 4: 50, 11: 2 });
});
