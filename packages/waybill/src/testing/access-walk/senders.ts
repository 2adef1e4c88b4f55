import { type Principal, SCOPES, type Scope } from '@waybill/core';
import { onTestFinished } from 'vitest';
import { QUEUES, sees, TYPES } from './cells.ts';
import type { Asked, Route } from './route.ts';
import { ROUTES } from './routes.ts';
import type { Stored } from './stored.ts';
import type { StoreToWalk } from './stores.ts';
import type { thingsIn } from './things.ts';
import { type Sender, Walker } from './walker.ts';

export const NAMES = Object.keys(ROUTES);
export const [QUEUE, TYPE, OTHER_TYPE] = [QUEUES[0], TYPES[0], TYPES[1]];
/** Claims go by queue, so neither `work` nor `admin` can be narrowed to types. */
const TYPED: readonly Scope[] = ['enqueue', 'read'];

export type Kind = Omit<Principal, 'id' | 'tenant'>;

/** Metrics are those of all tenants, and no key of one may have this scope. Tests of the route have the others. */
export const OWN_SCOPES = SCOPES.filter((scope) => scope !== 'metrics');

/** Every scope alone, all of them, and each narrowed. */
export const KINDS: readonly Kind[] = [
  ...OWN_SCOPES.map((scope) => ({ scopes: [scope] })),
  { scopes: ['enqueue', 'work', 'read'] },
  ...OWN_SCOPES.map((scope) => ({ scopes: [scope], queues: [QUEUE] })),
  ...TYPED.map((scope) => ({ scopes: [scope], types: [TYPE] })),
  { scopes: TYPED, queues: [QUEUES[1]], types: [TYPES[1]] },
];

export async function sendersOf(walker: Walker, tenants: readonly string[]): Promise<Sender[]> {
  const own = tenants.flatMap((tenant) => KINDS.map((kind) => walker.sender({ tenant, ...kind })));
  return Promise.all([...own, ...tenants.map((tenant) => walker.sender({ tenant: '*', scopes: ['admin'] }, tenant))]);
}

export async function walkerOn(open: StoreToWalk['open']): Promise<Walker> {
  const walker = new Walker(await open());
  onTestFinished(() => walker.waybill.close());
  return walker;
}

/** Ids of jobs that a sender may not see. */
export const idsHidden = (stored: readonly Stored[], sender: Sender): Set<string> =>
  new Set(stored.flatMap(({ jobs }) => jobs.filter((job) => !sees(sender, job)).map(({ id }) => id)));

/** The routes that this is true of. */
export const of = (isMeant: (route: Route) => boolean): [string, Route][] =>
  Object.entries(ROUTES).filter(([, route]) => isMeant(route));

/** Made one after the other, since claims take what was just made. */
export async function askedOf(
  names: readonly string[],
  things: ReturnType<typeof thingsIn>,
): Promise<Map<string, Asked>> {
  const asked = new Map<string, Asked>();
  for (const name of names) asked.set(name, await ROUTES[name]!.ask(things));
  return asked;
}
