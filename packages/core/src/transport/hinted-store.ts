import type { Job } from '../job/job.ts';
import { withReminder } from '../job/next-at.ts';
import type { Change } from '../store/apply.ts';
import { overlay } from '../store/overlay.ts';
import type { Store } from '../store/store.ts';

/**
 * The store behind a transport of hints: every row that begins to wait for a claim gets a moment at which the sweep
 * looks whether its hint came through, and jobs that die are told of. The poll transport works on the store itself and
 * pays nothing for it.
 */
export function hintedStore(store: Store, onDead: (jobs: readonly Job[]) => void): Store {
  const { clock, crons } = store;
  const remind = <T extends { job: Job }>(one: T): T => ({ ...one, job: withReminder(one.job, clock.now()) });

  const apply: Store['apply'] = async (changes) => {
    const answers = await store.apply(changes.map(remind));
    const isWritten = (index: number) => answers[index]?.status === 'applied' && !answers[index].repeated;
    const dead = changes.filter((change, index) => isWritten(index) && tellsOfDeath(change)).map(({ job }) => job);
    if (dead.length > 0) onDead(dead);
    return answers;
  };

  return overlay(store, {
    insert: (groups) => store.insert(groups.map((group) => ({ ...group, jobs: group.jobs.map(remind) }))),
    apply,
    crons: overlay(crons, {
      fire: ({ job, ...request }) => crons.fire(job ? { ...request, job: remind(job) } : request),
    }),
  });
}

const tellsOfDeath = ({ events }: Change): boolean => events.some(({ type }) => type === 'job.discarded');
