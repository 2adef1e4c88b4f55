import { expect, test } from 'vitest';
import { answers, fails, says } from '../src/testing/index.ts';
import { model, OUTPUT } from './testing/agent.ts';
import { ask } from './testing/ask.ts';

test('the real CLI runs a tool and gives a structured answer by the script', async () => {
  const asked = await model([
    answers({ files: 1 }).when((request) => request.toolResult('Bash')?.text === 'one'),
    says('Looking.').calls('Bash', { command: 'echo one' }),
  ]);
  const messages = await ask(asked, { tools: ['Bash'], outputFormat: { type: 'json_schema', schema: OUTPUT } });
  expect(messages.at(-1)).toMatchObject({ type: 'result', subtype: 'success', structured_output: { files: 1 } });
  expect(asked.problems).toEqual([]);
  expect(asked.unexpected).toEqual([]);
  expect(asked.requests.map(({ prompt }) => prompt)).toEqual(['Count the files.', 'Count the files.']);
  expect(asked.requests[0]!.tools).toEqual(['Bash', 'StructuredOutput']);
});

test('the real CLI retries what the script refuses or cuts, and tells why a script has run out', async () => {
  const text = 'A long answer, which is longer than one delta can be, so that its middle is text.';
  const asked = await model([fails(529), says(text).cut()]);
  const messages = await ask(asked, { tools: [] });
  expect(messages.at(-1)).toMatchObject({ type: 'result', is_error: true, api_error_status: 400 });
  expect(JSON.stringify(messages.at(-1))).toContain('all 2 turns were used');
});
