import type { FollowedItem, Jobs } from '../../waybill.ts';
import { about, type Case } from './case.ts';
import type { World } from './world.ts';

const held = ({ lease }: World) => ({ id: lease.job.id, leaseToken: lease.token });
const NEVER = new AbortController().signal;

async function firstSaid(said: AsyncIterable<FollowedItem>): Promise<FollowedItem | undefined> {
  for await (const one of said) return one;
  return undefined;
}

export const JOURNAL_CASES: Record<keyof Pick<Jobs, 'append' | 'journal' | 'follow'>, Case> = {
  append: about(
    'work',
    ({ jobs }, world, at) => jobs.append({ ...held(world), entries: [{ sequence: 1, type: 'a.b' }], ...at }),
    () => ({ stored: 1 }),
  ),
  journal: about(
    'read',
    ({ jobs }, { job }, at) => jobs.journal(job.id, at),
    () => ({ entries: [], atEnd: true }),
  ),
  follow: about(
    'read',
    ({ jobs }, { dead }, at) => firstSaid(jobs.follow(dead.id, { ...at, lifecycle: true, signal: NEVER })),
    ({ dead }) => ({ kind: 'event', event: { jobId: dead.id } }),
  ),
};
