/**
 * Recognition of a recording (docs/protocols/volcengine-recognition.md#submission). The client
 * chooses the id of a task, here the attempt's, so that a submission whose response was lost can
 * be queried. Speakers are always identified; a model writes the summary from the text afterwards.
 */

import { uuidOf } from '../../../base/lib/ids.ts'
import { asString, type JsonObject, member } from '../../../base/lib/json.ts'
import { readHotWords } from '../../dialects/minutes/hot-words.ts'
import {
  joinSentences,
  lastEndMs,
  listObjects,
  readDurationMs,
  readSentence,
} from '../../dialects/minutes/read-sentences.ts'
import { UpstreamFailure } from '../failure.ts'
import {
  isUnknownId,
  readOutcome,
  refuseRecording,
  type UpstreamTaskOutcome,
} from '../read-outcome.ts'
import {
  RECORDING_SECONDS_MAX,
  type RecordingSettings,
  readSeconds,
  recordingHeaders,
  recordingUrl,
} from '../recording-settings.ts'
import { readSubmitted } from '../task-answer.ts'
import type {
  LostSubmission,
  PreparedTask,
  SubmittedTask,
  TaskAttempt,
  TaskDriver,
  TaskOrder,
  TaskPoll,
  TaskReference,
} from '../task-driver.ts'
import type { Wire } from '../wire.ts'
import { hasResult } from './follow-task.ts'
import { readFormat, TAKEN, UNTAKEN } from './read-format.ts'

/** Fast speech has six Chinese characters a second, of at most two tokens each. */
const TOKENS_PER_SECOND = 12
const PROMPT_TOKENS = 2_000
/** Room for a summary with chapters, and for the reasoning of a model before it. */
const OUTPUT_TOKENS = 16_000
/** Speakers are always identified, however many; the summary and the chapters are always made. */
const IGNORED = ['all_activate', 'features', 'speaker_identification', 'number_of_speakers']

type Order = TaskOrder<RecordingSettings>

function prepare({ parameters, details }: Order): PreparedTask {
  const untaken = refuseFormat(parameters)
  const isSummarised = asString(details.summary_model) !== undefined
  const quantitiesOf = (second: number) => {
    const input = second * TOKENS_PER_SECOND + PROMPT_TOKENS
    const summary = { input_token: input, output_token: OUTPUT_TOKENS }
    return { second, ...(isSummarised ? summary : {}) }
  }
  const quantities = quantitiesOf(readSeconds(parameters))
  // A converted recording that is longer than its header states is refused.
  const most = untaken ? quantities : quantitiesOf(RECORDING_SECONDS_MAX)
  return { quantities, most, facts: {}, untaken }
}

async function submit(wire: Wire, order: Order, attempt: TaskAttempt): Promise<SubmittedTask> {
  const id = uuidOf(attempt.id)
  const response = await wire.send({
    method: 'POST',
    url: recordingUrl(order.settings, '/api/v3/auc/bigmodel/submit'),
    headers: recordingHeaders(order.settings, order.upstreamModel, id),
    body: Buffer.from(JSON.stringify(encodeSubmission(order.parameters))),
  })
  return await readSubmitted(response, async (read) => {
    const outcome = await readOutcome(read, order.parameters)
    if (outcome.state === 'failed') throw refuseRecording(outcome, order.parameters)
    return { upstreamId: id }
  })
}

function encodeSubmission(parameters: JsonObject): JsonObject {
  const words = readHotWords(parameters.hot_words)
  return {
    audio: {
      url: parameters.file_url,
      format: formatOf(parameters),
      // Without a language the vendor recognises Chinese, its dialects and English.
      ...(parameters.source_lang === 'en_us' ? { language: 'en-US' } : {}),
    },
    request: {
      model_name: 'bigmodel',
      enable_itn: true,
      enable_punc: true,
      enable_speaker_info: true,
      show_utterances: true,
      ...(words ? { corpus: { context: JSON.stringify({ hotwords: words }) } } : {}),
    },
  }
}

/** Returns the refusal of a container that the vendor does not take. */
function refuseFormat(parameters: JsonObject): UpstreamFailure | undefined {
  const found = readFormat(parameters)
  if ('format' in found) return undefined
  const message =
    `file_url: this model takes wav, mp3, ogg and raw pcm, not ${found.untaken}, which this ` +
    'gateway cannot convert, since it has no ffmpeg; convert the recording, for example with: ' +
    `ffmpeg -i recording.${found.untaken} -vn recording.mp3`
  return new UpstreamFailure('rejected', { status: 400, message, param: 'file_url' })
}

/** Throws `rejected` for a container that the vendor does not take. */
function formatOf(parameters: JsonObject): string {
  const found = readFormat(parameters)
  if ('format' in found) return found.format
  throw refuseFormat(parameters) ?? new UpstreamFailure('rejected')
}

/** Finds the task by its id: any answer but "unknown id" proves that it exists. */
async function recover(
  wire: Wire,
  { settings, upstreamModel, attempt }: LostSubmission<RecordingSettings>,
): Promise<SubmittedTask | undefined> {
  const upstreamId = uuidOf(attempt.id)
  const outcome = await query(wire, { settings, upstreamModel, upstreamId })
  return outcome.state === 'failed' && isUnknownId(outcome) ? undefined : { upstreamId }
}

async function query(
  wire: Wire,
  { settings, upstreamModel, upstreamId }: TaskReference<RecordingSettings>,
): Promise<UpstreamTaskOutcome> {
  const response = await wire.send({
    method: 'POST',
    url: recordingUrl(settings, '/api/v3/auc/bigmodel/query'),
    headers: recordingHeaders(settings, upstreamModel, upstreamId),
    body: Buffer.from('{}'),
  })
  return await readOutcome(response)
}

async function poll(wire: Wire, reference: TaskReference<RecordingSettings>): Promise<TaskPoll> {
  const outcome = await query(wire, reference)
  if (outcome.state === 'failed') return isUnknownId(outcome) ? { state: 'gone' } : outcome
  if (outcome.state !== 'done') return { state: outcome.state }
  if (hasResult(outcome.document)) return readSuccess(outcome.document, reference)
  throw new UpstreamFailure('failed', { message: 'an answer of success without a result' })
}

function readSuccess(
  document: JsonObject,
  { recordingSeconds = 0 }: TaskReference<RecordingSettings>,
): TaskPoll {
  const sentences = listObjects(member(document.result, 'utterances')).map(readSentence)
  const statedMs = readDurationMs(member(document.audio_info, 'duration'), sentences)
  const measuredSeconds = Math.max(lastEndMs(sentences) / 1000, recordingSeconds)
  return {
    state: 'succeeded',
    result: {
      duration: statedMs === undefined ? measuredSeconds : statedMs / 1000,
      text: asString(member(document.result, 'text')) ?? joinSentences(sentences),
      sentences,
    },
    ...(statedMs === undefined ? {} : { usage: { second: Math.ceil(statedMs / 1000) } }),
    // Zero without speech and a measured length, where else the hold of two hours would be charged.
    measured: { second: Math.ceil(measuredSeconds) },
  }
}

export const doubaoRecognitionDriver: TaskDriver<RecordingSettings> = {
  prepare,
  recordings: { taken: TAKEN, converted: UNTAKEN },
  ignores: IGNORED,
  submit,
  recover,
  poll,
}
