/**
 * POST /v1/audio/translations: interprets a recording simultaneously, or translates it to English
 * in OpenAI's dialect. The model's type decides which, and each type has its own fields.
 */
import { z } from 'zod'
import { GatewayError, invalidField } from '../../../base/lib/errors.ts'
import type { ReadRange } from '../../../base/lib/media/open-window.ts'
import { foldLanguage } from '../../../base/lib/text/fold-language.ts'
import type { Quantities } from '../../../base/lib/units.ts'
import type { Model } from '../../../money/catalog/catalog.ts'
import {
  boundTokens,
  estimateAudioTokens,
} from '../../../wire/dialects/interpretation/estimate-tokens.ts'
import {
  checkLanguages,
  SOURCE_LANGUAGES,
  TARGET_LANGUAGES,
} from '../../../wire/dialects/interpretation/languages.ts'
import { readInterpretationOrder } from '../../../wire/dialects/interpretation/read-order.ts'
import {
  BYTES_PER_SECOND,
  createWavReader,
  type Samples,
} from '../../../wire/dialects/interpretation/read-wav.ts'
import { InvalidRequest } from '../../../wire/dialects/invalid-request.ts'
import type { RelayReport } from '../../../wire/dialects/relay.ts'
import {
  type AudioMeasurement,
  createAudioMeter,
} from '../../../wire/dialects/transcription/measure-audio.ts'
import type { CallRequest } from '../../../wire/upstreams/upstream.ts'
import type { Estimate, QuotedRequest, RequestParts } from '../../../work/pipeline/metering.ts'
import { CALL_ERRORS, type MeteredEndpoint } from '../endpoint.ts'
import {
  estimateRecording,
  quoteRecording,
  RECORDING_BYTES_MAX,
  TRANSCRIPT_FORMATS,
  temperature,
} from './transcriptions.ts'

/** Longest recording in seconds; it is interpreted at the pace of speech. */
const SECONDS_MAX = 3600
/** Bytes allowed before and after the samples. */
const FRAME_BYTES_MAX = 1024 * 1024
const VOICE_LENGTH_MAX = 256
/** Factor on the estimate; usage stated beyond it must be a mistake. */
const CEILING_FACTOR = 10

/** Accepts the empty string, since forms also send empty fields. */
function languageOf(codes: readonly string[], more: string) {
  const list = codes.join(', ')
  return z
    .string()
    .refine((tag) => tag === '' || foldLanguage(tag, codes) !== undefined, {
      error: `one of ${list}`,
    })
    .optional()
    .describe(`${list}; region and letter case may differ (zh-CN is zh). ${more}`)
}

const translationRequest = z.object({
  model: z.string().describe('A model of type ast.'),
  mode: z
    .enum(['s2t', 's2s', ''], { error: 's2t (text) or s2s (speech)' })
    .default('s2t')
    .describe('`s2t` returns text, `s2s` speech.'),
  source_language: languageOf(
    SOURCE_LANGUAGES,
    'By default `zhen`, Chinese and English both ways; with a target, zh or en, as fits.',
  ),
  target_language: languageOf(TARGET_LANGUAGES, 'One of the two must be zh or en.'),
  voice: z
    .string()
    .max(VOICE_LENGTH_MAX, { error: `at most ${VOICE_LENGTH_MAX} characters` })
    .default('')
    .describe('For `s2s`: speaks zh or en. If empty, the voice of the recording is cloned.'),
  prompt: z.string().optional().describe('Of transcription models: expected words and style.'),
  response_format: z
    .enum(TRANSCRIPT_FORMATS)
    .optional()
    .describe('Of transcription models; json by default.'),
  temperature: temperature.describe('Of transcription models.'),
})
const INTERPRETATION_FIELDS = ['mode', 'source_language', 'target_language', 'voice']
const TRANSCRIPTION_FIELDS = ['prompt', 'response_format', 'temperature']

const translationAnswer = z.object({
  text: z.string().describe('The translation.'),
  source_text: z
    .string()
    .optional()
    .describe('The recognised source text; not of transcription models.'),
})

function check({ value }: RequestParts): void {
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(translationRequest.shape, name))
  if (unknown) throw new InvalidRequest(unknown, 'unknown field')
  const { languages, mode, voice } = readInterpretationOrder(value)
  checkLanguages(languages, mode, voice !== '')
}

const isInterpreter = ({ type }: Model) => type === 'ast'

/** Throws a 400 for a field of the other kind of model, and for a recording that is too large. */
function checkKind({ value, model, fileBytes = 0 }: QuotedRequest): void {
  const others = isInterpreter(model) ? TRANSCRIPTION_FIELDS : INTERPRETATION_FIELDS
  const other = Object.keys(value).find((name) => others.includes(name) && value[name] !== '')
  if (other) {
    const kind = isInterpreter(model) ? 'transcription models' : 'models of type ast'
    throw invalidField(other, `only ${kind} take it, and '${model.id}' is ${describeKind(model)}`)
  }
  if (!isInterpreter(model) && fileBytes > RECORDING_BYTES_MAX) {
    const message = `file is larger than ${RECORDING_BYTES_MAX} bytes`
    throw new GatewayError('too_large', { message, param: 'file' })
  }
}

function describeKind(model: Model): string {
  return isInterpreter(model) ? 'an interpreter' : 'a transcription model'
}

/** Returns an upper bound of the audio's tokens; a vendor may count more at the ends. */
function quote(request: QuotedRequest): Estimate {
  checkKind(request)
  if (!isInterpreter(request.model)) return quoteRecording(request)
  const { value, fileBytes = 0 } = request
  const { mode } = readInterpretationOrder(value)
  const quantities = boundTokens(fileBytes, mode)
  const { input_token: inputTokens = 0, output_token: outputTokens = 0 } = quantities
  return {
    quantities,
    ceiling: {
      inputTokens: inputTokens * CEILING_FACTOR,
      outputTokens: outputTokens * CEILING_FACTOR,
      others: 2 * SECONDS_MAX,
    },
    dimensions: { alternatives: [{ mode }], features: [] },
  }
}

/** Only a recording for transcription has its length measured. */
function estimate(request: CallRequest, report: RelayReport, complete: boolean): Quantities {
  const { value, file } = request
  if (file?.seconds !== undefined) return estimateRecording(request, report)
  const { mode } = readInterpretationOrder(value)
  return estimateAudioTokens(file?.bytes ?? 0, mode, report.outputBytes, complete)
}

export const translations: MeteredEndpoint = {
  kind: 'metered',
  method: 'POST',
  paths: ['/v1/audio/translations'],
  envelope: 'flat',
  metering: {
    endpoint: 'audio.translations',
    operation: 'interpretation',
    modelTypes: ['ast', 'transcription'],
    bodyBytesMax: SECONDS_MAX * BYTES_PER_SECOND + FRAME_BYTES_MAX,
    form: {
      fileBytesMax: SECONDS_MAX * BYTES_PER_SECOND + FRAME_BYTES_MAX,
      inspect: () => createEitherReader('file', SECONDS_MAX),
      takesOther: isInterpreter,
    },
    schema: translationRequest,
    check,
    model: ({ value }) => (typeof value.model === 'string' ? value.model : undefined),
    streams: (value) => readInterpretationOrder(value).mode === 's2s',
    inputTokens: () => 0,
    quote,
    needs: ['input_token', 'output_token', 'second', 'audio_input_token', 'call'],
    fallback: estimate,
    billsBroken: true,
    passesRefusals: false,
  },
  documentation: {
    summary: 'Interpret speech',
    description:
      'multipart/form-data: `file` is wav audio of 16 kHz, mono, 16-bit PCM, at most an hour ' +
      'long; a truncated file is interpreted up to its end. The fields may come before or ' +
      'after it. The recording is interpreted in real time. Billed by the tokens that the ' +
      'upstream states. With a transcription model the text is English: `file` of at most 25 ' +
      'MiB in any format that the model takes, `prompt`, `response_format` and `temperature`, ' +
      'billed like a transcription.',
    tag: 'Audio',
    answer: translationAnswer,
    stream: {
      type: 'audio/ogg',
      description:
        'With `mode=s2s`: speech as Ogg Opus, sent as it is spoken. Speech that breaks off ' +
        'is cut off; only a complete response ends cleanly.',
    },
    example: (model) => ({
      form: { model, file: '@speech.wav', source_language: 'zh', target_language: 'en' },
      answer: { text: 'All rivers run into the sea.', source_text: '百川归海。' },
    }),
    errors: [...CALL_ERRORS, 408],
  },
}

export interface EitherRecording extends AudioMeasurement {
  /** The samples, or the reason why the file cannot be interpreted. */
  readonly other: Samples | InvalidRequest
}

function createEitherReader(param: string, secondsMax: number) {
  const meter = createAudioMeter()
  const reader = createWavReader(param, secondsMax)
  let fault: InvalidRequest | undefined
  /** Keeps the first fault, which matters only for interpretation. */
  function keepFault<T>(read: () => T): T | undefined {
    try {
      return fault ? undefined : read()
    } catch (error) {
      if (!(error instanceof InvalidRequest)) throw error
      fault = error
      return undefined
    }
  }
  return {
    push(chunk: Buffer): void {
      meter.push(chunk)
      keepFault(() => reader.push(chunk))
    },
    async end(read: ReadRange): Promise<EitherRecording> {
      const samples = keepFault(() => reader.end())
      const other = samples ?? fault ?? new InvalidRequest(param, 'has no audio in it')
      return { ...(await meter.end(read)), other }
    },
  }
}
