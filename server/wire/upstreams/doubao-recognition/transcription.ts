/**
 * Transcription by recognition 2.0 (docs/protocols/volcengine-recognition.md#submission). The
 * standard product fetches the recording from a public address and is polled; the one that answers
 * in one request is sent the recording.
 */
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { asString } from '../../../base/lib/json.ts'
import { RECORDING_HEAD_BYTES } from '../../dialects/transcription/measure-audio.ts'
import type { Transcript } from '../../dialects/transcription/transcript.ts'
import {
  readTranscriptOrder,
  transcriptType,
  writeTranscript,
} from '../../dialects/transcription/write-transcript.ts'
import {
  emptyTranscript,
  readTranscript,
} from '../../dialects/transcription-over-recognition/answer.ts'
import {
  checkRecording,
  translateTranscriptionRequest,
} from '../../dialects/transcription-over-recognition/request.ts'
import { UpstreamFailure } from '../failure.ts'
import { readOutcome, refuseRecording } from '../read-outcome.ts'
import { type RecordingSettings, recordingHeaders, recordingUrl } from '../recording-settings.ts'
import type { RequestFile, UpstreamAnswer, UpstreamCall } from '../upstream.ts'
import type { Wire } from '../wire.ts'
import { openBody } from './body-with-audio.ts'
import { conclude, followTask, type Recognised } from './follow-task.ts'

type Call = UpstreamCall<RecordingSettings>
type Order = ReturnType<typeof translateTranscriptionRequest>

/** Resources that answer in one request (docs/protocols/volcengine-recognition.md#submission). */
const AT_ONCE = /_turbo$/
/**
 * Recognition takes a tenth of the recording's length or less; a call waits ten minutes at most.
 */
const DEADLINE = { leastMs: 60_000, perSecondMs: 250, mostMs: 600_000 }

export async function transcription(wire: Wire, call: Call): Promise<UpstreamAnswer> {
  const { value, file } = call.request
  if (!file) throw new Error('a transcription without its file')
  const head = Buffer.alloc(Math.min(RECORDING_HEAD_BYTES, file.bytes))
  await file.read(head, 0)
  const name = checkRecording(head)
  const order = translateTranscriptionRequest(value, name)
  const { document } = AT_ONCE.test(call.upstreamModel)
    ? await recogniseAtOnce(wire, call, order, file)
    : await recogniseByAddress(wire, call, order, { file, name })
  const language = asString(value.language)
  return answer(call, document ? readTranscript(document, language) : emptyTranscript(language))
}

async function recogniseByAddress(
  wire: Wire,
  { settings, upstreamModel, request: { value } }: Call,
  { audio, request }: Order,
  { file, name }: { readonly file: RequestFile; readonly name: string },
): Promise<Recognised> {
  const headers = recordingHeaders(settings, upstreamModel, randomUUID())
  const post = async (path: string, body: object) => {
    const url = recordingUrl(settings, path)
    const sent = { method: 'POST', url, headers, body: Buffer.from(JSON.stringify(body)) } as const
    return readOutcome(await wire.send(sent), value)
  }
  const url = await file.publish(name)
  const submitted = await post('/api/v3/auc/bigmodel/submit', {
    audio: { url, ...audio },
    request,
  }).catch(passUnknown)
  if (submitted?.state === 'failed') throw refuseRecording(submitted, value)
  return followTask(wire, () => post('/api/v3/auc/bigmodel/query', {}), deadlineOf(file))
}

/** A submission whose response was lost may have been accepted, so its id is polled. */
function passUnknown(error: unknown): undefined {
  if (!(error instanceof UpstreamFailure) || error.kind !== 'unknown') throw error
}

function deadlineOf({ seconds = 0 }: RequestFile): number {
  const { leastMs, perSecondMs, mostMs } = DEADLINE
  return Math.min(mostMs, leastMs + seconds * perSecondMs)
}

async function recogniseAtOnce(
  wire: Wire,
  { settings, upstreamModel, request: { value } }: Call,
  { audio, request }: Order,
  file: RequestFile,
): Promise<Recognised> {
  const body = openBody({ audio, request }, file)
  const response = await wire.send({
    method: 'POST',
    url: recordingUrl(settings, '/api/v3/auc/bigmodel/recognize/flash'),
    headers: {
      ...recordingHeaders(settings, upstreamModel, randomUUID()),
      'content-length': String(body.bytes),
    },
    body: body.content,
  })
  const outcome = await readOutcome(response, value)
  const ended = conclude(outcome)
  if (ended) return ended
  if (outcome.state === 'failed') throw refuseRecording(outcome, value)
  throw new UpstreamFailure('unknown', { message: 'the answer has no final state' })
}

function answer({ request }: Call, transcript: Transcript): UpstreamAnswer {
  const order = readTranscriptOrder(request.value)
  const { seconds } = transcript
  const report = {
    outputBytes: Buffer.byteLength(transcript.text),
    finished: true,
    ...(seconds === undefined ? {} : { usage: { second: Math.ceil(seconds) } }),
  }
  return {
    status: 200,
    headers: { 'content-type': transcriptType(order) },
    body: Readable.from([writeTranscript(transcript, order)]),
    // The report is complete before the first byte is sent.
    relay: {
      push: (chunk) => chunk,
      end: () => undefined,
      fail: () => undefined,
      report: () => report,
    },
    stream: order.stream,
  }
}
