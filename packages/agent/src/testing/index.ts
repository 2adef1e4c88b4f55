// What users test their agents with: a model that needs no key and answers by a script.

export { type FakeModel, type FakeModelOptions, fakeModel } from './fake-model.ts';
export { folderFiles } from './folder-files.ts';
export { RecordedContext, type RecordedContextOptions, type RecordedEntry } from './recorded-context.ts';
export type { MessagesBody, RecordedRequest, ToolResult } from './recorded-request.ts';
export type { Script } from './script.ts';
export { answers, calls, type Failure, fails, hangs, says, Turn, type TurnUsage } from './turn.ts';
