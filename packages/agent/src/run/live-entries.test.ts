import { expect, test } from 'vitest';
import { agentLine } from '../by-hand/entry-line.ts';
import { Redactor } from '../security/redactor.ts';
import { RecordedContext } from '../testing/recorded-context.ts';
import type { ToolCall } from '../trace/tool-trace.ts';
import { LiveEntries } from './live-entries.ts';

const USAGE = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheCreationTokens: 4, cacheEfficiency: 37.5 };
const TOOL: ToolCall = {
  ...{ id: 't1', name: 'Bash', startedAt: 1, durationMs: 7, outcome: 'completed', agent: 'a1' },
  ...{ input: { filePath: 'x' }, output: { exitCode: 0 } },
};

/** One entry of each type. */
function entries(): RecordedContext['entries'] {
  const context = new RecordedContext();
  const live = new LiveEntries(context, new Redactor());
  live.session({ sessionId: 's', isResumed: true, attempt: 2 });
  live.hear({ type: 'system', subtype: 'api_retry', attempt: 1, error_status: 429, retry_delay_ms: 500.4 });
  const message = { id: 'm', model: 'x', content: [{ type: 'text', text: 'Looking.' }] };
  live.hear({ type: 'assistant', message, parent_tool_use_id: 't1' });
  live.tool('started', TOOL);
  live.tool('ended', TOOL);
  live.usage({ usage: USAGE, costUsd: 0.5, costBasis: 'list', turns: 3 });
  live.todos([{ content: 'Count', state: 'pending', pendingMs: 1, inProgressMs: 0, completedAt: null }]);
  live.repository({ url: 'u', commit: 'c', branch: 'b', isRestored: false });
  live.feedback({ name: 'lint', passed: false, exitCode: 3, durationMs: 9, output: 'no', round: 1 });
  live.retry({ attempt: 1, code: 'api_error', class: 'server', delayMs: 20, message: 'no' });
  return context.entries;
}

const keysIn = (value: unknown): string[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([key, one]) => [...(Array.isArray(value) ? [] : [key]), ...keysIn(one)]);

test('entries have the words of the wire; what tools take and give stays as it is', () => {
  for (const { type, data } of entries()) {
    const { input, output, ...ours } = data as Record<string, unknown>;
    expect([type, keysIn(ours).filter((key) => !/^[a-z]+(_[a-z]+)*$/.test(key))]).toEqual([type, []]);
    if (type === 'agent.tool.ended') expect(output).toEqual(TOOL.output);
    if (type === 'agent.tool.started') expect(input).toEqual(TOOL.input);
  }
});

test('the line for people names all that it tells', () => {
  const lines = entries().flatMap((entry) => agentLine(entry) ?? []);
  expect(lines.join('\n')).toMatchInlineSnapshot(`
    "goes on with session s, attempt 2
    was refused by the API with status 429, asks again in 500 ms
    says: Looking.
    calls Bash {"filePath":"x"}
    Bash completed after 7 ms: {"exitCode":0}
    has used 10 tokens, 0.5 USD, 3 turns
    failed with api_error, next attempt in 20 ms: no"
  `);
});
