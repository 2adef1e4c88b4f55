import type { EventBusOptions } from '@waybill/aws/event-bus';
import type { EngineOptions } from '@waybill/core';
import type { AlertOptions } from '@waybill/server';
import type { WorkerOptions } from '@waybill/worker';
import type { AwsParts } from '../connect/aws-parts.ts';
import type { Value } from './kinds.ts';

/** Settings of the file for which there is neither a flag nor a variable. */
export interface ConfigOptions extends AwsParts {
  engine?: Pick<EngineOptions, 'leaseMs' | 'sweepEveryMs' | 'retention' | 'journal' | 'health'>;
  worker?: Pick<WorkerOptions, 'leaseMs' | 'heartbeatMs' | 'prefetch'>;
  alerts?: Pick<AlertOptions, 'from' | 'log'>;
  /** The module with the tasks of a worker. */
  module?: string;
  eventBus?: Pick<EventBusOptions, 'environment' | 'region' | 'endpoint'>;
  sqsAddress?: { region?: string; prefix?: string; endpoint?: string; visibility?: number };
  dynamodbAddress?: { table?: string; region?: string; endpoint?: string; ready?: string };
}

type Tree = { [name: string]: Value | Record<string, true> | Tree };

/** A journal goes with its job in any case, so any span beyond that of jobs will do. Moments before it stay positive. */
const AS_LONG_AS_THE_JOB_MS = 50 * 365 * 86_400_000;

/** Collects values by their paths in `ConfigOptions`; the table of keys says which. */
export class OptionsBuilder {
  readonly #tree: Tree = {};

  set(path: string, names: readonly string[], value: Value): void {
    const waiting = [...names];
    const parts = path.split('.').map((part) => (part === '*' ? waiting.shift()! : part));
    const last = parts.pop()!;
    let tree = this.#tree;
    for (const part of parts) {
      tree[part] ??= {};
      tree = tree[part] as Tree;
    }
    tree[last] = taken(path, value);
  }

  /** The paths are held to the interface by a test. */
  get options(): ConfigOptions {
    return this.#tree as ConfigOptions;
  }
}

function taken(path: string, value: Value): Value | Record<string, true> {
  if (path === 'engine.retention.journalMs' && value === 0) return AS_LONG_AS_THE_JOB_MS;
  if (path === 'sqs.adopt') return Object.fromEntries((value as string[]).map((queue) => [queue, true as const]));
  return value;
}

export const sqsAddressOf = ({ region = '', prefix = '', ...rest }: NonNullable<ConfigOptions['sqsAddress']>): string =>
  `sqs://${region}/${prefix}${queryOf(rest)}`;

export const dynamodbAddressOf = ({
  region = '',
  table = '',
  ...rest
}: NonNullable<ConfigOptions['dynamodbAddress']>): string => `dynamodb://${region}/${table}${queryOf(rest)}`;

function queryOf(values: Record<string, string | number | undefined>): string {
  const given = Object.entries(values).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}
