/**
 * The minutes product: transcription and at least one more ability, delivered as files whose links
 * live for a day (docs/protocols/volcengine-minutes.md). There is no list, no cancellation and no
 * query by an id of the gateway's: a submission whose response is lost stays lost. The answer has
 * no duration, by which the vendor bills: the measured length of the recording stands for it, or
 * else the end of the last sentence.
 */

import { uuidOf } from '../../../base/lib/ids.ts'
import { asString, type JsonObject, member } from '../../../base/lib/json.ts'
import { type MinutesDocuments, readDocuments } from '../../dialects/minutes/read-documents.ts'
import { classifyStatus, readErrorBody, UpstreamFailure } from '../failure.ts'
import { readJsonDocument } from '../read-json.ts'
import { isUnknownId, readOutcome, refuseRecording } from '../read-outcome.ts'
import {
  RECORDING_SECONDS_MAX,
  type RecordingSettings,
  readSeconds,
  recordingHeaders,
  recordingUrl,
} from '../recording-settings.ts'
import { requireUrl } from '../rest-tasks.ts'
import { readSubmitted, readTaskStatus, submittedAs } from '../task-answer.ts'
import type {
  PreparedTask,
  SubmittedTask,
  TaskAttempt,
  TaskDriver,
  TaskOrder,
  TaskPoll,
  TaskReference,
} from '../task-driver.ts'
import type { Wire, WireResponse } from '../wire.ts'
import { encodeSubmission, requireAbility } from './submission.ts'

const FILE_BYTES_MAX = 64 * 1024 * 1024
/**
 * Messages for `ErrCode`, which names a faulty recording
 * (docs/protocols/volcengine-minutes.md#query).
 */
const MESSAGES: Readonly<Record<number, string>> = {
  4004: 'the file is too large',
  4801: 'the recording is empty',
  4803: 'the language is not supported',
  4805: 'the file is empty',
  4806: 'the recording has no usable duration',
  4807: 'the recording is longer than two hours',
  4808: 'the format of the recording is not supported',
  4809: 'the file_url is not valid',
  4810: 'the file could not be downloaded in time',
  4811: 'the file could not be downloaded',
  4812: 'the file is too large',
  4813: 'the language is not supported',
}

function prepare({ parameters }: TaskOrder<RecordingSettings>): PreparedTask {
  requireAbility(parameters)
  const most = { second: RECORDING_SECONDS_MAX }
  return { quantities: { second: readSeconds(parameters) }, most, facts: {} }
}

async function submit(
  wire: Wire,
  { settings, upstreamModel, parameters }: TaskOrder<RecordingSettings>,
  attempt: TaskAttempt,
): Promise<SubmittedTask> {
  const response = await wire.send({
    method: 'POST',
    url: recordingUrl(settings, '/api/v3/auc/lark/submit'),
    headers: recordingHeaders(settings, upstreamModel, uuidOf(attempt.id)),
    body: Buffer.from(JSON.stringify(encodeSubmission(parameters))),
  })
  const idOf = ({ Data }: JsonObject) => member(Data, 'TaskID')
  const readAnswer = async (read: WireResponse) => {
    const outcome = await readOutcome(read, parameters)
    if (outcome.state === 'failed') throw refuseRecording(outcome, parameters)
    const { document } = outcome
    return submittedAs(idOf(document), read, document)
  }
  return await readSubmitted(response, readAnswer, idOf)
}

async function poll(wire: Wire, reference: TaskReference<RecordingSettings>): Promise<TaskPoll> {
  const { settings, upstreamModel, upstreamId } = reference
  const response = await wire.send({
    method: 'POST',
    url: recordingUrl(settings, '/api/v3/auc/lark/query'),
    headers: recordingHeaders(settings, upstreamModel, upstreamId),
    body: Buffer.from(JSON.stringify({ TaskID: upstreamId })),
  })
  const outcome = await readOutcome(response)
  if (outcome.state === 'failed') return isUnknownId(outcome) ? { state: 'gone' } : outcome
  if (outcome.state !== 'done') return { state: outcome.state }
  return await readTask(wire, outcome.document.Data, reference)
}

/** Reads the state of a task; a missing status means that it still runs. */
async function readTask(
  wire: Wire,
  data: unknown,
  reference: TaskReference<RecordingSettings>,
): Promise<TaskPoll> {
  switch (readTaskStatus(member(data, 'Status') ?? 'running')) {
    case 'queued':
    case 'processing':
      return { state: 'processing' }
    case 'succeeded':
      return await readSuccess(wire, member(data, 'Result'), reference)
    case 'failed': {
      const code = Number(member(data, 'ErrCode'))
      const words = asString(member(data, 'ErrMessage'))
      const message = MESSAGES[code] ?? words ?? 'the recording could not be processed'
      return { state: 'failed', code: code > 0 ? String(code) : 'failed', message }
    }
    default:
      throw new UpstreamFailure('failed', { message: 'an unknown status of a task' })
  }
}

async function readSuccess(
  wire: Wire,
  files: unknown,
  { recordingSeconds = 0 }: TaskReference<RecordingSettings>,
): Promise<TaskPoll> {
  const fetchFile = (name: string) => readFile(wire, asString(member(files, name)))
  const documents: MinutesDocuments = {
    transcription: await readTranscription(wire, files),
    summary: await fetchFile('SummarizationFile'),
    chapters: await fetchFile('ChapterFile'),
    extraction: await fetchFile('InformationExtractionFile'),
    translation: await fetchFile('TranslationFile'),
  }
  const read: JsonObject = readDocuments(documents)
  const spokenSeconds = Number(read.duration)
  const duration = Math.max(spokenSeconds, recordingSeconds)
  const second = Math.ceil(duration)
  // Without a sentence and a measured length, zero is charged, not the hold of two hours. A
  // sentence after the end of the longest recording states no length: at most the hold is charged.
  const isStated =
    second > 0 && second <= RECORDING_SECONDS_MAX && spokenSeconds >= recordingSeconds
  return {
    state: 'succeeded',
    result: { ...read, duration },
    ...(isStated ? { usage: { second } } : { measured: { second } }),
  }
}

/**
 * Returns the sentences, which every task has, if only an empty list. Throws `failed` without them,
 * so that the task is polled on.
 */
async function readTranscription(wire: Wire, files: unknown): Promise<unknown[]> {
  const name = 'AudioTranscriptionFile'
  const sentences = await readFile(wire, requireUrl(member(files, name), `an ${name}`))
  if (Array.isArray(sentences)) return sentences
  throw new UpstreamFailure('failed', { message: `an ${name} that is no list of sentences` })
}

/** Fetches a signed link of the vendor's storage, without credentials. */
async function readFile(wire: Wire, url: string | undefined): Promise<unknown> {
  if (url === undefined || url === '') return undefined
  const response = await wire.send({ method: 'GET', url, headers: {} })
  if (response.status >= 400) {
    await readErrorBody(response)
    const message = `a result file answered ${response.status}`
    throw new UpstreamFailure(classifyStatus(response.status), { status: response.status, message })
  }
  const document = await readJsonDocument(response, FILE_BYTES_MAX)
  if (document !== undefined) return document
  throw new UpstreamFailure('failed', { message: 'a result file is not JSON' })
}

export const doubaoMinutesDriver: TaskDriver<RecordingSettings> = { prepare, submit, poll }
