import { engine, silentLogger } from '@waybill/core';
import { memoryStore, TestClock } from '@waybill/core/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { harness } from '../testing/harness.ts';

async function running(options: Parameters<typeof harness>[0] = {}) {
  const made = harness(options);
  await made.enqueued();
  const { id, lease_token } = await made.fetched({ worker_id: 'w1' });
  const where = `/ojs/v1/jobs/${id}/journal`;
  const append = (...entries: object[]) => made.post(where, { entries, lease_token });
  const end = () => made.post('/ojs/v1/workers/ack', { job_id: id, lease_token });
  return { ...made, id, lease_token, where, append, end };
}

const line = (sequence: number, output = `line ${sequence}\n`, stream = 'stdout') => ({
  ...{ sequence, type: 'output', stream, output },
});
const SSE = { accept: 'text/event-stream' };
const PLAIN = { accept: 'text/plain' };

/** The messages of a stream as it ends, without comments. */
const messagesIn = (text: string) =>
  text
    .split('\n\n')
    .filter((block) => block.includes('event:'))
    .map((block) => ({
      id: /^id: (.*)$/m.exec(block)?.[1],
      event: /^event: (.*)$/m.exec(block)![1],
      data: JSON.parse(/^data: (.*)$/m.exec(block)![1]!),
    }));

describe('POST a journal', () => {
  it('stores what a run says and says what became of it; a repetition stores nothing', async () => {
    const { append, get, where, clock } = await running();
    const started = { sequence: 0, type: 'process.started', time: '2030-01-31T12:00:00.5Z', data: { pid: 7 } };
    const bytes = { sequence: 4, type: 'output', stream: 'stderr', output_base64: 'AP+A' };
    const { status, body } = await append(started, line(3), bytes, { sequence: 5, type: 'my.own', data: null });
    expect([status, body]).toEqual([200, { run: 1, stored: 4, head: 5, cut: 0 }]);
    expect((await append(line(3), bytes)).body).toEqual({ run: 1, stored: 0, head: 5, cut: 0 });
    const time = new Date(clock.now()).toISOString();
    expect((await get(where)).body).toEqual({
      entries: [
        { run: 1, ...started, time: '2030-01-31T12:00:00.500Z' },
        { run: 1, time, ...line(3) },
        { run: 1, time, ...bytes },
        { run: 1, time, sequence: 5, type: 'my.own', data: null },
      ],
      ...{ cursor: '1.5', at_end: true, missed: false },
    });
  });

  // fault: a worker goes on to write after its run has ended
  it('guarantee 3: a stale token is refused, as is what comes too late', async () => {
    const { append, end, get, where } = await running();
    await append(line(1), line(5));
    const late = await append(line(3));
    expect([late.status, late.body.error.details]).toMatchObject([409, { sequence: 3, run: 1, head: 5 }]);
    await end();
    const stale = await append(line(6));
    expect([stale.status, stale.body.error.code]).toEqual([409, 'lease_lost']);
    expect((await get(where)).body.entries).toHaveLength(2);
  });

  it('wants a lease token where the server does', async () => {
    const { post, append, where } = await running({ requireLease: true });
    const without = await post(where, { entries: [line(1)], worker_id: 'w1' });
    expect([without.status, without.body.error.details.field]).toEqual([400, 'lease_token']);
    expect((await append(line(1))).status).toBe(200);
  });

  it.each([
    ['no entries', {}, 'entries'],
    ['a list that is empty', { entries: [] }, 'entries'],
    ['a misspelt field', { entries: [line(1)], lease: 'x' }, 'lease'],
    ['a misspelt field of an entry', { entries: [{ ...line(1), ouput: 'x' }] }, 'entries[0].ouput'],
    ['no sequence', { entries: [{ type: 'output', output: '' }] }, 'entries[0].sequence'],
    ['a sequence below 0', { entries: [line(-1)] }, 'entries[0].sequence'],
    ['a sequence beyond numbers', { entries: [line(2 ** 53)] }, 'entries[0].sequence'],
    ['sequences that do not grow', { entries: [line(2), line(2)] }, 'entries[1].sequence'],
    ['a type with blanks', { entries: [{ sequence: 1, type: 'a b' }] }, 'entries[0].type'],
    ['a stream that is none', { entries: [line(1, '', 'stdlog')] }, 'entries[0].stream'],
    ['a time that is none', { entries: [{ ...line(1), time: 'now' }] }, 'entries[0].time'],
    ['a time before time', { entries: [{ ...line(1), time: '1969-01-01T00:00:00Z' }] }, 'entries[0].time'],
    ['output twice', { entries: [{ ...line(1), output_base64: '' }] }, 'entries[0].output_base64'],
    ['half of a character', { entries: [line(1, '\ud800')] }, 'entries[0].output'],
    [
      'base64 that is none',
      { entries: [{ sequence: 1, type: 'output', output_base64: 'ä' }] },
      'entries[0].output_base64',
    ],
    ['output of a metric', { entries: [{ ...line(1), type: 'metric' }] }, 'entries[0].output'],
  ])('refuses %s, and stores nothing', async (_, body, field) => {
    const { post, get, where } = await running();
    const refused = await post(where, body);
    expect([refused.status, refused.body.error.details.field]).toEqual([400, field]);
    expect((await get(where)).body.entries).toEqual([]);
  });

  it('refuses a body that is too large, and an unknown job', async () => {
    const { append, post, raw } = await running({ maxBodyBytes: 10_000 });
    expect((await append(line(1, 'x'.repeat(10_001)))).status).toBe(413);
    const nowhere = '/ojs/v1/jobs/01900000-0000-7000-8000-000000000000/journal';
    expect((await post(nowhere, { entries: [line(1)] })).status).toBe(404);
    expect((await raw('GET', nowhere)).status).toBe(404);
    for (const headers of [SSE, PLAIN]) expect((await raw('GET', nowhere, { headers })).status).toBe(404);
  });
});

describe('GET a journal', () => {
  it('answers pages, and takes every filter', async () => {
    const { append, get, where, clock } = await running();
    await append(line(1), line(2));
    const later = clock.now() + 1_000;
    await clock.advance(1_000);
    await append({ sequence: 3, type: 'metric', data: { tokens: 5 } }, line(4));
    const of = async (query: string) => {
      const { body } = await get(`${where}?${query}`);
      return [body.entries.map(({ sequence }: { sequence: number }) => sequence), body.at_end];
    };
    expect(await of('limit=3')).toEqual([[1, 2, 3], false]);
    expect(await of(`limit=3&cursor=${(await get(`${where}?limit=3`)).body.cursor}`)).toEqual([[4], true]);
    expect(await of('types=metric,heartbeat')).toEqual([[3], true]);
    expect(await of('from_sequence=2')).toEqual([[2, 3, 4], true]);
    expect(await of(`from_time=${later}`)).toEqual([[3, 4], true]);
    expect(await of(`from_time=${new Date(later).toISOString()}`)).toEqual([[3, 4], true]);
    expect(await of('run=2')).toEqual([[], true]);
  });

  it.each([
    ['form_sequence=1', 'form_sequence', {}],
    ['run=0', 'run', {}],
    ['from_time=yesterday', 'from_time', {}],
    ['limit=1001', 'limit', {}],
    ['cursor=nonsense', 'cursor', {}],
    ['cursor=nonsense', 'cursor', SSE],
    ['cursor=nonsense', 'cursor', PLAIN],
    ['types=', 'types', {}],
    ['follow=true', 'follow', {}],
    ['follow=maybe', 'follow', PLAIN],
    ['follow=false', 'follow', SSE],
    ['lifecycle=true', 'lifecycle', PLAIN],
    ['stay=true', 'stay', PLAIN],
    ['stream=stdlog', 'stream', PLAIN],
    ['stream=stdout', 'stream', SSE],
    ['limit=5', 'limit', SSE],
    ['types=output', 'types', PLAIN],
  ])('refuses %s', async (query, field, headers) => {
    const { get, where } = await running();
    const { status, body } = await get(`${where}?${query}`, headers);
    expect([status, body.error.details.field]).toEqual([400, field]);
  });

  it('answers by what is asked for, and JSON to a client that takes anything', async () => {
    const { app, append, where, end } = await running();
    await append(line(1));
    await end();
    const typeOf = async (accept: string) => {
      const response = await app.request(where, { headers: { accept } });
      await response.text();
      return response.headers.get('content-type')!.split(';')[0];
    };
    const json = 'application/openjobspec+json';
    expect(await typeOf('*/*')).toBe(json);
    expect(await typeOf('application/json, text/plain, */*')).toBe(json);
    expect(await typeOf('text/html,application/xml;q=0.9,*/*;q=0.8')).toBe(json);
    expect(await typeOf('application/json;q=0.5, text/event-stream')).toBe('text/event-stream');
    expect(await typeOf('text/plain, */*;q=0.1')).toBe('text/plain');
  });

  it('streams what there is, then what comes, and ends with the job', async () => {
    const { app, append, where, end } = await running();
    await append(line(1), line(2));
    const response = await app.request(`${where}?lifecycle=true`, { headers: SSE });
    const all = response.text();
    await append(line(3));
    await end();
    const messages = messagesIn(await all);
    const told = messages.map(({ event, data }) => (event === 'entry' ? data.sequence : (data.type ?? event)));
    expect(told.filter((one) => one !== 'live')).toEqual([
      ...['job.enqueued', 'job.started', 1, 2, 3, 'job.completed', 'end'],
    ]);
    expect(messages.find(({ event }) => event === 'entry')?.data).toMatchObject({ run: 1, ...line(1) });
    // From any message on, the rest and nothing twice.
    for (const [index, { id }] of messages.entries()) {
      if (id === undefined) continue;
      const rest = await app.request(`${where}?lifecycle=true`, { headers: { ...SSE, 'last-event-id': id } });
      const left = messagesIn(await rest.text()).filter(({ event }) => event !== 'place' && event !== 'live');
      expect(left).toEqual(messages.slice(index + 1).filter(({ event }) => event !== 'live'));
    }
  });

  it('refuses to go on behind an event that is none, before the stream begins', async () => {
    const { get, where, log } = await running();
    const { status } = await get(`${where}?lifecycle=true`, { ...SSE, 'last-event-id': '1.1~nonsense' });
    expect([status, log]).toEqual([400, []]);
  });

  // fault: the store fails in the middle of an answer
  it('text that breaks off does not look complete, and has what was read before', async () => {
    const { app, append, where, waybill } = await running();
    await append(line(1), line(2));
    const { follow } = waybill.jobs;
    waybill.jobs.follow = async function* (id, query) {
      for await (const item of follow(id, query)) {
        yield item;
        if (item.kind === 'entry' && item.entry.sequence === 2) throw new Error('connection lost');
      }
    };
    const response = await app.request(where, { headers: PLAIN });
    const reader = response.body!.getReader();
    expect(Buffer.from((await reader.read()).value!).toString()).toBe('line 1\nline 2\n');
    await expect(reader.read()).rejects.toThrow('The stream broke.');
  });

  it('shows the bytes of the output and nothing else, as they are or as they come', async () => {
    const { app, append, where, end } = await running();
    const read = async (query = '') => {
      const response = await app.request(where + query, { headers: PLAIN });
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
      return Buffer.from(await response.arrayBuffer()).toString('latin1');
    };
    await append({ sequence: 1, type: 'process.started' }, line(2, 'out 1\n'), {
      sequence: 3,
      type: 'output',
      stream: 'stderr',
      output_base64: 'AP+A',
    });
    expect(await read()).toBe('out 1\n\0\xff\x80');
    expect(await read('?stream=stdout')).toBe('out 1\n');
    expect(await read('?stream=stderr')).toBe('\0\xff\x80');
    const followed = read('?follow=true&stream=stdout');
    await append(line(4, 'out 2\n'));
    await end();
    expect(await followed).toBe('out 1\nout 2\n');
  });

  // fault: output is lost on its way, in the store, and to a bound
  it('text and event streams say where output is missing', async () => {
    const clock = new TestClock();
    const store = memoryStore({ clock });
    const waybill = engine({ store, journal: { maxBytes: 3_000 }, logger: silentLogger, maintenance: false });
    const { app, append, where, end } = await running({ waybill });
    const text = async (query = '') => (await app.request(where + query, { headers: PLAIN })).text();
    await append(line(1, 'expired\n'));
    await clock.advance(1_000);
    const kept = clock.now();
    await append(line(2, 'out'), { sequence: 3, type: 'journal.dropped', data: { entries: 4, reason: 'memory' } });
    await append({ sequence: 4, type: 'journal.dropped', data: { entries: 1, type: 'metric', reason: 'refused' } });
    await append(line(5, 'err\n', 'stderr'));
    await append(line(6, 'x'.repeat(5_000)));
    await store.prune({ finishedBefore: 0, deadBefore: 0, eventsBefore: 0, limit: 100, journalBefore: kept });
    const [missing, dropped, cut] = [
      '[waybill] A part of the output is missing here: retention has removed it.\n',
      '[waybill] 4 entries are missing here: the worker could not keep or send them.\n',
      '[waybill] The rest of the output was not kept: the journal of this job has its full size.\n',
    ];
    expect(await text()).toBe(`${missing}out\n${dropped}err\n${cut}`);
    expect(await text('?stream=stderr')).toBe(`${missing}${dropped}err\n${cut}`);
    const followed = text('?follow=true');
    await end();
    expect(await followed).toBe(`${missing}out\n${dropped}err\n${cut}`);
    const sse = await (await app.request(`${where}?types=output`, { headers: SSE })).text();
    const told = messagesIn(sse).map(({ event, data }) => data?.type ?? event);
    expect(told).toEqual(['missed', 'output', 'journal.dropped', 'journal.dropped', 'output', 'journal.cut', 'end']);
  });

  it('a job that is deleted while it is followed ends the stream, and is no fault of the server', async () => {
    const { app, waybill, where, append, log } = await running();
    await append(line(1));
    const { follow } = waybill.jobs;
    waybill.jobs.follow = async function* (id, query) {
      for await (const said of follow(id, query)) {
        yield said;
        await waybill.jobs.get('01900000-0000-7000-8000-000000000000');
      }
    };
    const text = await (await app.request(where, { headers: SSE })).text();
    expect(messagesIn(text).map(({ event }) => event)).toEqual(['entry']);
    expect(log).toEqual([]);
  });
});

describe('a reader that takes nothing', () => {
  const facts = () => {
    const told: string[] = [];
    const note = (what: string) => (stream: { kind: string }) => void told.push(`${what} ${stream.kind}`);
    return { told, observeStreams: { opened: note('opened'), closed: note('closed'), cutOff: note('cut') } };
  };

  it('is cut off, counted, and may resume; others and writers go on', async () => {
    const { told, observeStreams } = facts();
    const { app, append, where, end, clock, log } = await running({ observeStreams, slowReaderMs: 1_000 });
    const stuck = await app.request(where, { headers: SSE });
    const other = (await app.request(where, { headers: SSE })).text();
    for (let n = 1; n <= 50; n++) expect((await append(line(n, 'x'.repeat(10_000)))).body.stored).toBe(1);
    await clock.advance(999);
    expect(told).not.toContain('cut journal');
    await clock.advance(1);
    await expect.poll(() => told).toContain('cut journal');
    await expect(stuck.text()).rejects.toThrow();
    expect(log.map(({ level }) => level)).toEqual(['warn']);
    await end();
    const sequences = (text: string) =>
      messagesIn(text).flatMap(({ event, data }) => (event === 'entry' ? [data.sequence] : []));
    expect(sequences(await other)).toEqual(Array.from({ length: 50 }, (_, n) => n + 1));
    const resumed = await app.request(where, { headers: SSE });
    expect(sequences(await resumed.text())).toHaveLength(50);
    expect(told.filter((one) => one.startsWith('opened'))).toHaveLength(3);
    expect(told.filter((one) => one.startsWith('closed'))).toHaveLength(3);
    expect(told.filter((one) => one.startsWith('cut'))).toHaveLength(1);
  });

  it('one that takes what comes is never cut off, however long nothing comes', async () => {
    const { told, observeStreams } = facts();
    const { app, append, where, end, clock } = await running({
      observeStreams,
      slowReaderMs: 1_000,
      maintenance: false,
    });
    const reader = (await app.request(where, { headers: SSE })).body!.getReader();
    onTestFinished(() => reader.cancel().catch(() => {}));
    let text = '';
    const until = async (word: string) => {
      while (!text.includes(word)) text += Buffer.from((await reader.read()).value!).toString();
    };
    await until('event: live');
    for (let n = 1; n <= 3; n++) {
      await append(line(n));
      await until(`line ${n}`);
      await clock.advance(900);
    }
    await clock.advance(5_000);
    await end();
    await until('event: end');
    expect(told).not.toContain('cut journal');
  });
});
