/** The numbers of AST 2.0's events (upstreams.md 4.3), those that the gateway sends or heeds. */
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
