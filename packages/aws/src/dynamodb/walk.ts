import { idRange, type JobFilter } from '@waybill/core';
import type { Base } from './base.ts';
import { all, begins, between, type Condition, equals, less } from './conditions.ts';
import type { Query } from './database.ts';
import type { Item } from './items.ts';
import { jobPk, listPartition, nodeKey, nodesPk, partsOf } from './keys.ts';
import { queueItems } from './queue-items.ts';

const PER_PAGE = 100;

/** Ids of jobs from the newest to the oldest, from all places where such jobs stand. */
export async function* idsBackwards(base: Base, filter: JobFilter, before: string | undefined): AsyncGenerator<string> {
  const lines = (await queriesFor(base, filter, before)).map((query) => new Line(base, query));
  for (;;) {
    await Promise.all(lines.map((line) => line.fill()));
    const next = lines.reduce<Line | null>((newest, line) => (isNewer(line, newest) ? line : newest), null);
    if (next?.head === undefined) return;
    yield next.take();
  }
}

function isNewer(line: Line, than: Line | null): boolean {
  if (line.head === undefined) return false;
  return than?.head === undefined || line.head > than.head;
}

async function queriesFor(base: Base, filter: JobFilter, before: string | undefined): Promise<Query[]> {
  const { tenant, workflowId } = filter;
  if (workflowId !== undefined) {
    const last =
      before === undefined ? begins('sk', 'N#') : between('sk', 'N#', nodeKey(tenant, workflowId, before).sk);
    return [{ where: all(equals('pk', nodesPk(tenant, workflowId)), last), backwards: true, limit: PER_PAGE }];
  }
  const behind = idCondition(filter, before);
  const queues = await queueItems(base, tenant, filter.queues);
  return [...queues].flatMap(([queue, item]) =>
    Array.from({ length: base.queues.shardsOf(queue, item) }, (_, shard) => {
      const own = equals('lq', listPartition(tenant, queue, shard));
      const where = all(own, ...behind);
      return { index: 'list', where, backwards: true, limit: PER_PAGE };
    }),
  );
}

/** Which part of a list is wanted. A key has at most one condition, so the cursor ends the range of a prefix. */
function idCondition({ tenant, idPrefix }: JobFilter, before: string | undefined): Condition[] {
  if (idPrefix === undefined) return before === undefined ? [] : [less('pk', jobPk(tenant, before))];
  const { first, last } = idRange(idPrefix);
  // The walk leaves out the id of the cursor itself.
  const end = before === undefined || before > last ? last : before;
  return [between('pk', jobPk(tenant, first), jobPk(tenant, end < first ? first : end))];
}

/** One of several sorted lists, read page by page. */
class Line {
  readonly #base: Base;
  readonly #query: Query;
  #ids: string[] = [];
  #after: Item | undefined;
  #isOver = false;

  constructor(base: Base, query: Query) {
    this.#base = base;
    this.#query = query;
  }

  get head(): string | undefined {
    return this.#ids[0];
  }

  take(): string {
    return this.#ids.shift()!;
  }

  async fill(): Promise<void> {
    while (this.#ids.length === 0 && !this.#isOver) {
      const page = await this.#base.db.query({ ...this.#query, ...(this.#after && { after: this.#after }) });
      this.#ids = page.items.map(idOf);
      this.#after = page.last;
      this.#isOver = page.last === undefined;
    }
  }
}

/** An entry of the index has the job's own key, a node of a workflow names it. */
const idOf = (item: Item): string => (item['j'] as string | undefined) ?? partsOf(item['pk'] as string)[1]!;
