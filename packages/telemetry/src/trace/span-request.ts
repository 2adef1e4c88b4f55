import type { Attributes, Context, Link, SpanContext, SpanKind } from '@opentelemetry/api';

export interface SpanRequest {
  name: string;
  kind: SpanKind;
  attributes: Attributes;
  /** @defaultValue the active one */
  parent?: Context | undefined;
  links?: Link[] | undefined;
  /** As `nowMs` answers it. @defaultValue now */
  startMs?: number;
  /**
   * Not even asked for where the parent is not sampled, as samplers by the parent have it: for what there are thousands of
   * in a second. @defaultValue false
   */
  onlySampled?: boolean;
}

export interface SpanEnd {
  attributes?: Attributes;
  /** What kind of failure it was, as `errorType` names it. Messages are not told: they may hold secrets. */
  error?: string | undefined;
  endMs?: number;
  /** Where only the answer says whose it is. */
  link?: SpanContext | undefined;
  name?: string | undefined;
}
