import {
  type AppendAnswer,
  type AppendRequest,
  BEFORE_ALL,
  type JournalBatch,
  type JournalPage,
  type JournalQuery,
  type JournalStore,
} from '@waybill/core';
import { plainArray, plainColumn, textArray, textColumn } from './arrays.ts';
import type { Base } from './base.ts';
import type { GrownNotifier } from './grown-notifier.ts';
import { keyOf } from './keys.ts';
import { isId } from './rows.ts';
import { wavesOf } from './waves.ts';

/** The server could keep more, but a batch is one parameter, and one answer has several. */
export const MOST_JOURNAL_BYTES = 8 * 1_024 * 1_024;

export const journalStore = (base: Base, notifier: Pick<GrownNotifier, 'grown'>): JournalStore => ({
  append: async (requests) => {
    const answers = await append(base, requests);
    // After the commit, so that who reads at once finds the batches.
    notifier.grown(requests.flatMap(({ id }, index) => (answers[index]!.status === 'stored' ? [id] : [])));
    return answers;
  },
  read: (query) => read(base, query),
  onGrown: (listener) => base.link.onGrown(listener),
});

async function append(base: Base, requests: readonly AppendRequest[]): Promise<AppendAnswer[]> {
  const answers: AppendAnswer[] = requests.map(() => ({ status: 'lost' }));
  for (const wave of wavesOf(requests, ({ tenant, id }) => [keyOf(tenant, id)])) {
    const possible = wave.filter((index) => isId(requests[index]!.id));
    for (const indexes of Map.groupBy(possible, (index) => requests[index]!.tenant).values()) {
      // The order of ids is the order of locks.
      indexes.sort((a, b) => (requests[a]!.id < requests[b]!.id ? -1 : 1));
      const some = indexes.map((index) => requests[index]!);
      const rows = await base.link.query<Appended>(base.sql['journal-append'], parametersOf(some));
      for (const row of rows) answers[indexes[row[0] - 1]!] = answerOf(row, some[row[0] - 1]!);
    }
  }
  return answers;
}

type Appended = [n: number, status: 'stored' | 'behind' | 'full', run: number, head: number, weight: number];

function answerOf([, status, run, head, weight]: Appended, request: AppendRequest): AppendAnswer {
  if (status === 'behind') return { status, run, head };
  if (status === 'full') return { status, run, head, weight };
  return { status, run, weight: weight + request.weight };
}

/** Requests of one tenant for different jobs, in the order of their ids. */
function parametersOf(requests: readonly AppendRequest[]): unknown[] {
  const batches = requests.map(({ batch }) => batch);
  const token = ({ by }: AppendRequest) => (by !== 'anyone' && 'run' in by ? by : null);
  return [
    requests[0]!.tenant,
    plainColumn(requests, ({ id }) => id),
    plainColumn(requests, (request) => token(request)?.run ?? null),
    textColumn(requests, (request) => token(request)?.claimId ?? null),
    textColumn(requests, ({ by }) => (by !== 'anyone' && 'workerId' in by ? by.workerId : null)),
    plainColumn(batches, ({ first }) => first),
    plainColumn(batches, ({ last }) => last),
    plainColumn(batches, ({ firstAt }) => firstAt),
    plainColumn(batches, ({ lastAt }) => lastAt),
    plainColumn(requests, ({ now }) => now),
    plainColumn(requests, ({ weight }) => weight),
    plainColumn(requests, ({ atMost }) => atMost ?? null),
    plainArray(endsOf(batches.map(({ types }) => types.length))),
    textArray(batches.flatMap(({ types }) => types)),
    plainArray(endsOf(batches.map(({ body }) => body.length))),
    // As one, since only a whole parameter is sent as it is: an array would be text of twice the size.
    Buffer.concat(batches.map(({ body }) => body)),
  ];
}

function endsOf(sizes: readonly number[]): number[] {
  let end = 0;
  return sizes.map((size) => (end += size));
}

type Cells = [
  ...[run: number, after: number, first: number, last: number, firstAt: number, lastAt: number, storedAt: number],
  ...[types: string[], body: Buffer, isLast: boolean],
];

async function read({ link, sql }: Base, query: JournalQuery): Promise<JournalPage> {
  if (!isId(query.id)) return { batches: [], more: false };
  const { run, sequence } = startOf(query);
  const rows = await link.query<Cells>(sql['journal-read'], [
    ...[query.tenant, query.id, run, sequence, query.run ?? null, query.fromAt ?? null],
    query.types === undefined ? null : (textArray(query.types) ?? '{}'),
    ...[query.limit, query.maxBytes],
  ]);
  const isLast = rows.at(-1)?.[9] ?? true;
  return { batches: rows.map(batchOf), more: !isLast };
}

/** The place behind which the batches are. */
function startOf({ run = 0, after }: JournalQuery): { run: number; sequence: number } {
  return after !== undefined && after.run >= run ? after : { run, sequence: BEFORE_ALL };
}

function batchOf([run, after, first, last, firstAt, lastAt, storedAt, types, body]: Cells): JournalBatch {
  return { run, after, first, last, firstAt, lastAt, storedAt, types, body };
}
