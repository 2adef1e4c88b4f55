/**
 * Which entries a run cannot do without, where the call does not set it. A critical entry that cannot be stored fails its run.
 * `process.failed` is emitted while that failure is handled: to fail for it would hide the failure itself.
 */
const CRITICAL: Readonly<Record<string, boolean>> = {
  'process.started': true,
  'process.ended': true,
  'process.failed': false,
  output: false,
  heartbeat: false,
  metric: false,
  log: false,
};

/** Names of the user's own are best effort. */
export const isCritical = (type: string, chosen?: boolean): boolean => chosen ?? CRITICAL[type] ?? false;
