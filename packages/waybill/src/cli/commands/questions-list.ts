import { questionToWire } from '@waybill/client';
import { QUESTION_STATUSES, type Question, type QuestionQuery, type QuestionStatus } from '@waybill/core';
import { command, misuse } from '../command.ts';
import { wholeId } from '../job-ids.ts';
import { shortIds } from '../short-ids.ts';
import { away } from '../spans.ts';
import { table } from '../table.ts';

const PAGE = 1_000;
const ALL = 'all';

export const questionsList = command({
  name: 'questions list',
  section: 'Jobs',
  summary: 'list what jobs ask',
  options: {
    status: { value: 'STATUS', about: `${QUESTION_STATUSES.join(', ')} or ${ALL}`, default: 'open' },
    job: { value: 'ID', about: 'only those of this job' },
  },
  run: async ({ values: { status = 'open', job } }, context) => {
    const asked = statusOf(status);
    const waybill = await context.connect();
    const isShortened = !context.isJson && Number.isFinite(context.width);
    const query: QuestionQuery = {
      limit: PAGE,
      // Ids are shortened so that they differ from those of all questions, whatever their status.
      ...(asked !== undefined && !isShortened && { status: asked }),
      ...(job !== undefined && { jobId: await wholeId(waybill, job) }),
    };
    const listed: Question[] = [];
    let cursor: string | undefined;
    do {
      const page = await waybill.questions.list({ ...query, ...(cursor !== undefined && { cursor }) });
      listed.push(...page.items);
      cursor = page.cursor;
    } while (cursor !== undefined);
    const all = listed.filter((question) => asked === undefined || question.status === asked);
    const shown = shortIds(
      listed.map(({ id }) => id),
      context,
    );
    const now = context.io.now();
    context.show({ questions: all.map(questionToWire), count: all.length }, () =>
      all.length === 0
        ? `No ${status === ALL ? '' : `${status} `}questions.\n`
        : table(
            all,
            [
              { title: 'ID', of: ({ id }) => shown(id), least: 13 },
              { title: 'TYPE', of: ({ jobType }) => jobType, least: 10, spare: 1 },
              { title: 'STATUS', of: (question) => question.status, paint: context.style.state },
              { title: 'ASKED', of: ({ askedAt }) => away(askedAt, now) },
              { title: 'EXPIRES', of: ({ expiresAt }) => away(expiresAt, now), spare: 2 },
              { title: 'QUESTION', of: ({ text }) => text, least: 16 },
            ],
            context,
          ),
    );
    return 0;
  },
});

function statusOf(text: string): QuestionStatus | undefined {
  if (text === ALL) return undefined;
  const status = QUESTION_STATUSES.find((one) => one === text);
  if (status !== undefined) return status;
  throw misuse(`--status takes ${QUESTION_STATUSES.join(', ')} or ${ALL}, not '${text}'.`);
}
