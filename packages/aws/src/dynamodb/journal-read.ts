import { BEFORE_ALL, type JournalBatch, type JournalPage, type JournalQuery } from '@waybill/core';
import type { Base } from './base.ts';
import { all, between, type Condition, equals } from './conditions.ts';
import type { Item } from './items.ts';
import {
  batchOf,
  batchSk,
  endOfRunSk,
  headIn,
  JOURNAL_END,
  JOURNAL_PREFIX,
  type JournalHead,
} from './journal-items.ts';
import { jobKey, jobPk } from './keys.ts';
import { readRows } from './read.ts';
import { isGone, stateOf } from './rows.ts';

const EMPTY: JournalPage = { batches: [], more: false };

/** A journal as its row shows it. */
interface View {
  head: JournalHead;
  isActive: boolean;
}

/**
 * All reads are consistent: a follower that has seen the end of a job reads its journal once more, and must get all of it.
 * A poll that finds nothing new reads the row alone.
 */
export async function readJournal(base: Base, query: JournalQuery): Promise<JournalPage> {
  const { tenant, id } = query;
  // A journal is never there without its job, though DynamoDB may remove it later.
  const [row] = await readRows(base, [jobKey(tenant, id)]);
  const head = row && headIn(row);
  if (!head || isBeyond(query, head)) return EMPTY;
  const view = { head, isActive: stateOf(row) === 'active' };
  const [from, to] = rangeOf(query);
  const where = all(equals('pk', jobPk(tenant, id)), between('sk', from, to));
  const filter = isOf(view);
  let after: Item | undefined;
  do {
    // One more than asked tells whether there are more.
    const found = await base.db.query({ where, filter, limit: query.limit + 1, ...(after && { after }) });
    const items = after ? found.items : [...(await cutThrough(base, query, view, found.items[0])), ...found.items];
    const page = pageOf(visible(base, items, view), query);
    // The next query would read a megabyte, of which little might fit into this page.
    if (page.batches.length > 0) return { ...page, more: page.more || found.last !== undefined };
    after = found.last;
  } while (after);
  return EMPTY;
}

/** Batches of an earlier job of the same id are not part of it. */
const isOf = ({ head }: View): Condition => equals('jn', head.nonce);

function isBeyond({ run, after }: JournalQuery, head: JournalHead): boolean {
  if (run !== undefined && (run > head.run || (after !== undefined && after.run > run))) return true;
  if (after === undefined) return false;
  return after.run > head.run || (after.run === head.run && after.sequence >= head.last);
}

function rangeOf({ run, after }: JournalQuery): [from: string, to: string] {
  const to = run === undefined ? JOURNAL_END : endOfRunSk(run);
  if (after && (run === undefined || after.run === run)) return [batchSk(after.run, after.sequence), to];
  return [run === undefined ? JOURNAL_PREFIX : batchSk(run, BEFORE_ALL), to];
}

/**
 * The batch that begins before the place asked for and ends behind it. Readers mostly stand between two batches: then the
 * first one found follows the place, and there is nothing to look for.
 */
async function cutThrough(base: Base, query: JournalQuery, view: View, first: Item | undefined): Promise<Item[]> {
  const { tenant, id, run, after } = query;
  if (!after || after.sequence <= BEFORE_ALL || (run !== undefined && run !== after.run)) return [];
  if (first && first['sk'] === batchSk(after.run, after.sequence)) return [];
  const before = between('sk', batchSk(after.run, BEFORE_ALL), batchSk(after.run, after.sequence - 1));
  const where = all(equals('pk', jobPk(tenant, id)), before);
  const found = await base.db.queryAll({ where, filter: isOf(view), backwards: true, limit: 1 }, 1);
  return found.filter((item) => (item['l'] as number) > after.sequence);
}

/** DynamoDB removes what has expired within days. The newest batch of an active run tells how far it has come. */
function visible({ settings }: Base, items: readonly Item[], { head, isActive }: View): JournalBatch[] {
  const now = settings.clock.now();
  return items
    .map((item) => ({ batch: batchOf(item), isGone: isGone(item, now) }))
    .filter(({ batch, isGone }) => !isGone || (isActive && batch.run === head.run && batch.last === head.last))
    .map(({ batch }) => batch);
}

function pageOf(batches: readonly JournalBatch[], { fromAt, types, limit, maxBytes }: JournalQuery): JournalPage {
  const page: JournalPage = { batches: [], more: false };
  let bytes = 0;
  for (const batch of batches) {
    if (fromAt !== undefined && batch.lastAt < fromAt) continue;
    if (types && !batch.types.some((type) => types.includes(type))) continue;
    bytes += batch.body.length;
    if (page.batches.length === limit || (page.batches.length > 0 && bytes > maxBytes)) return { ...page, more: true };
    page.batches.push(batch);
  }
  return page;
}
