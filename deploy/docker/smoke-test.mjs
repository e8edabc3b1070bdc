// Smoke test of a running gateway, in any container or cluster:
//   node deploy/docker/smoke-test.mjs http://localhost:8080 tr-… [model] [http://localhost:9464]
// Makes one paid call, whole and streamed, and checks that both are charged and recorded.
const [base, key, model = 'sim-chat', metrics] = process.argv.slice(2)
if (!base || !key) {
  console.error('usage: smoke-test.mjs <base url> <api key> [model] [metrics url]')
  process.exit(2)
}

const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
const messages = [{ role: 'user', content: 'Say hello.' }]
let failed = 0

async function check(name, work) {
  try {
    const detail = await work()
    console.log(`ok    ${name}${detail === undefined ? '' : `: ${detail}`}`)
  } catch (error) {
    failed += 1
    console.log(`FAIL  ${name}: ${error.message}`)
  }
}

async function get(path, expected = 200, from = base) {
  const response = await fetch(from + path, { headers })
  if (response.status !== expected) throw new Error(`${path} answered ${response.status}`)
  return response
}

async function chat(stream) {
  const body = JSON.stringify({ model, messages, stream, max_completion_tokens: 32 })
  const response = await fetch(`${base}/v1/chat/completions`, { method: 'POST', headers, body })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`answered ${response.status}: ${text.slice(0, 200)}`)
  if (stream && !text.includes('[DONE]')) throw new Error('the stream did not end')
  const id = response.headers.get('x-request-id')
  const record = await (await get(`/v1/usage/${id}`)).json()
  if (record.status !== 'succeeded') throw new Error(`recorded as ${record.status}`)
  return `charged ${record.charged}`
}

await check('alive', async () => void (await get('/healthz')))
await check('ready', async () => void (await get('/readyz')))
await check('models', async () => `${(await (await get('/v1/models')).json()).data.length}`)
await check('a call', () => chat(false))
await check('a stream', () => chat(true))
await check('the console', async () => {
  const page = await (await get('/console/')).text()
  if (!page.includes('<script')) throw new Error('it was not built')
})
if (metrics) {
  await check('metrics', async () => {
    const text = await (await get('/metrics', 200, metrics)).text()
    if (!text.includes('tributary_build_info')) throw new Error('no build_info')
  })
}
process.exit(failed === 0 ? 0 : 1)
