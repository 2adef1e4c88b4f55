import { type DeliveredEvent, eventIn, textOf } from '../event-bus/envelope.ts';

/** A task that waits for a person. */
export interface ReviewNotice {
  tenant: string;
  jobId: string | null;
  taskId: string;
  iteration: number;
  /** The first 200 characters of the output. */
  summary: string;
  /** In milliseconds since the epoch. */
  submittedAt: number;
  /** The same however often the event comes, so that a receiver can drop what it has. */
  eventId: string;
}

export interface ReviewNotifierOptions {
  /** Tells people. When it fails, the event comes again. */
  notify(notice: ReviewNotice): Promise<unknown>;
}

/** A function at the event bus that tells people of tasks that were submitted for review. */
export function reviewNotifierHandler({ notify }: ReviewNotifierOptions) {
  return async (delivered: DeliveredEvent): Promise<void> => {
    const event = eventIn(delivered);
    if (event?.eventType !== 'Task Submitted For Review') return;
    const { requestId = '', jobId = null, iteration, summary } = event.properties;
    await notify({
      ...{ tenant: event.tenantId, jobId, taskId: requestId, eventId: event.eventId },
      ...{ iteration: typeof iteration === 'number' ? iteration : 1, summary: textOf(summary) ?? '' },
      submittedAt: event.timestamp,
    });
  };
}
