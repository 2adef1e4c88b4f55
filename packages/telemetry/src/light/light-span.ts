import {
  type Attributes,
  type AttributeValue,
  type Exception,
  type HrTime,
  type Link,
  type Span,
  type SpanContext,
  type SpanKind,
  type SpanStatus,
  SpanStatusCode,
  type TimeInput,
} from '@opentelemetry/api';
import type { SpanEnd, SpanRequest } from '../trace/span-request.ts';
import { hrTimeOf, nowMs } from '../trace/span-time.ts';

/** What a light span needs of its tracer. */
export interface LightSpanParts {
  /** On every span of the process, as the SDK has them. */
  readonly resource: unknown;
  readonly instrumentationScope: { readonly name: string };
  /** Longer strings are cut off. */
  readonly longestValue: number;
  /** Takes a span that has ended. */
  onEnd(span: LightSpan): void;
  /** The SDK's own span with the same ids, start and attributes, which takes the place of the light one. */
  whole(span: LightSpan): WholeSpan;
}

/** As much of the SDK's span as is read here. */
export type WholeSpan = Span & { readonly attributes?: Attributes };

const NONE: never[] = [];
const UNSET: SpanStatus = { code: SpanStatusCode.UNSET };
const FAILED: SpanStatus = { code: SpanStatusCode.ERROR };

/**
 * A span of ours, as cheap as it can be: it notes what it is given, and becomes what an exporter reads only when an exporter
 * reads it. It has the members of the SDK's `ReadableSpan`. Once other code changes it, such as a handler that sets an
 * attribute, the SDK's own span takes its place, so that all rules of the SDK hold for what other code writes.
 */
export class LightSpan implements Span {
  readonly #parts: LightSpanParts;
  readonly #request: SpanRequest;
  readonly #context: SpanContext;
  readonly #parent: SpanContext;
  readonly #startMs: number;
  #told: SpanEnd | undefined;
  #endMs: number | undefined;
  #whole: WholeSpan | undefined;

  constructor(parts: LightSpanParts, request: SpanRequest, parent: SpanContext, context: SpanContext) {
    this.#parts = parts;
    this.#request = request;
    this.#parent = parent;
    this.#context = context;
    this.#startMs = request.startMs ?? nowMs();
  }

  /** Ends the span. False: the SDK's own span has taken its place, and must be ended by the API. */
  finish(told: SpanEnd, endMs: number): boolean {
    if (this.#whole) return false;
    if (this.ended) return true;
    this.#told = told;
    this.#endMs = Math.max(endMs, this.#startMs);
    this.#parts.onEnd(this);
    return true;
  }

  spanContext(): SpanContext {
    return this.#context;
  }

  isRecording(): boolean {
    return this.#whole ? this.#whole.isRecording() : !this.ended;
  }

  setAttribute(key: string, value: AttributeValue): this {
    this.#changed()?.setAttribute(key, value);
    return this;
  }

  setAttributes(attributes: Attributes): this {
    this.#changed()?.setAttributes(attributes);
    return this;
  }

  addEvent(name: string, attributesOrStartTime?: Attributes | TimeInput, startTime?: TimeInput): this {
    this.#changed()?.addEvent(name, attributesOrStartTime, startTime);
    return this;
  }

  addLink(link: Link): this {
    this.#changed()?.addLink(link);
    return this;
  }

  addLinks(links: Link[]): this {
    this.#changed()?.addLinks(links);
    return this;
  }

  setStatus(status: SpanStatus): this {
    this.#changed()?.setStatus(status);
    return this;
  }

  updateName(name: string): this {
    this.#changed()?.updateName(name);
    return this;
  }

  recordException(exception: Exception, time?: TimeInput): void {
    this.#changed()?.recordException(exception, time);
  }

  end(endTime?: TimeInput): void {
    this.#changed()?.end(endTime);
  }

  /** Undefined where it is over: then nothing changes it any more, as in the SDK. */
  #changed(): Span | undefined {
    if (this.ended) return undefined;
    this.#whole ??= this.#parts.whole(this);
    return this.#whole;
  }

  get name(): string {
    return this.#told?.name ?? this.#request.name;
  }

  get kind(): SpanKind {
    return this.#request.kind;
  }

  get parentSpanContext(): SpanContext {
    return this.#parent;
  }

  get links(): Link[] {
    const { links = NONE } = this.#request;
    return this.#told?.link ? [...links, { context: this.#told.link }] : links;
  }

  get status(): SpanStatus {
    return this.#told?.error === undefined ? UNSET : FAILED;
  }

  get attributes(): Attributes {
    if (this.#whole?.attributes) return this.#whole.attributes;
    const all: Attributes = {};
    const { longestValue } = this.#parts;
    copy(this.#request.attributes, all, longestValue);
    if (this.#told?.attributes) copy(this.#told.attributes, all, longestValue);
    if (this.#told?.error !== undefined) all['error.type'] = this.#told.error;
    return all;
  }

  get startTime(): HrTime {
    return hrTimeOf(this.#startMs);
  }

  get endTime(): HrTime {
    return this.#endMs === undefined ? [0, 0] : hrTimeOf(this.#endMs);
  }

  get duration(): HrTime {
    return this.#endMs === undefined ? [-1, -1] : hrTimeOf(this.#endMs - this.#startMs);
  }

  /** Of the light span: one that the SDK's has replaced stays open here, and is never exported. */
  get ended(): boolean {
    return this.#endMs !== undefined;
  }

  get resource(): unknown {
    return this.#parts.resource;
  }

  get instrumentationScope(): { readonly name: string } {
    return this.#parts.instrumentationScope;
  }

  get events(): never[] {
    return NONE;
  }

  get droppedAttributesCount(): number {
    return 0;
  }

  get droppedEventsCount(): number {
    return 0;
  }

  get droppedLinksCount(): number {
    return 0;
  }
}

/** Ours are single values. Some come from calls that nobody has checked yet, so what is no single value is left out. */
function copy(from: Attributes, to: Attributes, longest: number): void {
  for (const key of Object.keys(from)) {
    const value = from[key];
    if (typeof value === 'string') to[key] = value.length > longest ? value.slice(0, longest) : value;
    else if (typeof value === 'number' || typeof value === 'boolean') to[key] = value;
  }
}
