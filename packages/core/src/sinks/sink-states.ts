import { WaybillError } from '../errors.ts';
import type { Json, JsonObject } from '../json.ts';
import type { EventLog } from '../store/event-log.ts';
import type { RecordStore, StoredRecord } from '../store/records.ts';
import type { ParkedLine, SinkKey, SinkState } from './sink.ts';

export const STATE_KIND = 'sink-state';
const MOST_TRIES = 10;

export interface VersionedState {
  state: SinkState;
  version: number;
}

/** What is kept of sinks. Every change names the version it is made from, so that whoever is late changes nothing. */
export class SinkStates {
  readonly #records: RecordStore;
  readonly #events: Pick<EventLog, 'end'>;

  constructor({ records, events }: { records: RecordStore; events: Pick<EventLog, 'end'> }) {
    this.#records = records;
    this.#events = events;
  }

  async read(key: SinkKey): Promise<VersionedState | null> {
    const [record] = await this.#records.get([recordKey(key)]);
    return record ? versioned(record) : null;
  }

  /** Of a sink that nothing is kept of: it begins at the end of the log. */
  async begin(key: SinkKey): Promise<VersionedState> {
    return this.#begin(key, 0);
  }

  /** As if the sink had never been: its name is used again. Not where its state has another version than this by now. */
  async beginAnew(key: SinkKey, version: number): Promise<VersionedState> {
    return this.#begin(key, version);
  }

  /** Null: it has been changed since. */
  async write(key: SinkKey, state: SinkState, expected: number): Promise<number | null> {
    const [answer] = await this.#records.put([{ ...recordKey(key), value: toValue(state), expected }]);
    return answer!.status === 'stored' ? answer!.record.version : null;
  }

  async change(key: SinkKey, change: (state: SinkState) => SinkState): Promise<SinkState> {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const { state, version } = (await this.read(key)) ?? (await this.begin(key));
      const changed = change(state);
      if ((await this.write(key, changed, version)) !== null) return changed;
    }
    throw new WaybillError('conflict', `The state of '${key.id}' changes all the time.`, { hint: 'Try again.' });
  }

  async remove(key: SinkKey, version: number): Promise<void> {
    await this.#records.remove(recordKey(key), version);
  }

  async #begin(key: SinkKey, expected: number): Promise<VersionedState> {
    const state: SinkState = { ...FIRST, cursor: await this.#events.end() };
    const [answer] = await this.#records.put([{ ...recordKey(key), value: toValue(state), expected }]);
    // Another server has begun it meanwhile.
    if (answer!.record) return versioned(answer!.record);
    return this.#begin(key, 0);
  }
}

const FIRST: SinkState = {
  ...{ cursor: null, delivered: 0, failingSince: null, failingMs: 0, failures: 0, lastError: null },
  ...{ lastErrorAt: null, nextTryAt: null, parked: [], missed: false, status: 'active', pausedReason: null },
};

/** What a sink that goes on by itself again forgets. */
export const RECOVERED = { failingSince: null, failingMs: 0, failures: 0, nextTryAt: null } as const;

const recordKey = ({ tenant, id }: SinkKey) => ({ tenant, kind: STATE_KIND, id });

const toValue = (state: SinkState): JsonObject => ({
  cursor: state.cursor,
  delivered: state.delivered,
  failing_since: state.failingSince,
  failing_ms: state.failingMs,
  failures: state.failures,
  last_error: state.lastError,
  last_error_at: state.lastErrorAt,
  next_try_at: state.nextTryAt,
  parked: state.parked.map(({ line, after, first, last, failures, failingSince, failingMs }) => ({
    ...{ line, after, first, last, failures, failing_since: failingSince, failing_ms: failingMs },
  })),
  missed: state.missed,
  status: state.status,
  paused_reason: state.pausedReason,
});

const versioned = (record: StoredRecord): VersionedState => ({ state: stateIn(record), version: record.version });

/** What a record of the kind `sink-state` says. */
export function stateIn({ value }: StoredRecord): SinkState {
  const moment = (name: string) => (typeof value[name] === 'number' ? value[name] : null);
  const text = (name: string) => (typeof value[name] === 'string' ? value[name] : null);
  return {
    cursor: text('cursor'),
    delivered: moment('delivered') ?? 0,
    failingSince: moment('failing_since'),
    failingMs: moment('failing_ms') ?? 0,
    failures: moment('failures') ?? 0,
    lastError: text('last_error'),
    lastErrorAt: moment('last_error_at'),
    nextTryAt: moment('next_try_at'),
    parked: Array.isArray(value['parked']) ? value['parked'].flatMap(parkedLine) : [],
    missed: value['missed'] === true,
    status: value['status'] === 'paused' ? 'paused' : 'active',
    pausedReason: text('paused_reason'),
  };
}

/** One that is damaged is left out: without its place there is nothing to read. */
function parkedLine(value: Json): ParkedLine[] {
  const { line, after, first, last, failures, failing_since, failing_ms } = (value ?? {}) as JsonObject;
  if (typeof line !== 'string' || typeof last !== 'string') return [];
  return [
    {
      ...{
        line,
        last,
        after: typeof after === 'string' ? after : null,
        first: typeof first === 'string' ? first : null,
      },
      failures: typeof failures === 'number' ? failures : 0,
      failingSince: typeof failing_since === 'number' ? failing_since : null,
      failingMs: typeof failing_ms === 'number' ? failing_ms : 0,
    },
  ];
}
