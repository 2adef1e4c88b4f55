import { describe, expect, it } from 'vitest';
import { EXPIRED_KEPT_MS } from '../../store/record-table.ts';
import { MAX_RECORD_BYTES, type PutRecord, type RecordQuery, type StoredRecord } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import type { Bench, OpenBench } from './bench.ts';

const key = (id: string, kind = 'note') => ({ tenant: '', kind, id });

async function put({ records }: Store, id: string, more: Partial<PutRecord> = {}): Promise<StoredRecord> {
  const [answer] = await records.put([{ ...key(id), value: { id }, expected: 0, ...more }]);
  if (answer?.status !== 'stored') throw new Error(`Expected the record to be stored, but: ${answer?.status}.`);
  return answer.record;
}

const find = async ({ records }: Store, id: string): Promise<StoredRecord | null> => (await records.get([key(id)]))[0]!;

/** All pages; a page may be short, but none is longer than asked for. */
async function listAll({ records }: Store, query: Partial<RecordQuery> = {}): Promise<StoredRecord[]> {
  const { limit = 100 } = query;
  const found: StoredRecord[] = [];
  for (let { cursor } = query; ; ) {
    const page = await records.list({
      tenant: '',
      kind: 'note',
      ...query,
      limit,
      ...(cursor !== undefined && { cursor }),
    });
    expect(page.items.length).toBeLessThanOrEqual(limit);
    expect(page.unreadable).toEqual([]);
    found.push(...page.items);
    if (page.cursor === undefined) return found;
    expect(page.cursor).not.toBe(cursor);
    cursor = page.cursor;
  }
}

const idsOf = (records: readonly StoredRecord[]): string[] => records.map(({ id }) => id);

const expired = async (bench: Bench, id: string): Promise<StoredRecord> => {
  const record = await put(bench.store, id, { expiresAt: bench.now + 1000 });
  await bench.clock.advance(1000);
  return record;
};

export function testRecords(open: OpenBench): void {
  describe('records', () => {
    it('are kept whole, and read in the order asked for', async () => {
      const bench = await open();
      const { records } = bench.store;
      const value = { a: [1, null, { deep: 'ä"\\\n' }], b: false, big: 2 ** 53 - 1, empty: {}, zero: '\u0000' };
      const stored = await put(bench.store, 'one', { value, expiresAt: bench.now + 5000 });
      const times = { createdAt: bench.now, updatedAt: bench.now, expiresAt: bench.now + 5000 };
      expect(stored).toEqual({ ...key('one'), value, version: expect.any(Number), ...times });
      const other = await put(bench.store, 'two', { kind: 'other_kind' });
      expect(other.expiresAt).toBeNull();
      const keys = [key('two'), key('two', 'other_kind'), key('one'), key('none'), key('one')];
      expect(await records.get(keys)).toEqual([null, other, stored, null, stored]);
      expect(await records.get([])).toEqual([]);
      expect(await records.put([])).toEqual([]);
    });

    it('put: replaces the version it expects, and keeps the creation time', async () => {
      const bench = await open();
      const first = await put(bench.store, 'a', { expiresAt: bench.now + 60_000 });
      await bench.clock.advance(10);
      const second = await put(bench.store, 'a', { value: { n: 2 }, expected: first.version });
      expect(second).toMatchObject({
        value: { n: 2 },
        createdAt: first.createdAt,
        updatedAt: bench.now,
        expiresAt: null,
      });
      expect(second.version).toBeGreaterThan(first.version);
      // In the same moment too.
      const third = await put(bench.store, 'a', { expected: second.version });
      expect(third.version).toBeGreaterThan(second.version);
      expect(await find(bench.store, 'a')).toEqual(third);
    });

    it('put: any other version is a conflict, and the answer is the record as it is', async () => {
      const bench = await open();
      const { records } = bench.store;
      const first = await put(bench.store, 'a');
      const second = await put(bench.store, 'a', { value: { n: 2 }, expected: first.version });
      const mine = { ...key('a'), value: { n: 3 } };
      const wrong = [0, first.version, second.version + 1].map((expected) => ({ ...mine, expected }));
      const conflict = { status: 'conflict', record: second };
      expect(await records.put(wrong)).toEqual([conflict, conflict, conflict]);
      expect(await records.put([{ ...key('none'), value: {}, expected: first.version }])).toEqual([
        { status: 'conflict', record: null },
      ]);
      expect(await listAll(bench.store)).toEqual([second]);
    });

    it('put: a call that is repeated after an unknown outcome finds its own value', async () => {
      const bench = await open();
      const request = { ...key('a'), value: { by: 'me' }, expected: 0 };
      const [first] = await bench.store.records.put([request]);
      const [again] = await bench.store.records.put([request]);
      expect(again).toEqual({ ...first, status: 'conflict' });
    });

    it('put: a batch is answered one by one', async () => {
      const bench = await open();
      const old = await put(bench.store, 'old');
      const requests = ['new', 'old', 'other'].map((id) => ({ ...key(id), value: { id, n: 1 }, expected: 0 }));
      const answers = await bench.store.records.put(requests);
      expect(answers.map(({ status }) => status)).toEqual(['stored', 'conflict', 'stored']);
      expect(answers[1]).toEqual({ status: 'conflict', record: old });
      expect(idsOf(await listAll(bench.store))).toEqual(['new', 'old', 'other']);
    });

    it('put: of ten at once with the same expectation, one is stored', async () => {
      const bench = await open();
      let expected = 0;
      for (let round = 0; round < 3; round++) {
        const racers = Array.from({ length: 10 }, (_, n) => ({ ...key('a'), value: { round, n }, expected }));
        const answers = (await Promise.all(racers.map((racer) => bench.store.records.put([racer])))).flat();
        const [winner, ...others] = answers.filter(({ status }) => status === 'stored');
        expect(others).toEqual([]);
        expect(await find(bench.store, 'a')).toEqual(winner!.record);
        expected = winner!.record!.version;
      }
    });

    it('remove: tells removed, absent and another version apart', async () => {
      const bench = await open();
      const { records } = bench.store;
      const first = await put(bench.store, 'a');
      const second = await put(bench.store, 'a', { expected: first.version });
      const conflict = { status: 'conflict', version: second.version };
      expect(await records.remove(key('a'), first.version)).toEqual(conflict);
      expect(await records.remove(key('a'), second.version)).toEqual({ status: 'removed' });
      expect(await records.remove(key('a'), second.version)).toEqual({ status: 'absent' });
      expect([await find(bench.store, 'a'), await listAll(bench.store)]).toEqual([null, []]);
      await put(bench.store, 'b');
      expect(await records.remove(key('b'))).toEqual({ status: 'removed' });
      expect(await records.remove(key('b'))).toEqual({ status: 'absent' });
      expect(await records.remove(key('never'))).toEqual({ status: 'absent' });
    });

    it('remove: of ten at once, one has removed it', async () => {
      const bench = await open();
      await put(bench.store, 'a');
      const answers = await Promise.all(Array.from({ length: 10 }, () => bench.store.records.remove(key('a'))));
      expect(answers.filter(({ status }) => status === 'removed')).toHaveLength(1);
    });

    it('a version never restarts: who has read the record before cannot mistake the one made anew', async () => {
      const bench = await open();
      const { records } = bench.store;
      const seen = new Set<number>();
      let last = await put(bench.store, 'a');
      // More changes in one moment than moments, and a clock that is set back.
      for (let round = 0; round < 12; round++) {
        seen.add(last.version);
        last = await put(bench.store, 'a', { expected: last.version });
        expect(seen).not.toContain(last.version);
        seen.add(last.version);
        await records.remove(key('a'));
        expect((await records.put([{ ...key('a'), value: {}, expected: last.version }]))[0]!.status).toBe('conflict');
        if (round === 6) bench.clock.jump(-60_000);
        const anew = await put(bench.store, 'a');
        expect(anew.version).toBeGreaterThan(last.version);
        expect(anew).toMatchObject({ createdAt: bench.now, updatedAt: bench.now });
        expect(await records.remove(key('a'), last.version)).toMatchObject({ status: 'conflict' });
        last = anew;
      }
    });

    it('an expired record counts as absent, from that moment on', async () => {
      const bench = await open();
      const { records } = bench.store;
      const record = await put(bench.store, 'a', { expiresAt: bench.now + 1000 });
      const stays = await put(bench.store, 'b');
      await bench.clock.advance(999);
      expect(await listAll(bench.store)).toEqual([record, stays]);
      await bench.clock.advance(1);
      expect([await find(bench.store, 'a'), await listAll(bench.store)]).toEqual([null, [stays]]);
      expect(await records.remove(key('a'), record.version)).toEqual({ status: 'absent' });
      const late = { ...key('a'), value: {}, expected: record.version };
      expect(await records.put([late])).toEqual([{ status: 'conflict', record: null }]);
      const anew = await put(bench.store, 'a');
      expect(anew.version).toBeGreaterThan(record.version);
      expect(anew).toMatchObject({ createdAt: bench.now, expiresAt: null });
    });

    it('an expiry can be moved, and one that has passed counts as now', async () => {
      const bench = await open();
      const first = await put(bench.store, 'a', { expiresAt: bench.now + 1000 });
      const second = await put(bench.store, 'a', { expected: first.version, expiresAt: bench.now + 5000 });
      await bench.clock.advance(2000);
      expect(await find(bench.store, 'a')).toEqual(second);
      const third = await put(bench.store, 'a', { expected: second.version, expiresAt: 1 });
      expect(third.expiresAt).toBe(bench.now);
      expect(await find(bench.store, 'a')).toBeNull();
      expect((await put(bench.store, 'a')).version).toBeGreaterThan(third.version);
    });

    it('prune: removes what expired a day ago, in slices, and nothing that lives', async ({ skip }) => {
      const bench = await open();
      if (bench.store.capabilities.prunesItself) skip('the store removes what is old in its own time');
      const stays = await put(bench.store, 'stays');
      const gone = [await expired(bench, 'a'), await expired(bench, 'b'), await put(bench.store, 'c')];
      await bench.store.records.remove(key('c'));
      const prune = () => bench.store.prune({ finishedBefore: 0, deadBefore: 0, eventsBefore: 0, limit: 1 });
      await bench.clock.advance(EXPIRED_KEPT_MS / 2);
      const fresh = await expired(bench, 'd');
      expect(await prune()).toEqual({ jobs: 0, events: 0, more: false });
      await bench.clock.advance(EXPIRED_KEPT_MS / 2 + 1);
      const more: boolean[] = [];
      for (let call = 0; call < 4; call++) more.push((await prune()).more);
      expect(more).toEqual([true, true, false, false]);
      expect(await listAll(bench.store)).toEqual([stays]);
      for (const { id, version } of [...gone, fresh]) {
        expect((await put(bench.store, id)).version).toBeGreaterThan(version);
      }
    });

    it('list: by the bytes of the id, page by page, whatever is printable', async () => {
      const bench = await open();
      // U+FF5E is below U+1F600 by bytes and above it in UTF-16.
      const ids = [
        '!',
        '#',
        '#%23',
        '$',
        '%',
        '%23',
        '/a/b',
        'A',
        '_',
        'a',
        'a b',
        'a#',
        'a/',
        'a%',
        'ab',
        'b~',
        '~',
        'é',
        '～',
        '😀',
      ];
      const sorted = ids.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      for (const id of ids) await put(bench.store, id);
      const longest = 'ü'.repeat(256);
      await put(bench.store, longest, { kind: 'other' });
      for (const limit of [1, 7, 20, 100]) expect(idsOf(await listAll(bench.store, { limit }))).toEqual(sorted);
      expect(idsOf(await listAll(bench.store, { kind: 'other' }))).toEqual([longest]);
      expect(await bench.store.records.get([key('%23'), key('#')])).toMatchObject([{ id: '%23' }, { id: '#' }]);
      expect(await bench.store.records.remove(key('a#'))).toEqual({ status: 'removed' });
      expect(idsOf(await listAll(bench.store, { limit: 7 }))).toEqual(sorted.filter((id) => id !== 'a#'));
    });

    it('list: by prefix, which stands for itself', async () => {
      const bench = await open();
      const ids = ['a', 'a%', 'a%b', 'a_', 'aab', 'ab', 'a\u{10ffff}', 'a\u{10ffff}b', 'b', 'é', 'é1', 'ê'];
      for (const id of ids) await put(bench.store, id);
      for (const prefix of ['', 'a', 'a%', 'a_', 'é', 'a\u{10ffff}', '\u{10ffff}', 'c']) {
        for (const limit of [2, 100]) {
          const found = idsOf(await listAll(bench.store, { prefix, limit }));
          expect(found.sort(), prefix).toEqual(ids.filter((id) => id.startsWith(prefix)).sort());
        }
      }
    });

    it('list: a cursor stays good while records come and go', async () => {
      const bench = await open();
      for (const id of ['b', 'd', 'f', 'h']) await put(bench.store, id);
      const query = { tenant: '', kind: 'note', limit: 2 };
      const first = await bench.store.records.list(query);
      expect(idsOf(first.items)).toEqual(['b', 'd']);
      await bench.store.records.remove(key('d'));
      await bench.store.records.remove(key('f'));
      for (const id of ['c', 'e']) await put(bench.store, id);
      expect(idsOf(await listAll(bench.store, { cursor: first.cursor! }))).toEqual(['e', 'h']);
    });

    it('a damaged record hides no others, and can be removed', async ({ skip }) => {
      const bench = await open();
      if (!bench.damage) return skip('the store keeps no rows that could be damaged from outside');
      const { records } = bench.store;
      const [a, b, c] = [await put(bench.store, 'a'), await put(bench.store, 'b'), await put(bench.store, 'c')];
      await bench.damage.record(key('b'));
      const { items, unreadable } = await records.list({ tenant: '', kind: 'note', limit: 10 });
      expect(items).toEqual([a, c]);
      expect(unreadable).toEqual([{ ...key('b'), cause: expect.anything() }]);
      await expect(find(bench.store, 'b')).rejects.toMatchObject({ code: 'internal', details: key('b') });
      expect(await find(bench.store, 'c')).toEqual(c);
      expect(await records.remove(key('b'))).toEqual({ status: 'removed' });
      expect((await put(bench.store, 'b')).version).toBeGreaterThan(b.version);
    });

    it('what no store could keep is refused, and nothing is stored', async () => {
      const bench = await open();
      const { records } = bench.store;
      const bad: [Partial<PutRecord>, string][] = [
        [{ id: '' }, 'id'],
        [{ id: 'a\nb' }, 'id'],
        [{ id: '\u0000' }, 'id'],
        [{ id: '\ud800' }, 'id'],
        [{ id: 'ü'.repeat(257) }, 'id'],
        [{ kind: 'Note' }, 'kind'],
        [{ kind: '' }, 'kind'],
        [{ kind: 'a#b' }, 'kind'],
        [{ expected: -1 }, 'expected'],
        [{ expected: 0.5 }, 'expected'],
        [{ expiresAt: 1.5 }, 'expiresAt'],
      ];
      for (const [wrong, field] of bad) {
        const refused = records.put([
          { ...key('good'), value: {}, expected: 0 },
          { ...key('x'), value: {}, expected: 0, ...wrong },
        ]);
        await expect(refused, field).rejects.toMatchObject({ code: 'invalid_request', details: { field } });
      }
      await expect(put(bench.store, 'x', { value: { n: Number.NaN } })).rejects.toMatchObject({
        code: 'invalid_payload',
      });
      const whole = MAX_RECORD_BYTES - JSON.stringify({ text: '' }).length;
      const large = (more: number) =>
        put(bench.store, 'x', { value: { text: `${'ü'.repeat(whole / 2 - 1)}${'.'.repeat(2 + (whole % 2) + more)}` } });
      await expect(large(1)).rejects.toMatchObject({ code: 'payload_too_large', details: { max: MAX_RECORD_BYTES } });
      expect(await listAll(bench.store)).toEqual([]);
      expect(Buffer.byteLength(JSON.stringify((await large(0)).value))).toBe(MAX_RECORD_BYTES);
      const query = { tenant: '', kind: 'note', limit: 1 };
      await expect(records.list({ ...query, limit: 0 })).rejects.toMatchObject({ details: { field: 'limit' } });
      await expect(records.list({ ...query, cursor: 'no such' })).rejects.toMatchObject({ code: 'invalid_request' });
      const foreign = Buffer.from('b').toString('base64url');
      const elsewhere = records.list({ ...query, prefix: 'a', cursor: foreign });
      await expect(elsewhere).rejects.toMatchObject({ code: 'invalid_request' });
    });
  });
}
