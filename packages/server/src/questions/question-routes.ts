import { questionToWire } from '@waybill/client';
import { type AskCall, type Fields, invalidField, QUESTION_STATUSES } from '@waybill/core';
import { answer } from '../http/answer.ts';
import { readBody } from '../http/body.ts';
import type { App } from '../http/env.ts';
import { pathText } from '../http/path-text.ts';
import { portOf } from '../http/port.ts';
import { Query } from '../http/query.ts';
import { jobIdOf, leaseTokenOf } from '../ojs/fields.ts';
import { pagination } from '../ojs/pagination.ts';
import type { Surface } from '../surface.ts';

const PATH = '/waybill/v1/questions';
const DEFAULT_LIMIT = 100;
const ASK_FIELDS = ['job_id', 'lease_token', 'key', 'text', 'choices', 'details', 'expires_in_ms'];
const ANSWER_FIELDS = ['choice', 'text', 'by'];
/** The engine holds each of them to its own bounds. */
const MAX_TEXT = 20_000;

/** Runs ask, and whoever may look after jobs answers. */
export function questionRoutes(app: App, { maxBodyBytes }: Surface): void {
  app.post(PATH, async (c) => {
    const question = await portOf(c).jobs.ask(readAsk(await readBody(c, maxBodyBytes)));
    return answer(c, { question: questionToWire(question) });
  });

  app.get(PATH, async (c) => {
    const query = new Query(c, ['status', 'job_id', 'id_prefix', 'limit', 'cursor']);
    const page = query.page(DEFAULT_LIMIT);
    const status = query.oneOf('status', QUESTION_STATUSES);
    const [jobId, idPrefix] = [query.string('job_id'), query.string('id_prefix')];
    const { items, cursor } = await portOf(c).questions.list({
      ...page,
      ...(status !== undefined && { status }),
      ...(jobId !== undefined && { jobId }),
      ...(idPrefix !== undefined && { idPrefix }),
    });
    return answer(c, { questions: items.map(questionToWire), pagination: pagination(page.limit, cursor) });
  });

  app.get(`${PATH}/:id`, async (c) => {
    const question = await portOf(c).questions.get(pathText(c, 'id'));
    return answer(c, { question: questionToWire(question) });
  });

  app.post(`${PATH}/:id/answer`, async (c) => {
    const id = pathText(c, 'id');
    const body = await readBody(c, maxBodyBytes);
    body.refuseUnknown(ANSWER_FIELDS);
    const [choice, text, by] = [
      body.string('choice'),
      body.string('text', { max: MAX_TEXT }),
      body.string('by', { max: 256 }),
    ];
    const given = { ...(choice !== undefined && { choice }), ...(text !== undefined && { text }) };
    const question = await portOf(c).questions.answer(id, given, { ...(by !== undefined && { by }) });
    return answer(c, { question: questionToWire(question) });
  });
}

function readAsk(body: Fields): AskCall {
  body.refuseUnknown(ASK_FIELDS);
  const choices = body.value('choices');
  if (choices !== undefined && !(Array.isArray(choices) && choices.every((one) => typeof one === 'string')))
    throw invalidField('choices', 'must be a list of texts.');
  const details = body.object('details');
  const expiresInMs = body.integer('expires_in_ms', { min: 1, max: Number.MAX_SAFE_INTEGER });
  return {
    ...{ id: jobIdOf(body, 'job_id'), ...leaseTokenOf(body, true) },
    ...{ key: body.requiredString('key'), text: body.requiredString('text', { max: MAX_TEXT }) },
    ...(choices !== undefined && { choices: choices as string[] }),
    ...(details !== undefined && { details }),
    ...(expiresInMs !== undefined && { expiresInMs }),
  };
}
