import type { Clock } from '../clock.ts';
import { WaybillError } from '../errors.ts';
import type { Told } from '../events/subject-event.ts';
import type { SinkHolders } from '../sinks/sink-holders.ts';
import type { RecordStore, StoredRecord } from '../store/records.ts';
import type { RecordFact, Records } from '../waybill.ts';

interface RecordParts {
  store: { records: RecordStore; clock: Clock };
  /** The log tells more. */
  onTold(): void;
  /** Some records are what sinks are made of. */
  sinks: SinkHolders;
}

/** Small documents of a tenant. What a kind of them means, and which values it takes, is up to whoever keeps it. */
export function records({ store, onTold, sinks }: RecordParts): Records {
  const told = (tenant: string, id: string, fact: RecordFact | undefined): { told?: Told } =>
    fact === undefined
      ? {}
      : { told: { type: fact.type, tenant, subject: id, at: store.clock.now(), data: fact.data ?? {} } };

  return {
    get: async (kind, id, { tenant = '' } = {}) => {
      const [record] = await store.records.get([{ tenant, kind, id }]);
      if (!record) throw notFound(kind, id);
      return record;
    },
    list: ({ tenant = '', ...query }) => store.records.list({ tenant, ...query }),
    put: async ({ kind, id, value, expected, expiresAt, fact }, { tenant = '' } = {}) => {
      if (expected === 0 && sinks.isSink(kind)) await sinks.beforeCreate(kind, { tenant, id });
      const [answer] = await store.records.put([
        {
          ...{ tenant, kind, id, value, expected },
          ...(expiresAt !== undefined && { expiresAt }),
          ...told(tenant, id, fact),
        },
      ]);
      if (answer!.status === 'conflict') throw changed(kind, id, answer!.record);
      onTold();
      if (sinks.isSink(kind)) await sinks.changed({ tenant, id }, expected === 0);
      return answer!.record;
    },
    remove: async (kind, id, { tenant = '', expected, fact } = {}) => {
      const state = sinks.isSink(kind) ? await sinks.beforeRemove({ tenant, id }) : undefined;
      const answer = await store.records.remove({ tenant, kind, id }, expected, told(tenant, id, fact).told);
      if (answer.status === 'absent') throw notFound(kind, id);
      if (answer.status === 'conflict') throw changed(kind, id, { version: answer.version });
      onTold();
      if (sinks.isSink(kind)) await sinks.removed({ tenant, id }, state);
    },
  };
}

const notFound = (kind: string, id: string): WaybillError =>
  new WaybillError('not_found', `There is no ${kind} '${id}'.`, { details: { kind, id } });

function changed(kind: string, id: string, found: Pick<StoredRecord, 'version'> | null): WaybillError {
  const why = found === null ? 'is no more' : 'has been changed since it was read';
  return new WaybillError('conflict', `The ${kind} '${id}' ${why}.`, {
    details: { kind, id, version: found?.version ?? 0 },
    hint: 'Read it again and repeat the change.',
  });
}
