import { afterEach, expect, test } from 'vitest';
import { answers, calls, type FakeModel, fails, fakeModel, hangs, type Script, says } from './index.ts';

let model: FakeModel | undefined;
afterEach(async () => {
  await model?.close();
  model = undefined;
});

async function start(turns: Script): Promise<FakeModel> {
  model = await fakeModel({ turns });
  return model;
}

const QUESTION = { role: 'user', content: 'Count the files.' };
const CALLED = { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } }] };
const RESULT = {
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'a b' }], is_error: true }],
};

const ask = ({ url, env }: FakeModel, messages: object[] = [QUESTION], signal?: AbortSignal): Promise<Response> =>
  fetch(`${url}/v1/messages?beta=true`, {
    method: 'POST',
    headers: { 'x-api-key': env.ANTHROPIC_API_KEY, 'x-claude-code-session-id': 's1' },
    body: JSON.stringify({ model: 'claude-test', messages, tools: [{ name: 'Bash' }], stream: true }),
    ...(signal !== undefined && { signal }),
  });

const eventsIn = (text: string): { type: string; [field: string]: unknown }[] =>
  [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!));

test('answers with the events of the Messages API, with the usage that the turn names', async () => {
  await start([
    says('Looking.').calls('Bash', { command: 'ls' }).using({ inputTokens: 7, outputTokens: 9, cacheReadTokens: 5 }),
  ]);
  const response = await ask(model!);
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const events = eventsIn(await response.text());
  expect(events.map(({ type }) => type)).toEqual([
    'message_start',
    ...['content_block_start', 'content_block_delta', 'content_block_stop'],
    ...['content_block_start', 'content_block_delta', 'content_block_stop'],
    'message_delta',
    'message_stop',
  ]);
  expect(events[0]).toMatchObject({ message: { model: 'claude-test', usage: { input_tokens: 7, output_tokens: 1 } } });
  expect(events.at(-2)).toMatchObject({
    delta: { stop_reason: 'tool_use' },
    usage: { input_tokens: 7, output_tokens: 9, cache_read_input_tokens: 5 },
  });
});

test('records what was asked, without keys', async () => {
  const { requests } = await start([says('x')]);
  await ask(model!, [QUESTION, CALLED, RESULT, { role: 'user', content: '<system-reminder>x</system-reminder>' }]);
  const [request] = requests;
  expect(request).toMatchObject({ number: 1, model: 'claude-test', sessionId: 's1', tools: ['Bash'] });
  expect(request!.prompt).toBe('Count the files.');
  expect(request!.toolResult('Bash')).toEqual({ id: 't1', name: 'Bash', text: 'a b', isError: true });
  expect(JSON.stringify(request)).not.toContain(model!.env.ANTHROPIC_API_KEY);
});

test('a turn waits for the request that it fits, whatever the number of requests', async () => {
  await start([answers({ files: 2 }).when((request) => request.hasToolResult('Bash')), calls('Bash').times(2)]);
  const named = async (messages: object[]): Promise<string> => (await ask(model!, messages)).text();
  expect(await named([QUESTION])).toContain('"name":"Bash"');
  expect(await named([QUESTION])).toContain('"name":"Bash"');
  expect(await named([QUESTION, CALLED, RESULT])).toContain('"name":"StructuredOutput"');
  expect(model!.left).toBe(0);
});

test('a function chooses the turn by the request', async () => {
  await start(({ prompt }) => (prompt.includes('files') ? says('2') : undefined));
  expect((await ask(model!)).status).toBe(200);
  const refused = await ask(model!, [{ role: 'user', content: 'Else?' }]);
  expect(refused.status).toBe(400);
  expect(await refused.text()).toContain('answered no turn');
});

test('a script that runs out says which request it has no turn for, and what to do', async () => {
  await start([says('once')]);
  await ask(model!);
  const refused = await ask(model!, [QUESTION, CALLED, RESULT]);
  const { error } = (await refused.json()) as { error: { message: string } };
  expect(error.message).toBe(
    "fakeModel() has no turn for request 2 (prompt 'Count the files.'; last tool result of Bash: 'a b'): " +
      'all 1 turns were used. Add a turn for it, or end an earlier turn with answers().',
  );
  expect(model!.problems).toEqual([error.message]);
});

test.each([
  [400, 'invalid_request_error'],
  [401, 'authentication_error'],
  [429, 'rate_limit_error'],
  [500, 'api_error'],
  [529, 'overloaded_error'],
])('refuses with %i as the Messages API does', async (status, type) => {
  await start([fails(status, { retryAfter: 3, message: 'No.' })]);
  const response = await ask(model!);
  expect(response.status).toBe(status);
  expect(response.headers.get('retry-after')).toBe('3');
  expect(await response.json()).toEqual({ type: 'error', error: { type, message: 'No.' } });
});

test('a cut answer has its beginning and ends without a proper end', async () => {
  await start([says('A long answer, which is longer than one delta can be, so that its middle is text.').cut()]);
  const response = await ask(model!);
  await expect(response.text()).rejects.toThrow('terminated');
});

test('a hanging answer has its beginning, and ends when the model is closed', async () => {
  await start([says('A long answer, which is longer than one delta can be, so that its middle is text.').hang()]);
  const reader = (await ask(model!)).body!.getReader();
  const { value } = await reader.read();
  expect(new TextDecoder().decode(value)).toContain('A long answer');
  await model!.close();
  await expect(reader.read()).rejects.toThrow('terminated');
});

test('hangs() sends no headers', async () => {
  await start([hangs()]);
  const controller = new AbortController();
  const response = ask(model!, [QUESTION], controller.signal);
  await model!.received(1);
  controller.abort();
  await expect(response).rejects.toThrow('aborted');
});

test('holds an answer until the test lets it go', async () => {
  const gate = Promise.withResolvers<void>();
  await start([says('x').after(gate.promise)]);
  const response = ask(model!);
  expect((await model!.received(1)).prompt).toBe('Count the files.');
  gate.resolve();
  expect((await response).status).toBe(200);
});

test('a request that does not come is said to be missing', async () => {
  await start([says('x')]);
  await expect(model!.received(1, { timeoutMs: 5 })).rejects.toThrow(
    'got 0 requests within 5 ms, and 1 were waited for',
  );
});

test('notes what was asked for besides answers', async () => {
  await start([]);
  expect((await fetch(`${model!.url}/v1/models`)).status).toBe(404);
  expect(model!.unexpected).toEqual(['GET /v1/models']);
});

test('mistakes in a script are told where it is written', async () => {
  await expect(start(['text'] as never)).rejects.toThrow('turns[0] of fakeModel() is no turn');
  expect(() => fails(200)).toThrow('fails() takes an HTTP status from 400 to 599, not 200');
});
