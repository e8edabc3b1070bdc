/**
 * Reads a minutes submission: each field with its rule and default, and checks of the recording
 * before the hold.
 */
import { z } from 'zod'
import { checkShape } from '../../../base/http/check-shape.ts'
import { invalidField } from '../../../base/lib/errors.ts'
import { asString, type JsonObject } from '../../../base/lib/json.ts'
import { foldLanguage } from '../../../base/lib/text/fold-language.ts'
import { askForSummary, readSummary } from '../../../wire/dialects/minutes/summarise.ts'
import type { Body } from '../../../work/pipeline/metering.ts'
import type { TaskPorts } from '../../../work/tasks/ports.ts'
import { callbackUrl } from '../callback-url.ts'
import type { TaskReading } from '../task-endpoints.ts'

const BODY_BYTES_MAX = 256 * 1024
const FILE_BYTES_MAX = 1024 ** 3
const SECONDS_MAX = 7200
/** Seconds of silence that encoders add at both ends. */
const SECONDS_OF_PADDING = 1
const URL_LENGTH_MAX = 4096
const SPEAKERS_MAX = 100
const VIDEO_SUFFIX = /\.(?:mp4|avi|mkv|mov|flv|wmv|webm|m4v)$/i
const AUDIO_SUFFIX = /\.(?:mp3|wav|aac|flac|ogg|opus|m4a|pcm|wma|amr)$/i
const LANGUAGES = ['zh_cn', 'en_us'] as const

/** Region and letter case may differ: zh and zh-CN are zh_cn. */
const language = z
  .string()
  .transform((tag) => foldLanguage(tag, LANGUAGES) ?? tag)
  .pipe(z.enum(LANGUAGES))

const features = z.strictObject({
  summary: z.boolean().optional().describe('Summary of the whole text.'),
  chapters: z.boolean().optional().describe('Chapters with a summary each.'),
  todos: z.boolean().optional().describe('Action items with their owners.'),
  questions: z.boolean().optional().describe('Questions and answers; `qa` is an alias.'),
  qa: z.boolean().optional(),
  translate: z.boolean().optional().describe('Between Chinese and English.'),
  target_lang: language.optional().describe('Target of the translation, zh_cn or en_us.'),
})

/** Fields that not every product reads; where they are read, `readParameters` checks them. */
const readByProduct = {
  all_activate: z.boolean().default(false).describe('`vendor-minutes`: all `features`.'),
  speaker_identification: z.boolean().default(true).describe('Always on for `service-minutes`.'),
  number_of_speakers: z
    .int()
    .min(0)
    .max(SPEAKERS_MAX)
    .default(0)
    .describe('0: detected automatically, as `service-minutes` always does.'),
  features: features
    .optional()
    .describe('`vendor-minutes`: enable at least one, or `all_activate`.'),
}

const minutesRequest = z.strictObject({
  model: z.string().min(1).describe('`vendor-minutes` or `service-minutes`.'),
  file_url: z
    .url({
      protocol: /^https?$/,
      error: ({ code }) => (code === 'invalid_type' ? undefined : 'must be an http(s) URL'),
    })
    .max(URL_LENGTH_MAX)
    .describe('A public URL, such as the url of a file from POST /v1/files.'),
  file_type: z
    .enum(['audio', 'video'])
    .optional()
    .describe('By default derived from the URL’s suffix.'),
  source_lang: language.default('zh_cn').describe('zh_cn or en_us.'),
  all_activate: readByProduct.all_activate.catch(false),
  speaker_identification: readByProduct.speaker_identification.catch(true),
  number_of_speakers: readByProduct.number_of_speakers.catch(0),
  hot_words: z.string().max(20_000).optional().describe('Expected words, comma-separated.'),
  need_word_time_series: z.boolean().default(false).describe('Word timestamps.'),
  features: readByProduct.features.catch(undefined),
  callback_url: callbackUrl,
})
const checkedRequest = minutesRequest.extend(readByProduct)

/** Fields that no route of the model reads are not in the value. */
function readParameters(value: Body): JsonObject {
  const { features: requested, ...parameters } = checkShape(checkedRequest, value)
  const { qa, ...named } = requested ?? {}
  return {
    ...parameters,
    file_type: parameters.file_type ?? typeOfSuffix(parameters.file_url),
    ...(requested ? { features: qa === undefined ? named : { questions: qa, ...named } } : {}),
  }
}

function typeOfSuffix(url: string): 'audio' | 'video' | undefined {
  const path = URL.parse(url)?.pathname ?? ''
  if (VIDEO_SUFFIX.test(path)) return 'video'
  return AUDIO_SUFFIX.test(path) ? 'audio' : undefined
}

/**
 * Checks the recording's address. A server that does not answer a HEAD request may still serve the
 * file to the upstream. The length of the gateway's own files is known, and the hold covers it.
 */
async function inspect(parameters: JsonObject, ports: TaskPorts): Promise<JsonObject> {
  const found = await ports.measureUrl(String(parameters.file_url))
  if (found === 'missing') throw invalidField('file_url', 'the file does not exist')
  const { bytes, type, seconds } = found ?? {}
  if (bytes === 0) throw invalidField('file_url', 'the file is empty')
  if (bytes !== undefined && bytes >= FILE_BYTES_MAX) {
    throw invalidField('file_url', `the file has ${bytes} bytes; it must be smaller than 1 GB`)
  }
  if (seconds !== undefined && seconds > SECONDS_MAX + SECONDS_OF_PADDING) {
    const length = `${Math.ceil(seconds)} seconds`
    throw invalidField('file_url', `the recording lasts ${length}; the maximum is two hours`)
  }
  return {
    ...parameters,
    file_type: parameters.file_type ?? (type?.startsWith('video/') ? 'video' : 'audio'),
    media_type: type,
    ...(seconds === undefined ? {} : { recording_seconds: Math.min(seconds, SECONDS_MAX) }),
  }
}

/** Returns the parameters that are stored with the task, without the address and the hot words. */
function keep({ file_url: _url, hot_words: _words, callback_url: _callback, ...rest }: JsonObject) {
  return rest
}

export const minutesReading: TaskReading = {
  kind: 'minutes',
  modelTypes: ['minutes'],
  bodyBytesMax: BODY_BYTES_MAX,
  schema: minutesRequest,
  model: ({ value }) => asString(value.model),
  parameters: readParameters,
  inspect,
  followUp: { setting: 'summary_model', request: askForSummary, read: readSummary },
  keep,
  recording: 'file_url',
  urls: ({ file_url: url }) => [{ field: 'file_url', url: String(url) }],
}
