import type { LogEvent, SubjectEvent } from '@waybill/core';
import { expect, it } from 'vitest';
import { decodeEntries, encodeEntries } from './event-codec.ts';

const AT = 1_893_456_000_000;
const OWN = {
  ...{ type: 'job.enqueued', tenant: 't', jobId: 'j-1', jobType: 'mail.send', queue: 'mails' },
  ...{ run: 0, attempt: 0, source: 'server', sequence: 1, at: AT, data: {} },
} as const satisfies LogEvent;
const PAUSED: SubjectEvent = {
  ...{ type: 'queue.paused', tenant: 't', subject: 'ü "q".1', source: 'server', sequence: 3, at: AT },
  data: { queue: 'ü "q".1' },
};
const STARTED: SubjectEvent = {
  ...{ type: 'workflow.started', tenant: 't', subject: 'flow', jobId: 'j-1', source: 'server', sequence: 1, at: AT },
  data: {},
};
const STEP: SubjectEvent = { ...STARTED, type: 'workflow.step_completed', source: 'job:j-1', data: { step_id: 'a' } };

it.each<[string, LogEvent[]]>([
  ['of a job', [OWN, { ...OWN, type: 'job.started', run: 1, attempt: 1, sequence: 2, data: { worker_id: 'w' } }]],
  ['of a run', [{ ...OWN, type: 'job.progress', run: 1, source: 'worker', data: { progress: 0.5 } }]],
  ['of a subject', [PAUSED]],
  ['of a job and a subject', [OWN, STARTED]],
  ['of a subject, told by the change of a job', [STEP]],
])('events %s are read as they were written', (_, events) => {
  expect(decodeEntries(encodeEntries([[OWN], events, [PAUSED]]))).toStrictEqual([[OWN], events, [PAUSED]]);
});

it('a segment of jobs is written as before there were subjects, and one from then is read', () => {
  const body =
    '[["j-1","mail.send","mails","t",["enqueued",0,0,1,1893456000000],["progress",1,1,1,1893456000000,{"progress":0.5},"worker"]]]';
  const report = {
    ...OWN,
    type: 'job.progress',
    run: 1,
    attempt: 1,
    source: 'worker',
    data: { progress: 0.5 },
  } as const;
  expect(decodeEntries(body)).toStrictEqual([[OWN, report]]);
  expect(encodeEntries([[OWN, report]])).toBe(body);
});
