import { isInTheWay, type UniqueRule } from '../../enqueue/unique.ts';
import { isFinished, JOB_STATES, type Job } from '../../job/job.ts';
import type { InsertAnswer, NewJob, UniqueClaim } from '../../store/insert.ts';
import type { Store } from '../../store/store.ts';
import { versionChange } from '../changes.ts';
import { aJob } from '../factories.ts';
import { overridesOf } from './plans.ts';
import type { StepOf, UniqueKey } from './steps.ts';
import type { World } from './world.ts';

const LIVE = JOB_STATES.filter((state) => !isFinished(state));

const ruleOf = (key: UniqueKey, onConflict: UniqueRule['onConflict']): UniqueRule =>
  key === 'own'
    ? { key, states: [...LIVE, 'completed'], periodMs: 5000, onConflict }
    : { key, states: LIVE, periodMs: null, onConflict };

/** As the engine does it: expects nobody, decides about whomever it meets, and tries again. */
export async function insertUnique(world: World, step: StepOf<'insertUnique'>): Promise<void> {
  const { tenant, key: uniqueKey, plan } = step;
  const { now } = world;
  const rule = ruleOf(uniqueKey, step.onConflict);
  // Many expire soon, so that there are dead ones whose key went on to others.
  const mortal = { ...plan, expiresMs: plan.priority === 0 ? 400 : plan.expiresMs };
  // Without a limit, since who of several gets a slot that a replaced job frees is left to the store.
  const overrides = { ...overridesOf(world, tenant, mortal), uniqueKey, limitKey: null, idempotencyKey: null };
  const first = world.newJob(overrides);
  const { id, seq, createdAt } = first.job;

  await world.both(`insert unique, ${step.onConflict}`, async (store: Store) => {
    const answers: InsertAnswer[] = [];
    let [made, unique]: [NewJob, UniqueClaim] = [first, { key: uniqueKey, owner: null }];
    for (let round = 0; round < 3; round++) {
      const [answer] = await store.insert([{ jobs: [{ ...made, unique }] }]);
      answers.push(answer!);
      if (answer?.status !== 'taken') return answers;
      const owner = answer.job;
      unique = { key: uniqueKey, owner: { id: owner.id, version: owner.version } };
      if (!isInTheWay(owner, rule, now)) continue;
      if (rule.onConflict === 'reject' || rule.onConflict === 'ignore') return answers;
      const replace = versionChange(owner, { do: 'cancel' }, now);
      if (replace) unique = { ...unique, replace };
      if (keepsSchedule(rule, owner)) {
        made = aJob({ ...overrides, state: 'scheduled', id, seq, createdAt, scheduledAt: owner.scheduledAt });
      }
    }
    return answers;
  });
}

const keepsSchedule = ({ onConflict }: UniqueRule, owner: Job): boolean =>
  onConflict === 'replace_except_schedule' && owner.scheduledAt !== null;

const isOver = (row: Job | null | undefined): boolean =>
  row != null && isFinished(row.state) && row.workflowId === null;

/** A finished job comes back, by somebody who does not know whether another one has its key by now. */
export async function replayUnique(world: World, { job }: StepOf<'replayUnique'>): Promise<void> {
  const rows = await world.model.get(world.unique);
  const key = world.pick(
    world.unique.filter((_, index) => isOver(rows[index])),
    job,
  );
  if (!key) return;
  await world.both('replay unique', async (store) => {
    const [row] = await store.get([key]);
    return store.apply([versionChange(row!, { do: 'replay' }, world.now)!]);
  });
}
