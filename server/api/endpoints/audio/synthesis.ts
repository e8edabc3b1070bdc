/** POST /v1/audio/speech: OpenAI's dialect of speech synthesis, streamed as bytes or as events. */
import { z } from 'zod'
import { invalidField } from '../../../base/lib/errors.ts'
import { isAbsent } from '../../../base/lib/json.ts'
import { countCodePoints } from '../../../base/lib/text/count-code-points.ts'
import { foldKey } from '../../../wire/dialects/json-scan.ts'
import { estimateSpoken, estimateSynthesis } from '../../../wire/dialects/synthesis/estimate.ts'
import { AUDIO_FORMATS } from '../../../wire/dialects/synthesis/formats.ts'
import type { Body, NamedContent, RequestParts } from '../../../work/pipeline/metering.ts'
import { listSpellings, refuseOtherCase } from '../../../work/pipeline/request/spellings.ts'
import type { MeteredEndpoint } from '../endpoint.ts'
import { TEXT_BODY_BYTES_MAX } from '../text/billing/text-billing.ts'
import { findReferences } from '../text/references/find-references.ts'
import { boundSpeech } from './speech-ceiling.ts'

const INPUT_CHARACTERS_MAX = 4096
/** Factor on the estimate of speech, for slow voices, pauses and read-out figures. */
const MARGIN = 3

const synthesisRequest = z.looseObject({
  model: z.string().min(1).describe('A speech model from GET /v1/models.'),
  input: z
    .string()
    .min(1)
    .refine((text) => countCodePoints(text) <= INPUT_CHARACTERS_MAX, {
      error: `at most ${INPUT_CHARACTERS_MAX} characters`,
    })
    .describe(`The text to speak, at most ${INPUT_CHARACTERS_MAX} characters.`),
  voice: z
    .union([z.string().min(1), z.looseObject({ id: z.string().min(1) })], {
      error: 'the name of a voice',
    })
    .describe('A voice of the model.'),
  response_format: z.enum(AUDIO_FORMATS).nullish().describe('mp3 by default.'),
  speed: z.number().min(0.25).max(4).nullish().describe('1 by default.'),
  stream_format: z.enum(['audio', 'sse']).nullish().describe('audio by default.'),
  instructions: z.string().max(INPUT_CHARACTERS_MAX).nullish().describe('Speaking style.'),
})

const SPELLINGS = listSpellings(Object.keys(synthesisRequest.shape))

/**
 * Members in which other vendors take the text to speak, and which this vendor may read as well.
 */
const OTHER_TEXTS: ReadonlySet<string> = new Set(
  `text texts ssml prompt prompts inputs input_text text_input tts_text speech_text content
  contents messages script scripts transcript transcripts dialogue dialog lyrics segments
  sentences utterances passages req_params payload extra_body`.split(/\s+/),
)

function check({ value }: RequestParts): void {
  refuseOtherCase(value, SPELLINGS)
  for (const name of Object.keys(value)) {
    if (isAbsent(value[name]) || !OTHER_TEXTS.has(foldKey(name))) continue
    throw invalidField(name, "send the text to speak in 'input', where it is counted")
  }
}

/**
 * Finds a voice that was cloned from somebody's recordings and is stored at the vendor: an object
 * with an id, or a URI. A plain name is one of the model's own voices.
 */
function findVoice({ voice }: Body): NamedContent {
  if (typeof voice !== 'string') return findReferences({ voice })
  const { references } = findReferences({ url: voice })
  return { identified: [], references: references.map(({ id }) => ({ field: 'voice', id })) }
}

export const synthesis: MeteredEndpoint = {
  kind: 'metered',
  method: 'POST',
  paths: ['/v1/audio/speech'],
  envelope: 'nested',
  metering: {
    endpoint: 'audio.speech',
    operation: 'synthesis',
    modelTypes: ['speech'],
    bodyBytesMax: TEXT_BODY_BYTES_MAX,
    schema: synthesisRequest,
    check,
    names: { operation: 'synthesis', find: findVoice },
    model: ({ value }) => (typeof value.model === 'string' ? value.model : undefined),
    streams: () => true,
    inputTokens: () => 0,
    quote: ({ value, body }) => {
      const {
        character = 0,
        second = 0,
        input_token = 0,
        audio_output_token = 0,
      } = estimateSynthesis({ ...value, speed: slowest(value) })
      const quantities = {
        character,
        call: 1,
        input_token: input_token * 2,
        second: second * MARGIN,
        audio_output_token: audio_output_token * MARGIN,
      }
      return { quantities, ceiling: boundSpeech(body.length) }
    },
    needs: ['character', 'second', 'input_token', 'audio_output_token', 'call'],
    fallback: ({ value }, report) => ({ ...estimateSpoken(value, report), call: 1 }),
    billsBroken: false,
    passesRefusals: false,
  },
  documentation: {
    summary: 'Synthesise speech',
    description:
      'Returns the bytes of an audio file as they are generated; audio that breaks off is' +
      ' cut off. Billed by the usage that the upstream states, otherwise by the ' +
      'characters of the input or the length of the audio. Members in which other vendors have ' +
      'a text to speak (`text`, `ssml`, `prompt` and the like) are refused.',
    tag: 'Audio',
    answerType: 'audio/mpeg',
    stream: {
      type: 'text/event-stream',
      description:
        'With `stream_format: "sse"`: `speech.audio.delta` with base64, then `speech.audio.done`.',
    },
    example: (model) => ({
      body: { model, input: 'All rivers run into the sea.', voice: voiceOf(model) },
    }),
  },
}

/**
 * Returns the speed to hold for: at most the model's normal speed, since a model may ignore a
 * faster one.
 */
function slowest({ speed }: Body): number {
  return typeof speed === 'number' ? Math.min(speed, 1) : 1
}

/** Returns a voice of the model's generation, for the reference. */
function voiceOf(model: string): string {
  if (!model.includes('seed-')) return 'alloy'
  return model.includes('-1.0')
    ? 'zh_female_wanwanxiaohe_moon_bigtts'
    : 'zh_female_vv_uranus_bigtts'
}
