import { type JsonObject, type Principal, type Records, type StoredRecord, WaybillError } from '@waybill/core';
import type { AskedTask } from './task-node.ts';
import type { TaskWork } from './task-work.ts';

export const DEFINITION_KIND = 'task-definition';

/** Records of one list that are read at once. */
const SLICE = 100;

/** A kind of task by name: its work is said once, for all jobs. */
export interface TaskDefinition {
  name: string;
  /** Grows with each change, and names one content for ever. */
  version: number;
  createdAt: number;
  updatedAt: number;
  work: TaskWork;
}

export const workInRecord = ({ value }: StoredRecord): TaskWork => value as unknown as TaskWork;
export const recordOf = (work: TaskWork): JsonObject => work as unknown as JsonObject;

export const definitionOf = (record: StoredRecord): TaskDefinition => ({
  ...{ name: record.id, version: record.version, work: workInRecord(record) },
  ...{ createdAt: record.createdAt, updatedAt: record.updatedAt },
});

type Reader = Pick<Principal, 'queues' | 'types'>;

/**
 * The definitions of a tenant, for whoever may read or make jobs; to change them is for administrators. One whose jobs would
 * be in a queue or of a type that the reader may not use does not exist.
 */
export class Definitions {
  readonly #records: Records | undefined;
  readonly #tenant: string;
  readonly #reader: Reader;

  constructor(records: Records | undefined, tenant: string, reader: Reader) {
    this.#records = records;
    this.#tenant = tenant;
    this.#reader = reader;
  }

  async get(name: string): Promise<TaskDefinition> {
    const found = (await this.#found([name])).get(name);
    if (found !== undefined) return found;
    throw definitionNotFound(name);
  }

  async list({
    limit,
    cursor,
  }: {
    limit: number;
    cursor?: string;
  }): Promise<{ items: TaskDefinition[]; cursor?: string }> {
    const query = { tenant: this.#tenant, kind: DEFINITION_KIND, limit: Math.min(limit, SLICE) };
    const page = await this.#must().list({ ...query, ...(cursor !== undefined && { cursor }) });
    const items = page.items.map(definitionOf).filter((one) => this.#sees(one));
    return { items, ...(page.cursor !== undefined && { cursor: page.cursor }) };
  }

  /** The work of tasks that go by these names; absent where there is no definition. */
  async workOf(names: readonly string[]): Promise<Map<string, Pick<AskedTask, 'work' | 'definitionVersion'>>> {
    const found = await this.#found(names);
    return new Map(
      [...found].map(([name, { work, version: definitionVersion }]) => [name, { work, definitionVersion }] as const),
    );
  }

  async #found(names: readonly string[]): Promise<Map<string, TaskDefinition>> {
    const records = this.#records;
    // Behind a server that has them this one knows of none.
    if (records === undefined) return new Map();
    const read = async (name: string): Promise<TaskDefinition | undefined> => {
      try {
        return definitionOf(await records.get(DEFINITION_KIND, name, { tenant: this.#tenant }));
      } catch (error) {
        if (error instanceof WaybillError && (error.code === 'not_found' || error.code === 'invalid_request'))
          return undefined;
        throw error;
      }
    };
    const found = await Promise.all(names.filter(isDefinitionName).map(read));
    return new Map(found.filter((one) => one !== undefined && this.#sees(one)).map((one) => [one!.name, one!]));
  }

  #sees({ work: { queue, type } }: TaskDefinition): boolean {
    const { queues, types } = this.#reader;
    return (queues?.includes(queue) ?? true) && (types?.includes(type) ?? true);
  }

  #must(): Records {
    if (this.#records !== undefined) return this.#records;
    throw new WaybillError('unsupported', 'This server stands before another one, which keeps the task definitions.');
  }
}

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
export const isDefinitionName = (name: string): boolean => NAME.test(name);

export const definitionNotFound = (name: string): WaybillError =>
  new WaybillError('not_found', `There is no task definition '${name.slice(0, 64)}'.`, {
    details: { name: name.slice(0, 64) },
  });
