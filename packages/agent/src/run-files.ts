import type { RunFiles } from '@waybill/worker';

export type { RunFiles };

/** For a run whose worker keeps no files: a session can go on within the run, and ends with it. */
export function memoryFiles(): RunFiles {
  const files = new Map<string, Uint8Array>();
  return {
    put: async (name, data) => void files.set(name, Uint8Array.from(data)),
    get: async (name) => files.get(name) ?? null,
  };
}
