import type { RecordStore, StoredRecord } from '../../store/records.ts';
import type { CheckName, Finding } from '../checks-port.ts';
import {
  closed,
  escalated,
  INCIDENT_KIND,
  incidentFact,
  incidentIdOf,
  isOpen,
  isWorse,
  openIncident,
} from './incident.ts';

/** Names the incidents of a tenant that may be open, so that those that are over are not read in every round. */
const WATCH_KIND = 'incident-watch';
const WATCH_ID = 'checks';
/** Incidents about one kind of thing that are open at once in a tenant; the next ones come when these are closed. */
export const MOST_OPEN = 50;
/** How long a closed one is kept. */
const CLOSED_KEPT_MS = 7 * 86_400_000;

export interface Changes {
  opened: number;
  escalated: number;
  closed: number;
}

interface BookParts {
  records: RecordStore;
  now(): number;
  /** The log tells more. */
  onTold(): void;
  /** One incident could not be written; the next round tries again. */
  onFailed(error: unknown, id: string): void;
}

/** Incidents of one tenant as a round finds them. */
export interface WatchedIncidents {
  tenant: string;
  version: number;
  /** Those that are named, whether or not they are there. */
  ids: readonly string[];
  /** By id: open ones and, until the next round, those that were closed by others. */
  records: ReadonlyMap<string, StoredRecord>;
}

/**
 * Makes incidents of what checks find: one per subject, whatever the number of servers, because each change names the
 * version that it is made from and is told in its own transaction. While it is open its severity only grows.
 */
export class IncidentBook {
  readonly #parts: BookParts;

  constructor(parts: BookParts) {
    this.#parts = parts;
  }

  async watched(tenant: string): Promise<WatchedIncidents> {
    const [watch] = await this.#parts.records.get([watchKey(tenant)]);
    const ids = watch ? idsIn(watch) : [];
    return { tenant, version: watch?.version ?? 0, ids, records: await this.#read(tenant, ids) };
  }

  /** `isKnown`: whether a check has looked at everything, so that what it did not find is over. */
  async update(
    before: WatchedIncidents,
    findings: readonly Finding[],
    isKnown: (check: CheckName, subject: string) => boolean,
  ): Promise<Changes> {
    const found = new Map(firstOfEach(findings, before).map((finding) => [incidentIdOf(finding), finding]));
    const fresh = [...found.keys()].filter((id) => !before.ids.includes(id));
    // First: an incident that is named here and is not there does no harm, and one that is there must be named.
    const named = await this.#watch(before, [...before.ids, ...fresh]);
    const ids = [...before.ids, ...(named === null ? [] : fresh)];
    const records = new Map([...before.records, ...(await this.#read(before.tenant, fresh))]);
    const changes: Changes = { opened: 0, escalated: 0, closed: 0 };
    const done = new Set<string>();
    for (const id of ids) {
      const record = records.get(id);
      try {
        const change = await this.#settle(before.tenant, id, record, found.get(id), isKnown);
        if (change === 'over') done.add(id);
        else if (change !== null) changes[change] += 1;
      } catch (error) {
        this.#parts.onFailed(error, id);
      }
    }
    const left = ids.filter((id) => !done.has(id));
    if (named !== null) await this.#watch({ ...before, ...named }, left);
    if (changes.opened + changes.escalated + changes.closed > 0) this.#parts.onTold();
    return changes;
  }

  /** `over`: it was closed before, and needs no look any more. */
  async #settle(
    tenant: string,
    id: string,
    record: StoredRecord | undefined,
    finding: Finding | undefined,
    isKnown: (check: CheckName, subject: string) => boolean,
  ): Promise<keyof Changes | 'over' | null> {
    const now = this.#parts.now();
    const value = record?.value;
    if (finding === undefined) {
      if (record === undefined || !isOpen(record.value)) return 'over';
      const { check, subject } = record.value as { check?: CheckName; subject?: string };
      if (check === undefined || subject === undefined) return 'over';
      if (!isKnown(check, subject)) return null;
      const isClosed = await this.#put(tenant, id, record, closed(record.value, now), now + CLOSED_KEPT_MS);
      return isClosed ? 'closed' : null;
    }
    if (value === undefined || !isOpen(value))
      return (await this.#put(tenant, id, record, openIncident(finding, now))) ? 'opened' : null;
    if (!isWorse(finding.severity, value['severity'])) return null;
    return (await this.#put(tenant, id, record, escalated(value, finding))) ? 'escalated' : null;
  }

  /** False: another server or a person was faster. */
  async #put(
    tenant: string,
    id: string,
    before: StoredRecord | undefined,
    value: StoredRecord['value'],
    expiresAt: number | null = null,
  ): Promise<boolean> {
    const { type, data = {} } = incidentFact(before?.value ?? null, value);
    const told = { type, tenant, subject: id, at: this.#parts.now(), data };
    const key = { tenant, kind: INCIDENT_KIND, id };
    const [answer] = await this.#parts.records.put([
      { ...key, value, expected: before?.version ?? 0, expiresAt, told },
    ]);
    return answer!.status === 'stored';
  }

  /** Writes only what differs. Null: another server was faster, and deals with the rest. */
  async #watch(
    { tenant, version, ids: before }: Pick<WatchedIncidents, 'tenant' | 'version' | 'ids'>,
    ids: readonly string[],
  ): Promise<Pick<WatchedIncidents, 'version' | 'ids'> | null> {
    if (ids.length === before.length && ids.every((id) => before.includes(id))) return { version, ids: before };
    const [answer] = await this.#parts.records.put([
      { ...watchKey(tenant), value: { ids: [...ids] }, expected: version },
    ]);
    return answer!.status === 'stored' ? { version: answer!.record.version, ids } : null;
  }

  async #read(tenant: string, ids: readonly string[]): Promise<Map<string, StoredRecord>> {
    const records = await this.#parts.records.get(ids.map((id) => ({ tenant, kind: INCIDENT_KIND, id })));
    return new Map(records.flatMap((record) => (record ? [[record.id, record] as const] : [])));
  }
}

const watchKey = (tenant: string) => ({ tenant, kind: WATCH_KIND, id: WATCH_ID });

const idsIn = ({ value }: StoredRecord): string[] =>
  Array.isArray(value['ids']) ? value['ids'].filter((id) => typeof id === 'string') : [];

/** Those that have an incident already, and of the others as many as there is room for. */
function firstOfEach(findings: readonly Finding[], { records }: WatchedIncidents): Finding[] {
  const taken = new Map<CheckName, number>();
  const isKnown = (finding: Finding) => records.has(incidentIdOf(finding));
  return [...findings.filter(isKnown), ...findings.filter((finding) => !isKnown(finding))].filter((finding) => {
    const count = taken.get(finding.check) ?? 0;
    taken.set(finding.check, count + 1);
    return isKnown(finding) || count < MOST_OPEN;
  });
}
