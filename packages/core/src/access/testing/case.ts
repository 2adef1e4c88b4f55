import type { Waybill } from '../../waybill.ts';
import type { Scope } from '../principal.ts';
import type { World } from './world.ts';

/** An error code, or what the answer must have. */
export type Expected = string | object | null;

export interface Case {
  /** Null: nobody may. */
  scope: Scope | null;
  /** One call about what is in the queue `mine` of the tenant `a`; `at` names a tenant, or none. */
  call(port: Waybill, world: World, at: { tenant?: string }): Promise<unknown>;
  /** For operators only, and written down all the same. */
  isAudited?: true;
  /** The call takes no tenant. */
  takesNone?: true;
  /** For a principal of the tenant `a` with that scope alone. */
  right(world: World): Expected;
  /** For a principal of the tenant `b` with all scopes. */
  stranger(world: World): Expected;
  /** For a principal of the tenant `a` with all scopes that is narrowed to the queue `other`. */
  narrowed(world: World): Expected;
}

export const NOT_FOUND = () => 'not_found';
export const FORBIDDEN = () => 'forbidden';
export const A = () => ({ tenant: 'a' });

/** Most calls are about one thing: to others it does not exist. */
export const about = (scope: Scope, call: Case['call'], right: Case['right'] = A, over: Partial<Case> = {}): Case => ({
  ...{ scope, call, right, stranger: NOT_FOUND, narrowed: NOT_FOUND, ...over },
});
