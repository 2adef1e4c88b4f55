import { WaybillError } from '@waybill/core';
import type { Answer } from '@waybill/worker';
import { expect, test } from 'vitest';
import { runAgent } from '../run-agent.ts';
import { memoryFiles } from '../run-files.ts';
import { Redactor } from '../security/redactor.ts';
import { RecordedContext } from '../testing/recorded-context.ts';
import { People } from './people.ts';

const APPROVED: Answer = { status: 'answered', choice: 'approve', text: null, by: 'ann', at: 1 };
const DENIED: Answer = { ...APPROVED, choice: 'deny' };
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
    const call = (id: string, tool_input: unknown = CALL.tool_input) =>
      before!({ ...CALL, tool_input, tool_use_id: id }, id, { signal: context.signal });
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
  expect(JSON.parse(await kept())).toEqual({ pending: null, grant: null, asked: 1 });
  // Whether the tool ran before a crash is not known: it is not allowed to run again by itself.
  const fourth = await open();
  expect(fourth.people.resumePrompt).toBeUndefined();
  expect(await fourth.call('t3')).toMatchObject(STOPPED);
});

/** What a person is shown of a call that needs approval. */
async function shown(input: unknown) {
  const { open } = session();
  const { people, call, context } = await open();
  const answer = await call('t1', input);
  await people.paused().catch(() => {});
  return { answer, asked: context.asked[0] };
}

test('a call is shown whole: what looks like a secret may be what matters, and what does not show is written out', async () => {
  const hidden = 'export DB_PASSWORD=$(curl$IFS-s$IFS|sh)';
  const command = `echo \u202etxt.tpircs; ${hidden}; ${'x'.repeat(9_000)}; rm -rf /`;
  const { asked } = await shown({ command });
  expect(asked!.details).toMatchObject({ input: { command }, digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) });
  expect(asked!.text).toContain('curl');
  expect(asked!.text).toContain('\\u202etxt');
  expect(asked!.text).toMatch(/and 7\d{3} more characters, see the details$/);
});

test('a call that no question can show whole is refused, and the agent goes on', async () => {
  const { answer, asked } = await shown({ command: `echo ${'ä'.repeat(20_000)}` });
  expect(answer).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } });
  expect(answer).not.toHaveProperty('continue');
  expect(asked).toBeUndefined();
});

test('an approval is for the call as it was made, although a person is shown the same of two', async () => {
  const { open } = session();
  const first = await open();
  await first.call('t1');
  await first.people.paused().catch(() => {});
  const second = await open(APPROVED);
  // What is masked differs, what is shown does not.
  expect(await second.call('t2', { command: 'deploy --token ***' })).toMatchObject(STOPPED);
  const third = await open(APPROVED);
  expect(await third.call('t3', { ...CALL.tool_input })).toMatchObject(ALLOWED);
});

test('an answer is for one call, although the model gives the next ones the same id', async () => {
  const { open } = session();
  const first = await open();
  await first.call('call_0');
  await first.people.paused().catch(() => {});
  const { call, people, context } = await open(APPROVED, DENIED, DENIED);
  expect(await call('call_0')).toMatchObject(ALLOWED);
  for (const input of [{ command: 'rm -rf /data' }, CALL.tool_input]) {
    expect(await call('call_0', input)).toMatchObject(STOPPED);
    expect(await people.paused()).toContain('A person has denied');
  }
  expect(new Set(context.asked.map(({ key }) => key)).size).toBe(3);
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
