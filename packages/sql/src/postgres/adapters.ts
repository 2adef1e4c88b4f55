import type { Transaction } from '@waybill/core';

/** As much of a transaction of Drizzle (`drizzle-orm/node-postgres`) as is needed. */
interface DrizzleTransaction {
  readonly _: {
    readonly session: {
      prepareQuery(
        query: { sql: string; params: unknown[] },
        fields: undefined,
        name: undefined,
        isResponseInArrayMode: boolean,
      ): { execute(): PromiseLike<unknown> };
    };
  };
}

/** For `within`: what `db.transaction(async (tx) => ..)` of Drizzle over `pg` hands out. */
export function drizzleTransaction(tx: DrizzleTransaction): Transaction {
  return once(tx, () => ({
    query: async (sql, params) => {
      const prepared = tx._.session.prepareQuery({ sql, params }, undefined, undefined, false);
      return (await prepared.execute()) as { rows: unknown[] };
    },
  }));
}

/** A statement as Kysely passes it to its driver. */
interface KyselyQuery {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  readonly query: {
    readonly kind: 'RawNode';
    readonly sqlFragments: readonly string[];
    readonly parameters: readonly [];
  };
  readonly queryId: { readonly queryId: string };
}

/** As much of a transaction of Kysely as is needed. */
interface KyselyTransaction {
  readonly isTransaction: boolean;
  withoutPlugins(): { executeQuery(query: KyselyQuery): PromiseLike<{ rows: unknown[] }> };
}

let asked = 0;

/** For `within`: what `db.transaction().execute(async (trx) => ..)` of Kysely over `pg` hands out. */
export function kyselyTransaction(trx: KyselyTransaction): Transaction {
  return once(trx, () => ({
    query: (sql, parameters) => {
      asked += 1;
      const query = { kind: 'RawNode', sqlFragments: [sql], parameters: [] } as const;
      return trx.withoutPlugins().executeQuery({ sql, parameters, query, queryId: { queryId: `waybill-${asked}` } });
    },
  }));
}

const known = new WeakMap<object, Transaction>();

/** The same transaction must be the same thing each time, since calls inside of it wait for each other. */
function once(tx: object, wrap: () => Transaction): Transaction {
  const found = known.get(tx) ?? wrap();
  known.set(tx, found);
  return found;
}
