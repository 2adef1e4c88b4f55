import { isObject, type Waybill } from '@waybill/core';

/** What an id may be given as: the text, or whatever has it, such as the answer of `enqueue`. */
export type IdOf<Thing extends { id: string } = { id: string }> = string | Thing;

type Context = { tenant?: string };
/** A call whose first argument is an id, as people may write it. */
type ById<Call> = Call extends (id: string, ...rest: infer Rest) => infer Answer
  ? (id: IdOf, ...rest: Rest) => Answer
  : Call;

type Jobs = Waybill['jobs'];
type DeadLetters = Waybill['deadLetters'];
type Workflows = Waybill['workflows'];

const JOBS = ['get', 'progress', 'journal', 'follow', 'cancel', 'activate', 'retry'] as const;
const DEAD_LETTERS = ['get', 'replay', 'discard'] as const;
const WORKFLOWS = ['get', 'nodes', 'cancel', 'resume', 'signal', 'approve', 'requestRevision'] as const;
/** Behind the id; of all others the context stands there. */
const CONTEXT_AT: Readonly<Record<string, number>> = { signal: 2, approve: 2, requestRevision: 2 };

type With<Group, Name extends keyof Group> = Omit<Group, Name> & { [Key in Name]: ById<Group[Key]> };

export type JobsById = With<Jobs, (typeof JOBS)[number]>;
export type DeadLettersById = With<DeadLetters, (typeof DEAD_LETTERS)[number]>;
export type WorkflowsById = With<Workflows, (typeof WORKFLOWS)[number]>;

export const jobsById = (jobs: Jobs): JobsById => byId(jobs, JOBS) as JobsById;
export const deadLettersById = (letters: DeadLetters): DeadLettersById =>
  byId(letters, DEAD_LETTERS) as DeadLettersById;
export const workflowsById = (workflows: Workflows): WorkflowsById => byId(workflows, WORKFLOWS) as WorkflowsById;

function byId<Group extends object>(group: Group, names: readonly (keyof Group)[]): unknown {
  const calls = { ...group } as Record<keyof Group, unknown>;
  for (const name of names) {
    const call = group[name] as (id: unknown, ...rest: unknown[]) => unknown;
    const at = CONTEXT_AT[name as string] ?? 0;
    calls[name] = (given: unknown, ...rest: unknown[]) => {
      if (!isObject(given) || typeof given['id'] !== 'string') return call(given, ...rest);
      const tenant = tenantOf(given);
      const context = rest[at];
      // What belongs to another tenant is looked for there, as `wait` does.
      if (tenant === undefined || !isContext(context)) return call(given['id'], ...rest);
      return call(given['id'], ...Array.from({ length: at }, (_, index) => rest[index]), { tenant, ...context });
    };
  }
  return calls;
}

/** Anything else is refused by the call, by its name. */
const isContext = (context: unknown): context is Context | undefined => context === undefined || isObject(context);

/** Of a job or a workflow, or of what `enqueue` has answered. */
function tenantOf(given: Record<string, unknown>): string | undefined {
  const own = isObject(given['job']) ? given['job']['tenant'] : given['tenant'];
  return typeof own === 'string' ? own : undefined;
}
