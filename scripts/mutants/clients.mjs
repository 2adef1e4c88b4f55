// Guards of the clients that speak to a server.
const client = (file) => `packages/client/src/${file}`;

export const CLIENT_MUTANTS = [
  {
    name: 'rpc-stream-begins-again',
    guard: 'key: a broken stream goes on behind the last event that was handed on',
    file: client('rpc/events.ts'),
    replace: "case 'event':\n        after = item.value.cursor;",
    by: "case 'event':",
    test: 'packages/server/src/remote/rpc-faults.test.ts',
    title: 'a stream goes on where it was',
    build: true,
  },
  {
    name: 'pause-beyond-the-deadline',
    guard: 'bound: all attempts of a call share one deadline',
    file: client('http/attempts.ts'),
    replace: 'if (leftMs() <= pauseMs) throw error;',
    by: '',
    test: client('rpc/deadlines.test.ts'),
    title: 'all attempts of a call share one deadline',
  },
  {
    name: 'rpc-settle-repeated-without-a-token',
    guard: 'retry: what might settle another run is sent once',
    file: client('rpc/jobs.ts'),
    replace: 'repeatable: leaseToken !== undefined }',
    by: 'repeatable: true }',
    test: client('rpc/deadlines.test.ts'),
    title: 'what is not idempotent is sent once',
  },
];
