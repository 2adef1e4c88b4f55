// A Claude agent as a job, whose work is shown as it happens: npm run example:agent
// It asks a model that is scripted below, unless ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN is set.
// In a project of your own: npm install waybill @waybill/agent @anthropic-ai/claude-agent-sdk
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { agentLine, agentTask } from '@waybill/agent';
import { connect } from 'waybill';

const here = fileURLToPath(new URL('.', import.meta.url));

export const longest = agentTask({
  name: 'examples.longest',
  // Each run has a process of its own, which loads this file.
  module: import.meta.url,
  isolate: { cwd: here },
  prompt: 'Which file with the ending {{ending}} in this folder has the most lines? Use wc, and change nothing.',
  tools: ['Bash(wc:*)'],
  output: {
    type: 'object',
    properties: { file: { type: 'string' }, lines: { type: 'integer' } },
    required: ['file', 'lines'],
  },
  maxTurns: 5,
  budget: { usd: 0.2 },
});

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();

async function main() {
  const { ANTHROPIC_API_KEY, CLAUDE_CODE_OAUTH_TOKEN } = process.env;
  const model = ANTHROPIC_API_KEY || CLAUDE_CODE_OAUTH_TOKEN ? undefined : await scripted();
  Object.assign(process.env, model?.env);
  console.log(model ? 'No key is set, so a scripted model answers.' : 'The Claude API answers.');

  const folder = await mkdtemp(path.join(tmpdir(), 'waybill-example-'));
  const waybill = await connect(`sqlite:${folder}/jobs.db`, { blobs: `file:${folder}/blobs` });
  waybill.work([longest]);
  const job = await waybill.enqueue(longest, { ending: '.mjs' });
  for await (const { entry } of waybill.jobs.follow(job)) {
    const line = agentLine(entry);
    if (line !== null) console.log(`  ${line}`);
  }
  const { output, usage, costUsd, turns } = await waybill.wait(job);
  console.log(`${output.file} has ${output.lines} lines.`);
  console.log(`${turns} turns, ${usage.inputTokens + usage.outputTokens} tokens, ${costUsd} USD`);
  console.log(`Trace: ${path.join(here, '.output', job.id, 'traces/session_trace.json')}`);
  await waybill.close();
  await model?.close();
}

/** A model that reads what `wc` has printed, as a real one would. */
async function scripted() {
  const { calls, fakeModel } = await import('@waybill/agent/testing');
  return await fakeModel({
    turns: (request) => {
      const result = request.toolResult('Bash');
      if (result === undefined) return calls('Bash', { command: 'wc -l *.mjs' }).using({ inputTokens: 900 });
      const rows = [...result.text.matchAll(/(\d+) (\S+\.mjs)/g)].map(([, lines, file]) => ({ file, lines: +lines }));
      const [most] = rows.sort((a, b) => b.lines - a.lines);
      return calls('StructuredOutput', most).using({ inputTokens: 1_200, outputTokens: 40 });
    },
  });
}
