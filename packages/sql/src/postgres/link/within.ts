import { type Transaction, WaybillError } from '@waybill/core';
import type { Queryable } from './connections.ts';
import { codeOf, errorOf } from './failures.ts';
import type { Link } from './link.ts';

/**
 * The way to the server by a connection of somebody else who is in the middle of a transaction. Whatever is done is one
 * savepoint, so that what fails leaves their transaction as it was; and without a transaction there is no savepoint,
 * which catches a pool that was given by mistake.
 */
export function linkWithin(link: Link, transaction: Transaction): Link {
  if (typeof transaction?.query !== 'function') throw noClient();
  const inside: Queryable = { query: (text, values = []) => ask(transaction, text, values) };
  const attempt = <T>(work: () => Promise<T>): Promise<T> => inTurn(transaction, () => savepoint(transaction, work));
  return {
    schema: link.schema,
    name: link.name,
    listens: link.listens,
    clock: link.clock,
    sql: (text) => link.sql(text),
    // The connection is not ours to leave something on.
    prepare: async () => {},
    query: (text, values) => attempt(() => inside.query(text, values)),
    search: (text, values) => attempt(() => inside.query(text, values)),
    queryIfFree: (text, values) => link.queryIfFree(text, values),
    transaction: (work) => attempt(() => work(inside)),
    onWake: (listener) => link.onWake(listener),
    wake: (queues) => link.wake(queues),
    onGrown: (listener) => link.onGrown(listener),
    grown: (ids) => link.grown(ids),
    closeSoon: () => {},
    close: async () => {},
  };
}

const turns = new WeakMap<Transaction, Promise<unknown>>();

/** Savepoints are nested, so calls that the caller makes at the same time must follow each other. */
function inTurn<T>(transaction: Transaction, work: () => Promise<T>): Promise<T> {
  const turn = (turns.get(transaction) ?? Promise.resolve()).then(work);
  turns.set(
    transaction,
    turn.catch(() => {}),
  );
  return turn;
}

async function savepoint<T>(transaction: Transaction, work: () => Promise<T>): Promise<T> {
  try {
    await transaction.query('savepoint waybill', []);
  } catch (error) {
    throw beginError(error);
  }
  try {
    const result = await work();
    await transaction.query('release savepoint waybill', []);
    return result;
  } catch (error) {
    // Where even this fails the connection is gone, and what was wrong first says more.
    await Promise.resolve(transaction.query('rollback to savepoint waybill', [])).catch(() => {});
    await Promise.resolve(transaction.query('release savepoint waybill', [])).catch(() => {});
    throw errorOf(original(error));
  }
}

/** A statement that answers nothing is run as it is. */
const ANSWERS = /^\s*(?:--.*\n\s*)*select\b|\breturning\b/i;

/**
 * Clients, and the libraries around them, differ in what they make of a row. Text is text everywhere, so all rows come
 * as one text of JSON, in which `row` has given every column a name of its own.
 */
async function ask<R extends unknown[]>(
  transaction: Transaction,
  text: string,
  values: readonly unknown[],
): Promise<R[]> {
  if (!ANSWERS.test(text)) {
    await transaction.query(text, [...values]);
    return [];
  }
  const asText = `with answer as (\n${text}\n) select coalesce(json_agg(row(answer.*)), '[]')::text as answer from answer`;
  const { rows } = await transaction.query(asText, [...values]);
  const [{ answer }] = rows as [{ answer: string }];
  return (JSON.parse(answer) as object[]).map((row) => Object.values(row) as R);
}

/** What the server said, where a library has wrapped it. */
function original(error: unknown): unknown {
  const isWrapped = error instanceof Error && codeOf(error) === undefined && codeOf(error.cause) !== undefined;
  return isWrapped && !(error instanceof WaybillError) ? error.cause : error;
}

const NO_TRANSACTION = '25P01';
const FAILED_TRANSACTION = '25P02';

function beginError(thrown: unknown): WaybillError {
  const error = original(thrown);
  if (codeOf(error) === NO_TRANSACTION) {
    return new WaybillError('invalid_request', "There is no transaction on what was given as 'within'.", {
      hint: 'Begin one first, and give the client that it was begun on, not the pool.',
      cause: error,
    });
  }
  if (codeOf(error) === FAILED_TRANSACTION) {
    const message =
      "A statement of the transaction that was given as 'within' has failed, so it can only be rolled back.";
    return new WaybillError('conflict', message, { cause: error });
  }
  return errorOf(error);
}

const noClient = (): WaybillError =>
  new WaybillError('invalid_request', "What was given as 'within' is no client of `pg`.", {
    hint: 'Wrap what Drizzle or Kysely gives you: within: drizzleTransaction(tx), within: kyselyTransaction(trx).',
  });
