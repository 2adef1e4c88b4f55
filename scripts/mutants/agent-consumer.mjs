// Guards of the preset agent-consumer: what a message becomes, and what of its environment is refused.
const consumer = (file) => `packages/waybill/src/agent-consumer/${file}`;

export const AGENT_CONSUMER_MUTANTS = [
  {
    name: 'late-run-tried-again',
    guard: 'retry: a run that its worker has ended for its time is final',
    file: consumer('task-message.ts'),
    replace: "non_retryable_errors: ['timeout'], ",
    by: '',
    test: consumer('decision-tree.test.ts'),
    title: 'whose run took longer than CLAUDE_TIMEOUT has failed for good',
  },
  {
    name: 'request-of-another-job',
    guard: 'compare: a request is known by its job, too',
    file: consumer('task-message.ts'),
    replace: 'jobId === undefined ? requestId :',
    by: 'jobId !== null ? requestId :',
    test: consumer('decision-tree.test.ts'),
    title: 'that repeats the request of another job is a job of its own',
  },
  {
    name: 'refused-message-by-its-request',
    guard: 'compare: the id of a refused message is not taken for a request',
    file: consumer('task-message.ts'),
    replace: 'id: `message:',
    by: 'id: `',
    test: consumer('task-message.test.ts'),
    title: 'is a job of its own, whose input is refused',
  },
  {
    name: 'extension-after-the-lease',
    guard: 'bound: a heartbeat comes before the lease ends',
    file: consumer('settings.ts'),
    replace: 'if (settings.heartbeatMs < settings.leaseMs) return settings;',
    by: 'if (settings.heartbeatMs > 0) return settings;',
    test: consumer('settings.test.ts'),
    title: 'VISIBILITY_EXTENSION_INTERVAL=45000 is refused',
  },
  {
    name: 'half-a-pair-of-keys',
    guard: 'fence: one key of AWS without the other is refused',
    file: consumer('settings.ts'),
    replace: 'missing.length === 1',
    by: 'missing.length > 2',
    test: consumer('settings.test.ts'),
    title: 'AWS_SECRET_ACCESS_KEY=planted is refused',
  },
  {
    name: 'env-file-beats-the-environment',
    guard: 'compare: the environment beats the file of --env-file',
    file: 'packages/waybill/src/cli/env-file.ts',
    replace: '{ ...read, ...io.env }',
    by: '{ ...io.env, ...read }',
    test: 'packages/waybill/src/cli/env-file.test.ts',
    title: 'the environment beats the file',
  },
];
