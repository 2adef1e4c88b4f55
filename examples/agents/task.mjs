// The task of this worker: an agent that summarises a text. Change it, or put any other task in its place.
import { agentTask } from '@waybill/agent';

export const summarise = agentTask({
  name: 'text.summarise',
  // Each run has a process of its own, which loads this module.
  module: import.meta.url,
  prompt: `Summarise this text in at most three sentences, and name what it is about.

{{input}}

Results of the tasks before this one: {{dependencyOutputs}}`,
  output: {
    type: 'object',
    properties: { summary: { type: 'string' }, topics: { type: 'array', items: { type: 'string' } } },
    required: ['summary', 'topics'],
    additionalProperties: false,
  },
  tools: [],
  maxTurns: 10,
});
