// Guards of the worker and of the server.
const worker = (file) => `packages/worker/src/${file}`;
const server = (file) => `packages/server/src/${file}`;

export const EDGE_MUTANTS = [
  {
    name: 'stop-without-hand-back',
    guard: 'bound: a stopping worker hands back what it has not started',
    file: worker('worker.ts'),
    replace: 'for (const loop of this.#loops) loop.handBackWaiting();',
    by: '',
    test: 'packages/waybill/src/sdk/worker-process.test.ts',
    title: 'guarantee 11: SIGTERM under load',
    build: true,
  },
  {
    name: 'lost-lease-goes-on',
    guard: 'fence: a run whose lease is lost is aborted',
    file: worker('heartbeat.ts'),
    replace: 'if (gone.has(run.id)) onLost(run);\n      else run.renewedAt = sentAt;',
    by: 'run.renewedAt = sentAt;',
    test: worker('worker.leases.test.ts'),
    title: 'lost while the job waits here',
  },
  {
    name: 'claim-repeated-under-a-new-id',
    guard: 'key: a claim whose answer was lost is repeated under its id',
    file: worker('claim-loop.ts'),
    replace: '      failures += 1;\n',
    by: '      failures += 1;\n      claimId = randomUUID();\n',
    test: worker('worker.claims.test.ts'),
    title: 'waits for a server that is away, repeats the same claim',
  },
  {
    name: 'settle-given-up',
    guard: 'retry: what may succeed later is repeated',
    file: worker('patience.ts'),
    replace: 'REPEATABLE.has(codeOf(error));',
    by: 'REPEATABLE.size === 0 && REPEATABLE.has(codeOf(error));',
    test: worker('patience.test.ts'),
    title: 'repeats what may succeed later',
  },
  {
    name: 'foreign-page-let-in',
    guard: 'fence: a request from a page of another site is refused',
    file: server('http/foreign-pages.ts'),
    replace: "if (site !== undefined && site !== 'none' && !isLink(c)) throw foreign('Sec-Fetch-Site', site);",
    by: '',
    test: server('http/foreign-pages.test.ts'),
    title: 'is refused when it comes from',
  },
  {
    name: 'foreign-host-let-in',
    guard: 'fence: a request under a foreign name is refused',
    file: server('http/foreign-pages.ts'),
    replace: 'if (isLoopbackName(name) || isIP(name) > 0 || allowed.has(name)) return;',
    by: 'if (name !== undefined) return;',
    test: server('http/foreign-pages.test.ts'),
    title: 'must be a name of loopback',
  },
];
