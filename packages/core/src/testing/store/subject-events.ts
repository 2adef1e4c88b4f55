import { describe, expect, it } from 'vitest';
import { changeOf, seen } from '../../commit/row-change.ts';
import { isJobEvent } from '../../events/job-event.ts';
import type { SubjectEvent, SubjectEventType, Told } from '../../events/subject-event.ts';
import { stepCompleted, workflowStarted } from '../../events/told.ts';
import { heartbeatEvent } from '../../job/heartbeat-event.ts';
import { transition } from '../../job/transition.ts';
import type { ExtendRequest } from '../../store/extend.ts';
import { aCron, aWorkflow } from '../factories.ts';
import { type Bench, COMPLETED, type OpenBench, plainEvent } from './bench.ts';

const ofSubjects = async (bench: Bench, ...query: Parameters<Bench['log']>): Promise<SubjectEvent[]> =>
  (await bench.log(...query)).map(plainEvent).filter((event) => !isJobEvent(event)) as SubjectEvent[];

const shortLog = async (bench: Bench): Promise<string[]> =>
  (await ofSubjects(bench)).map(({ type, tenant, subject, sequence }) => `${tenant}/${subject} ${type} ${sequence}`);

export function testSubjectEvents(open: OpenBench): void {
  const toldAt = (bench: Bench) => {
    return (type: SubjectEventType, subject: string, over: Partial<Told> = {}): Told => ({
      ...{ type, tenant: '', subject, at: bench.now, data: { queue: 'ü "q"\n', list: [1, null] } },
      ...over,
    });
  };

  describe('events of what is not a job', () => {
    it('are told as they are given, numbered per subject', async () => {
      const bench = await open();
      const told = toldAt(bench);
      const facts = [told('maintenance.failed', 'a'), told('key.opened', 'a'), told('maintenance.failed', 'a')];
      await bench.store.events.tell(facts);
      await bench.store.events.tell([told('maintenance.failed', 'a', { tenant: 'acme' }), told('key.made', 'b, c')]);
      expect(await ofSubjects(bench)).toEqual([
        { ...facts[0], source: 'server', sequence: 1 },
        { ...facts[1], source: 'server', sequence: 1 },
        { ...facts[2], source: 'server', sequence: 2 },
        { ...told('maintenance.failed', 'a', { tenant: 'acme' }), source: 'server', sequence: 1 },
        { ...told('key.made', 'b, c'), source: 'server', sequence: 1 },
      ]);
    });

    // fault: five writers write about two subjects at once
    it('guarantee 4: of one subject are ordered and gap-free beside concurrent tellers', async () => {
      const bench = await open();
      const told = toldAt(bench);
      const teller = async (name: string) => {
        for (let turn = 0; turn < 5; turn++) await bench.store.events.tell([told('key.noted', name)]);
      };
      await Promise.all(['a', 'a', 'a', 'b', 'b'].map(teller));
      const bySubject = Map.groupBy(await ofSubjects(bench), ({ subject }) => subject);
      expect(bySubject.get('a')!.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 15 }, (_, n) => n + 1));
      expect(bySubject.get('b')!.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 10 }, (_, n) => n + 1));
    });

    it('are found by tenant, type and queue, and never by the id of a job that is not theirs', async () => {
      const bench = await open();
      const told = toldAt(bench);
      const job = await bench.add({ queue: 'mail' });
      await bench.store.queues.setPaused('', 'mail', true, told('queue.paused', 'mail'));
      await bench.store.events.tell([told('key.made', 'mail', { tenant: 'acme' })]);
      const types = async (...query: Parameters<Bench['log']>) => (await bench.log(...query)).map(({ type }) => type);
      expect(await types({ tenant: 'acme' })).toEqual(['key.made']);
      expect(await types({ tenant: '' })).toEqual(['job.enqueued', 'queue.paused']);
      expect(await types({ types: ['queue.paused', 'key.made'] }, { limit: 1 })).toEqual(['queue.paused', 'key.made']);
      expect(await types({ queues: ['mail'] })).toEqual(['job.enqueued', 'queue.paused']);
      expect(await types({ queues: ['other'] })).toEqual([]);
      expect(await types({ jobIds: [job.id] })).toEqual(['job.enqueued']);
    });

    it('of a queue come with what changes it, and only then', async () => {
      const bench = await open();
      const told = toldAt(bench);
      const { queues } = bench.store;
      const limit = { concurrency: 2, rate: null };
      await queues.setPaused('', 'q', false, told('queue.resumed', 'q'));
      await queues.setKeep('', 'q', 'all', told('queue.keep_changed', 'q'));
      await queues.setLimit('', 'q', null, told('queue.limit_changed', 'q'));
      expect(await shortLog(bench)).toEqual([]);
      await queues.setPaused('', 'q', true, told('queue.paused', 'q'));
      await queues.setPaused('', 'q', true, told('queue.paused', 'q'));
      await queues.setLimit('', 'q', limit, told('queue.limit_changed', 'q'));
      await queues.setLimit('', 'q', limit, told('queue.limit_changed', 'q'));
      await queues.setKeep('', 'q', 'none', told('queue.keep_changed', 'q'));
      await queues.setPaused('', 'q', false, told('queue.resumed', 'q'));
      expect(await shortLog(bench)).toEqual([
        '/q queue.paused 1',
        '/q queue.limit_changed 2',
        '/q queue.keep_changed 3',
        '/q queue.resumed 4',
      ]);
      expect(await queues.list('')).toMatchObject([{ name: 'q', paused: false, keep: 'none', limit }]);
    });

    it('of a cron come with its changes and its ticks, and not for a tick that was lost', async () => {
      const bench = await open();
      const told = toldAt(bench);
      const { crons } = bench.store;
      const cron = await crons.put(aCron({ name: 'c' }), told('cron.registered', 'c'));
      const tick = cron.nextAt!;
      const fire = { tenant: '', name: 'c', expected: { version: cron.version, nextAt: tick }, tick };
      const job = bench.make();
      const made = { ...fire, nextAt: tick + 60_000, job, told: told('cron.triggered', 'c') };
      expect(await crons.fire(made)).toMatchObject({ status: 'fired', jobs: [{ id: job.job.id }] });
      expect(await crons.fire(made)).toEqual({ status: 'lost' });
      const next = { ...fire, expected: { version: cron.version, nextAt: tick + 60_000 }, nextAt: null };
      await crons.fire({ ...next, told: told('cron.skipped', 'c') });
      await crons.remove('', 'c', told('cron.removed', 'c'));
      expect(await crons.remove('', 'c', told('cron.removed', 'c'))).toBeNull();
      await crons.put(aCron({ name: 'c' }), told('cron.registered', 'c'));
      expect(await shortLog(bench)).toEqual([
        '/c cron.registered 1',
        '/c cron.triggered 2',
        '/c cron.skipped 3',
        '/c cron.removed 4',
        '/c cron.registered 5',
      ]);
      expect((await bench.log({ jobIds: [job.job.id] })).map(({ type }) => type)).toEqual(['job.enqueued']);
    });

    it('a tick whose job another one kept out tells nothing', async () => {
      const bench = await open();
      const told = toldAt(bench);
      const { crons } = bench.store;
      const known = await bench.add();
      const cron = await crons.put(aCron({ name: 'c' }));
      const job = bench.make({ id: known.id });
      const expected = { version: cron.version, nextAt: cron.nextAt! };
      const request = { tenant: '', name: 'c', expected, nextAt: null, tick: cron.nextAt!, job };
      expect(await crons.fire({ ...request, told: told('cron.triggered', 'c') })).toMatchObject({ status: 'fired' });
      expect(await shortLog(bench)).toEqual([]);
    });

    it('of a workflow begin with its first job and go on with its moves', async () => {
      const bench = await open();
      const told = toldAt(bench);
      const workflow = aWorkflow({ id: 'flow', total: 2 });
      const [first, second] = [bench.make(), bench.make()];
      const started = workflowStarted(workflow, first.job);
      const jobs = [{ ...first, events: [...first.events, started] }, second];
      await bench.store.insert([{ jobs, edges: [], workflow: { create: workflow } }]);
      // Repeated, since its answer may have been lost.
      await bench.store.insert([{ jobs, edges: [], workflow: { create: workflow } }]);
      const move = { tenant: '', id: 'flow', now: bench.now, jobs: [] };
      const end = { ...move, from: 'running', to: 'failed', told: told('workflow.failed', 'flow') } as const;
      expect(await bench.store.workflows.move(end)).toMatchObject({ status: 'moved' });
      expect(await bench.store.workflows.move(end)).toEqual({ status: 'lost' });
      const again = { ...move, from: 'failed', to: 'running', told: told('workflow.resumed', 'flow') } as const;
      await bench.store.workflows.move(again);
      const callback = bench.make();
      const done = { ...move, from: 'running', to: 'completed', told: told('workflow.completed', 'flow') } as const;
      await bench.store.workflows.move({ ...done, jobs: [callback] });
      expect(await shortLog(bench)).toEqual([
        '/flow workflow.started 1',
        '/flow workflow.failed 2',
        '/flow workflow.resumed 3',
        '/flow workflow.completed 4',
      ]);
      expect((await ofSubjects(bench))[0]).toEqual(started);
      const ofFirst = await bench.log({ jobIds: [first.job.id] });
      expect(ofFirst.map(({ type }) => type)).toEqual(['job.enqueued', 'workflow.started']);
    });

    it('a step of a workflow is told with the change of its job, once', async () => {
      const bench = await open();
      const workflow = aWorkflow({ id: 'flow', total: 1 });
      const made = bench.make({ workflowId: 'flow', node: 'n' });
      await bench.store.insert([{ jobs: [made], edges: [], workflow: { create: workflow } }]);
      const [claimed] = await bench.claim();
      await bench.settle(claimed!, COMPLETED);
      const done = await bench.read(made.job);
      expect(done.advancePending).toBe(true);
      const advanced = transition(done, { do: 'advanced' }, bench.now)!;
      const step = stepCompleted(workflow, done, 0);
      const change = { ...changeOf(done, seen(done), advanced), events: [step] };
      expect(await bench.store.apply([change])).toMatchObject([{ status: 'applied' }]);
      await bench.store.apply([change]);
      expect(await ofSubjects(bench)).toEqual([step]);
      expect((await bench.log({ jobIds: [done.id] })).map(({ type }) => type)).toEqual([
        'job.enqueued',
        'job.started',
        'job.completed',
        'workflow.step_completed',
      ]);
      expect((await bench.read(done)).version).toBe(3);
    });

    it('of a worker come when it is first seen and when it is told something new', async () => {
      const bench = await open();
      const told = toldAt(bench);
      const { workers } = bench.store;
      const beat = { tenant: '', id: 'w', activeJobs: 1, now: bench.now, told: told('worker.started', 'w') };
      expect(await workers.direct('', 'w', 'quiet', told('worker.quiet', 'w'))).toBeNull();
      expect(await workers.beat(beat)).toBe('running');
      expect(await workers.beat(beat)).toBe('running');
      await workers.direct('', 'w', 'quiet', told('worker.quiet', 'w'));
      await workers.direct('', 'w', 'quiet', told('worker.quiet', 'w'));
      expect(await workers.beat(beat)).toBe('quiet');
      expect(await shortLog(bench)).toEqual(['/w worker.started 1', '/w worker.quiet 2']);
    });

    it('of a record come with its changes, and not with a conflict', async () => {
      const bench = await open();
      const told = toldAt(bench);
      const { records } = bench.store;
      const key = { tenant: 'acme', kind: 'key', id: 'i-1' };
      const tell = (type: SubjectEventType) => told(type, 'i-1', { tenant: 'acme' });
      const put = { ...key, value: { a: 1 }, expected: 0, told: tell('key.opened') };
      const [stored] = await records.put([put]);
      expect(stored).toMatchObject({ status: 'stored' });
      expect(await records.put([put])).toMatchObject([{ status: 'conflict' }]);
      expect(await records.remove(key, 1, tell('key.closed'))).toMatchObject({ status: 'conflict' });
      expect(await records.remove(key, undefined, tell('key.closed'))).toEqual({ status: 'removed' });
      expect(await records.remove(key, undefined, tell('key.closed'))).toEqual({ status: 'absent' });
      expect(await shortLog(bench)).toEqual(['acme/i-1 key.opened 1', 'acme/i-1 key.closed 2']);
      const foreign = records.put([{ ...put, told: told('maintenance.failed', 'i-1', { tenant: 'acme' }) }]);
      await expect(foreign).rejects.toMatchObject({ code: 'invalid_request' });
    });

    it('a store that is told nothing tells nothing', async () => {
      const bench = await open();
      await bench.store.queues.setPaused('', 'q', true);
      await bench.store.workers.beat({ tenant: '', id: 'w', activeJobs: 0, now: bench.now });
      await bench.store.crons.put(aCron({ name: 'c' }));
      await bench.store.events.tell([]);
      expect(await bench.log()).toEqual([]);
    });
  });

  describe('heartbeats', () => {
    it('are told where they are asked to be and make the lease longer, each once', async () => {
      const bench = await open();
      const job = await bench.start({ queue: 'slow' }, { leaseMs: 10_000 });
      const idle = await bench.start({ queue: 'slow' }, { leaseMs: 10_000 });
      const by = { run: job.run, claimId: job.claimId! };
      const extend = (id: string, over: Partial<ExtendRequest> = {}) =>
        bench.store.extend([{ tenant: '', id, by, leaseMs: null, now: bench.now, isTold: true, ...over }]);
      await bench.clock.advance(1_000);
      const [first] = await extend(job.id);
      expect(first).toMatchObject({ status: 'extended' });
      // Repeated, since its answer may have been lost.
      expect(await extend(job.id)).toEqual([first]);
      await bench.clock.advance(1_000);
      await extend(job.id, { isTold: false });
      expect(await extend(idle.id, { by: { workerId: 'nobody' } })).toEqual([{ status: 'lost' }]);
      const beats = (await bench.log({ types: ['job.heartbeat'] })).map(plainEvent);
      expect(beats).toEqual([heartbeatEvent(job, bench.now + 9_000, bench.now - 1_000)]);
      expect((await bench.read(job)).version).toBe(job.version);
    });
  });
}
