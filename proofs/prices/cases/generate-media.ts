/** Cases of embeddings, images and speech; those of videos are beside it. */
import type { Random } from '../../../testbed/random.ts'
import { type Case, markerOf } from '../plan.ts'
import { anyText, drawBytes, prose } from '../requests/filler.ts'
import { DEFAULT_SERVED, LARGE_PICTURE } from '../sheet.ts'
import { build, PLAIN } from './build-media.ts'
import { generateVideo } from './generate-videos.ts'
import { drawRecording } from './recordings.ts'

export function generateMedia(random: Random, id: number): Case {
  const share = random.next()
  if (share < 0.3) return embeddings(random, id)
  if (share < 0.4) return rerank(random, id)
  if (share < 0.55) return imageTokens(random, id)
  if (share < 0.65) return images(random, id)
  if (share < 0.7) return random.pick([sizedImages, otherSizes, qwenImages])(random, id)
  if (share < 0.85) return speech(random, id)
  if (share < 0.93) return transcription(random, id)
  return generateVideo(random, id)
}

function embeddings(random: Random, id: number): Case {
  const bytes = drawBytes(random)
  const marker = markerOf(id)
  const inputs: readonly [[string, unknown], ...[string, unknown][]] = [
    ['a text', `${marker} ${prose(bytes)}`],
    ['a text that begins with data:', `data:${marker} ${anyText(random, bytes)}`],
    ['texts', [`${marker}`, prose(bytes), anyText(random, 100)]],
    ['tokens', Array.from({ length: Math.min(bytes, 4_000) }, () => random.integer(0, 99_999))],
    ['lists of tokens', [[1, 2, 3], Array.from({ length: 50 }, () => random.integer(0, 9))]],
  ]
  const [name, input] = random.pick(inputs)
  const more = random.next() < 0.2 ? { note: anyText(random, drawBytes(random)) } : {}
  return build(random, id, {
    dialect: 'embeddings',
    model: 'pp-embed',
    path: '/v1/embeddings',
    body: { model: 'pp-embed', input, user: marker, ...more },
    work: { tokensPerThousandBytes: random.pick([250, 300, 1_000]) },
    tricks: [`embeddings: ${name}`],
  })
}

/** Every document is read with the query, whose size the caller chooses. */
function rerank(random: Random, id: number): Case {
  const isByUnit = random.next() < 0.5
  const model = isByUnit ? 'pp-rerank-units' : 'pp-rerank'
  const count = random.pick([1, 3, 99, 101, 250])
  const text = () => anyText(random, random.pick([1, 40, 400]))
  const documents = Array.from({ length: count }, () =>
    random.next() < 0.5 ? text() : { text: text(), note: 'x' },
  )
  const planned = build(random, id, {
    dialect: 'rerank',
    model,
    path: random.pick(['/v1/rerank', '/v2/rerank']),
    body: { model, query: `${markerOf(id)} ${prose(40)}`, documents, top_n: 1 },
    work: isByUnit
      ? { fixed: { search_unit: Math.ceil(count / 100) } }
      : { tokensPerThousandBytes: random.pick([250, 1_000]) },
    tricks: [`rerank: ${isByUnit ? 'by search units' : 'by tokens'}`],
  })
  const tricks = planned.tricks.filter((name) => !name.startsWith('broken'))
  return { ...planned, answer: PLAIN, expected: 'full', tricks }
}

function imageTokens(random: Random, id: number): Case {
  return build(random, id, {
    dialect: 'images',
    model: 'pp-image-tokens',
    path: '/v1/images/generations',
    body: {
      model: 'pp-image-tokens',
      prompt: `${markerOf(id)} ${prose(random.integer(20, 800))}`,
      size: random.pick(['1024x1024', '1024x1536', 'auto']),
      quality: random.pick(['low', 'medium', 'high', 'auto']),
    },
    work: {
      tokensPerThousandBytes: 250,
      fixed: { image_output_token: random.pick([272, 1_056, 1_584, 4_160, 6_240]) },
    },
    tricks: ['images: by tokens'],
  })
}

function images(random: Random, id: number): Case {
  const images = random.integer(1, 4)
  const [place, member] = random.pick(placesOf(images))
  return build(random, id, {
    dialect: 'images',
    model: 'pp-image',
    path: '/v1/images/generations',
    body: { model: 'pp-image', prompt: `${markerOf(id)} a river`, ...member, size: '2K' },
    work: { fixed: { image: images } },
    tricks: [`images: by number, in ${place}`],
  })
}

/** The places in which vendors read the number of pictures. */
const placesOf = (images: number): readonly [[string, object], ...[string, object][]] => [
  ['n', { n: images }],
  ['another name', { batch_size: images }],
  ['an object', { n: 1, parameters: { sampleCount: String(images) } }],
  ['a list', { instances: [{ config: { num_images: images } }] }],
  ['items of a list', { requests: Array.from({ length: images }, () => ({ n: 1 })) }],
]

/** The vendor chooses the size where the request leaves it open. */
function sizedImages(random: Random, id: number): Case {
  const asked = random.pick([LARGE_PICTURE, '1024x1024', 'auto', undefined])
  const isLarge = asked === LARGE_PICTURE || (asked !== '1024x1024' && random.next() < 0.5)
  const n = random.integer(1, 4)
  const testCase = build(random, id, {
    dialect: 'images',
    model: 'pp-image-sizes',
    path: '/v1/images/generations',
    body: { model: 'pp-image-sizes', prompt: `${markerOf(id)} a river`, n, size: asked },
    work: {
      fixed: { image: n },
      served: { ...DEFAULT_SERVED, size: isLarge ? LARGE_PICTURE : 'any' },
    },
    tricks: [`images: of size ${asked ?? 'left open'}, ${isLarge ? 'large' : 'small'}`],
  })
  // It states no usage that could be distorted.
  const placement = random.pick(['usage', 'choice'])
  return { ...testCase, answer: { form: 'plain', placement }, expected: 'full' }
}

/** Pictures that were delivered are billed, whatever the vendor states of their number. */
function qwenImages(random: Random, id: number): Case {
  const images = random.integer(1, 6)
  const form = random.pick(['plain', 'zero', 'either', 'text', 'none'])
  const size = random.pick(['2K', 'any'] as const)
  const testCase = build(random, id, {
    dialect: 'images',
    model: 'pp-qwen-image',
    path: '/v1/images/generations',
    body: { model: 'pp-qwen-image', prompt: `${markerOf(id)} a river`, n: images },
    work: { fixed: { image: images }, served: { ...DEFAULT_SERVED, size } },
  })
  const tricks = [`images: their number stated as ${form}`]
  return { ...testCase, answer: { ...PLAIN, form }, expected: 'full', tricks }
}

/** Other words for the size, which the vendor would follow. */
const OTHER_SIZES: readonly [object, ...object[]] = [
  { image_size: LARGE_PICTURE },
  { imageSize: 'square_hd' },
  { width: 2_048, height: 2_048 },
  { height: 2_048 },
  { resolution: '4K' },
  { aspect_ratio: '16:9' },
  { output_size: LARGE_PICTURE },
  { extra_body: { image_size: LARGE_PICTURE } },
  { parameters: { size: '2048*2048' } },
  { options: [{ upscale: 4 }] },
  { Width: 2_048 },
  { megapixels: 4 },
]

function otherSizes(random: Random, id: number): Case {
  const other = random.pick(OTHER_SIZES)
  const size = random.pick(['1024x1024', 'auto', undefined])
  const testCase = build(random, id, {
    dialect: 'images',
    model: 'pp-image-sizes',
    path: '/v1/images/generations',
    body: { model: 'pp-image-sizes', prompt: `${markerOf(id)} a river`, size, ...other },
    work: { fixed: { image: 1 }, served: { ...DEFAULT_SERVED, size: LARGE_PICTURE } },
    tricks: [`not sold: images ${Object.keys(other).join()}`],
  })
  return { ...testCase, answer: PLAIN, expected: 'refused' }
}

function speech(random: Random, id: number): Case {
  const text = `${markerOf(id)} ${random.next() < 0.5 ? prose(300) : anyText(random, 200)}`
  const characters = [...text].length
  return build(random, id, {
    dialect: 'speech',
    model: 'pp-speech',
    path: '/v1/audio/speech/unidirectional?model=pp-speech',
    body: { req_params: { text, speaker: 'zh_female_vv_uranus_bigtts', audio_params: {} } },
    work: { fixed: { character: random.integer(1, characters) } },
    tricks: ['speech'],
  })
}

/** The vendor bills the seconds begun and states no usage. */
function transcription(random: Random, id: number): Case {
  const { name, seconds, content } = drawRecording(random)
  const form = random.pick(['json', 'text', 'srt', 'vtt'])
  const field = (key: string, value: string) =>
    `--${EDGE}\r\ncontent-disposition: form-data; name="${key}"\r\n\r\n${value}\r\n`
  const file = `content-disposition: form-data; name="file"; filename="${name}"`
  const testCase = build(random, id, {
    dialect: 'transcription',
    model: 'pp-transcription',
    path: '/v1/audio/transcriptions',
    body: {},
    work: { fixed: { second: Math.ceil(seconds) } },
    tricks: [`transcription: ${name}`],
  })
  const fields = [
    field('model', 'pp-transcription'),
    field('prompt', markerOf(id)),
    field('response_format', form),
    `--${EDGE}\r\n${file}\r\n\r\n${content.toString('latin1')}\r\n--${EDGE}--\r\n`,
  ]
  return {
    ...testCase,
    body: fields.join(''),
    headers: { 'content-type': `multipart/form-data; boundary=${EDGE}` },
    answer: { form, placement: 'usage' },
    expected: 'full',
    tricks: [`transcription: ${name}`],
  }
}

const EDGE = 'the-edge-of-a-form'
