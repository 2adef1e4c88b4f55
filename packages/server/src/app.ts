import { type AppOptions, type AppParts, appOf } from './app-shell.ts';
import { auditRoutes } from './audit/audit-routes.ts';
import { loginRoute, sessionRoutes } from './auth/session-routes.ts';
import { budgetRoutes } from './budgets/budget-routes.ts';
import { checkRoutes } from './health/check-routes.ts';
import type { App } from './http/env.ts';
import { errorRoutes } from './http/error-page.ts';
import { metricsRoute } from './http/metrics-route.ts';
import { keyRoutes } from './keys/key-routes.ts';
import { cronRoutes } from './ojs/cron.ts';
import { deadLetterRoutes } from './ojs/dead-letter.ts';
import { eventRoutes } from './ojs/events.ts';
import { jobRoutes } from './ojs/jobs.ts';
import { journalRoutes } from './ojs/journal.ts';
import { progressRoutes } from './ojs/progress.ts';
import { queueRoutes } from './ojs/queues.ts';
import { rateLimitRoutes } from './ojs/rate-limits.ts';
import { spendRoute } from './ojs/spend.ts';
import { openRoutes, systemRoutes } from './ojs/system.ts';
import { workerRoutes } from './ojs/workers.ts';
import { workflowRoutes } from './ojs/workflows.ts';
import { questionRoutes } from './questions/question-routes.ts';
import { RECORD_KINDS } from './records/kinds.ts';
import { recordRoutes } from './records/record-routes.ts';
import { RpcRoutes } from './rpc/routes.ts';
import { producerRoutes, TASKS_PATH } from './tasks/routes.ts';
import { tenantRoutes } from './tenants/tenant-routes.ts';
import { webhookRoutes } from './webhooks/webhook-routes.ts';

export { type AppOptions, asksWho } from './app-shell.ts';

/** The Open Job Spec over HTTP. Runs wherever Hono runs; `serve` puts it on a port. */
export function createApp(options: AppOptions): App {
  let rpc: RpcRoutes | undefined;
  return appOf('createApp()', options, {
    hint: 'The interface begins at /ojs/v1; GET /ojs/manifest says what this server can do.',
    first: ({ app, waybill, surface }) => {
      rpc = new RpcRoutes(waybill, surface);
      app.use(rpc.recognize());
    },
    // All that a caller without a key can reach.
    open: (parts) => {
      const { app, waybill, surface, identifier } = parts;
      openRoutes(app, waybill, { ...surface, asksWho: identifier !== undefined });
      rpc!.open(app);
      loginRoute(app, sessionsOf(parts));
    },
    known: (parts) => {
      const { app, waybill, surface } = parts;
      systemRoutes(app, waybill, surface);
      errorRoutes(app);
      sessionRoutes(app, sessionsOf(parts));
    },
    routes: ({ app, waybill, surface, identifier }) => {
      const operator = identifier === undefined ? waybill : undefined;
      rpc!.routes(app);
      metricsRoute(app, options.metrics);
      jobRoutes(app, surface);
      progressRoutes(app, surface);
      journalRoutes(app, surface);
      spendRoute(app, surface);
      workerRoutes(app, surface);
      questionRoutes(app, surface);
      deadLetterRoutes(app, surface);
      cronRoutes(app, surface);
      workflowRoutes(app, surface);
      queueRoutes(app, surface);
      rateLimitRoutes(app, surface);
      eventRoutes(app, surface);
      checkRoutes(app, operator);
      keyRoutes(app, surface);
      tenantRoutes(app, surface, operator);
      budgetRoutes(app, surface, operator);
      auditRoutes(app);
      for (const kind of RECORD_KINDS) recordRoutes(app, surface, kind);
      webhookRoutes(app, surface);
      producerRoutes(app, surface, waybill, TASKS_PATH);
    },
  });
}

/** The producer API alone, at the root: for Lambda, or on a port by `serve`. It asks who calls just as the whole server does. */
export function createTasksApp(options: AppOptions): App {
  return appOf('createTasksApp()', options, {
    hint: 'The interface begins at /jobs and /task-definitions.',
    open: ({ app, waybill, surface, identifier }) =>
      openRoutes(app, waybill, { ...surface, asksWho: identifier !== undefined }),
    known: ({ app }) => errorRoutes(app),
    routes: ({ app, waybill, surface }) => producerRoutes(app, surface, waybill, ''),
  });
}

const sessionsOf = ({ identifier, limits, sessionMs, surface: { clock }, auditor }: AppParts) => ({
  ...{ identifier, limits, sessionMs, clock, auditor },
});
