// What users of the server need.

export { type AppOptions, createApp } from './app.ts';
export { isLoopback } from './http/hosts.ts';
export type { Asking, Identify } from './http/port.ts';
export { RECORD_EVENT_TYPES } from './records/kinds.ts';
export { checkPort, type Listening, type ListenOptions, serve } from './serve.ts';

// What those need who add routes of their own to it.

export type { App, Bindings, Env } from './http/env.ts';
