import type { DescMethod, DescService } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { toListValue } from '@waybill/client/rpc';
import {
  type Job,
  type Lease,
  type Principal,
  SCOPES,
  type Scope,
  systemClock,
  TokenSigner,
  type Waybill,
  withSignedLeases,
} from '@waybill/core';
import { JobEventsService, JobService, LogService, WorkerService } from '@waybill/protocol';
import { expect, test } from 'vitest';
import { grpcClients, type RpcClients } from '../testing/rpc-clients.ts';
import { socketServer } from '../testing/socket-server.ts';
import { taskToken } from './codec/task-token.ts';
import { METHOD_ACCESS, SERVICES } from './methods.ts';

const TENANTS = ['one', 'two'];

/** Jobs of the tenant `one`: one that waits, one that runs, one that is done. */
interface World {
  waiting: Job;
  held: Lease;
  done: Job;
}

async function worldOf(waybill: Waybill): Promise<World> {
  // As the server does, whose callers show who they are.
  const { jobs } = withSignedLeases(waybill, new TokenSigner(waybill.keys!.taskTokens!, systemClock));
  const tenant = 'one';
  const put = async (queue: string) =>
    (await jobs.enqueue({ type: 'x', args: [], options: { queue, pending: queue === 'pending' } }, { tenant })).job;
  const held = async () => {
    await put('held');
    return (await jobs.claim({ queues: ['held'], tenant }))[0]!;
  };
  const { job, token } = await held();
  const outcome = { kind: 'completed', result: null } as const;
  const done = await jobs.settle({ id: job.id, tenant, leaseToken: token, outcome });
  return { waiting: await put('waiting'), held: await held(), done };
}

const event = { sequence: 1n, payload: { case: 'output', value: { output: new Uint8Array([1]) } } };
const runOf = ({ held }: World) => ({ jobId: held.job.id, leaseToken: held.token });
const completed = { kind: { case: 'completed', value: {} } };

type Requests = Record<string, (world: World) => object>;
const NEW = { type: 'x', args: toListValue([]), queue: 'new' };

/** A request that a caller with the right gets an answer to. Every method is here, or the test fails. */
const REQUESTS = new Map<DescService, Requests>([
  [
    JobService,
    {
      enqueueJob: () => NEW,
      enqueueJobs: () => ({ jobs: [NEW] }),
      getJob: ({ done }) => ({ jobId: done.id }),
      listJobs: () => ({}),
      getProgress: ({ held }) => ({ jobId: held.job.id }),
      cancelJob: ({ waiting }) => ({ jobId: waiting.id }),
      retryJob: ({ done }) => ({ jobId: done.id }),
      activateJob: ({ waiting }) => ({ jobId: waiting.id }),
      dequeueJobs: () => ({ queue: 'waiting', maxJobs: 1 }),
      updateJobVisibility: ({ held }) => ({ taskToken: taskToken(held) }),
      completeJob: ({ held }) => ({ taskToken: taskToken(held), result: { success: true } }),
    },
  ],
  [
    WorkerService,
    {
      claim: () => ({ queues: ['waiting'] }),
      heartbeat: (world) => ({ workerId: 'w', jobs: [runOf(world)] }),
      settle: (world) => ({ ...runOf(world), outcome: completed }),
      spend: (world) => ({ ...runOf(world), amounts: { usd: 1 } }),
      report: (world) => ({ ...runOf(world), fraction: 0.5 }),
      ask: (world) => ({ ...runOf(world), key: 'one', text: 'Go on?' }),
    },
  ],
  [
    JobEventsService,
    {
      publishEvents: ({ held }) => ({ taskToken: taskToken(held), events: [event] }),
      appendEvents: ({ held }) => ({ taskToken: taskToken(held), events: [event] }),
      readEvents: ({ done }) => ({ jobId: done.id }),
      streamEvents: ({ done }) => ({ jobId: done.id, lifecycle: true }),
    },
  ],
  [LogService, { read: () => ({}), end: () => ({}), follow: () => ({}) }],
]);

const requestFor = (service: DescService, { localName }: DescMethod, world: World): object => {
  if (service.typeName.startsWith('grpc.health')) return {};
  if (service.typeName.startsWith('grpc.')) return { messageRequest: { case: 'listServices', value: '' } };
  const make = REQUESTS.get(service)?.[localName];
  if (!make) throw new Error(`The walk has no request for ${service.typeName}.${localName}.`);
  return make(world);
};

/** The code of a refusal, or what was answered first; null: a stream that ended without a word. */
async function outcomeOf(clients: RpcClients, service: DescService, method: DescMethod, request: object) {
  // biome-ignore lint/suspicious/noExplicitAny: any method of any service.
  const call = (clients.of(service) as any)[method.localName];
  try {
    if (method.methodKind === 'unary') return { answer: await call(request) };
    const sent = method.methodKind === 'server_streaming' ? request : one(request);
    for await (const answer of call(sent)) return { answer };
    return { answer: null };
  } catch (error) {
    return { code: ConnectError.from(error).code };
  }
}

async function* one(request: object) {
  yield request;
}

async function walked() {
  const principals = new Map<string, Principal>();
  for (const tenant of TENANTS)
    for (const scope of SCOPES) principals.set(`Bearer ${tenant}-${scope}`, { id: scope, tenant, scopes: [scope] });
  const auth = (asking: { header(name: string): string | undefined }) =>
    principals.get(asking.header('Authorization') ?? '') as Principal;
  const server = await socketServer({ grpcPort: 0 }, (waybill) => ({ waybill, auth }));
  const as = (key: string, more: Record<string, string> = {}) =>
    grpcClients(server.grpcUrl!, { Authorization: `Bearer ${key}`, ...more });
  return { ...server, as };
}

const METHODS = SERVICES.flatMap((service) => service.methods.map((method) => ({ service, method })));
const accessOf = (service: DescService, method: DescMethod) => METHOD_ACCESS.get(service)![method.localName]!;

test('the table of methods names every method of every service', () => {
  for (const { service, method } of METHODS) expect(accessOf(service, method), method.name).toBeDefined();
});

test('every method is for keys of its scope alone, and only health is for callers without a key', async () => {
  const { waybill, as } = await walked();
  const callers = [
    ...SCOPES.map((scope) => ({ scope, clients: as(`one-${scope}`) })),
    { scope: null, clients: as('nobody') },
  ];
  for (const { service, method } of METHODS) {
    const access = accessOf(service, method);
    for (const { scope, clients } of callers) {
      const world = await worldOf(waybill);
      const { code } = await outcomeOf(clients, service, method, requestFor(service, method, world));
      const seen = `${service.typeName}.${method.name} with ${scope}`;
      if (access === 'no key') expect(code, seen).toBeUndefined();
      else if (scope === null) expect(code, seen).toBe(Code.Unauthenticated);
      else if (isAllowed(access, scope)) expect([undefined, Code.FailedPrecondition], seen).toContain(code);
      else expect(code, seen).toBe(Code.PermissionDenied);
    }
  }
});

const isAllowed = (access: Scope | 'any key', scope: Scope): boolean =>
  access === 'any key' || access === scope || scope === 'admin';

test('what belongs to another tenant does not exist, whatever the scope, and cannot be entered', async () => {
  const { waybill, as } = await walked();
  const stranger = as('two-admin');
  const intruder = as('two-admin', { 'X-OJS-Tenant': 'one' });
  for (const { service, method } of METHODS.filter((one) => one.service.typeName.startsWith('waybill.'))) {
    const world = await worldOf(waybill);
    const before = await stateOf(waybill, world);
    const request = requestFor(service, method, world);
    const name = `${service.typeName}.${method.name}`;
    expect((await outcomeOf(intruder, service, method, request)).code, name).toBe(Code.PermissionDenied);
    if (/jobId|taskToken|jobs/.test(JSON.stringify(Object.keys(request)))) {
      const { code, answer } = await outcomeOf(stranger, service, method, request);
      if (method.name === 'Heartbeat') expect(answer.lost).toEqual([world.held.job.id]);
      else if (method.name !== 'EnqueueJobs') expect([Code.NotFound, Code.Aborted], name).toContain(code);
    }
    expect(await stateOf(waybill, world), name).toEqual(before);
  }
});

const stateOf = ({ jobs }: Waybill, { waiting, held, done }: World) =>
  Promise.all([waiting, held.job, done].map(({ id }) => jobs.get(id, { tenant: 'one' })));
