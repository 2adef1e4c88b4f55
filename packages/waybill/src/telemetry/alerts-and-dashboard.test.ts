import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { METRICS } from '@waybill/telemetry';
import { expect, onTestFinished, test } from 'vitest';
import {
  alertsIn,
  dashboard,
  FOLDER,
  labelsByName,
  type Panel,
  prometheusName,
  strangersIn,
  textOf,
} from '../testing/observability-files.ts';
import { canRunPromtool, promtool } from '../testing/prometheus.ts';

const rules = textOf('prometheus', 'waybill.rules.yml');
const alerts = alertsIn(rules);

test('the alerts use metrics and labels that exist', () => {
  expect(alerts.length).toBeGreaterThanOrEqual(14);
  const known = labelsByName();
  expect(alerts.flatMap(({ name, expr }) => strangersIn(expr, known).map((one) => `${name}: ${one}`))).toEqual([]);
});

test('what a query may not name is found', () => {
  const found = (expr: string) => strangersIn(expr, labelsByName());
  expect(found('sum by (queue) (rate(waybill_jobs_enqueued_total[5m]))')).toEqual([]);
  expect(found('rate(waybill_jobs_enqued_total[5m])')).toEqual(['waybill_jobs_enqued_total']);
  expect(found('waybill_queue_depth{kind="a"}')).toEqual(['waybill_queue_depth{kind}']);
  expect(found('sum by (type) (waybill_queue_depth)')).toEqual(['waybill_queue_depth{type}']);
});

test('every alert has a test in which it fires, and says how bad it is and what to do', () => {
  const tested = textOf('prometheus', 'waybill.test.yml');
  const firing = [...tested.matchAll(/alertname: (\w+)\n\s+eval_time: \w+\n\s+exp_alerts:/g)].map(([, name]) => name);
  expect(firing.sort()).toEqual(alerts.map(({ name }) => name).sort());
  for (const part of ['severity:', 'summary:', 'action:'])
    expect([part, rules.split(part).length - 1]).toEqual([part, alerts.length]);
});

test.runIf(canRunPromtool)(
  'promtool takes the rules, and they do what their tests say (skipped: needs promtool)',
  () => {
    const file = (name: string) => path.join(FOLDER, 'prometheus', name);
    expect(promtool(['check', 'rules', file('waybill.rules.yml')])).toMatchObject({ status: 0 });
    expect(promtool(['test', 'rules', file('waybill.test.yml')])).toMatchObject({
      ...{ status: 0, printed: expect.stringContaining('SUCCESS') },
    });
  },
);

const queries = (panels: readonly Panel[]): string[] =>
  panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

test('the dashboard uses metrics and labels that exist, and leaves none out', () => {
  const all = queries(dashboard().panels);
  expect(all.flatMap((expr) => strangersIn(expr, labelsByName()))).toEqual([]);
  const missing = METRICS.map(prometheusName).filter(
    (name) => !all.some((expr) => new RegExp(`\\b${name}`).test(expr)),
  );
  expect(missing).toEqual([]);
});

test('the dashboard is one that Grafana can import: rows, panels with queries, no overlap', () => {
  const { uid, title, schemaVersion, panels, templating } = dashboard();
  expect([uid, title, schemaVersion]).toEqual(['waybill', 'Waybill', 39]);
  expect(templating.list.map(({ name, type }) => [name, type])).toEqual([
    ['datasource', 'datasource'],
    ['queue', 'query'],
  ]);
  const rows = panels.filter(({ type }) => type === 'row').map((row) => row.title);
  expect(rows).toEqual(['Overview', 'Jobs', 'Queues', 'Latency', 'Workers', 'Stores', 'HTTP and webhooks', 'Journal']);
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  for (const { type, title: name, description, targets } of panels) {
    if (type === 'row') continue;
    expect([name, description !== undefined, (targets ?? []).length > 0]).toEqual([name, true, true]);
    expect(new Set(targets!.map(({ refId }) => refId)).size).toBe(targets!.length);
  }
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]);
});

test.runIf(canRunPromtool)('promtool takes every query of the dashboard (skipped: needs promtool)', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'waybill-dashboard-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const plain = queries(dashboard().panels).map((expr) =>
    expr.replaceAll('$__rate_interval', '5m').replaceAll('$queue', '.*'),
  );
  const recorded = plain.map((expr, index) => ({ record: `panel:${index}`, expr }));
  const file = path.join(folder, 'queries.yml');
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules: recorded }] }));
  expect(promtool(['check', 'rules', file])).toMatchObject({
    ...{ status: 0, printed: expect.stringContaining(`${plain.length} rules found`) },
  });
});
