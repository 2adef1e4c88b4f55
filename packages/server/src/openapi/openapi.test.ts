import { TENANT_HEADER } from '@waybill/client';
import {
  ALARMS,
  CHECK_NAMES,
  ERROR_CODES,
  EVENT_TYPES,
  INCIDENT_SEVERITIES,
  JOB_STATES,
  MISFIRE_POLICIES,
  OVERLAP_POLICIES,
  REASON_CODES,
  SCOPES,
  WORKER_DIRECTIVES,
  WORKFLOW_STATES,
} from '@waybill/core';
import { expect, test } from 'vitest';
import { RECORD_KINDS } from '../records/kinds.ts';
import { harness } from '../testing/harness.ts';
import { openapi, operations, pathItems, resolve } from '../testing/openapi.ts';

test('the OpenAPI file and the routes name the same operations', () => {
  const { app } = harness();
  const routes = app.routes
    .filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => `${method} ${path.replace(/:([^/]+)/g, '{$1}')}`);
  expect([...operations().keys()].sort()).toEqual(routes.sort());
});

test('operation ids are unique, and every operation says what a refusal looks like', () => {
  const all = [...operations().values()];
  expect(new Set(all.map(({ operationId }) => operationId)).size).toBe(all.length);
  for (const { responses } of all) expect(responses['default']).toEqual({ $ref: 'parts.json#/responses/Error' });
});

test('the tenant is described once, and every path takes it but those that anybody may ask', () => {
  const TENANT = { $ref: 'parts.json#/parameters/Tenant' };
  const without = [...pathItems()].filter(
    ([, { parameters = [] }]) => !parameters.some((one) => '$ref' in one && one.$ref === TENANT.$ref),
  );
  expect(without.map(([path]) => path)).toEqual([
    '/auth/session',
    '/ojs/manifest',
    '/ojs/errors/{code}',
    '/ojs/v1/health',
    '/health',
    '/ready',
  ]);
  expect(resolve<{ name: string }>(TENANT.$ref).name).toBe(TENANT_HEADER);
});

test('every reference leads somewhere', () => {
  const seen = new Set<string>();
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, item] of Object.entries(value)) {
      if (key === '$ref' && typeof item === 'string' && !seen.has(item)) {
        seen.add(item);
        walk(resolve(item));
      } else walk(item);
    }
  };
  walk(openapi);
  expect(seen.size).toBeGreaterThan(50);
});

test('C9: no two schemas have one name, since generated clients put them into one folder', () => {
  const files = ['schemas.json', 'requests.json', 'values.json'].map((file) => resolve<object>(`${file}#/`));
  const others = [
    'audit',
    'budgets',
    'cron',
    'explain',
    'health',
    'incidents',
    'journal',
    'keys',
    'progress',
    'questions',
    'queues',
    'sessions',
    'tasks',
    'tenants',
    'webhooks',
    'workflows',
  ].map((file) => resolve<object>(`${file}.json#/schemas`));
  const names = [...files, ...others].flatMap((schemas) => Object.keys(schemas));
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

test('the closed sets are those of the engine', () => {
  const enumOf = (name: string) => resolve<{ enum: string[] }>(`schemas.json#/${name}`).enum;
  expect(enumOf('State')).toEqual([...JOB_STATES]);
  expect(enumOf('EventType')).toEqual([...EVENT_TYPES, ...RECORD_KINDS.flatMap(({ events }) => events)]);
  expect(enumOf('Directive')).toEqual([...WORKER_DIRECTIVES]);
  const scopes = resolve<{ enum: string[] }>('keys.json#/schemas/Scope').enum;
  expect(scopes).toEqual([...SCOPES]);
  const setAt = (ref: string) => resolve<{ enum: string[] }>(ref).enum;
  expect(setAt('workflows.json#/schemas/WorkflowState')).toEqual([...WORKFLOW_STATES]);
  expect(setAt('explain.json#/schemas/ReasonCode')).toEqual([...REASON_CODES]);
  expect(setAt('health.json#/schemas/CheckName')).toEqual([...CHECK_NAMES]);
  expect(setAt('health.json#/schemas/Alarm')).toEqual([...ALARMS]);
  expect(setAt('incidents.json#/schemas/Severity')).toEqual([...INCIDENT_SEVERITIES]);
  expect(setAt('cron.json#/schemas/Overlap')).toEqual([...OVERLAP_POLICIES]);
  expect(setAt('cron.json#/schemas/Misfire')).toEqual([...MISFIRE_POLICIES]);
  expect(resolve<{ enum: string[] }>('schemas.json#/Error/properties/error/properties/code').enum).toEqual([
    ...ERROR_CODES,
  ]);
});
