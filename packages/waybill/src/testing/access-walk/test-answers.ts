import type { Scope } from '@waybill/core';
import { expect, test } from 'vitest';
import { type Cell, cellsOf, isNarrowed, sees } from './cells.ts';
import {
  askedOf,
  idsHidden,
  KINDS,
  type Kind,
  NAMES,
  OTHER_TYPE,
  OWN_SCOPES,
  of,
  QUEUE,
  sendersOf,
  TYPE,
  walkerOn,
} from './senders.ts';
import { type Stored, storedFor, withoutAudit } from './stored.ts';
import type { StoreToWalk } from './stores.ts';
import { noThings, thingsIn } from './things.ts';
import { alike, hasScope, leaksIn, type Sender, type Walker } from './walker.ts';

const READERS: readonly Kind[] = KINDS.filter(
  ({ scopes, types }) => scopes.includes('read') && (scopes.length === 1 || types),
);
/** What is another one in each answer: its request, how long a job has waited, where the log ends. */
const CHANGING =
  /"(?:request_id|checked_at|cursor|next_cursor|oldest_\w+|\w*age\w*|\w*latency\w*)":(?:"[^"]*"|[\d.]+),?/g;

/** That every route answers those who may. */
export function testOwn({ open, canRun }: StoreToWalk): void {
  test.skipIf(!canRun)('whoever may is answered about what is their own', async () => {
    const walker = await walkerOn(open);
    const [cell] = cellsOf('a');
    const things = thingsIn(walker.waybill, cell!);
    for (const scope of OWN_SCOPES) {
      const sender = await walker.sender({ tenant: 'a', scopes: [scope] });
      for (const [name, { ask, ok = 200 }] of of(({ scope: needed }) => needed === scope)) {
        const { status, text } = await walker.send(sender, name, await ask(things));
        expect([name, status, text]).toEqual([name, ok, expect.any(String)]);
      }
    }
  });
}

/** What every route answers to those who may not, or not all of it. */
export function testForeign({ open, canRun }: StoreToWalk): void {
  test.skipIf(!canRun)('a missing right is 403 on every route, and changes nothing', async () => {
    const walker = await walkerOn(open);
    const [cell] = cellsOf('a');
    const asked = await askedOf(NAMES, thingsIn(walker.waybill, cell!));
    const before = await storedFor(walker.waybill, 'a', []);
    const senders = await Promise.all(KINDS.map((kind) => walker.sender({ tenant: 'a', ...kind })));
    const { rest: _, ...unchanged } = before;
    for (const sender of senders) {
      for (const [name] of of(({ scope }) => !hasScope(sender, scope))) {
        const { status, code, text } = await walker.send(sender, name, asked.get(name)!);
        expect([sender.name, name, status, code]).toEqual([sender.name, name, 403, 'forbidden']);
        expect(leaksIn(text, asked.get(name)!, sender, new Set())).toEqual([]);
      }
    }
    const { rest: __, ...after } = await storedFor(walker.waybill, 'a', []);
    expect(textOf(after)).toBe(textOf(unchanged));
  });

  test.skipIf(!canRun)('what is another tenant’s is 404 as if it were not there, and stays as it is', async () => {
    const walker = await walkerOn(open);
    // Long enough to be told from the words of an answer, which is compared without the names that were asked for.
    const other = 'tenant_a';
    const [cell] = cellsOf(other);
    const asked = await askedOf(NAMES, thingsIn(walker.waybill, cell!));
    const nothing = await askedOf(NAMES, noThings(cell!));
    const senders = (await sendersOf(walker, ['b'])).filter((sender) => !isNarrowed(sender));
    const before = await storedFor(walker.waybill, other, []);
    const hidden = new Set(before.jobs.map(({ id }) => id));
    for (const sender of senders) {
      for (const [name, { isAboutOne, namesTenant }] of of(({ scope }) => hasScope(sender, scope))) {
        if (namesTenant && sender.isOperator) continue;
        const request = asked.get(name)!;
        const { status, text } = await walker.send(sender, name, request);
        expect([name, leaksIn(text, request, sender, hidden)]).toEqual([name, []]);
        if (!isAboutOne) continue;
        expect([sender.name, name, status]).toEqual([sender.name, name, 404]);
        const twin = await walker.send(sender, name, nothing.get(name)!);
        expect([name, alike(text, request)]).toEqual([name, alike(twin.text, nothing.get(name)!)]);
      }
    }
    expect(JSON.stringify(await storedFor(walker.waybill, other, []))).toBe(JSON.stringify(before));
  });

  test.skipIf(!canRun)('what is of another queue or type is not there for a narrowed key', async () => {
    const walker = await walkerOn(open);
    for (const kind of KINDS.filter(({ queues, types }) => queues ?? types)) {
      const sender = await walker.sender({ tenant: 'a', ...kind });
      const cell = cellsOf('a').find(
        ({ queue, type }) => !kind.queues?.includes(queue) && !kind.types?.includes(type),
      )!;
      const mine = of(({ scope, isAboutOne }) => isAboutOne && hasScope(sender, scope)).map(([name]) => name);
      const asked = await askedOf(mine, thingsIn(walker.waybill, cell));
      const before = await storedFor(walker.waybill, 'a', []);
      for (const name of mine) {
        const { status, text } = await walker.send(sender, name, asked.get(name)!);
        // What knows neither queues nor types is refused to narrowed keys as a whole.
        expect([sender.name, name, [403, 404].includes(status), text]).toEqual([sender.name, name, true, text]);
        expect([name, leaksIn(text, asked.get(name)!, sender, idsHidden([before], sender))]).toEqual([name, []]);
      }
      const after = await storedFor(walker.waybill, 'a', []);
      expect([sender.name, withoutAudit(after)]).toEqual([sender.name, withoutAudit(before)]);
    }
  });

  test.skipIf(!canRun)(
    'a workflow of one type in several queues is of whoever sees the type in all of them',
    async () => {
      const walker = await walkerOn(open);
      const [cell] = cellsOf('a');
      const id = await thingsIn(walker.waybill, cell!).flow();
      const shownTo = async (kind: Kind, tenant = 'a') => {
        const sender = await walker.sender({ tenant, ...kind });
        for (const path of ['/ojs/v1/workflows', `/ojs/v1/workflows/${id}`, `/ojs/v1/workflows/${id}/jobs`]) {
          const { text } = await walker.send(sender, 'GET', { path });
          expect([sender.name, path, leaksIn(text, { path }, sender, new Set())]).toEqual([sender.name, path, []]);
        }
        return (await walker.send(sender, 'GET', { path: `/ojs/v1/workflows/${id}` })).status === 200;
      };
      const scopes: Scope[] = ['read'];
      expect(await shownTo({ scopes })).toBe(true);
      expect(await shownTo({ scopes, types: [TYPE] })).toBe(true);
      expect(await shownTo({ scopes, types: [OTHER_TYPE] })).toBe(false);
      expect(await shownTo({ scopes, queues: [QUEUE] })).toBe(false);
      expect(await shownTo({ scopes }, 'b')).toBe(false);
    },
  );

  test.skipIf(!canRun)('a header that disagrees with the key is refused on every route', async () => {
    const walker = await walkerOn(open);
    const [cell] = cellsOf('a');
    const asked = await askedOf(NAMES, thingsIn(walker.waybill, cell!));
    const sender = await walker.sender({ tenant: 'b', scopes: ['admin'] });
    const before = await Promise.all(['a', 'b', ''].map((tenant) => storedFor(walker.waybill, tenant, [])));
    for (const name of NAMES) {
      const { status, code } = await walker.send(sender, name, asked.get(name)!, 'a');
      expect([name, status, code]).toEqual([name, 403, 'forbidden']);
    }
    const after = await Promise.all(['a', 'b', ''].map((tenant) => storedFor(walker.waybill, tenant, [])));
    // The attempts are written down, in the tenant of the one who made them.
    expect(after.map(withoutAudit)).toEqual(before.map(withoutAudit));
    expect(JSON.stringify([after[0], after[2]])).toBe(JSON.stringify([before[0], before[2]]));
  });

  test.skipIf(!canRun)('what others have changes no answer, so that nothing of it is counted', async () => {
    const walker = await walkerOn(open);
    const cells = ['a', 'b'].flatMap(cellsOf);
    const fill = async (some: readonly Cell[]) => {
      for (const cell of some)
        for (const kind of ['job', 'dead', 'cron'] as const) await thingsIn(walker.waybill, cell)[kind]();
    };
    await fill(cells);
    // How far a page of the log reaches depends on all that was written; what it shows is checked elsewhere here.
    const lists = of(({ scope, isAboutOne }) => scope === 'read' && !isAboutOne).filter(
      ([name]) => !/events$|LogService/.test(name),
    );
    for (const kind of READERS) {
      const reader = await walker.sender({ tenant: 'a', ...kind });
      const answers = async () => {
        const all: string[] = [];
        for (const [name, { ask }] of lists) {
          const { status, text } = await walker.send(reader, name, await ask(noThings(cells[0]!)));
          all.push(`${name} ${status} ${text.replace(CHANGING, '')}`);
        }
        return all;
      };
      const before = await answers();
      await fill(cells.filter((cell) => !sees(reader, cell)));
      expect([reader.name, await answers()]).toEqual([reader.name, before]);
    }
  });

  test.skipIf(!canRun)('whoever follows the log is shown what is theirs, and nothing else', async () => {
    const walker = await walkerOn(open);
    const { jobs, queues } = walker.waybill;
    const cells = ['a', 'b'].flatMap(cellsOf);
    const readers = (await sendersOf(walker, ['a', 'b'])).filter((sender) => hasScope(sender, 'read'));
    for (const cell of cells) {
      const things = thingsIn(walker.waybill, cell);
      for (const make of ['job', 'dead', 'flow', 'cron', 'worker', 'record', 'hook'] as const) await things[make]();
      await queues.pause(cell.queue, cell);
      await walker.waybill.audit!.record({ principal: 'ada', action: 'queues.pause', outcome: 'ok' }, cell);
    }
    // Behind all others for each reader: what was to be seen has been seen when it comes.
    const last = new Map<string, string>();
    for (const cell of cells.toReversed())
      last.set(JSON.stringify(cell), (await jobs.enqueue(thingsIn(walker.waybill, cell).request(), cell)).job.id);
    const stored = await Promise.all(['a', 'b'].map((tenant) => storedFor(walker.waybill, tenant, [])));
    for (const reader of readers) {
      const mine = cells.filter((cell) => sees(reader, cell)).map((cell) => last.get(JSON.stringify(cell))!);
      const text = await followed(walker, reader, mine);
      expect([reader.name, leaksIn(text, { path: '' }, reader, idsHidden(stored, reader))]).toEqual([reader.name, []]);
      const showsAudit = text.includes('event: audit.recorded');
      expect([reader.name, showsAudit]).toEqual([reader.name, reader.scopes.includes('admin') && !isNarrowed(reader)]);
    }
  });
}

const textOf = (stored: Omit<Stored, 'rest'>): string => withoutAudit({ ...stored, rest: null });

/** Reads the stream from the begin of the log until all of these were told. */
async function followed(walker: Walker, reader: Sender, ids: readonly string[]): Promise<string> {
  const headers = {
    ...{ Accept: 'text/event-stream', 'x-api-key': reader.secret },
    ...(reader.isOperator && { 'X-OJS-Tenant': reader.tenant }),
  };
  const response = await walker.app.request('/ojs/v1/events', { headers });
  expect(response.status).toBe(200);
  const chunks = response.body!.getReader();
  const decoder = new TextDecoder();
  let text = '';
  while (!ids.every((id) => text.includes(id))) text += decoder.decode((await chunks.read()).value, { stream: true });
  await chunks.cancel();
  return text;
}
