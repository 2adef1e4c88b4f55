import type { Scope } from '@waybill/core';
import type { Things } from './things.ts';

export interface Asked {
  path: string;
  body?: unknown;
  /** What the body names in a form that cannot be read. */
  names?: string;
  /** Of RPC: the answer is a stream of messages. */
  isStream?: boolean;
}

export interface Route {
  /** What a key must have; `admin` includes the others. */
  scope: Scope;
  /** Makes what the request is about, and the request. */
  ask(things: Things): Asked | Promise<Asked>;
  /** It is about one thing by its id or name: to others that is 404. Else everybody is answered about what is their own. */
  isAboutOne: boolean;
  /** The path names the tenant, so that an operator is answered about any of them. */
  namesTenant?: true;
  /** What whoever may is answered in a tenant; 403 is for what only operators may. @defaultValue 200 */
  ok?: number;
}
