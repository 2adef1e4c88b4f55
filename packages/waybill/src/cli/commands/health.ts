import { healthReportToWire, jobHealthToWire } from '@waybill/client';
import { command, misuse } from '../command.ts';
import { healthText, isCritical, jobHealthText } from '../health-text.ts';
import { wholeId } from '../job-ids.ts';
import { checkWatch, redrawnEvery } from '../redrawn.ts';

/** A look reads more than one call, so it is not repeated with each event. */
const EACH_MS = 5_000;

export const health = command({
  name: 'health',
  section: 'Care',
  summary: 'look at jobs, queues, schedules and workers; exit 1 when critical',
  args: '[JOB]',
  readsConfig: true,
  options: { watch: { about: 'look again every 5 seconds until Ctrl-C' } },
  notes: `Looks now and changes nothing. Servers look every 5 minutes and keep incidents of what they find.

With JOB it tells how that job gets on. Levels come from the configuration file, or from the server where one is in between. To
send a test alert: waybill health test-fire`,
  run: async ({ args: [named], values: { watch = false } }, context) => {
    if (watch) checkWatch(context);
    if (watch && named !== undefined) throw misuse('--watch looks at everything: leave out JOB.');
    const waybill = await context.connect();
    if (named !== undefined) {
      const job = await waybill.checks.job(await wholeId(waybill, named));
      context.show({ job: jobHealthToWire(job) }, () => jobHealthText(job, context));
      return job.health === 'critical' || job.health === 'overtime' ? 1 : 0;
    }
    if (watch) {
      await redrawnEvery(EACH_MS, async () => healthText(await waybill.checks.run(), context), context);
      return 0;
    }
    const report = await waybill.checks.run();
    context.show(healthReportToWire(report), () => healthText(report, context));
    return isCritical(report) ? 1 : 0;
  },
});
