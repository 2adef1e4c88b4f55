import { expect } from 'vitest';
import { isFinished, JOB_STATES } from '../../job/job.ts';
import type { Outcome } from '../../job/outcome.ts';
import type { LimitRule } from '../../limits/limit.ts';
import type { ApplyAnswer, Change } from '../../store/apply.ts';
import type { ClaimByIdRequest, ClaimRequest } from '../../store/claim.ts';
import type { NewJob } from '../../store/insert.ts';
import type { JobKey } from '../../store/query.ts';
import { advance } from '../advance.ts';
import { settleChange, versionChange } from '../changes.ts';
import { insertAndClaim } from '../insert-and-claim.ts';
import { fireAgain, fireCron, putCron } from './cron-steps.ts';
import { advanceNodes, insertFlow, joinFlow, moveFlow } from './flow-steps.ts';
import { compareJournals, runJournalStep } from './journal-steps.ts';
import { overridesOf } from './plans.ts';
import { runRecordStep } from './record-steps.ts';
import {
  type ClaimPlan,
  type JobPlan,
  type LimitKey,
  PERIOD_MS,
  type SettlePlan,
  type Step,
  type StepOf,
} from './steps.ts';
import { insertUnique, replayUnique } from './unique-steps.ts';
import { sorted, type World } from './world.ts';

/** Does one step to the store and to the model, the way the engine would, and compares what they answer. */
export async function runStep(world: World, step: Step): Promise<void> {
  switch (step.do) {
    case 'insert':
      return insert(world, step);
    case 'insertAndClaim':
      return insertForWaiting(world, step);
    case 'insertAgain':
      return insertAgain(world, step);
    case 'insertUnique':
      return insertUnique(world, step);
    case 'replayUnique':
      return replayUnique(world, step);
    case 'insertFlow':
      return insertFlow(world, step);
    case 'joinFlow':
      return joinFlow(world, step);
    case 'moveFlow':
      return moveFlow(world, step);
    case 'advance':
      return advanceNodes(world, step);
    case 'putCron':
      return putCron(world, step);
    case 'removeCron': {
      await world.both('crons.remove', (store) =>
        store.crons.remove(step.tenant, step.name, world.told('cron.removed', step.tenant, step.name)),
      );
      return;
    }
    case 'fireCron':
      return fireCron(world, step);
    case 'fireAgain':
      return fireAgain(world, step);
    case 'claim':
      return claim(world, step);
    case 'claimAgain':
      return claimAgain(world, step);
    case 'claimById':
      return claimById(world, step);
    case 'settle':
      return settle(world, step);
    case 'extend':
      return extend(world, step);
    case 'command':
      return command(world, step);
    case 'cancelLate':
      return cancelLate(world, step);
    case 'sweep':
      return sweep(world);
    case 'pause':
    case 'resume':
      return setPaused(world, step);
    case 'limit': {
      const { tenant, key, rule } = step;
      await world.both('limits.set', (store) => store.limits.set(tenant, key, rule, world.now));
      return;
    }
    case 'queueLimit': {
      const { tenant, queue, rule } = step;
      await world.both('queues.setLimit', (store) =>
        store.queues.setLimit(tenant, queue, rule, world.told('queue.limit_changed', tenant, queue)),
      );
      return;
    }
    case 'tenantLimit': {
      const { tenant, concurrency } = step;
      await world.both('queues.setTenantLimit', (store) => store.queues.setTenantLimit(tenant, concurrency));
      world.limits.setTenant(tenant, concurrency);
      return;
    }
    case 'wait':
      return wait(world, step);
    case 'prune':
      return prune(world, step);
    case 'list': {
      const filter = {
        tenant: step.tenant,
        ...(step.states && { states: step.states }),
        ...(step.queues && { queues: step.queues }),
      };
      await world.both('list', (store) => world.listAll(store, filter, step.limit));
      return;
    }
    case 'putRecord':
    case 'removeRecord':
    case 'listRecords':
    case 'takeLock':
    case 'releaseLock':
      return runRecordStep(world, step);
    case 'append':
    case 'readJournal':
      return runJournalStep(world, step);
  }
}

/** The same for all jobs of a key, since of several in one group any may win. */
const BROUGHT: Record<LimitKey, LimitRule> = {
  x: { concurrency: 2, rate: null },
  y: { concurrency: null, rate: { limit: 2, periodMs: PERIOD_MS } },
  z: { concurrency: 1, rate: null },
};

const ruleOf = ({ limitKey, bringsRule }: JobPlan): { limit?: LimitRule } =>
  bringsRule && limitKey !== null ? { limit: BROUGHT[limitKey] } : {};

async function insert(world: World, { tenant, groups }: StepOf<'insert'>): Promise<void> {
  const make = (plan: JobPlan): NewJob => ({ ...world.newJob(overridesOf(world, tenant, plan)), ...ruleOf(plan) });
  const made = groups.map((plans) => ({ jobs: plans.map(make) }));
  // A rule that changes between two groups would hide what was given out under the one before.
  const calls = groups.flat().some((plan) => plan.bringsRule) ? made.map((group) => [group]) : [made];
  for (const call of calls) {
    await world.both('insert', (store) => store.insert(call));
    await world.checkLimits();
  }
}

/** A repeated call in the company of a new one: neither may go in. */
async function insertAgain(world: World, { known, other }: StepOf<'insertAgain'>): Promise<void> {
  // An id that was pruned may come back as a new job, which begins its events again: not what this is about.
  const key = world.pick(await world.inState(...JOB_STATES), known);
  if (!key) return;
  const fresh = world.newJob({ ...overridesOf(world, key.tenant, other), idempotencyKey: null });
  const again = world.newJob({ ...overridesOf(world, key.tenant, other), idempotencyKey: null, id: key.id });
  await world.both('insert again', (store) => store.insert([{ jobs: [fresh, again] }]));
}

/** As a claim that waits while a job comes in. */
async function insertForWaiting(world: World, { plan, ...step }: StepOf<'insertAndClaim'>): Promise<void> {
  const { tenant } = step;
  if (!world.real.insertAndClaim) {
    await insert(world, { do: 'insert', tenant, groups: [[plan]] });
    return claim(world, { ...step, do: 'claim' });
  }
  const group = { jobs: [world.newJob(overridesOf(world, tenant, plan))] };
  const request = claimRequest(world, step);
  const { claimed } = await world.both('insertAndClaim', (store) => insertAndClaim(store, group, request));
  world.leases.push(...claimed);
}

function claimRequest(world: World, { tenant, queues, limit, worker: workerId, leaseMs }: ClaimPlan): ClaimRequest {
  const request = { tenant, queues, limit, claimId: world.nextClaimId(), workerId, leaseMs, now: world.now };
  world.claims.push(request);
  return request;
}

async function claim(world: World, step: StepOf<'claim'>): Promise<void> {
  const request = claimRequest(world, step);
  if (world.real.capabilities.ordering === 'strict') {
    const [jobs] = await world.both('claim', (store) => store.claim([request]));
    world.leases.push(...jobs!);
    return;
  }
  // No exact order is promised: the model takes what the store took, which it can only where that was claimable.
  const [jobs] = await world.real.claim([request]);
  expect(jobs!.length).toBeLessThanOrEqual(request.limit);
  const answers = await world.model.claimById({ ...request, ids: jobs!.map((job) => job.id) });
  expect(jobs!.map((job) => ({ status: 'claimed', job }))).toEqual(answers);
  world.leases.push(...jobs!);
}

async function claimAgain(world: World, step: StepOf<'claimAgain'>): Promise<void> {
  const request = world.pick(world.claims, step.claim);
  if (!request) return;
  const { tenant, claimId } = request;
  // Without a job still held, whether the id was used before is not for every store to know.
  const held = await world.listAll(world.model, { tenant, states: ['active'] }, 100);
  if (!held.some((job) => job.claimId === claimId)) return;
  // A claim is repeated as it was made.
  if ('ids' in request) return claimIds(world, request);
  await world.both('claim again', async (store) => sorted((await store.claim([{ ...request, now: world.now }]))[0]!));
}

async function claimById(world: World, { jobs, worker }: StepOf<'claimById'>): Promise<void> {
  const keys = jobs.map((index) => world.pick(world.jobs, index)).filter((key) => key !== undefined);
  const ids = [...new Set(keys.map((key) => key.id))];
  // Those of the other tenant are unknown to this one.
  const tenant = keys[0]?.tenant ?? '';
  const lease = { claimId: world.nextClaimId(), workerId: worker, leaseMs: 30_000, now: world.now };
  const request = { tenant, ids, ...lease };
  world.claims.push(request);
  await claimIds(world, request);
}

async function claimIds(world: World, request: ClaimByIdRequest): Promise<void> {
  const answers = await world.both('claimById', (store) => store.claimById({ ...request, now: world.now }));
  for (const answer of answers) if (answer.status === 'claimed') world.leases.push(answer.job);
}

function outcomeOf(kind: SettlePlan['kind'], now: number): Outcome {
  const error = { code: 'boom', message: 'It broke.' };
  switch (kind) {
    case 'completed':
      return { kind, result: { at: now } };
    case 'failed':
      return { kind, error };
    case 'fatal':
      return { kind: 'failed', error: { ...error, retryable: false } };
    case 'snoozed':
      return { kind, until: now + 2000 };
    case 'unknown':
      return { kind: 'snoozed', error };
    case 'requeued':
    case 'cancelled':
      return { kind };
    case 'discarded':
      return { kind, error };
    case 'dead':
      return { kind: 'discarded', error, deadLetter: true };
  }
}

/** By whatever lease was ever given: most of the older ones are stale, some were settled before. */
async function settle(world: World, { plans }: StepOf<'settle'>): Promise<void> {
  const changes = plans.flatMap(({ lease, kind }) => {
    const claimed = world.pick(world.leases, lease);
    if (!claimed) return [];
    // Past its execution timeout a run can only have failed.
    const isLate = claimed.timeoutAt !== null && claimed.timeoutAt <= world.now;
    return [settleChange(claimed, outcomeOf(isLate ? 'failed' : kind, world.now), world.now)];
  });
  await applyAll(world, 'settle', changes);
}

async function extend(world: World, { lease, by, leaseMs }: StepOf<'extend'>): Promise<void> {
  const claimed = world.pick(world.leases, lease);
  if (!claimed) return;
  const { tenant, id, run, claimId, workerId } = claimed;
  const speaker =
    by === 'token' ? { run, claimId: claimId! } : by === 'worker' ? { workerId: workerId! } : ('anyone' as const);
  await world.both('extend', (store) => store.extend([{ tenant, id, by: speaker, leaseMs, now: world.now }]));
}

const FITS = {
  activate: ['pending'],
  replay: ['discarded', 'completed', 'cancelled'],
  forget: ['discarded'],
  reinstate: ['cancelled'],
  cancel: JOB_STATES,
} as const;

async function command(world: World, step: StepOf<'command'>): Promise<void> {
  const found = await world.inState(...FITS[step.command]);
  // A node waits for its parents and for nobody's command; only a node waits again.
  const isNode = ({ tenant, id }: JobKey) => world.parents.has(`${tenant}/${id}`);
  const fitting = found.filter((key) =>
    step.command === 'activate' ? !isNode(key) : step.command === 'reinstate' ? isNode(key) : true,
  );
  const key = world.pick(fitting, step.job);
  if (!key) return;
  await world.both(step.command, async (store) => {
    const [row] = await store.get([key]);
    const change = row && versionChange(row, { do: step.command }, world.now);
    return change ? tidy(await store.apply([change])) : null;
  });
}

/** A heartbeat comes between reading the row and writing it. */
async function cancelLate(world: World, step: StepOf<'cancelLate'>): Promise<void> {
  const key = world.pick(await world.inState('active'), step.job);
  if (!key) return;
  await world.both('cancel late', async (store) => {
    const [row] = await store.get([key]);
    const change = row && versionChange(row, { do: 'cancel' }, world.now);
    const beat = await store.extend([{ ...key, by: 'anyone', leaseMs: 12_345, now: world.now }]);
    return change ? [beat, tidy(await store.apply([change]))] : null;
  });
}

/** The sweep never sleeps past the moment in which a rate lets go, so what waits for it is admitted in time. */
async function wait(world: World, { ms }: StepOf<'wait'>): Promise<void> {
  await world.clock.advance(ms);
  await world.both('due, after a while', async (store) => {
    const { admitted } = await store.due({ now: world.now, limit: 10_000 });
    return sorted(admitted);
  });
}

async function sweep(world: World): Promise<void> {
  const { now } = world;
  const due = await world.both('due', async (store) => {
    const { jobs, crons, admitted, nextAt } = await store.due({ now, limit: 10_000 });
    const byName = crons.toSorted((a, b) => (a.tenant + a.name < b.tenant + b.name ? -1 : 1));
    return { jobs: sorted(jobs), crons: byName, admitted: sorted(admitted), nextAt };
  });
  await world.both('due, two at most', async (store) => {
    const { jobs, crons, nextAt } = await store.due({ now, limit: 2 });
    return [jobs.map((job) => job.nextAt), crons.map((cron) => cron.nextAt), nextAt];
  });
  const changes = due.jobs.map((job) => versionChange(job, { do: 'tick' }, now)).filter((change) => change !== null);
  await applyAll(world, 'tick', changes);
  const finished = Map.groupBy(
    due.jobs.filter((job) => isFinished(job.state)),
    (job) => job.tenant,
  );
  for (const parents of finished.values()) {
    await world.both('advance', async (store) => sorted(await advance(store, parents, now)));
  }
}

async function setPaused(world: World, { do: verb, tenant, queue }: StepOf<'pause' | 'resume'>): Promise<void> {
  const name = `${tenant}/${queue}`;
  // Whether resuming a queue that nobody knows makes it known is left to the store.
  if (verb === 'resume' && !world.paused.has(name)) return;
  world.paused.add(name);
  const told = world.told(verb === 'pause' ? 'queue.paused' : 'queue.resumed', tenant, queue);
  await world.both(verb, (store) => store.queues.setPaused(tenant, queue, verb === 'pause', told));
}

/** Slices may be cut differently; what is gone at the end may not. */
async function prune(world: World, { keepMs, journalKeepMs }: StepOf<'prune'>): Promise<void> {
  // What such a store still has, the model would have lost.
  if (world.real.capabilities.prunesItself) return;
  const before = world.now - keepMs;
  const request = {
    ...{ finishedBefore: before, deadBefore: before - 10_000, eventsBefore: before, limit: 10 },
    ...(journalKeepMs !== null && { journalBefore: world.now - journalKeepMs }),
  };
  await world.both('prune', async (store) => {
    const removed = { jobs: 0, events: 0 };
    for (let [more, calls] = [true, 0]; more; calls++) {
      expect(calls, 'every call that leaves more removes some').toBeLessThan(1000);
      const answer = await store.prune(request);
      removed.jobs += answer.jobs;
      removed.events += answer.events;
      more = answer.more;
    }
    return removed;
  });
  await compareJournals(world);
}

/** A batch need not be applied in order, which shows only in who gets a slot: limited jobs go one by one. */
async function applyAll(world: World, what: string, changes: readonly Change[]): Promise<void> {
  const limited = changes.filter(({ job }) => job.limitKey !== null);
  const free = changes.filter(({ job }) => job.limitKey === null);
  if (free.length > 0) await world.both(what, async (store) => tidy(await store.apply(free)));
  for (const change of limited) await world.both(what, async (store) => tidy(await store.apply([change])));
}

const tidy = (answers: readonly ApplyAnswer[]): ApplyAnswer[] =>
  answers.map((answer) => (answer.status === 'applied' ? { ...answer, admitted: sorted(answer.admitted) } : answer));
