/** The vendor's embeddings, images and speech. */

import type { Case } from '../plan.ts'
import type { Work } from '../vendor/bill.ts'
import { ABSENT, bendUsage } from './bend.ts'
import { EVENT_HEADERS, jsonScript, type Piece, type Script } from './script.ts'
import type { Json } from './usage.ts'

const PICTURE = Buffer.from('not really a picture').toString('base64')
const SOUND = Buffer.from('not really a sound').toString('base64')

function bent(testCase: Case, usage: Json): Json {
  const stated = bendUsage(testCase, usage)
  return stated === ABSENT ? {} : { usage: stated }
}

/** Tokens as Jina states them, and search units as Cohere does. */
export function answerRerank({ counts }: Work): Script {
  const { input_token: tokens, search_unit: units } = counts
  return jsonScript({
    results: [{ index: 0, relevance_score: 0.5 }],
    usage: { total_tokens: tokens },
    meta: { billed_units: { search_units: units } },
  })
}

export function answerEmbeddings(testCase: Case, work: Work, model: string): Script {
  const tokens = work.counts.input_token ?? 0
  const data = [{ object: 'embedding', index: 0, embedding: [0.01, -0.02] }]
  const usage = { prompt_tokens: tokens, total_tokens: tokens }
  return jsonScript({ object: 'list', data, model, ...bent(testCase, usage) })
}

/** Images billed by tokens, with their modalities. */
export function answerImageTokens(testCase: Case, work: Work): Script {
  const text = work.counts.input_token ?? 0
  const pictures = work.counts.image_input_token ?? 0
  const outputCount = work.counts.image_output_token ?? 0
  const usage = {
    input_tokens: text + pictures,
    input_tokens_details: { text_tokens: text, image_tokens: pictures },
    output_tokens: outputCount,
    output_tokens_details: { image_tokens: outputCount, text_tokens: 0 },
    total_tokens: text + pictures + outputCount,
  }
  return jsonScript({
    created: 1_795_000_000,
    data: [{ b64_json: PICTURE }],
    ...bent(testCase, usage),
  })
}

/** Images billed by their number and size, without usage; the size is stated once or with each. */
export function answerSizedImages({ answer }: Case, { counts, served }: Work): Script {
  const size = served.size === 'any' ? '1024x1024' : served.size
  const isOfEach = answer.placement === 'choice'
  const picture = { b64_json: PICTURE, ...(isOfEach ? { size } : {}) }
  const data = Array.from({ length: counts.image ?? 0 }, () => picture)
  return jsonScript({ created: 1_795_000_000, data, ...(isOfEach ? {} : { size }) })
}

/** Images billed by their number. */
export function answerImages(testCase: Case, work: Work, model: string): Script {
  const outputCount = work.counts.image ?? 0
  const data = Array.from({ length: outputCount }, (_, index) => ({
    url: `https://media.example/${testCase.id}-${index}.png`,
    size: '1024x1024',
  }))
  const usage = {
    generated_images: outputCount,
    output_tokens: outputCount * 4_096,
    total_tokens: outputCount * 4_096,
  }
  return jsonScript({ model, created: 1_795_000_000, data, ...bent(testCase, usage) })
}

/** Pictures of a vendor that states their number in several ways, or not at all. */
export function answerQwenImages({ id, answer }: Case, { counts, served }: Work): Script {
  const made = counts.image ?? 0
  const content = Array.from({ length: made }, (_, index) => ({
    image: `https://media.example/${id}-${index}.png`,
  }))
  const type = `qima_output_${served.size === '2K' ? '2k' : '1k'}`
  const stated: Readonly<Record<string, Json>> = {
    plain: { output_image_count: made },
    zero: { output_image_count: 0, image_count: 0 },
    either: { output_image_count: 0, image_count: made },
    text: { image_count: String(made) },
  }
  const usage = { ...stated[answer.form], output_image_type: type }
  return jsonScript({ output: { choices: [{ message: { content } }] }, usage })
}

export function answerSpeech(testCase: Case, work: Work): Script {
  const line = (value: Json) => Buffer.from(`${JSON.stringify(value)}\n`)
  const usage = { text_words: work.counts.character ?? 0 }
  const pieces: Piece[] = [
    line({ code: 0, message: '', data: SOUND }),
    line({ code: 0, message: '', data: SOUND }),
    line({ code: 20_000_000, message: 'ok', data: null, ...bent(testCase, usage) }),
  ]
  return { status: 200, headers: EVENT_HEADERS, pieces }
}

/** A transcript without usage, in the form that was asked for. */
export function answerTranscription({ answer: { form } }: Case): Script {
  const text = 'All rivers run into the sea.'
  if (form === 'json') return jsonScript({ text })
  const pieces = [
    Buffer.from(form === 'text' ? `${text}\n` : `1\n00:00:00,000 --> 00:00:01,000\n${text}\n`),
  ]
  return { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, pieces }
}

/** A finished task. */
export function videoTask(testCase: Case, work: Work, taskId: string, model: string): Json {
  const { breakage } = testCase.answer
  const created = Math.floor(Date.now() / 1000)
  const failed = breakage === 'failed' || breakage === 'expired' || breakage === 'cancelled'
  if (failed) {
    const error = { code: 'InternalServiceError', message: 'the task did not succeed' }
    return { id: taskId, model, status: breakage, created_at: created, error }
  }
  const { output_token: tokens = 0, web_search_call: searches } = work.counts
  const { form } = testCase.answer
  return {
    id: taskId,
    model,
    status: 'succeeded',
    created_at: created,
    content: { video_url: `https://media.example/${taskId}.mp4` },
    duration: 5,
    resolution: '720p',
    ratio: '16:9',
    framespersecond: 24,
    service_tier: work.served.tier === 'flex' ? 'flex' : 'default',
    ...bent(testCase, {
      completion_tokens: form === 'total' ? 0 : form === 'text' ? String(tokens) : tokens,
      total_tokens: tokens,
      ...(searches === undefined ? {} : { tool_usage: { web_search: searches } }),
    }),
  }
}
