import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { METRICS, type MetricInfo } from '@waybill/telemetry';

export const FOLDER = fileURLToPath(new URL('../../../../infra/observability', import.meta.url));

export const textOf = (...names: string[]): string => readFileSync(path.join(FOLDER, ...names), 'utf8');

/** A metric as `/metrics` names it. */
export const prometheusName = ({ name, kind }: Pick<MetricInfo, 'name' | 'kind'>): string => {
  const plain = name.replaceAll(/\W/g, '_');
  return kind === 'counter' && !plain.endsWith('_total') ? `${plain}_total` : plain;
};

/** Every name that a query may use, with the labels that it has. */
export function labelsByName(): Map<string, ReadonlySet<string>> {
  const names = new Map<string, ReadonlySet<string>>([['target_info', new Set(['service_name', 'instance'])]]);
  for (const metric of METRICS) {
    const name = prometheusName(metric);
    const labels = [...metric.attributes, 'instance'];
    if (metric.kind !== 'histogram') names.set(name, new Set(labels));
    else {
      for (const part of ['count', 'sum']) names.set(`${name}_${part}`, new Set(labels));
      names.set(`${name}_bucket`, new Set([...labels, 'le']));
    }
  }
  return names;
}

export interface Alert {
  name: string;
  expr: string;
}

/** The alerts of the rules, read as far as the tests need it. */
export function alertsIn(rules: string): Alert[] {
  return rules
    .split(/^ {6}- alert: /m)
    .slice(1)
    .map((text) => {
      const [, block, line] = /^ {8}expr: (?:\|\n((?: {10}.*\n)+)|(.*))/m.exec(text) ?? [];
      return { name: text.split('\n', 1)[0]!, expr: (block ?? line ?? '').trim() };
    });
}

export interface Panel {
  id: number;
  type: string;
  title: string;
  description?: string;
  gridPos: { h: number; w: number; x: number; y: number };
  targets?: { refId: string; expr: string; legendFormat: string }[];
}

export interface Dashboard {
  uid: string;
  title: string;
  schemaVersion: number;
  templating: { list: { name: string; type: string }[] };
  panels: Panel[];
}

export const dashboard = (): Dashboard => JSON.parse(textOf('grafana', 'waybill.json')) as Dashboard;

/** What a query names that no metric has: an unknown metric, or a label that it lacks. */
export function strangersIn(expr: string, known: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const used = [...expr.matchAll(/\b(waybill_\w+|target_info)(?:\{([^}]*)\})?/g)];
  const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(/,\s*/));
  return used.flatMap(([, name = '', selector = '']) => {
    const labels = known.get(name);
    if (labels === undefined) return [name];
    const selected = [...selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label);
    // What stands inside of an aggregation needs its labels; queries here aggregate metrics that share them.
    return [...selected, ...grouped].filter((label) => !labels.has(label)).map((label) => `${name}{${label}}`);
  });
}
