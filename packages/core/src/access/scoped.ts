import { WaybillError } from '../errors.ts';
import { ALL_TENANTS } from '../store/event-log.ts';
import type { Health, Waybill } from '../waybill.ts';
import { scopedAudit } from './audit.ts';
import { scopedBudgets } from './budgets.ts';
import { Caller } from './caller.ts';
import { scopedChecks } from './checks.ts';
import { scopedCrons } from './crons.ts';
import { scopedDeadLetters } from './dead-letters.ts';
import { scopedEvents } from './events.ts';
import { scopedJobs } from './jobs.ts';
import { Judge } from './judge.ts';
import { scopedKeys } from './keys.ts';
import { contentOf, type Principal } from './principal.ts';
import { scopedQuestions } from './questions.ts';
import { scopedLimits, scopedQueues, scopedWorkers } from './queues.ts';
import { scopedRecords } from './records.ts';
import { scopedSinks } from './sinks.ts';
import { scopedTenants } from './tenants.ts';
import { scopedWorkflows } from './workflows.ts';

/** Principals whose ports are kept for one engine; another one costs a few dozen closures. */
const MOST_KEPT = 1_000;

const kept = new WeakMap<Waybill, Map<string, Waybill>>();

/**
 * The port as a principal may use it: its tenant, scopes, queues and types. A missing right is refused with `forbidden`;
 * what belongs to another tenant, queue or type does not exist. Principals that say the same share one port. `home`: what
 * an operator means who names no tenant.
 */
export function scoped(waybill: Waybill, principal: Principal, home = ''): Waybill {
  const ports = kept.get(waybill) ?? new Map<string, Waybill>();
  kept.set(waybill, ports);
  const content = `${home}\n${contentOf(principal)}`;
  const known = ports.get(content);
  const port = known ?? portFor(waybill, new Caller(principal, home));
  // The newest come last, so that the first is the one that was not asked for the longest.
  if (known) ports.delete(content);
  ports.set(content, port);
  if (ports.size > MOST_KEPT) ports.delete(ports.keys().next().value!);
  return port;
}

/** The whole port, with this tenant where a call names none. Names of tenants are checked; closing it closes what is beneath. */
export function inTenant(waybill: Waybill, tenant: string): Waybill {
  const operator = { id: '', tenant: ALL_TENANTS, scopes: ['admin'] } as const;
  return { ...portFor(waybill, new Caller(operator, tenant)), close: () => waybill.close() };
}

function portFor(waybill: Waybill, caller: Caller): Waybill {
  const judge = new Judge(waybill, caller);
  return {
    jobs: scopedJobs(waybill, caller, judge),
    deadLetters: scopedDeadLetters(waybill, caller, judge),
    queues: scopedQueues(waybill, caller),
    limits: scopedLimits(waybill, caller),
    tenants: scopedTenants(waybill, caller),
    budgets: scopedBudgets(waybill, caller),
    crons: scopedCrons(waybill, caller),
    workflows: scopedWorkflows(waybill, caller),
    workers: scopedWorkers(waybill, caller),
    questions: scopedQuestions(waybill, caller),
    events: scopedEvents(waybill, caller),
    checks: scopedChecks(waybill, caller, judge),
    ...scopedRecords(waybill, caller),
    ...scopedKeys(waybill, caller),
    ...scopedAudit(waybill, caller),
    ...scopedSinks(waybill, caller),
    health: async () => {
      caller.need('read');
      return healthFor(await waybill.health(), caller);
    },
    close: async () => {
      throw new WaybillError(
        'forbidden',
        'A scoped port cannot be closed. Close the engine or client that it is made of.',
      );
    },
  };
}

/** Items name their tenant and no queue. Types of jobs name neither, so only a caller that sees all jobs is told them. */
function healthFor(health: Health, caller: Caller): Health {
  const { maintenance, sinks, unknownTypes, ...rest } = health;
  const isShown = ({ tenant }: { tenant: string }) => caller.owns(tenant) && !caller.isNarrowed;
  const shown = sinks?.filter(isShown) ?? [];
  return {
    ...rest,
    ...(maintenance && { maintenance: { ...maintenance, items: maintenance.items.filter(isShown) } }),
    ...(shown.length > 0 && { sinks: shown }),
    ...(unknownTypes && caller.isForAll && !caller.isNarrowed && { unknownTypes }),
  };
}
