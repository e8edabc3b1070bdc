/**
 * The numbers of those events of AST 2.0 that the gateway sends or reads
 * (docs/protocols/volcengine-interpretation.md#events).
 */
export const EVENTS = {
  startSession: 100,
  finishSession: 102,
  sessionStarted: 150,
  sessionCanceled: 151,
  sessionFinished: 152,
  sessionFailed: 153,
  usage: 154,
  taskRequest: 200,
  speech: 352,
  sourceSentence: 652,
  translatedSentence: 655,
} as const
