/** The free requests of clouds: the test of a channel's credentials, and its list of models. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Agent } from 'undici'
import { UPSTREAMS } from '../../server/wire/upstreams/index.ts'
import { probeOf, readVendorModels } from '../../server/work/pipeline/send/probe-channel.ts'
import { serviceAccountOf } from '../../simulators/google/tokens.ts'
import { type Simulators, startSimulators } from '../../simulators/index.ts'

let simulators: Simulators
const dispatcher = new Agent()

before(async () => {
  simulators = await startSimulators({ port: 0 })
})
after(async () => {
  await dispatcher.destroy()
  await simulators.stop()
})

function open(name: string, settings: object) {
  const upstream = UPSTREAMS.get(name)
  assert.ok(upstream)
  const parsed = upstream.settings.parse(settings)
  return {
    address: upstream.address?.(parsed),
    probe: () => probeOf(upstream, parsed, dispatcher)?.() ?? Promise.reject(new Error('none')),
    models: () => readVendorModels(upstream, parsed, dispatcher),
  }
}

const bedrock = (secret: string) =>
  open('bedrock', {
    region: 'us-east-1',
    base_url: `${simulators.url}/bedrock`,
    access_key_id: 'AKIASIMULATOR',
    secret_access_key: secret,
  })

function vertex(email?: string) {
  const account = serviceAccountOf(simulators.url)
  return open('anthropic-vertex', {
    base_url: `${simulators.url}/google`,
    service_account: email ? { ...account, client_email: email } : account,
  })
}

test('Bedrock: the signature of a GET with a query, and the profiles as models', async () => {
  assert.match(await bedrock('sim-bedrock-secret').probe(), /accepts the key at .*profiles$/)
  await assert.rejects(bedrock('another').probe(), /refuses the key \(403\): The request signature/)
  const { ok, models } = await bedrock('sim-bedrock-secret').models()
  assert.deepEqual(
    [ok, models],
    [true, ['global.anthropic.sim-claude-v1:0', 'us.anthropic.sim-claude-v1:0']],
  )
})

test('Gemini: by a key, and by a service account', async () => {
  const base_url = `${simulators.url}/google`
  const service_account = serviceAccountOf(simulators.url)
  for (const settings of [{ api_key: 'sim-google-key' }, { service_account }]) {
    const channel = open('gemini', { base_url, ...settings })
    assert.match(await channel.probe(), /accepts the key/)
    assert.ok((await channel.models()).models.includes('sim-gemini-3'))
  }
  await assert.rejects(open('gemini', { base_url, api_key: 'x' }).probe(), /API key not valid/)
})

test('Vertex AI: a wire that only reads may ask for a token', async () => {
  assert.match(await vertex().probe(), /accepts the key/)
  await assert.rejects(vertex('other@project').probe(), /invalid_grant: Invalid account/)
  assert.deepEqual((await vertex().models()).models, ['sim-claude@20260101'])
})

test('addresses that follow from the region or the location', () => {
  const addressOf = (name: string, more: object) => open(name, more).address
  const key = { api_key: 'k' }
  assert.equal(
    addressOf('bedrock', { region: 'eu-central-1', ...key }),
    'https://bedrock.eu-central-1.amazonaws.com',
  )
  const account = { ...serviceAccountOf(''), token_uri: 'https://oauth2.googleapis.com/token' }
  for (const [location, host] of [
    ['global', 'aiplatform.googleapis.com'],
    ['eu', 'aiplatform.eu.rep.googleapis.com'],
    ['us-east5', 'us-east5-aiplatform.googleapis.com'],
  ] as const) {
    const settings = { service_account: account, location }
    assert.equal(addressOf('anthropic-vertex', settings), `https://${host}`)
  }
})

test('settings that cannot work are refused where they are', () => {
  const problemOf = (name: string, settings: object) => {
    const [issue] = UPSTREAMS.get(name)?.settings.safeParse(settings).error?.issues ?? []
    return issue?.path.join('.')
  }
  assert.equal(problemOf('bedrock', { region: 'us-east-1' }), 'api_key')
  assert.equal(problemOf('bedrock', { region: 'nowhere', api_key: 'k' }), 'region')
  const half = { region: 'us-east-1', access_key_id: 'a' }
  assert.equal(problemOf('bedrock', half), 'secret_access_key')
  const account = { ...serviceAccountOf(''), token_uri: 'http://metadata.internal/token' }
  assert.equal(problemOf('anthropic-vertex', { service_account: account }), 'service_account')
  assert.equal(problemOf('gemini', { service_account: account }), 'service_account')
  assert.equal(problemOf('gemini', {}), 'api_key')
  assert.equal(problemOf('rerank', { shape: 'tei' }), 'base_url')
})

test('media vendors: a request that costs nothing, and a refused key', async () => {
  const media = (preset: string, path: string, api_key = 'sim-media-key') =>
    open('media-tasks', { preset, base_url: `${simulators.url}${path}`, api_key })
  const paths = { fal: '/fal', replicate: '/replicate', openrouter: '/openrouter-videos' }
  for (const [preset, path] of Object.entries(paths)) {
    await assert.rejects(media(preset, path, 'k').probe(), /refuses the key \(401\)/, preset)
    const expected = preset === 'fal' ? /^not tested: .*\(404\)$/ : /accepts the key at/
    assert.match(await media(preset, path).probe(), expected)
  }
  const billed = simulators.book.entries().filter((entry) => entry.billed)
  assert.deepEqual(billed, [])
})
