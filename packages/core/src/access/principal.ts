import { checkNames } from '../check.ts';
import { checkQueue } from '../enqueue/envelope.ts';
import { invalidField } from '../errors.ts';
import { ALL_TENANTS } from '../store/event-log.ts';
import { checkTenant } from './tenant.ts';

/** `admin` includes the others. */
export const SCOPES = ['enqueue', 'work', 'read', 'metrics', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** Who calls, and what the caller may do. */
export interface Principal {
  /** Told as `by` where a change names who asked for it. Empty: nobody in particular, and nothing is told. */
  id: string;
  /** Or `ALL_TENANTS`: an operator, who may name any tenant in each call. */
  tenant: string;
  scopes: readonly Scope[];
  /** @defaultValue every queue */
  queues?: readonly string[];
  /** @defaultValue every type */
  types?: readonly string[];
}

const FIELDS = ['id', 'tenant', 'scopes', 'queues', 'types'];

/** Refuses a principal that could not be held to what it says. */
export function checkPrincipal(principal: Principal): void {
  checkNames('A principal', principal, FIELDS);
  const { id, tenant, scopes, queues, types } = principal;
  for (const [field, names] of Object.entries({ scopes, queues, types })) {
    // Null would be taken for everything, and a text for its letters.
    if (names === undefined && field !== 'scopes') continue;
    if (!Array.isArray(names) || names.some((name) => typeof name !== 'string' || name === ''))
      throw invalidField(field, 'must be a list of names.');
  }
  if (typeof id !== 'string') throw invalidField('id', 'must be a text.');
  if (tenant !== ALL_TENANTS) checkTenant(tenant);
  const stranger = scopes.find((scope) => !SCOPES.includes(scope));
  if (stranger !== undefined) throw invalidField('scopes', `must be among ${SCOPES.join(', ')}.`, { allowed: SCOPES });
  queues?.forEach((queue, index) => {
    checkQueue(queue, `queues[${index}]`);
  });
  const works = scopes.find((scope) => scope === 'work' || scope === 'admin');
  if (types !== undefined && works !== undefined) {
    const why = works === 'work' ? '' : ' The scope admin includes it.';
    throw invalidField('types', `cannot narrow the scope work: claims go by queue, whatever the types of jobs.${why}`);
  }
}

/** The same text for principals that may do the same under the same name. */
export const contentOf = ({ id, tenant, scopes, queues, types }: Principal): string =>
  JSON.stringify([id, tenant, sorted(scopes), sorted(queues), sorted(types)]);

/** Whether two principals may do the same, in the same name. */
export const isSamePrincipal = (a: Principal, b: Principal): boolean => contentOf(a) === contentOf(b);

const sorted = (names: readonly string[] | undefined): string[] | null => (names ? [...new Set(names)].sort() : null);
