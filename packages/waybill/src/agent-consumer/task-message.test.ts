import type { StandardSchemaV1 } from '@waybill/worker';
import { expect, test } from 'vitest';
import { readSettings } from './settings.ts';
import { adoptTaskMessages, checkedFirst, labelOf, TASK_MESSAGE } from './task-message.ts';

const BODY = { taskId: 'task-1', jobId: 'job-1', name: 'Sum', input: { n: 1 }, dependencyOutputs: { a: 2 } };

function adopted(body: unknown, attributes: Record<string, string> = { requestId: 'r-1' }, policy = {}) {
  const answer = adoptTaskMessages({ name: 'own.task', policy }, readSettings({}))(body, attributes, 'm-1');
  if (answer === null || 'reason' in answer) throw new Error('Every message becomes a job.');
  return answer;
}

const issuesOf = async (schema: StandardSchemaV1, value: unknown) =>
  (await schema['~standard'].validate(value)).issues?.map(({ path, message }) => [path?.join('.') ?? '', message]) ??
  [];

test('a message names the job by its request and job, and brings all of its body', () => {
  const { id, request } = adopted({ ...BODY, tag: 'writer' });
  expect(id).toBe('job-1/r-1');
  expect(request).toMatchObject({ type: 'own.task', meta: { requestId: 'r-1' }, options: { queue: 'agent-tasks' } });
  expect(request.args).toEqual([{ requestId: 'r-1', ...BODY, tag: 'writer' }]);
});

test('what may be left out is filled in, null included', () => {
  const { id, request } = adopted({ taskId: 't', name: 'n', jobId: null, dependencyOutputs: null });
  expect(id).toBe('r-1');
  expect(request.args).toEqual([{ requestId: 'r-1', taskId: 't', name: 'n', input: null, dependencyOutputs: {} }]);
});

test('the request id of the attribute counts, and without it that of the body', () => {
  expect(adopted({ ...BODY, requestId: 'other' }).id).toBe('job-1/r-1');
  expect(adopted({ ...BODY, requestId: 'other' }, {}).id).toBe('job-1/other');
});

test.each([
  ['no JSON', undefined, {}, [['', 'must be an object with requestId, taskId and name']]],
  ['no request id', BODY, {}, [['requestId', 'must be 1 to 256 letters, digits, _ and -']]],
  ['a request id with a slash', BODY, { requestId: 'job-1/r' }, [['requestId', expect.any(String)]]],
  ['a job id with a slash', { ...BODY, jobId: 'a/b' }, { requestId: 'r' }, [['jobId', expect.any(String)]]],
  ['no name', { ...BODY, name: ' ' }, { requestId: 'r' }, [['name', 'must be a text']]],
  [
    'results in a list',
    { ...BODY, dependencyOutputs: [] },
    { requestId: 'r' },
    [['dependencyOutputs', expect.any(String)]],
  ],
])('a message with %s is a job of its own, whose input is refused', async (_, body, attributes, issues) => {
  const { id, request } = adopted(body, attributes as Record<string, string>);
  expect(id).toBe('message:m-1');
  expect(await issuesOf(TASK_MESSAGE, request.args[0])).toEqual(issues);
});

test('the rules of the preset come before those of the task, which gets what they make of the message', async () => {
  const seen: unknown[] = [];
  const own: StandardSchemaV1 = {
    '~standard': {
      ...{ version: 1, vendor: 'test' },
      validate: (value) => {
        seen.push(value);
        return { issues: [{ message: 'is not mine', path: ['input'] }] };
      },
    },
  };
  expect(await issuesOf(checkedFirst(own), { ...BODY, requestId: '' })).toEqual([['requestId', expect.any(String)]]);
  expect(seen).toEqual([]);
  expect(await issuesOf(checkedFirst(own), { requestId: 'r', taskId: 't', name: 'n' })).toEqual([
    ['input', 'is not mine'],
  ]);
  expect(seen).toEqual([{ requestId: 'r', taskId: 't', name: 'n', input: null, dependencyOutputs: {} }]);
});

test('the retry policy of the task holds, but for the attempts of the environment', () => {
  const policy = { retry: { max_attempts: 9, initial_interval: 'PT5S', non_retryable_errors: ['auth.*'] } };
  expect(adopted(BODY, { requestId: 'r' }, policy).request.options!.retry).toEqual({
    ...{ max_attempts: 3, initial_interval: 'PT5S', non_retryable_errors: ['auth.*'], on_exhaustion: 'dead_letter' },
  });
});

test('output is marked by the request, and by the job where there is none', () => {
  expect(labelOf({ id: 'job', spec: { args: [{ requestId: 'r-1' }] } })).toBe('WORKFLOW:r-1');
  for (const args of [[], [{}], [{ requestId: 'a\nb' }], [{ requestId: 7 }], ['text']])
    expect(labelOf({ id: 'job', spec: { args } })).toBe('WORKFLOW:job');
});
