import type { EventLog } from '../store/event-log.ts';
import { type RecordStore, SYSTEM_TENANT } from '../store/records.ts';
import type { SinkKey } from './sink.ts';
import { SinkStates } from './sink-states.ts';

/** Kinds of records that sinks are made of. */
const SINK_KINDS: ReadonlySet<string> = new Set(['webhook']);
const HOLDER_KIND = 'sink-holder';
const PAGE = 1_000;
/** Tenants that are known to be noted; beyond that they are looked up again. */
const MOST_KNOWN = 10_000;

/**
 * What changes of records mean for sinks. Records are listed by tenant, so each tenant that has such a record is noted
 * apart; and a sink is begun before its record is there, so that whatever happens after the record was made is
 * delivered, whichever server looks first.
 */
export class SinkHolders {
  readonly #records: RecordStore;
  readonly #states: SinkStates;
  readonly #known = new Set<string>();
  /** Told after a change; set by whoever runs sinks. */
  onChange: () => void = () => {};

  constructor(store: { records: RecordStore; events: EventLog }) {
    this.#records = store.records;
    this.#states = new SinkStates(store);
  }

  isSink(kind: string): boolean {
    return SINK_KINDS.has(kind);
  }

  /** Before a record is written that should not be there yet. */
  async beforeCreate(kind: string, key: SinkKey): Promise<void> {
    await this.#note(kind, key.tenant);
    // Read before the record is looked for: a rival that makes the record meanwhile has changed the state by then.
    const known = await this.#states.read(key);
    const [before] = await this.#records.get([{ ...key, kind }]);
    // Of one that is there the caller will be refused, and it goes on where it is.
    if (!before) await this.#states.beginAnew(key, known?.version ?? 0);
  }

  /** Before a record is removed. Answers what `removed` has to be given. */
  async beforeRemove(key: SinkKey): Promise<number | undefined> {
    return (await this.#states.read(key))?.version;
  }

  /** What is kept of the sink is written again: whichever server runs it sees that within seconds, and lists anew. */
  async changed(key: SinkKey, isNew: boolean): Promise<void> {
    if (!isNew) await this.#states.change(key, (state) => state);
    this.onChange();
  }

  /** The state of a record that was made anew meanwhile stays. One that is left over is begun anew with the next record. */
  async removed(key: SinkKey, version: number | undefined): Promise<void> {
    if (version !== undefined) await this.#states.remove(key, version);
    this.onChange();
  }

  async tenantsWith(kind: string): Promise<string[]> {
    const tenants: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.#records.list({
        ...{ tenant: SYSTEM_TENANT, kind: HOLDER_KIND, prefix: `${kind}:`, limit: PAGE },
        ...(cursor !== undefined && { cursor }),
      });
      tenants.push(...page.items.map(({ id }) => id.slice(kind.length + 1)));
      cursor = page.cursor;
    } while (cursor !== undefined);
    return tenants;
  }

  async #note(kind: string, tenant: string): Promise<void> {
    const id = `${kind}:${tenant}`;
    if (this.#known.has(id)) return;
    // A conflict means that it is noted.
    await this.#records.put([{ tenant: SYSTEM_TENANT, kind: HOLDER_KIND, id, value: {}, expected: 0 }]);
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    this.#known.add(id);
  }
}
