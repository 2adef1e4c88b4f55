import { expect, test } from 'vitest';
import { RECORDING_FACTS, type RecordingSink, recordingSink } from '../testing/recording-sink.ts';
import { type TestEngine, testEngine } from '../testing/test-engine.ts';
import type { SinkOptions } from './sink.ts';

const HOUR = 3_600_000;
const TYPES = { types: ['job.enqueued'] } as const;

async function running(sink: RecordingSink, options?: SinkOptions): Promise<TestEngine> {
  const made = testEngine({ maintenance: false });
  made.waybill.sinks.run({ list: async () => [sink] }, options);
  await made.clock.advance(1_000);
  return made;
}

const refuse = (sink: RecordingSink, isBad: (jobType: string | undefined, jobId: string | undefined) => boolean) => {
  sink.behave = ({ event }) => {
    if (isBad(event.jobType, event.jobId)) throw new Error('422');
  };
};

/** Answers the ids of the jobs by their type. */
async function enqueue({ waybill }: TestEngine, types: readonly string[]): Promise<Map<string, string[]>> {
  const ids = new Map<string, string[]>();
  for (let at = 0; at < types.length; at += 500) {
    const made = await waybill.jobs.enqueueMany(types.slice(at, at + 500).map((type) => ({ type, args: [] })));
    for (const job of made) ids.set(job.type, [...(ids.get(job.type) ?? []), job.id]);
  }
  return ids;
}

const gotOf = (sink: RecordingSink, type: string) =>
  new Set(sink.got.flatMap(({ event }) => (event.jobType === type ? event.jobId! : [])));

test('a receiver that refuses every 50th job gets all others at once, and is not taken for down', async () => {
  const sink = recordingSink('s', TYPES);
  const made = await running(sink);
  refuse(sink, (type) => type === 'bad.one');
  const ids = await enqueue(
    made,
    Array.from({ length: 5_000 }, (_, at) => (at % 50 === 0 ? 'bad.one' : 'good.one')),
  );
  await made.clock.advance(30_000);
  expect(gotOf(sink, 'good.one').size).toBe(4_900);
  expect((await made.waybill.sinks.state(sink))!.status).toBe('active');
  sink.behave = () => {};
  await made.clock.advance(HOUR);
  expect([...gotOf(sink, 'bad.one')].sort()).toEqual(ids.get('bad.one')!.sort());
  expect(sink.got).toHaveLength(5_000);
  expect(await made.waybill.sinks.state(sink)).toMatchObject({ parked: [], failingSince: null, missed: false });
});

test('refused jobs alone in the log neither look like a receiver that is down nor pause it', async () => {
  const sink = recordingSink('s', TYPES);
  const made = await running(sink, { pauseAfterMs: HOUR });
  refuse(sink, (type) => type === 'bad.one');
  await enqueue(
    made,
    Array.from({ length: 60 }, (_, at) => (at % 3 === 0 ? 'bad.one' : 'good.one')),
  );
  await made.clock.advance(HOUR / 2);
  const tries = sink.tries.length;
  await enqueue(made, ['good.one']);
  await made.clock.advance(400);
  // At once, not after the rest of a receiver that is down.
  expect([gotOf(sink, 'good.one').size, sink.tries.length > tries]).toEqual([41, true]);
  await made.clock.advance(HOUR);
  await enqueue(made, ['good.one']);
  await made.clock.advance(1_000);
  expect(gotOf(sink, 'good.one').size).toBe(42);
  expect(await made.waybill.sinks.state(sink)).toMatchObject({ status: 'active', missed: true });
});

test('a row of a hundred refused jobs does not look like a receiver that is down', async () => {
  const sink = recordingSink('s', TYPES);
  const made = await running(sink);
  refuse(sink, (type) => type === 'bad.one');
  await enqueue(
    made,
    Array.from({ length: 1_000 }, (_, at) => (at < 100 ? 'bad.one' : 'good.one')),
  );
  await made.clock.advance(2 * 60_000);
  expect(gotOf(sink, 'good.one').size).toBe(900);
});

test('a refused job with 700 later events takes only its part of the window; taken again, they come in order', async () => {
  const sink = recordingSink('s', { types: ['job.enqueued', 'job.started', 'job.progress'] });
  const made = await running(sink, { pauseAfterMs: 2 * HOUR });
  const id = await made.enqueue();
  refuse(sink, (_, jobId) => jobId === id);
  const { token } = await made.claimOne({ leaseMs: HOUR });
  for (let at = 0; at < 700; at += 1) await made.waybill.jobs.report({ id, leaseToken: token, data: { at } });
  await enqueue(made, Array(600).fill('good.one'));
  await made.clock.advance(60_000);
  expect(gotOf(sink, 'good.one').size).toBe(600);
  await made.clock.advance(HOUR);
  await enqueue(made, ['late.one']);
  await made.clock.advance(60_000);
  expect(gotOf(sink, 'late.one').size).toBe(1);
  sink.behave = () => {};
  await made.clock.advance(HOUR);
  const mine = sink.got.filter(({ event }) => event.jobId === id).map(({ event }) => event.sequence);
  const { events } = await made.waybill.events.read({ filter: { jobIds: [id] }, limit: 1_000 });
  const wanted = events.filter(({ type }) => sink.filter.types!.includes(type));
  expect(wanted.length).toBeGreaterThan(100);
  expect(mine).toEqual(wanted.map(({ sequence }) => sequence));
  expect(await made.waybill.sinks.state(sink)).toMatchObject({ parked: [], failingSince: null, missed: false });
});

test('a job that is not answered and has 700 later events leaves room for others', async () => {
  const sink = recordingSink('s', { types: ['job.enqueued', 'job.started', 'job.progress'] });
  const made = await running(sink);
  const id = await made.enqueue();
  let answer = () => {};
  sink.behave = ({ event }) => (event.jobId === id ? new Promise((resolve) => (answer = resolve)) : undefined);
  const { token } = await made.claimOne({ leaseMs: HOUR });
  for (let at = 0; at < 700; at += 1) await made.waybill.jobs.report({ id, leaseToken: token, data: { at } });
  await enqueue(made, Array(600).fill('good.one'));
  await made.clock.advance(20_000);
  expect(gotOf(sink, 'good.one').size).toBe(600);
  sink.behave = () => {};
  answer();
  await made.clock.advance(60_000);
  expect(sink.got.filter(({ event }) => event.jobId === id)).toHaveLength(702);
});

test('of more refused jobs than may wait, those refused most often are told as missed, and never stop the others', async () => {
  const sink = recordingSink('s', TYPES);
  const made = await running(sink);
  refuse(sink, (type) => type === 'bad.one');
  const ids = await enqueue(
    made,
    Array.from({ length: 4_000 }, (_, at) => (at % 10 === 0 ? 'bad.one' : 'good.one')),
  );
  await made.clock.advance(60_000);
  expect(gotOf(sink, 'good.one').size).toBe(3_600);
  const state = (await made.waybill.sinks.state(sink))!;
  expect([state.parked.length <= 200, state.missed, state.status]).toEqual([true, true, 'active']);
  sink.behave = () => {};
  await made.clock.advance(HOUR);
  const { events } = await made.waybill.events.read({
    filter: { types: [RECORDING_FACTS.missed] as never },
    limit: 500,
  });
  const told = events.map(({ data }) => String(data['event_id']));
  const taken = gotOf(sink, 'bad.one');
  const lost = ids.get('bad.one')!.filter((id) => !taken.has(id));
  expect(lost.length).toBeGreaterThan(0);
  expect(told.sort()).toEqual(lost.map((id) => `evt_${id}_server_1`).sort());
});

test('of more jobs that are refused for too long than may wait, no more are kept, and each is told as missed alone', async () => {
  const sink = recordingSink('s', TYPES);
  const made = await running(sink, { pauseAfterMs: HOUR });
  refuse(sink, (type) => type === 'bad.one');
  const ids = await enqueue(
    made,
    Array.from({ length: 840 }, (_, at) => (at % 6 === 0 ? 'good.one' : 'bad.one')),
  );
  let most = 0;
  for (let minute = 0; minute < 120; minute += 1) {
    await enqueue(made, ['good.one']);
    await made.clock.advance(60_000);
    most = Math.max(most, (await made.waybill.sinks.state(sink))!.parked.length);
  }
  expect([most > 100, most <= 200]).toEqual([true, true]);
  const { events } = await made.waybill.events.read({
    filter: { types: [RECORDING_FACTS.missed] as never },
    limit: 1_000,
  });
  const told = events.map(({ data }) => String(data['event_id']));
  const bad = ids.get('bad.one')!.map((id) => `evt_${id}_server_1`);
  expect(told.sort()).toEqual(bad.sort());
  expect(await made.waybill.sinks.state(sink)).toMatchObject({ parked: [], status: 'active', failingSince: null });
});

test('another server goes on with what was refused: nothing of it is missed, nothing else is repeated', async () => {
  const sink = recordingSink('s', TYPES);
  const first = testEngine({ maintenance: false });
  const { clock, store } = first;
  const run = first.waybill.sinks.run({ list: async () => [sink] });
  await clock.advance(1_000);
  refuse(sink, (type) => type === 'bad.one');
  const ids = await enqueue(
    first,
    Array.from({ length: 2_000 }, (_, at) => (at < 20 ? 'bad.one' : 'good.one')),
  );
  await clock.advance(60_000);
  await run.stop();
  expect(gotOf(sink, 'good.one').size).toBe(1_980);
  const second = testEngine({ on: store, clock, maintenance: false });
  second.waybill.sinks.run({ list: async () => [sink] });
  await clock.advance(1_000);
  sink.behave = () => {};
  await clock.advance(HOUR);
  expect([...gotOf(sink, 'bad.one')].sort()).toEqual(ids.get('bad.one')!.sort());
  expect(sink.got).toHaveLength(2_000);
});
