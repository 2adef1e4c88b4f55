import type { Destination } from '../enqueue/envelope.ts';
import { WaybillError } from '../errors.ts';
import { ALL_TENANTS } from '../store/event-log.ts';
import type { JobFilter } from '../store/query.ts';
import { checkPrincipal, type Principal, type Scope } from './principal.ts';
import { checkTenant } from './tenant.ts';

type Narrowed = Pick<JobFilter, 'queues' | 'types'>;

/** A principal as the scoped port asks about it. */
export class Caller {
  /** Whether it names queues or types; if not, nothing is read to judge a call. */
  readonly isNarrowed: boolean;
  readonly hasQueues: boolean;
  readonly hasTypes: boolean;
  /** The tenant of calls that name none. */
  readonly #home: string;
  readonly #mayNameAny: boolean;
  readonly #id: string;
  readonly #scopes: ReadonlySet<Scope>;
  readonly #queues: ReadonlySet<string> | undefined;
  readonly #types: ReadonlySet<string> | undefined;

  /** `home`: what an operator means who names no tenant. */
  constructor(principal: Principal, home = '') {
    checkPrincipal(principal);
    const { id, tenant, scopes, queues, types } = principal;
    this.#id = id;
    this.#mayNameAny = tenant === ALL_TENANTS;
    this.#home = this.#mayNameAny ? checkTenant(home) : tenant;
    this.#scopes = new Set(scopes);
    // Copied: what is changed in the principal later must not change a port that others share.
    this.#queues = queues && new Set(queues);
    this.#types = types && new Set(types);
    this.hasQueues = queues !== undefined;
    this.hasTypes = types !== undefined;
    this.isNarrowed = this.hasQueues || this.hasTypes;
  }

  /** The tenant of a call that needs this scope; refused with `forbidden`. */
  enter(scope: Scope, call?: { tenant?: string | undefined }): string {
    this.need(scope);
    const tenant = call?.tenant;
    if (tenant === undefined || tenant === this.#home) return this.#home;
    if (this.#mayNameAny) return checkTenant(tenant);
    throw this.#refuse('works for one tenant, and this call names another one.');
  }

  /** As `enter`, for calls that may mean all tenants. */
  enterAll(scope: Scope, call?: { tenant?: string | undefined }): string {
    const means = call?.tenant === ALL_TENANTS && this.#mayNameAny ? {} : call;
    const tenant = this.enter(scope, means);
    return means === call ? tenant : ALL_TENANTS;
  }

  /** Names the tenant in each call. */
  get isForAll(): boolean {
    return this.#mayNameAny;
  }

  /** May do everything, for every tenant. */
  get isOperator(): boolean {
    return this.#mayNameAny && this.#scopes.has('admin') && !this.isNarrowed;
  }

  may(scope: Scope): boolean {
    return this.#scopes.has(scope) || this.#scopes.has('admin');
  }

  need(scope: Scope): void {
    if (!this.may(scope)) throw this.#refuse(`lacks the scope '${scope}'.`);
  }

  /** For what knows neither queues nor types. */
  needAll(what: string): void {
    if (this.isNarrowed) throw this.#refuse(`is narrowed to queues or types, and ${what}.`);
  }

  /** For what knows queues and no types. */
  needAllTypes(what: string): void {
    if (this.hasTypes) throw this.#refuse(`is narrowed to types, and ${what}.`);
  }

  /** Who asked for a change, unless the call says otherwise. */
  get by(): { by?: string } {
    return this.#id === '' ? {} : { by: this.#id };
  }

  owns(tenant: string): boolean {
    return this.#mayNameAny || tenant === this.#home;
  }

  seesQueue(name: string): boolean {
    return this.#queues?.has(name) ?? true;
  }

  seesType(type: string): boolean {
    return this.#types?.has(type) ?? true;
  }

  sees({ queue, type }: Destination): boolean {
    return this.seesQueue(queue) && this.seesType(type);
  }

  needQueue(name: string): void {
    if (!this.seesQueue(name)) throw this.#refuse(`may not use the queue '${name}'.`, { queue: name });
  }

  /** Refuses to make a job where the principal could not see it. */
  needDestination({ queue, type, limit }: Destination): void {
    this.needQueue(queue);
    // A key may be shared with queues that it cannot see: holding its slots, or changing its rule, would hold them up.
    if (limit && this.isNarrowed && (limit.key !== `queue:${queue}` || limit.rule !== null))
      throw this.#refuse('is narrowed, and may use no limit but the one that its queue has.', { key: limit.key });
    if (!this.seesType(type)) throw this.#refuse(`may not use the type '${type}'.`, { type });
  }

  /** What is left of a filter; null: nothing can match. */
  narrow<F extends Narrowed>(filter: F): F | null {
    if (!this.isNarrowed) return filter;
    const queues = common(filter.queues, this.#queues);
    const types = common(filter.types, this.#types);
    if (queues?.length === 0 || types?.length === 0) return null;
    return { ...filter, ...(queues && { queues }), ...(types && { types }) };
  }

  /** The queues among these that it may see; undefined: every one. */
  queuesAmong(asked: readonly string[] | undefined): readonly string[] | undefined {
    return common(asked, this.#queues);
  }

  #refuse(why: string, details?: Record<string, unknown>): WaybillError {
    const who = this.#id === '' ? 'The caller' : `'${this.#id}'`;
    return new WaybillError('forbidden', `${who} ${why}`, details && { details });
  }
}

function common(
  asked: readonly string[] | undefined,
  allowed: ReadonlySet<string> | undefined,
): readonly string[] | undefined {
  if (allowed === undefined) return asked;
  return asked?.filter((name) => allowed.has(name)) ?? [...allowed];
}
