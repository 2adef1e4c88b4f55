import { WaybillError } from '@waybill/core';
import type { Answer } from '@waybill/worker';
import { expect, test } from 'vitest';
import { runAgent } from '../run-agent.ts';
import { memoryFiles } from '../run-files.ts';
import { Redactor } from '../security/redactor.ts';
import { RecordedContext } from '../testing/recorded-context.ts';
import { People } from './people.ts';

const APPROVED: Answer = { status: 'answered', choice: 'approve', text: null, by: 'ann', at: 1 };
const CALL = { tool_name: 'Bash', tool_input: { command: 'deploy --token hunter2hunter2' } };
const SECRET = { DEPLOY_TOKEN: 'hunter2hunter2' };

/** One run after the other of the same session. */
function session() {
  const files = memoryFiles();
  const definition = { name: 'agent.test', approve: ['Bash'] };
  const open = async (...answers: Answer[]) => {
    const context = new RecordedContext({ files, answers });
    const parts = { definition, context, files, sessionId: 's', redactor: new Redactor(SECRET) };
    const people = await People.open(parts);
    const [before] = people.hooks.PreToolUse![0]!.hooks;
    const call = (id: string) => before!({ ...CALL, tool_use_id: id }, id, { signal: context.signal });
    return { people, context, call };
  };
  const kept = async () => Buffer.from((await files.get('sessions/s/people.json'))!).toString();
  return { open, kept };
}

const ALLOWED = { hookSpecificOutput: { permissionDecision: 'allow' } };
const STOPPED = { continue: false, hookSpecificOutput: { permissionDecision: 'deny' } };

test('an approval outlives a crash until its call is made, and is used up before the tool runs', async () => {
  const { open, kept } = session();
  const first = await open();
  expect(await first.call('t1')).toMatchObject(STOPPED);
  await expect(first.people.paused()).rejects.toEqual({ outcome: 'snoozed' });
  // The run dies before the model has heard of the answer, and the next one tells it again.
  const second = await open(APPROVED);
  expect(second.context.asked).toEqual(first.context.asked);
  const third = await open(APPROVED);
  expect(third.people.resumePrompt).toBe(second.people.resumePrompt);
  expect(await third.call('t2')).toMatchObject(ALLOWED);
  expect(JSON.parse(await kept())).toEqual({ pending: null, grant: null });
  // Whether the tool ran before a crash is not known: it is not allowed to run again by itself.
  const fourth = await open();
  expect(fourth.people.resumePrompt).toBeUndefined();
  expect(await fourth.call('t3')).toMatchObject(STOPPED);
});

test('neither the person nor the files are shown a known secret', async () => {
  const { open, kept } = session();
  const { people, call, context } = await open();
  await call('t1');
  await people.paused().catch(() => {});
  expect(JSON.stringify(context.asked)).toContain('deploy');
  expect(JSON.stringify(context.asked) + (await kept())).not.toContain('hunter2');
});

test('an agent that asks people needs a place for its session', async () => {
  const none = () => Promise.reject(new WaybillError('unsupported', 'no place'));
  const context = new RecordedContext({ files: { put: none, get: none } });
  const definition = { name: 'agent.test', prompt: 'x', tools: [], askHuman: true };
  await expect(runAgent(definition, {}, context, { env: {} })).rejects.toMatchObject({
    code: 'unsupported',
    hint: expect.stringContaining("'blobs'"),
  });
});
