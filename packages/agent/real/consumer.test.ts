import { expect, test } from 'vitest';
import { DEFINITION } from '../../waybill/src/agent-consumer/consumer-task.ts';
import { says } from '../src/testing/index.ts';
import { start } from './testing/agent.ts';

const MESSAGE = {
  ...{
    requestId: 'request-1',
    taskId: 'summarise-7',
    jobId: 'report-3',
    name: 'Summarise <script>x()</script>the report',
  },
  description: 'In three {{sentences}}.',
  input: { url: 'javascript:alert(1)', pages: 3 },
  dependencyOutputs: { 'fetch-1': 'the text' },
};

test('the agent of the preset is told name, description, input and results, sanitized, and has no tools', async () => {
  const agent = await start([says('It is short.')], DEFINITION as never, {
    input: MESSAGE,
    env: { CLAUDE_MODEL: 'claude-opus-4-5' },
  });
  expect((await agent.result).output).toBe('It is short.');
  const [request] = agent.model.requests;
  expect(request!.model).toBe('claude-opus-4-5');
  expect(request!.tools).toEqual([]);
  expect(request!.prompt).toMatchInlineSnapshot(`
    "# Task
    Summarise the report

    In three { {sentences} }.

    # Input
    {
      "url": "javascript :alert(1)",
      "pages": 3
    }

    # Results of previous tasks
    {
      "fetch-1": "the text"
    }

    # Answer
    Do the task. Answer with its result and nothing else."
  `);
});

test('a message without results and description is told without them', async () => {
  const { description: _, ...rest } = MESSAGE;
  const agent = await start([says('Done.')], DEFINITION as never, {
    input: { ...rest, input: null, dependencyOutputs: {} },
  });
  await agent.result;
  expect(agent.model.requests[0]!.prompt).toContain('# Input\nnull\n');
});
