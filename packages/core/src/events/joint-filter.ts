import { ALL_TENANTS, type EventFilter } from '../store/event-log.ts';

/** Ids that a store can look for at once; more of them are looked for by whoever reads. */
export const MOST_JOB_IDS = 16;

/** Lets through whatever one of the filters lets through, and as little else as a store can leave out cheaply. */
export function jointFilter(filters: Iterable<EventFilter>): EventFilter {
  const all = [...filters];
  const tenants = new Set(all.map(({ tenant }) => tenant));
  const types = union(all, 'types', Number.POSITIVE_INFINITY);
  const queues = union(all, 'queues', Number.POSITIVE_INFINITY);
  const jobIds = union(all, 'jobIds', MOST_JOB_IDS);
  const [only = ALL_TENANTS] = tenants;
  return {
    tenant: tenants.size === 1 ? only : ALL_TENANTS,
    ...(types && { types }),
    ...(queues && { queues }),
    ...(jobIds && { jobIds }),
  };
}

/** Undefined where one of them does not narrow it, or it would be too long. */
function union<Key extends 'types' | 'queues' | 'jobIds'>(
  filters: readonly EventFilter[],
  key: Key,
  most: number,
): NonNullable<EventFilter[Key]> | undefined {
  const values = new Set<string>();
  for (const filter of filters) {
    const own = filter[key];
    if (own === undefined) return undefined;
    for (const value of own) values.add(value);
    if (values.size > most) return undefined;
  }
  return values.size === 0 ? undefined : ([...values] as unknown as NonNullable<EventFilter[Key]>);
}
