import { command } from '../command.ts';
import { commandLogger, LOG_OPTION, logsDebug } from '../command-logger.ts';
import { withTelemetry } from '../command-telemetry.ts';
import { readServeOptions, SERVE_OPTIONS } from '../serve-options.ts';
import { untilAskedToStop } from '../signals.ts';

/** `waybill serve`: the server alone. Logs go to stderr; stdout carries the one ready line. */
export const serve = command({
  name: 'serve',
  section: 'Servers and workers',
  summary: 'run the server',
  isServer: true,
  readsConfig: true,
  options: { ...SERVE_OPTIONS, ...LOG_OPTION },
  notes: 'A store address may end in ?durability=normal, which trades the last moments before a power cut for speed.',
  run: async ({ values }, context) => {
    const options = readServeOptions(values, context, { store: context.store });
    // Loaded here, so that the commands which end at once do not pay for the server.
    const { readyLine, startHost } = await import('../host.ts');
    const logger = await commandLogger(values, context.io);
    const stopped = untilAskedToStop(logger);
    const asked = { serviceName: 'waybill-server', metrics: values.metrics, logger };
    return withTelemetry(context.io, asked, async (observed) => {
      const accessLog = logsDebug(context.io);
      const host = await startHost({ ...options, portGiven: true, accessLog }, observed.logger, observed.telemetry);
      context.io.stdout.write(readyLine(host, options));
      await stopped;
      await host.drain();
      return 0;
    });
  },
});
