import type { Scope } from '@waybill/core';
import type { Route } from './route.ts';
import { rpcRoutes } from './rpc-routes.ts';
import type { Things } from './things.ts';

type Kind = Exclude<keyof Things, 'cell' | 'request' | 'held'>;

/** About one thing, whose id takes the place of the parameter. */
const one = (scope: Scope, path: string, kind: Kind, body?: (things: Things) => unknown): Route => ({
  ...{ scope, isAboutOne: true },
  ask: async (things) => ({ path: path.replace(':', await things[kind]()), ...(body && { body: body(things) }) }),
});
/** About a tenant that the path names. */
const tenantIn = (scope: Scope, path: string, body?: (things: Things) => unknown): Route => ({
  ...one(scope, path, 'tenant', body),
  namesTenant: true,
});
/** About the tenant as a whole, or a queue, which every tenant has under the same name. */
const all = (scope: Scope, path: string, body?: (things: Things) => unknown, ok = 200): Route => ({
  ...{ scope, isAboutOne: false, ok },
  ask: (things) => ({ path: path.replace(':', things.cell.queue), ...(body && { body: body(things) }) }),
});
const run = (path: string): Route => ({
  ...{ scope: 'work', isAboutOne: true },
  ask: async (things) => {
    const { id, token } = await things.held();
    return { path, body: { job_id: id, lease_token: token } };
  },
});

const TASK = (things: Things) => {
  const { type, options } = things.request();
  return { tasks: [{ taskId: 'more', name: 'More', type, queue: options!.queue }] };
};
const RULE = () => ({ concurrency: 50 });
/** Nothing listens there, so a delivery fails at once. */
const HOOK = () => ({ url: 'http://127.0.0.1:1/hook' });
const SINCE = () => ({ since: '2020-01-01T00:00:00Z' });
const NEW_KEY = () => ({ name: 'made', scopes: ['read'] });
const PAGES = { unit: 'pages', period: 'day', limit: 1_000 };
const SIGNAL = { name: 'paid', data: 1 };
const DRAFT = { node: 'draft' };
const TITLE = () => ({ title: 'Mails are late', severity: 'high' });

/** By method and path, held to the routes of the app, so that none is forgotten. */
export const ROUTES: Readonly<Record<string, Route>> = {
  'POST /ojs/v1/jobs': all('enqueue', '/ojs/v1/jobs', (things) => things.request(), 201),
  'POST /ojs/v1/jobs/batch': all('enqueue', '/ojs/v1/jobs/batch', (things) => ({ jobs: [things.request()] }), 201),
  'GET /ojs/v1/jobs': all('read', '/ojs/v1/jobs'),
  'GET /ojs/v1/jobs/:id': one('read', '/ojs/v1/jobs/:', 'job'),
  'DELETE /ojs/v1/jobs/:id': one('enqueue', '/ojs/v1/jobs/:', 'job'),
  'POST /ojs/v1/jobs/:id/activate': one('enqueue', '/ojs/v1/jobs/:/activate', 'pending'),
  'POST /ojs/v1/jobs/:id/retry': one('admin', '/ojs/v1/jobs/:/retry', 'dead'),
  'GET /ojs/v1/jobs/:id/explain': one('read', '/ojs/v1/jobs/:/explain', 'job'),
  'GET /ojs/v1/jobs/:id/progress': one('read', '/ojs/v1/jobs/:/progress', 'job'),
  'PUT /ojs/v1/jobs/:id/progress': {
    ...{ scope: 'work', isAboutOne: true },
    ask: async (things) => {
      const { id, token } = await things.held();
      return { path: `/ojs/v1/jobs/${id}/progress`, body: { progress: 0.5, lease_token: token } };
    },
  },
  'GET /ojs/v1/jobs/:id/progress/stream': one('read', '/ojs/v1/jobs/:/progress/stream', 'job'),
  'GET /ojs/v1/jobs/:id/journal': one('read', '/ojs/v1/jobs/:/journal', 'job'),
  'POST /ojs/v1/jobs/:id/journal': {
    ...{ scope: 'work', isAboutOne: true },
    ask: async (things) => {
      const { id, token } = await things.held();
      const entries = [{ sequence: 1, type: 'note', data: 'x' }];
      return { path: `/ojs/v1/jobs/${id}/journal`, body: { entries, lease_token: token } };
    },
  },
  'POST /ojs/v1/workers/fetch': all('work', '/ojs/v1/workers/fetch', ({ cell }) => ({
    queues: [cell.queue],
    count: 2,
  })),
  'POST /ojs/v1/workers/ack': run('/ojs/v1/workers/ack'),
  'POST /ojs/v1/workers/nack': run('/ojs/v1/workers/nack'),
  'POST /ojs/v1/workers/heartbeat': {
    ...{ scope: 'work', isAboutOne: false },
    ask: async (things) => {
      const { id, token: lease_token } = await things.held();
      return { path: '/ojs/v1/workers/heartbeat', body: { worker_id: 'w', active_jobs: [{ id, lease_token }] } };
    },
  },
  'GET /ojs/v1/workers': all('read', '/ojs/v1/workers'),
  'POST /ojs/v1/workers/:id/directive': one('admin', '/ojs/v1/workers/:/directive', 'worker', () => ({
    directive: 'quiet',
  })),
  'GET /ojs/v1/dead-letter': all('read', '/ojs/v1/dead-letter'),
  'DELETE /ojs/v1/dead-letter': all('admin', '/ojs/v1/dead-letter?confirm=true'),
  'POST /ojs/v1/dead-letter/retry': all('admin', '/ojs/v1/dead-letter/retry', () => ({ confirm: true })),
  'GET /ojs/v1/dead-letter/stats': all('read', '/ojs/v1/dead-letter/stats'),
  'GET /ojs/v1/dead-letter/:id': one('read', '/ojs/v1/dead-letter/:', 'dead'),
  'DELETE /ojs/v1/dead-letter/:id': one('admin', '/ojs/v1/dead-letter/:', 'dead'),
  'POST /ojs/v1/dead-letter/:id/retry': one('admin', '/ojs/v1/dead-letter/:/retry', 'dead'),
  'POST /ojs/v1/cron': all(
    ...(['admin', '/ojs/v1/cron'] as const),
    (things) => ({ name: `of-${things.cell.queue}`, expression: '@yearly', job_template: things.request() }),
    201,
  ),
  'GET /ojs/v1/cron': all('read', '/ojs/v1/cron'),
  'GET /ojs/v1/cron/:name': one('read', '/ojs/v1/cron/:', 'cron'),
  'DELETE /ojs/v1/cron/:name': one('admin', '/ojs/v1/cron/:', 'cron'),
  'PATCH /ojs/v1/cron/:name': one('admin', '/ojs/v1/cron/:', 'cron', () => ({ enabled: false })),
  'POST /ojs/v1/cron/:name/pause': one('admin', '/ojs/v1/cron/:/pause', 'cron'),
  'POST /ojs/v1/cron/:name/resume': one('admin', '/ojs/v1/cron/:/resume', 'cron'),
  'POST /ojs/v1/workflows': all(
    ...(['enqueue', '/ojs/v1/workflows'] as const),
    (things) => ({ type: 'chain', steps: [things.request()] }),
    201,
  ),
  'GET /ojs/v1/workflows': all('read', '/ojs/v1/workflows'),
  'GET /ojs/v1/workflows/:id': one('read', '/ojs/v1/workflows/:', 'flow'),
  'DELETE /ojs/v1/workflows/:id': one('enqueue', '/ojs/v1/workflows/:', 'flow'),
  'GET /ojs/v1/workflows/:id/jobs': one('read', '/ojs/v1/workflows/:/jobs', 'flow'),
  'POST /ojs/v1/workflows/:id/nodes': one('enqueue', '/ojs/v1/workflows/:/nodes', 'flow', (things) => ({
    nodes: [{ id: 'more', ...things.request() }],
  })),
  'POST /ojs/v1/workflows/:id/resume': one('admin', '/ojs/v1/workflows/:/resume', 'failedFlow'),
  'POST /ojs/v1/workflows/:id/signal': one('enqueue', '/ojs/v1/workflows/:/signal', 'waitingFlow', () => SIGNAL),
  'POST /ojs/v1/workflows/:id/approve': one('admin', '/ojs/v1/workflows/:/approve', 'reviewedFlow', () => DRAFT),
  'POST /ojs/v1/workflows/:id/request-revision': one(
    ...(['admin', '/ojs/v1/workflows/:/request-revision', 'reviewedFlow'] as const),
    () => ({ ...DRAFT, feedback: 'Shorter.' }),
  ),
  'POST /tasks/jobs': all('enqueue', '/tasks/jobs', TASK, 201),
  'GET /tasks/jobs': all('read', '/tasks/jobs'),
  'GET /tasks/jobs/:jobId': one('read', '/tasks/jobs/job-:', 'flow'),
  'POST /tasks/jobs/:jobId/cancel': one('enqueue', '/tasks/jobs/job-:/cancel', 'flow'),
  'POST /tasks/jobs/:jobId/tasks': one('enqueue', '/tasks/jobs/job-:/tasks', 'flow', TASK),
  'POST /tasks/jobs/:jobId/resume': one('admin', '/tasks/jobs/job-:/resume', 'failedFlow'),
  // The first step of a chain goes by the name 0.
  'GET /tasks/jobs/:jobId/tasks/:taskId/events': one('read', '/tasks/jobs/job-:/tasks/0/events', 'flow'),
  'POST /tasks/jobs/:jobId/tasks/:taskId/retry': one('admin', '/tasks/jobs/job-:/tasks/0/retry', 'failedFlow'),
  'POST /tasks/jobs/:jobId/tasks/:taskId/approve': one(
    'admin',
    '/tasks/jobs/job-:/tasks/draft/approve',
    'reviewedFlow',
  ),
  'POST /tasks/jobs/:jobId/tasks/:taskId/request-revision': one(
    ...(['admin', '/tasks/jobs/job-:/tasks/draft/request-revision', 'reviewedFlow'] as const),
    () => ({ feedback: 'Shorter.' }),
  ),
  'GET /tasks/task-definitions': all('read', '/tasks/task-definitions'),
  'GET /tasks/task-definitions/:name': one('read', '/tasks/task-definitions/:', 'definition'),
  'PUT /tasks/task-definitions/:name': all('admin', '/tasks/task-definitions/:', () => ({ type: 'test.made' })),
  'DELETE /tasks/task-definitions/:name': one('admin', '/tasks/task-definitions/:', 'definition'),
  'GET /ojs/v1/queues': all('read', '/ojs/v1/queues'),
  'GET /ojs/v1/queues/:name': all('read', '/ojs/v1/queues/:'),
  'GET /ojs/v1/queues/:name/stats': all('read', '/ojs/v1/queues/:/stats'),
  'POST /ojs/v1/queues/:name/pause': all('admin', '/ojs/v1/queues/:/pause'),
  'POST /ojs/v1/queues/:name/resume': all('admin', '/ojs/v1/queues/:/resume'),
  'PUT /ojs/v1/queues/:name/keep': all('admin', '/ojs/v1/queues/:/keep', () => ({ keep: 'all' })),
  'PUT /ojs/v1/queues/:name/limit': all('admin', '/ojs/v1/queues/:/limit', RULE),
  'DELETE /ojs/v1/queues/:name/limit': all('admin', '/ojs/v1/queues/:/limit'),
  'GET /ojs/v1/rate-limits/:key': one('read', '/ojs/v1/rate-limits/:', 'limit'),
  'PUT /ojs/v1/rate-limits/:key': all('admin', '/ojs/v1/rate-limits/:', RULE),
  'GET /ojs/v1/events': all('read', '/ojs/v1/events?limit=1000'),
  // The numbers of the whole server: keys of a tenant are refused.
  'GET /metrics': all('metrics', '/metrics', undefined, 403),
  'POST /waybill/v1/questions': {
    ...{ scope: 'work', isAboutOne: true },
    ask: async (things) => {
      const { id, token } = await things.held();
      return { path: '/waybill/v1/questions', body: { job_id: id, lease_token: token, key: 'two', text: 'Go on?' } };
    },
  },
  'GET /waybill/v1/questions': all('read', '/waybill/v1/questions'),
  'GET /waybill/v1/questions/:id': one('read', '/waybill/v1/questions/:', 'question'),
  'POST /waybill/v1/questions/:id/answer': one('admin', '/waybill/v1/questions/:/answer', 'question', () => ({
    choice: 'yes',
  })),
  'POST /waybill/v1/keys': all('admin', '/waybill/v1/keys', NEW_KEY, 201),
  'GET /waybill/v1/keys': all('admin', '/waybill/v1/keys'),
  'GET /waybill/v1/keys/:id': one('admin', '/waybill/v1/keys/:', 'key'),
  'POST /waybill/v1/keys/:id/rotate': one('admin', '/waybill/v1/keys/:/rotate', 'key'),
  'DELETE /waybill/v1/keys/:id': one('admin', '/waybill/v1/keys/:', 'key'),
  'GET /waybill/v1/tenants': all('read', '/waybill/v1/tenants', undefined, 403),
  'GET /waybill/v1/tenants/:tenant': tenantIn('read', '/waybill/v1/tenants/:'),
  // Refused alike for the own tenant and for others, so that it tells nothing about them.
  'PUT /waybill/v1/tenants/:tenant/limits': {
    ...tenantIn('admin', '/waybill/v1/tenants/:/limits', () => ({ waiting: 1_000_000 })),
    ...{ isAboutOne: false, ok: 403 },
  },
  'GET /waybill/v1/budgets': all('read', '/waybill/v1/budgets'),
  'PUT /waybill/v1/budgets': all('admin', '/waybill/v1/budgets', () => ({ ...PAGES, key: 'sent' })),
  'GET /waybill/v1/budgets/:id': one('read', '/waybill/v1/budgets/:', 'budget'),
  'DELETE /waybill/v1/budgets/:id': one('admin', '/waybill/v1/budgets/:', 'budget'),
  'POST /waybill/v1/jobs/:id/spend': {
    ...{ scope: 'work', isAboutOne: true },
    ask: async (things) => {
      const { id, token } = await things.held();
      return { path: `/waybill/v1/jobs/${id}/spend`, body: { amounts: { pages: 1 }, lease_token: token } };
    },
  },
  'GET /health/checks': all('read', '/health/checks'),
  'GET /health/jobs/:id': one('read', '/health/jobs/:', 'job'),
  'GET /waybill/v1/audit': all('admin', '/waybill/v1/audit'),
  'GET /waybill/v1/incidents': all('admin', '/waybill/v1/incidents'),
  'GET /waybill/v1/incidents/:id': one('admin', '/waybill/v1/incidents/:', 'record'),
  'PUT /waybill/v1/incidents/:id': all('admin', '/waybill/v1/incidents/:', TITLE, 201),
  'DELETE /waybill/v1/incidents/:id': one('admin', '/waybill/v1/incidents/:', 'record'),
  'GET /waybill/v1/webhooks': all('admin', '/waybill/v1/webhooks'),
  'POST /waybill/v1/webhooks': all('admin', '/waybill/v1/webhooks', HOOK, 201),
  'GET /waybill/v1/webhooks/:id': one('admin', '/waybill/v1/webhooks/:', 'hook'),
  'PUT /waybill/v1/webhooks/:id': all('admin', '/waybill/v1/webhooks/:', HOOK, 201),
  'DELETE /waybill/v1/webhooks/:id': one('admin', '/waybill/v1/webhooks/:', 'hook'),
  'POST /waybill/v1/webhooks/:id/pause': one('admin', '/waybill/v1/webhooks/:/pause', 'hook'),
  'POST /waybill/v1/webhooks/:id/resume': one('admin', '/waybill/v1/webhooks/:/resume', 'hook'),
  'POST /waybill/v1/webhooks/:id/rotate-secret': one('admin', '/waybill/v1/webhooks/:/rotate-secret', 'hook'),
  'POST /waybill/v1/webhooks/:id/test': one('admin', '/waybill/v1/webhooks/:/test', 'hook'),
  'POST /waybill/v1/webhooks/:id/redeliver': one('admin', '/waybill/v1/webhooks/:/redeliver', 'hook', SINCE),
  ...rpcRoutes(),
};

/** About the server or the caller, not about a tenant. */
export const OPEN = [
  ...['/auth/session', '/ojs/manifest', '/ojs/errors/:code', '/ojs/v1/health', '/health', '/ready'],
  ...['/grpc.health.v1.Health/Check', '/grpc.health.v1.Health/List', '/grpc.health.v1.Health/Watch'],
];

/** Other methods of these paths are refused, because a parameter of another route would stand for the name. */
export const METHOD_REFUSED = ['/ojs/v1/dead-letter/retry', '/ojs/v1/dead-letter/stats', '/ojs/v1/jobs/batch'];

/** These need HTTP/2: both sides stream. */
export const BOTH_STREAM = [
  '/waybill.v1.JobEventsService/PublishEvents',
  '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
  '/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo',
];
