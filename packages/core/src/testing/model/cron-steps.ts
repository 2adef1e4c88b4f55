import type { FireRequest } from '../../store/crons.ts';
import { aCron } from '../factories.ts';
import { overridesOf } from './plans.ts';
import { type StepOf, TENANTS } from './steps.ts';
import type { World } from './world.ts';

export async function putCron(world: World, { tenant, name, enabled, inMs }: StepOf<'putCron'>): Promise<void> {
  const { now } = world;
  await world.both('crons.put', async (store) => {
    const before = await store.crons.get(tenant, name);
    const version = (before?.version ?? 0) + 1;
    const expression = inMs % 2 === 0 ? '* * * * *' : '0 * * * *';
    return store.crons.put(
      aCron({ tenant, name, expression, enabled, nextAt: enabled ? now + inMs : null, createdAt: now, version }),
      world.told('cron.registered', tenant, name),
    );
  });
}

/** A tick that is due, by somebody who has just read the cron. */
export async function fireCron(world: World, { cron, job, inMs }: StepOf<'fireCron'>): Promise<void> {
  const all = await Promise.all(TENANTS.map((tenant) => world.model.crons.list(tenant)));
  const due = all.flat().filter(({ nextAt }) => nextAt !== null && nextAt <= world.now);
  const read = world.pick(due, cron);
  if (!read) return;
  const { tenant, name, version } = read;
  const tick = read.nextAt!;
  const request: FireRequest = { tenant, name, expected: { version, nextAt: tick }, nextAt: world.now + inMs, tick };
  request.told = world.told(job ? 'cron.triggered' : 'cron.skipped', tenant, name);
  if (job) request.job = world.newJob(overridesOf(world, tenant, job));
  world.fires.push(request);
  await world.both('crons.fire', (store) => store.crons.fire(request));
}

/** Somebody was late, or did not hear the answer. */
export async function fireAgain(world: World, { fired }: StepOf<'fireAgain'>): Promise<void> {
  const request = world.pick(world.fires, fired);
  if (!request) return;
  // A cron that fired for the very moment it is in stands where it stood, and the tick may be fired again; its job is
  // made anew as the engine would.
  const again = request.job ? { ...request, job: world.newJob(anew(request)) } : request;
  await world.both('crons.fire again', (store) => store.crons.fire(again));
}

const anew = ({ job }: FireRequest) => {
  const { tenant, queue, idempotencyKey, limitKey } = job!.job;
  return { tenant, queue, idempotencyKey, limitKey };
};
