import { ALL_TENANTS, type EventFilter, MOST_JOBS_SOUGHT } from '../store/event-log.ts';

/** Lets through whatever one of the filters lets through, and as little else as a store can leave out cheaply. */
export function jointFilter(filters: Iterable<EventFilter>): EventFilter {
  const all = [...filters];
  const tenants = new Set(all.map(({ tenant }) => tenant));
  const types = union(all, 'types', Number.POSITIVE_INFINITY);
  const queues = union(all, 'queues', Number.POSITIVE_INFINITY);
  const jobIds = union(all, 'jobIds', MOST_JOBS_SOUGHT);
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
