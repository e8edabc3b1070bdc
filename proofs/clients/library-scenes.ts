/** The scenes of a user of client libraries and their right ends, once per library and model. */
import { PICTURE } from '../../tests/clients/client.ts'

export interface LibraryScene {
  readonly words: string
  /** Throws or returns what is wrong with the answer. */
  readonly judge: (answer: unknown) => string | undefined
  /** The minimum number of requests that the vendor bills. */
  readonly bills: number
  readonly needsPicture?: boolean
  /** The account is empty: the library must show the reason, and nothing is paid. */
  readonly refused?: boolean
  /** The number of times that a messages upstream gets the thought back with results of tools. */
  readonly thoughts?: number
  /** The stream ends before its answer does: its record is an estimate. */
  readonly breaks?: boolean
  /** A model of another kind, for which the scene is played once. */
  readonly model?: string
  readonly conditions?: Readonly<Record<string, unknown>>
}

const TEXT = 'good day, 世界'
const CALL = '[[tool:weather {"city":"Zürich"}]]'
const REPORT = { city: 'Zürich', sky: 'sunny' }
export const THOUGHT = 'hm, the weather'

const isText = (expected: string) => (answer: unknown) =>
  answer === expected ? undefined : `answered ${JSON.stringify(answer)}`

const tellsWeather = (answer: unknown) =>
  /sunny in Zürich/.test(String(answer)) ? undefined : `answered ${JSON.stringify(answer)}`

function isReport(answer: unknown): string | undefined {
  const { city, sky } = Object(answer)
  const isRight = city === REPORT.city && sky === REPORT.sky
  return isRight ? undefined : `answered ${JSON.stringify(answer)}`
}

const isVideo = (answer: unknown) =>
  String(answer).startsWith('ftyp') ? undefined : `no MP4: ${String(answer)}`

const isImage = (answer: unknown) =>
  answer === 'image/png' ? undefined : `no picture: ${String(answer)}`

const VIDEO = 'a river at dawn [[fault:queue-time=100;run-time=200]]'

/** A structured answer comes as text or by one of these tools, whichever the library offers. */
const REPORTS = ['report', 'json', 'extract', 'StructuredOutput']
  .map((tool) => `[[tool:${tool} ${JSON.stringify(REPORT)}]]`)
  .join(' ')

const STRUCTURED = `[[say:${JSON.stringify(REPORT)}]] ${REPORTS}`

const TOLD = 'good day, 世界, and good night'

/** The user has the text so far, and knows that it is incomplete. */
const isCut = (expected: RegExp) => (answer: unknown) => {
  const { text, error } = Object(answer)
  const isRight = text !== '' && TOLD.startsWith(String(text)) && expected.test(String(error))
  return isRight ? undefined : `answered ${JSON.stringify(answer)}`
}

const showsBalance = (error: unknown) =>
  /insufficient balance/i.test(String(error)) ? undefined : `it shows ${String(error)}`

export const LIBRARY_SCENES: Readonly<Record<string, LibraryScene>> = {
  'whole answer': { words: `[[say:${TEXT}]]`, judge: isText(TEXT), bills: 1 },
  stream: { words: `[[say:${TEXT}]] [[chunks:5]]`, judge: isText(TEXT), bills: 1 },
  tool: { words: CALL, judge: tellsWeather, bills: 2 },
  'tool in a stream': { words: CALL, judge: tellsWeather, bills: 2 },
  'two tools at once': { words: `${CALL} ${CALL}`, judge: tellsWeather, bills: 2 },
  functions: { words: CALL, judge: tellsWeather, bills: 2 },
  'functions in a stream': { words: CALL, judge: tellsWeather, bills: 2 },
  picture: { words: '[[say:seen]]', judge: isText('seen'), bills: 1, needsPicture: true },
  structured: { words: STRUCTURED, judge: isReport, bills: 1 },
  'structured in a stream': { words: STRUCTURED, judge: isReport, bills: 1 },
  'structured by functions': { words: STRUCTURED, judge: isReport, bills: 1 },
  'structured as JSON': { words: STRUCTURED, judge: isReport, bills: 1 },
  responses: { words: CALL, judge: tellsWeather, bills: 2 },
  'responses in a stream': { words: CALL, judge: tellsWeather, bills: 2 },
  thinking: {
    words: `[[reason:${THOUGHT}]] ${CALL}`,
    judge: tellsWeather,
    bills: 2,
    thoughts: 1,
  },
  'interleaved thinking': {
    words: `[[reason:${THOUGHT}]] ${CALL} [[then]] ${CALL}`,
    judge: tellsWeather,
    bills: 3,
    thoughts: 2,
  },
  'a stream that dies': {
    words: `[[say:${TOLD}]] [[chunks:9]] [[fault:reset-mid=6]]`,
    judge: isCut(/Error/),
    bills: 1,
    breaks: true,
  },
  'an abort': {
    words: `[[say:${TOLD}]] [[chunks:9]] [[chunk-delay:20]]`,
    judge: isCut(/APIUserAbortError/),
    bills: 1,
  },
  embedding: {
    words: 'the river',
    judge: (answer) => (Number(answer) > 0 ? undefined : `a vector of ${answer}`),
    bills: 1,
    model: 'sim-embedding',
  },
  'embedding in its own format': {
    words: 'the river [[fault:g_usage]]',
    judge: (answer) => (Number(answer) > 0 ? undefined : `a vector of ${answer}`),
    bills: 1,
    model: 'sim-gemini-embedding',
  },
  ranking: { words: 'the river', judge: isText('the river'), bills: 1, model: 'sim-rerank' },
  'ranking on the first path': {
    words: 'the river',
    judge: isText('the river'),
    bills: 1,
    model: 'sim-rerank',
  },
  video: {
    words: VIDEO,
    judge: isVideo,
    bills: 1,
    model: 'doubao-seedance-1-0-pro-250528',
  },
  'video of a picture': {
    words: VIDEO,
    judge: isVideo,
    bills: 1,
    needsPicture: true,
    model: 'doubao-seedance-1-0-pro-250528',
  },
  'video of MiniMax': {
    words: VIDEO,
    judge: isVideo,
    bills: 1,
    model: 'MiniMax-H3',
    conditions: { resolution: '2K' },
  },
  image: {
    words: 'a river at dawn',
    judge: isImage,
    bills: 1,
    model: 'doubao-seedream-4-5-251128',
  },
  'edited image': {
    words: 'at night',
    judge: isImage,
    bills: 1,
    needsPicture: true,
    model: 'doubao-seedream-4-5-251128',
  },
  'video without money': {
    words: VIDEO,
    judge: showsBalance,
    bills: 0,
    refused: true,
    model: 'doubao-seedance-1-0-pro-250528',
  },
  'an error': { words: TEXT, judge: showsBalance, bills: 0, refused: true },
}

/** A picture of one pixel, as every scene gets it. */
export const SCENE_PICTURE = PICTURE
