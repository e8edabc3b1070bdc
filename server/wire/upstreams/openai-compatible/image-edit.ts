/**
 * Image edits and variations: pictures in data URLs are sent as files of a form, which every vendor
 * of the dialect takes; other references as the caller's JSON.
 */
import { printValue } from '../../../base/lib/json.ts'
import { InvalidRequest } from '../../dialects/invalid-request.ts'
import { answerImages } from '../answer-images.ts'
import type { CallRequest, UpstreamAnswer } from '../upstream.ts'
import type { Wire } from '../wire.ts'
import { type Call, spliceModel } from './forward.ts'
import { readCompatibleFailure } from './read-failure.ts'
import { buildCompatibleRequest } from './request.ts'
import type { OpenaiCompatibleSettings } from './settings.ts'

export function imageEdit(wire: Wire, call: Call): Promise<UpstreamAnswer> {
  return send(wire, call, '/images/edits')
}

export function imageVariation(wire: Wire, call: Call): Promise<UpstreamAnswer> {
  return send(wire, call, '/images/variations')
}

async function send(
  wire: Wire,
  { settings, upstreamModel, request }: Call,
  path: string,
): Promise<UpstreamAnswer> {
  const response = await wire.send(buildRequest(settings, upstreamModel, request, path))
  if (response.status >= 400) throw await readCompatibleFailure(response, request.value)
  return { ...answerImages(response, request), stopsOnCancel: settings.stops_on_cancel }
}

function buildRequest(
  settings: OpenaiCompatibleSettings,
  upstreamModel: string,
  request: CallRequest,
  path: string,
) {
  const files = findFiles(request.value)
  if (!files) {
    const body = spliceModel(request, upstreamModel)
    return buildCompatibleRequest(settings, path, body, request.stream)
  }
  const boundary = `form-${request.requestId}`
  const { image: _image, mask: _mask, ...rest } = request.value
  const fields = { ...rest, model: upstreamModel }
  refuseLongForm(fields)
  const body = Buffer.concat([
    ...Object.entries(fields).flatMap(([name, value]) => writeField(boundary, name, value)),
    ...files.map((file) => writeFile(boundary, file)),
    Buffer.from(`--${boundary}--\r\n`),
  ])
  const sent = buildCompatibleRequest(settings, path, body, request.stream)
  const type = `multipart/form-data; boundary=${boundary}`
  return { ...sent, headers: { ...sent.headers, 'content-type': type } }
}

interface PictureFile {
  readonly name: string
  readonly type: string
  readonly content: Buffer
}

const DATA_URL = /^data:(image\/([a-z]{2,12}));base64,/i

/** Returns undefined unless every picture is a data URL. */
function findFiles({ image, images, mask }: CallRequest['value']): PictureFile[] | undefined {
  if (images !== undefined) return undefined
  const pictures = [image].flat()
  const name = pictures.length > 1 ? 'image[]' : 'image'
  const files = [
    ...pictures.map((url) => readFile(name, url)),
    ...(mask === undefined ? [] : [readFile('mask', mask)]),
  ]
  const known = files.filter((file) => file !== undefined)
  return known.length === files.length ? known : undefined
}

function readFile(name: string, url: unknown): PictureFile | undefined {
  if (typeof url !== 'string') return undefined
  const [head = '', type = ''] = DATA_URL.exec(url.slice(0, 100)) ?? []
  if (head === '') return undefined
  return { name, type: type.toLowerCase(), content: Buffer.from(url.slice(head.length), 'base64') }
}

/** Each value of a form takes forty times the bytes that an empty text takes in JSON. */
const VALUES_MAX = 1_000

function refuseLongForm(fields: Readonly<Record<string, unknown>>): void {
  let count = 0
  for (const [name, value] of Object.entries(fields)) {
    count += Array.isArray(value) ? value.length : 1
    if (count <= VALUES_MAX) continue
    throw new InvalidRequest(name, `a request with pictures takes at most ${VALUES_MAX} values`)
  }
}

function writeField(boundary: string, name: string, value: unknown): Buffer[] {
  const values = Array.isArray(value) ? value : [value]
  const field = Array.isArray(value) ? `${name}[]` : name
  return values.map((one) => {
    if (typeof one === 'object' || /["\r\n]/.test(name)) {
      throw new InvalidRequest(name, 'cannot be a field of a form')
    }
    const head = `content-disposition: form-data; name="${field}"`
    return Buffer.from(`--${boundary}\r\n${head}\r\n\r\n${printValue(one)}\r\n`)
  })
}

function writeFile(boundary: string, { name, type, content }: PictureFile): Buffer {
  const filename = `${name.replace('[]', '')}.${type.replace('image/', '')}`
  const head =
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"; filename="${filename}"\r\n` +
    `content-type: ${type}\r\n\r\n`
  return Buffer.concat([Buffer.from(head), content, Buffer.from('\r\n')])
}
