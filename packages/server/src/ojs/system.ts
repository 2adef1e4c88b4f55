import {
  type AilingSink,
  type Health,
  type MaintenanceHealth,
  type Pulse,
  scoped,
  type UnknownTypesHealth,
  type Waybill,
} from '@waybill/core';
import { answer } from '../http/answer.ts';
import type { App } from '../http/env.ts';
import { OJS_VERSION } from '../http/headers.ts';
import type { Surface } from '../surface.ts';

/** What goes beyond the specification, and nothing that is not there yet. */
const EXTENSIONS = [
  'urn:ojs:ext:progress',
  'waybill.lease_token',
  'waybill.claim_id',
  'waybill.wait_ms',
  'waybill.jobs_lost',
  'waybill.nack_outcome',
  'waybill.list_workers',
  'waybill.worker_directive',
  'waybill.idempotency_key',
  'waybill.tenant_header',
  'waybill.list_jobs',
  'waybill.events_poll',
  'waybill.events_sse',
  'waybill.cron_pause_resume',
  'waybill.cron_misfire_policy',
  'waybill.workflow_dag',
  'waybill.workflow_add_nodes',
  'waybill.workflow_resume',
  'waybill.workflow_signals',
  'waybill.workflow_reviews',
  'waybill.list_workflows',
  'waybill.task_jobs',
  'waybill.queue_limit',
  'waybill.queue_keep',
  'waybill.rate_limit_keys',
] as const;

const CAPABILITIES = {
  batch_enqueue: true,
  cron_jobs: true,
  dead_letter: true,
  delayed_jobs: true,
  job_ttl: true,
  pause_resume: true,
  priority_queues: true,
  rate_limiting: true,
  schema_validation: false,
  unique_jobs: true,
  workflows: true,
} as const;

interface SystemSurface extends Surface {
  /** Whether callers must say who they are. Then only those who do are told more than that the server is well. */
  asksWho: boolean;
}

/** Whether this server is well, for anybody: load balancers have no key. */
export function openRoutes(app: App, waybill: Waybill, { asksWho, ...surface }: SystemSurface): void {
  const begun = surface.clock.monotonic();
  app.get('/health', async (c) => {
    const health = await waybill.health();
    const body = asksWho ? { status: health.status } : healthToWire(health, surface, begun);
    return answer(c, body, statusOf(health));
  });

  app.get('/ready', async (c) => {
    if (c.env?.closing?.aborted) return answer(c, { status: 'closing' }, 503);
    const { store, transport, maintenance } = await waybill.health();
    const ill = [store, transport].find((pulse) => pulse?.status === 'unhealthy');
    const reason = ill && !asksWho && { reason: ill.reason ?? `${ill.name} does not answer.` };
    if (ill) return answer(c, { status: 'unavailable', ...reason }, 503);
    // A bad row is no reason to send requests elsewhere: another server on the same store would meet it too.
    const kept = !asksWho && maintenance?.status === 'failing' && { maintenance: maintenanceToWire(maintenance) };
    return answer(c, { status: 'ready', ...kept });
  });
}

/** What this server is, what it can do and how it is. */
export function systemRoutes(app: App, waybill: Waybill, surface: Surface): void {
  const { version, testDirectives, clock } = surface;
  const begun = clock.monotonic();

  app.get('/ojs/manifest', async (c) =>
    answer(c, {
      specversion: OJS_VERSION,
      ojs_version: OJS_VERSION,
      implementation: { name: 'waybill', version, language: 'typescript' },
      conformance_level: 4,
      protocols: ['http'],
      backend: await backendName(waybill),
      capabilities: CAPABILITIES,
      extensions: testDirectives ? [...EXTENSIONS, 'waybill.test_directive'] : EXTENSIONS,
      endpoints: { base_url: '/ojs/v1', manifest: '/ojs/manifest', health: '/ojs/v1/health' },
    }),
  );

  app.get('/ojs/v1/health', async (c) => {
    const principal = c.get('caller')?.principal;
    const health = await (principal ? scoped(waybill, principal) : waybill).health();
    return answer(c, healthToWire(health, surface, begun), statusOf(health));
  });
}

/** Without its queues a server still takes jobs, and finds them in the store. */
const statusOf = ({ store }: Health): 200 | 503 => (store.status === 'ok' ? 200 : 503);

function healthToWire(health: Health, { version, clock }: Surface, begun: number): object {
  const { status, store, transport, maintenance, unknownTypes, sinks } = health;
  return {
    ...{ status, version, uptime_seconds: Math.floor((clock.monotonic() - begun) / 1_000) },
    backend: pulseToWire(store),
    ...(transport && { transport: pulseToWire(transport) }),
    ...(maintenance && { maintenance: maintenanceToWire(maintenance) }),
    ...(unknownTypes && { unknown_types: unknownTypesToWire(unknownTypes) }),
    ...(sinks && { webhooks: sinks.map(sinkToWire) }),
  };
}

const pulseToWire = ({ name, latencyMs, ...rest }: Pulse) => ({ ...rest, type: name, latency_ms: latencyMs });

/** Without tenants: whoever may ask for health need not know who is served here. */
const maintenanceToWire = ({ items, ...rest }: MaintenanceHealth) => ({
  ...rest,
  items: items.map(({ kind, id, reason, failures, since, nextTryAt }) => ({
    ...{ kind, id, reason, failures },
    since: new Date(since).toISOString(),
    next_try_at: new Date(nextTryAt).toISOString(),
  })),
});

/** Neither its address nor its tenant. */
const sinkToWire = ({ id, status, since, reason }: AilingSink) => ({
  ...{ id, status, reason },
  ...(since !== null && { since: new Date(since).toISOString() }),
});

const unknownTypesToWire = ({ jobs, types }: UnknownTypesHealth) => ({
  jobs,
  types: types.map(({ nextTryAt, ...type }) => ({ ...type, next_try_at: new Date(nextTryAt).toISOString() })),
});

async function backendName(waybill: Waybill): Promise<string> {
  return (await waybill.health()).store.name;
}
