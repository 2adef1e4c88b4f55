import { type Attributes, diag, type Meter, type ObservableGauge } from '@opentelemetry/api';
import { BoundedNames } from './bounded-names.ts';
import { METRIC, type MetricKey } from './metrics-table.ts';

/** From a call in memory to a job that has waited for a day. */
const SECONDS = [
  ...[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  ...[300, 900, 3_600, 14_400, 86_400],
];

type Recording = (value: number, attributes: Attributes) => void;

/** The instruments of the table. What a broken reader or view throws goes to OpenTelemetry's own log and never to a job. */
export class Instruments {
  readonly queues = new BoundedNames();
  readonly types = new BoundedNames();
  readonly #tenants: BoundedNames | undefined;
  readonly #meter: Meter;
  readonly #recordings = new Map<MetricKey, Recording>();

  constructor(meter: Meter, { tenants = false }: { tenants?: boolean } = {}) {
    this.#meter = meter;
    this.#tenants = tenants ? new BoundedNames() : undefined;
  }

  /** Attributes of a metric that is about a queue. */
  ofQueue(queue: string, tenant: string): Attributes {
    return { queue: this.queues.of(queue), ...this.ofTenant(tenant) };
  }

  ofTenant(tenant: string): Attributes {
    return this.#tenants ? { tenant: this.#tenants.of(tenant) } : {};
  }

  /** Adds to a counter, records in a histogram, or sets a gauge: what the table says that it is. */
  tell(key: MetricKey, value: number, attributes: Attributes = {}): void {
    try {
      (this.#recordings.get(key) ?? this.#make(key))(value, attributes);
    } catch (error) {
      diag.error(`Waybill could not record ${METRIC[key].name}.`, error);
    }
  }

  observable(key: MetricKey): ObservableGauge {
    const { name, unit, description } = METRIC[key];
    return this.#meter.createObservableGauge(name, { unit, description });
  }

  get meter(): Meter {
    return this.#meter;
  }

  /** With the first value: what is never told makes no empty series. */
  #make(key: MetricKey): Recording {
    const made = this.#recording(key);
    this.#recordings.set(key, made);
    return made;
  }

  #recording(key: MetricKey): Recording {
    const { name, kind, unit, description } = METRIC[key];
    if (kind === 'counter') {
      const counter = this.#meter.createCounter(name, { unit, description });
      return (value, attributes) => counter.add(value, attributes);
    }
    if (kind === 'up-down counter') {
      const counter = this.#meter.createUpDownCounter(name, { unit, description });
      return (value, attributes) => counter.add(value, attributes);
    }
    if (kind === 'histogram') {
      const advice = { explicitBucketBoundaries: SECONDS };
      const histogram = this.#meter.createHistogram(name, { unit, description, advice });
      return (value, attributes) => histogram.record(value, attributes);
    }
    const gauge = this.#meter.createGauge(name, { unit, description });
    return (value, attributes) => gauge.record(value, attributes);
  }
}
