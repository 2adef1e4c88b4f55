import type { JobOverrides } from '../factories.ts';
import type { JobPlan } from './steps.ts';
import type { World } from './world.ts';

/** What a plan says about a job that is made now. */
export function overridesOf(world: World, tenant: string, plan: JobPlan): JobOverrides {
  const { queue, priority, timeoutMs, visibilityMs, limitKey, idempotencyKey } = plan;
  const at = (ms: number | null) => (ms === null ? null : world.now + ms);
  const common = { tenant, queue, priority, timeoutMs, visibilityMs, limitKey, idempotencyKey };
  const spec = { args: [{ n: world.jobs.length }], meta: {}, ...(plan.retry && { retry: plan.retry }) };
  if (plan.pending) return { ...common, spec, state: 'pending', expiresAt: at(plan.expiresMs) };
  return { ...common, spec, scheduledAt: at(plan.delayMs), expiresAt: at(plan.expiresMs) };
}
