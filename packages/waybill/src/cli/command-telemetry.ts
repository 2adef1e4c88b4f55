import type { Logger } from '@waybill/core';
import { startTelemetry, type Telemetry } from '../telemetry/start-telemetry.ts';
import type { Io } from './io.ts';
import { version } from './version.ts';

interface Asked {
  /** Unless OTEL_SERVICE_NAME says otherwise. */
  serviceName: string;
  /** Undefined: as the environment says. */
  metrics: boolean | undefined;
  logger: Logger;
}

export interface Observed {
  /** With the ids of the active span in each line, where there is telemetry. */
  logger: Logger;
  telemetry?: Telemetry;
}

/** Runs a command with the telemetry that its environment asks for, and sends what is left when the command has ended. */
export async function withTelemetry(
  { env }: Pick<Io, 'env'>,
  { metrics, ...asked }: Asked,
  run: (observed: Observed) => Promise<number>,
): Promise<number> {
  const telemetry = await startTelemetry({
    ...{ ...asked, env, version: version() },
    ...(metrics !== undefined && { metrics }),
  });
  if (telemetry === undefined) return run({ logger: asked.logger });
  try {
    return await run({ logger: telemetry.logger, telemetry });
  } finally {
    await telemetry.stop();
  }
}
