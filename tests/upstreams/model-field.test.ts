/** What each shipped video and image model says that it takes is what its driver takes. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { parseCatalogFile } from '../../server/money/catalog/apply/file.ts'
import { resolveSettings } from '../../server/money/catalog/channel-settings.ts'
import {
  describeImageFields,
  describeVideoFields,
  type ModelField,
} from '../../server/wire/dialects/fields/model-field.ts'
import { UpstreamFailure } from '../../server/wire/upstreams/failure.ts'
import { UPSTREAMS } from '../../server/wire/upstreams/index.ts'

const FOLDER = join(import.meta.dirname, '..', '..', 'catalog')
const SIMULATORS = { SIMULATORS_URL: 'http://127.0.0.1:1' }

const models = globSync(join(FOLDER, '*.json')).flatMap((path) => {
  const { content } = parseCatalogFile(basename(path), readFileSync(path, 'utf8'), SIMULATORS)
  return content.models
    .filter(({ type }) => type === 'video')
    .flatMap((model) => {
      const route = model.routes[0]
      const channel = content.channels.find(({ id }) => id === route?.channel)
      return route && channel ? [{ model, route, channel, file: basename(path) }] : []
    })
})

const image = (role: string) => ({
  type: 'image_url',
  image_url: { url: 'https://m.example/a' },
  role,
})

function partsOf({ model, route, channel }: (typeof models)[number]) {
  const upstream = UPSTREAMS.get(channel.upstream)
  const driver = upstream?.tasks?.video
  assert.ok(upstream && driver?.rules, channel.upstream)
  const keyed = JSON.parse(JSON.stringify(channel.settings).replaceAll(/"env:\w+"/g, '"key"'))
  const found = resolveSettings(keyed, upstream, {})
  assert.ok('settings' in found, JSON.stringify(found))
  const { settings } = found
  const { upstream_model: upstreamModel } = route
  const fields = describeVideoFields(
    driver.rules({ settings, upstreamModel, details: model.details }),
  )
  const content = fields.find(({ name }) => name === 'content')?.values ?? []
  const first = content.includes('text') ? { type: 'text', text: 'a' } : image(String(content[0]))
  const take = (sent: Record<string, unknown>) => {
    const parameters = { ...DEFAULTS, content: [first], ...sent }
    const sentFields = new Set(['content', ...Object.keys(sent)])
    driver.prepare({ settings, upstreamModel, parameters, sentFields, details: model.details })
  }
  return { fields, take }
}

const DEFAULTS = {
  resolution: '720p',
  ratio: 'adaptive',
  duration: 5,
  seed: -1,
  generate_audio: true,
}

/** The resolution in which a model makes sound or a frame is not a fact of one field. */
const isOfAnother = ({ details }: UpstreamFailure) =>
  /in 1080p only|needs 1080p/.test(details.message ?? '')

function mustTake(take: () => void, words: string): void {
  try {
    take()
  } catch (error) {
    assert.ok(error instanceof UpstreamFailure && isOfAnother(error), `${words}: ${String(error)}`)
  }
}

function valuesOf({ values, min, max, also, default: usual }: ModelField): unknown[] {
  const range = min === undefined ? [max] : [min, min + 1, max]
  return [...(values ?? range), also, usual].filter((one) => one !== undefined)
}

for (const one of models) {
  test(`${one.file} ${one.model.id}: takes what it says, and nothing else`, () => {
    const { fields, take } = partsOf(one)
    const named = new Map(fields.map((field) => [field.name, field]))
    for (const name of ['resolution', 'ratio', 'duration']) {
      const field = named.get(name)
      assert.ok(field, name)
      for (const value of valuesOf(field))
        mustTake(() => take({ [name]: value }), `${name} ${value}`)
    }
    const refuse = (sent: Record<string, unknown>) =>
      assert.throws(() => take(sent), { kind: 'rejected' }, JSON.stringify(sent))
    const all = ['480p', '720p', '1080p', '4k', '768P', '2K']
    for (const resolution of all) {
      if (!named.get('resolution')?.values?.includes(resolution)) refuse({ resolution })
    }
    const { values, min = 0, max = 0, also } = named.get('duration') ?? {}
    if (values) refuse({ duration: Math.max(...values.map(Number)) + 1 })
    else for (const duration of [min - 1, max + 1]) refuse({ duration })
    if (also === undefined) refuse({ duration: -1 })
    for (const [name, value] of [
      ['seed', 7],
      ['watermark', true],
      ['x_unknown', 1],
    ] as const) {
      if (!named.has(name)) refuse({ [name]: value })
      else mustTake(() => take({ [name]: value }), name)
    }
  })
}

test('images: the number, the sizes and the vendor’s own fields', () => {
  assert.deepEqual(describeImageFields({ images: 1, sizes: ['1024x1024'] }).slice(1), [
    { name: 'n', type: 'integer', min: 1, max: 1, default: 1, required: false },
    { name: 'size', type: 'string', values: ['1024x1024'], required: false },
  ])
  const named = describeImageFields({ inputImages: 3, fields: ['constructor', 'seed'] })
  assert.deepEqual(named.map(({ name, type }) => [name, type]).slice(3), [
    ['image', 'array'],
    ['constructor', 'any'],
    ['seed', 'integer'],
  ])
})
