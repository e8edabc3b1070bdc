/** POST /v1/audio/transcriptions: OpenAI's transcription dialect. */
import { z } from 'zod'
import { invalidField } from '../../../base/lib/errors.ts'
import { estimateTokensOfBytes } from '../../../base/lib/text/estimate-tokens.ts'
import type { Quantities, Unit } from '../../../base/lib/units.ts'
import { InvalidRequest } from '../../../wire/dialects/invalid-request.ts'
import { foldKey } from '../../../wire/dialects/json-scan.ts'
import type { RelayReport } from '../../../wire/dialects/relay.ts'
import {
  createAudioMeter,
  SLOWEST_BYTES_PER_SECOND,
} from '../../../wire/dialects/transcription/measure-audio.ts'
import type { CallRequest } from '../../../wire/upstreams/upstream.ts'
import type { Estimate, QuotedRequest, RequestParts } from '../../../work/pipeline/metering.ts'
import type { Ceiling } from '../../../work/pipeline/price/ceiling.ts'
import { CALL_ERRORS, type MeteredEndpoint } from '../endpoint.ts'

export const RECORDING_BYTES_MAX = 25 * 1024 * 1024
/** Token estimates for models that are billed by tokens. */
const INPUT_TOKENS_PER_SECOND = 17
const OUTPUT_TOKENS_PER_SECOND = 10
/**
 * Added to the ceiling: silence has hardly any bytes, and vendors round recordings up to minutes.
 */
const SECONDS_OF_SILENCE_MAX = 12 * 3600
const TOKENS_PER_SECOND_MAX = 100
export const TRANSCRIPT_FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt'] as const

export const temperature = z
  .string()
  .regex(/^(0(\.\d+)?|1(\.0+)?)$/, { error: 'a number between 0 and 1' })
  .optional()

const transcriptionRequest = z.object({
  model: z.string().min(1).describe('A transcription model from GET /v1/models.'),
  language: z
    .string()
    .regex(/^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8}){0,3}$/, {
      error: 'a language code, for example "en"',
    })
    .optional()
    .describe('Language of the recording; its region may be named (zh-CN).'),
  prompt: z.string().optional().describe('Expected words and style.'),
  response_format: z
    .enum([...TRANSCRIPT_FORMATS, 'diarized_json'])
    .default('json')
    .describe('diarized_json names the speakers, with models that can tell them apart.'),
  temperature,
  'timestamp_granularities[]': z
    .string()
    .regex(/^(word|segment)(,(word|segment))?$/, { error: 'word, segment, or both' })
    .optional()
    .describe('For verbose_json.'),
  stream: z.enum(['true', 'false']).optional().describe('true: sends text as it is recognised.'),
})

const NAMES: ReadonlySet<string> = new Set(Object.keys(transcriptionRequest.shape))
const NAME = /^[A-Za-z][\w.-]*(\[\w*\])?$/
/** Names of fields from which a vendor might take a recording other than the measured file. */
const RECORDINGS = /url|uri|file|audio|media/i

/**
 * Unlisted fields are passed to the vendor. Throws for names that some form readers would take for
 * a listed one, and for fields that may name another recording.
 */
function check({ value }: RequestParts): void {
  for (const name of Object.keys(value)) {
    if (NAMES.has(name)) continue
    if (!NAME.test(name)) throw new InvalidRequest(name, 'is not a valid field name')
    const plain = foldKey(name.replace(/\[\w*\]$/, ''))
    const known = [plain, `${plain}[]`].find((one) => NAMES.has(one))
    if (known) throw new InvalidRequest(name, `the name of this field is '${known}'`)
    if (RECORDINGS.test(name)) throw new InvalidRequest(name, 'send one recording, as `file`')
  }
}

const transcriptionAnswer = z.looseObject({ text: z.string() })

/** Bounds usage by the file's size, since the length in its header may be wrong. */
function boundRecording(bytes: number): Ceiling {
  const second = Math.ceil((2 * bytes) / SLOWEST_BYTES_PER_SECOND) + SECONDS_OF_SILENCE_MAX
  const tokens = second * TOKENS_PER_SECOND_MAX
  return { inputTokens: tokens, outputTokens: tokens, units: { second }, others: 1 }
}

/** Units that are counted by the length of the recording. */
const LENGTH_UNITS: ReadonlySet<Unit> = new Set(['second', 'audio_input_token', 'output_token'])
const MEASURED = 'mp3, m4a, mp4, webm, wav, flac, ogg, aac, amr, aiff or mpeg'

/**
 * Quotes a recording by its length, for models priced by time or by tokens. Throws a 400 if the
 * length is unknown and the model is priced by it.
 */
export function quoteRecording(request: QuotedRequest): Estimate {
  const { fileSeconds = 0, fileBytes = 0, fileFault, model } = request
  if (fileFault && !model.free && model.prices.some(({ unit }) => LENGTH_UNITS.has(unit))) {
    throw invalidField('file', `${fileFault}: send ${MEASURED}`)
  }
  return {
    quantities: {
      second: fileSeconds,
      audio_input_token: fileSeconds * INPUT_TOKENS_PER_SECOND,
      output_token: fileSeconds * OUTPUT_TOKENS_PER_SECOND,
      call: 1,
    },
    ceiling: boundRecording(fileBytes),
  }
}

/** Estimates usage that is not stated, by the length of the recording. */
export function estimateRecording({ file }: CallRequest, { outputBytes }: RelayReport): Quantities {
  const seconds = file?.seconds ?? 0
  return {
    second: seconds,
    audio_input_token: seconds * INPUT_TOKENS_PER_SECOND,
    output_token: estimateTokensOfBytes(outputBytes),
    call: 1,
  }
}

export const transcriptions: MeteredEndpoint = {
  kind: 'metered',
  method: 'POST',
  paths: ['/v1/audio/transcriptions'],
  envelope: 'nested',
  metering: {
    endpoint: 'audio.transcriptions',
    operation: 'transcription',
    modelTypes: ['transcription'],
    bodyBytesMax: RECORDING_BYTES_MAX,
    form: { fileBytesMax: RECORDING_BYTES_MAX, inspect: createAudioMeter },
    schema: transcriptionRequest,
    check,
    model: ({ value }) => (typeof value.model === 'string' ? value.model : undefined),
    streams: (value) => value.stream === 'true',
    inputTokens: () => 0,
    quote: quoteRecording,
    needs: ['second', 'audio_input_token', 'output_token', 'call'],
    fallback: estimateRecording,
    billsBroken: false,
    passesRefusals: false,
  },
  documentation: {
    summary: 'Transcribe a recording',
    description:
      'multipart/form-data with a `file` of at most 25 MiB; each other field once, before' +
      ' or after it. Billed by the usage that the upstream states, otherwise by the ' +
      'length of its sound, in seconds begun. Formats and languages depend on the model: an ' +
      'unsupported one gets a 400 that names it.',
    tag: 'Audio',
    answer: transcriptionAnswer,
    stream: {
      type: 'text/event-stream',
      description: 'With `stream=true`: `transcript.text.delta`, then `transcript.text.done`.',
    },
    example: (model) => ({
      form: { model, file: '@speech.wav', language: 'en' },
      answer: { text: 'All rivers run into the sea.', usage: { type: 'duration', seconds: 3 } },
    }),
    errors: [...CALL_ERRORS, 408],
  },
}
