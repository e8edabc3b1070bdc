/** POST /v1/audio/speech/unidirectional: the upstream's native synthesis stream. */
import { z } from 'zod'
import { isObject } from '../../../base/lib/json.ts'
import {
  countBilledCharacters,
  countHeldCharacters,
} from '../../../wire/dialects/speech/request.ts'
import type { RequestParts } from '../../../work/pipeline/metering.ts'
import { listSpellings, refuseOtherCase } from '../../../work/pipeline/request/spellings.ts'
import type { MeteredEndpoint } from '../endpoint.ts'
import { boundSpeech } from './speech-ceiling.ts'

const SPEECH_BODY_BYTES_MAX = 1024 * 1024

const AUDIO_PARAMS = 'format, sample_rate, speech_rate, enable_subtitle and others.'

const speechRequest = z.looseObject({
  user: z.looseObject({}).optional().describe('For the upstream’s statistics.'),
  audio_params: z
    .looseObject({})
    .optional()
    .describe('Moves into req_params, if that has none of its own.'),
  req_params: z
    .looseObject({
      text: z.string().optional().describe('The text to speak; billed by its characters.'),
      ssml: z.string().optional().describe('Instead of text.'),
      speaker: z.string().min(1).describe('A voice of the model.'),
      audio_params: z.looseObject({}).optional().describe(AUDIO_PARAMS),
      additions: z
        .union([z.string(), z.looseObject({})], { error: 'an object, or one written as a string' })
        .optional()
        .describe('Options as an object or as its JSON text. context_texts are not billed.'),
    })
    .refine((value) => Boolean(value.text || value.ssml), {
      path: ['text'],
      error: 'required, and not empty',
    }),
})

const SPELLINGS = listSpellings(Object.keys(speechRequest.shape))
const INNER = listSpellings(['text', 'ssml', 'speaker', 'audio_params', 'additions'])

/** Refuses a text under a name that the vendor may read, and the hold does not count. */
function check({ value }: RequestParts): void {
  refuseOtherCase(value, SPELLINGS)
  if (isObject(value.req_params)) refuseOtherCase(value.req_params, INNER, 'req_params')
}

const speechLine = z.looseObject({
  code: z.int().describe('20000000: the synthesis has ended.'),
  data: z.string().nullish().describe('A base64 fragment of audio.'),
  sentence: z.looseObject({}).optional(),
  usage: z.looseObject({ text_words: z.int() }).optional().describe('Billed characters.'),
})

/** Returns the model's name from the query, or else from the header. */
function readModel({ query, headers }: RequestParts): string | undefined {
  const header = headers['x-api-resource-id']
  return query.get('model') || (typeof header === 'string' ? header : undefined)
}

/** Returns a voice of the model's generation, for the reference. */
function speakerOf(model: string): string {
  return model.includes('-1.0')
    ? 'zh_female_wanwanxiaohe_moon_bigtts'
    : 'zh_female_vv_uranus_bigtts'
}

export const speech: MeteredEndpoint = {
  kind: 'metered',
  method: 'POST',
  paths: ['/v1/audio/speech/unidirectional'],
  envelope: 'flat',
  metering: {
    endpoint: 'audio.speech.unidirectional',
    operation: 'speech',
    modelTypes: ['speech'],
    bodyBytesMax: SPEECH_BODY_BYTES_MAX,
    schema: speechRequest,
    check,
    model: readModel,
    streams: () => true,
    inputTokens: () => 0,
    quote: ({ value, body }) => ({
      quantities: { character: countHeldCharacters(value) },
      ceiling: boundSpeech(body.length),
    }),
    needs: ['character'],
    fallback: (request) => ({ character: countBilledCharacters(request.value) }),
    billsBroken: false,
    passesRefusals: false,
  },
  documentation: {
    summary: 'Stream synthesised speech',
    description:
      'Request and response use the upstream’s native format: newline-separated JSON ' +
      'objects. Billed by the last usage.text_words of the stream.',
    tag: 'Audio',
    query: z.object({
      model: z.string().optional().describe('Takes precedence over X-Api-Resource-Id.'),
    }),
    headers: z.object({
      'X-Api-Resource-Id': z.string().optional().describe('The model, if the query names none.'),
    }),
    answer: speechLine,
    example: (model) => ({
      path: `/v1/audio/speech/unidirectional?model=${encodeURIComponent(model)}`,
      body: {
        req_params: {
          text: 'All rivers run into the sea.',
          speaker: speakerOf(model),
          audio_params: {},
        },
      },
    }),
  },
}
