import type { BusEventType } from './event-types.ts';

/** `TASK`: one task, within its job. `JOB`: a job as a whole. */
export type EntityType = 'TASK' | 'JOB';

/** What the keys of an event are made of. */
export interface KeyFacts {
  entityType: EntityType;
  entityId: string;
  tenantId: string;
  eventType: BusEventType;
  /** Milliseconds since the epoch. */
  timestamp: number;
  eventId: string;
  /** Its place among the events of its entity; see order.ts. */
  order: string;
  app: string;
}

/** The indexes of the table of events. Each has a partition and a sort key of its own. */
export const INDEX_NUMBERS = [1, 2, 3, 4, 5, 6, 7] as const;
export type IndexNumber = (typeof INDEX_NUMBERS)[number];

export type IndexKeys = { [N in IndexNumber as `gsi${N}pk` | `gsi${N}sk`]: string };

/** The keys of the table and of its indexes, all of them text. */
export type EventKeys = { pk: string; sk: string } & IndexKeys;

/** Names of tenants, apps and nodes may hold the separator. */
const part = (text: string): string => encodeURIComponent(text);

/**
 * A node's name is unique within its job only, so its job is part of the id. A task that is no node of a workflow is named by
 * its own id.
 */
export const taskEntity = ({ jobId, taskId }: { jobId?: string | undefined; taskId: string }): string =>
  jobId === undefined ? part(taskId) : `${tasksOfJob(jobId)}${part(taskId)}`;

/** What the ids of all tasks of a job begin with. */
export const tasksOfJob = (jobId: string): string => `${part(jobId)}/`;

export const tenantKey = (tenant: string): string => `TENANT#${part(tenant)}`;
export const appKey = (app: string): string => `APP#${part(app)}`;
export const typeKey = (type: BusEventType): string => `EVENT#${type}`;
export const entityKey = (type: EntityType, id: string): string => `${type}#${id}`;

/** Where no tenant is in the key: ids of jobs may be chosen by their producers, so two tenants may have the same one. */
export const scopedEntityKey = (tenant: string, type: EntityType, id: string): string =>
  entityKey(type, tenant === '' ? id : `${part(tenant)}@${id}`);

/** The end of every sort key, by which events are ordered. It has a tiebreak for events of one millisecond. */
const momentKey = ({ timestamp, order, eventId }: KeyFacts): string => `${from(timestamp)}#EVENT#${order}#${eventId}`;

/** The begin of the sort keys of this moment. */
export const from = (timestamp: number): string => `TIMESTAMP#${String(timestamp).padStart(13, '0')}`;

/** Behind every moment: a prefix that ends in `TIMESTAMP#` matches one entity, and not those whose names begin alike. */
export const ANY_TIME = 'TIMESTAMP#';
export const END_OF_TIME = 'TIMESTAMP#~';

export function keysOf(facts: KeyFacts): EventKeys {
  const { entityType, entityId, tenantId } = facts;
  const at = momentKey(facts);
  const [tenant, app, type] = [tenantKey(tenantId), appKey(facts.app), typeKey(facts.eventType)];
  const [entity, scoped] = [entityKey(entityType, entityId), scopedEntityKey(tenantId, entityType, entityId)];
  return {
    ...{ pk: tenant, sk: at },
    ...{ gsi1pk: scoped, gsi1sk: `${entityType}#${at}` },
    ...{ gsi2pk: app, gsi2sk: at },
    ...{ gsi3pk: app, gsi3sk: `${scoped}#${at}` },
    ...{ gsi4pk: type, gsi4sk: `${tenant}#${at}` },
    ...{ gsi5pk: type, gsi5sk: `${tenant}#${entity}#${at}` },
    ...{ gsi6pk: type, gsi6sk: `${tenant}#${app}#${at}` },
    ...{ gsi7pk: type, gsi7sk: `${tenant}#${app}#${entity}#${at}` },
  };
}
